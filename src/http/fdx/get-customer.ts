import { operation } from '../operation.ts';
import { presentFdxCustomer } from './present.ts';
import { FdxCustomer } from './shapes.ts';

export const getFdxCustomer = operation({
  operationId: 'getFdxCustomer',
  method: 'GET',
  path: '/fdx/v6/customers/current',
  tag: 'Aggregators',
  summary: 'Customer (FDX)',
  description: 'Returns the person who consented, with name, e-mail address and telephone numbers.',
  token: 'consented',
  scope: 'institution-users:read',
  fdx: true,
  responses: {
    200: {
      description: 'The customer.',
      schema: FdxCustomer,
      examples: {
        customer: {
          value: {
            customerId: '0199e0c4-5b7a-7c11-9d8e-2f6a51c0b3d4',
            name: { first: 'Wilhelmina', last: 'Quillfeather' },
            email: ['wilhelmina@quillfeather.example'],
            telephones: [{ number: '+12025550143', type: 'PERSONAL', network: 'CELLULAR' }],
          },
        },
      },
    },
  },
  async handle(services, { actor }) {
    return { status: 200, body: presentFdxCustomer(await services.getUserInfo(actor)) };
  },
});
