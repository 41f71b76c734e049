import { operation } from '../../operation.ts';
import { ServiceStatus } from '../../schemas.ts';

export const readyz = operation({
  operationId: 'readyz',
  method: 'GET',
  path: '/readyz',
  tag: 'Service',
  summary: 'Can requests be served',
  description: 'Asks the database too. A degraded service serves: an operator should look at the reason.',
  token: 'none',
  answers: {
    200: {
      description: 'They can.',
      schema: ServiceStatus,
      examples: {
        ready: { value: { status: 'ready' } },
        degraded: { value: { status: 'degraded', reason: 'commits_wait_for_standby' } },
      },
    },
  },
  problems: ['database_unavailable', 'shutting_down'],
  async handle(services) {
    const reason = await services.ready();
    return { status: 200, body: reason === null ? { status: 'ready' } : { status: 'degraded', reason } };
  },
});
