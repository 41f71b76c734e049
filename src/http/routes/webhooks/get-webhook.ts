import * as Type from 'typebox/type';
import { operation } from '../../operation.ts';
import {
  endpointExample,
  endpointParameter,
  presentEndpoint,
  WebhookEndpoint,
} from '../../webhook-shapes.ts';

export const getWebhook = operation({
  operationId: 'getWebhook',
  method: 'GET',
  path: '/digitalbanking/db-webhooks/v1/endpoints/{endpointId}',
  tag: 'Webhooks',
  summary: 'Get webhook',
  description:
    'Returns an endpoint of the client with its health: failures, and the moment of the next attempt.',
  token: 'client',
  scope: 'webhooks:manage',
  params: Type.Object(endpointParameter),
  responses: {
    200: {
      description: 'The endpoint.',
      schema: WebhookEndpoint,
      examples: {
        active: { value: endpointExample },
        gone: { value: { ...endpointExample, status: 'DISABLED', statusReason: 'gone' } },
      },
    },
  },
  problems: ['not_found'],
  async handle(services, { actor, params }) {
    return { status: 200, body: presentEndpoint(await services.webhooks.get(actor, params.endpointId)) };
  },
});
