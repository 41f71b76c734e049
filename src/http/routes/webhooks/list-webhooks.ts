import * as Type from 'typebox/type';
import { operation } from '../../operation.ts';
import { endpointExample, presentEndpoint, WebhookEndpoint } from '../../webhook-shapes.ts';

export const listWebhooks = operation({
  operationId: 'listWebhooks',
  method: 'GET',
  path: '/digitalbanking/db-webhooks/v1/endpoints',
  tag: 'Webhooks',
  summary: 'List webhooks',
  description: 'Returns the endpoints of the client, the oldest first.',
  token: 'client',
  scope: 'webhooks:manage',
  responses: {
    200: {
      description: 'All endpoints of the client.',
      schema: Type.Array(WebhookEndpoint),
      examples: { one: { value: [endpointExample] }, none: { value: [] } },
    },
  },
  async handle(services, { actor }) {
    const endpoints = await services.webhooks.list(actor);
    return { status: 200, body: endpoints.map((endpoint) => presentEndpoint(endpoint)) };
  },
});
