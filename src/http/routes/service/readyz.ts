import { operation } from '../../operation.ts';
import { ServiceStatus } from '../../schemas.ts';

export const readyz = operation({
  operationId: 'readyz',
  method: 'GET',
  path: '/readyz',
  tag: 'Service',
  summary: 'Readiness probe',
  description: 'Checks the database too. A degraded service serves; an operator should look at the reason.',
  token: 'none',
  responses: {
    200: {
      description: 'The service can serve requests.',
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
