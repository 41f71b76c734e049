import { operation } from '../operation.ts';
import { ServiceStatus } from '../schemas.ts';

export const readyz = operation({
  operationId: 'readyz',
  method: 'GET',
  path: '/readyz',
  tag: 'Service',
  summary: 'Can requests be served',
  description: 'Asks the database too.',
  token: 'none',
  answers: {
    200: {
      description: 'They can.',
      schema: ServiceStatus,
      examples: { ready: { value: { status: 'ready' } } },
    },
  },
  problems: ['database_unavailable'],
  async handle(services) {
    await services.ready();
    return { status: 200, body: { status: 'ready' } };
  },
});
