import { operation } from '../../operation.ts';
import { ServiceStatus } from '../../schemas.ts';

export const livez = operation({
  operationId: 'livez',
  method: 'GET',
  path: '/livez',
  tag: 'Service',
  summary: 'Liveness probe',
  description: 'Does not check the database: restarting the service would not repair it.',
  token: 'none',
  responses: {
    200: {
      description: 'The process is alive.',
      schema: ServiceStatus,
      examples: { live: { value: { status: 'live' } } },
    },
  },
  async handle() {
    return { status: 200, body: { status: 'live' } };
  },
});
