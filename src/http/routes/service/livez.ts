import { operation } from '../../operation.ts';
import { ServiceStatus } from '../../schemas.ts';

export const livez = operation({
  operationId: 'livez',
  method: 'GET',
  path: '/livez',
  tag: 'Service',
  summary: 'Is the process alive',
  description: 'Says nothing of the database: restarting the service would not mend that.',
  token: 'none',
  answers: {
    200: {
      description: 'It is.',
      schema: ServiceStatus,
      examples: { live: { value: { status: 'live' } } },
    },
  },
  async handle() {
    return { status: 200, body: { status: 'live' } };
  },
});
