import { coreConnectionExample } from '../../openapi/examples.ts';
import { operation } from '../../operation.ts';
import { presentCoreConnection } from '../../presenters.ts';
import { CoreConnection } from '../../schemas.ts';

export const getCoreConnection = operation({
  operationId: 'getCoreConnection',
  method: 'GET',
  path: '/digitalbanking/core/v1/connection',
  tag: 'Core',
  summary: 'Get connection',
  description:
    'The state of the connection to the core, and the instructions that it has not decided: by mode and currency, with the money that has moved here and may still be refused (MEMO, STAND_IN). This request counts as a sign of life.',
  token: 'client',
  scope: 'core:read',
  responses: {
    200: {
      description: 'The connection.',
      schema: CoreConnection,
      examples: { connected: { value: coreConnectionExample } },
    },
  },
  async handle(services, { actor }) {
    return { status: 200, body: presentCoreConnection(await services.getCoreConnection(actor)) };
  },
});
