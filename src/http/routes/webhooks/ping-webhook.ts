import * as Type from 'typebox/type';
import { operation } from '../../operation.ts';
import { attemptExample, endpointParameter, presentAttempt, WebhookAttempt } from '../../webhook-shapes.ts';

const { sequence: _, status: __, error: ___, response: ____, ...base } = attemptExample;
const delivered = { ...base, eventId: 'ping-6f1c', eventType: 'webhook.ping', delivered: true, status: 204 };

export const pingWebhook = operation({
  operationId: 'pingWebhook',
  method: 'POST',
  path: '/digitalbanking/db-webhooks/v1/endpoints/{endpointId}/ping',
  tag: 'Webhooks',
  summary: 'Ping webhook',
  description:
    'Sends a signed event of type `webhook.ping` at once and returns the outcome, also for an endpoint that is paused or disabled.',
  token: 'client',
  scope: 'webhooks:manage',
  params: Type.Object(endpointParameter),
  body: {
    schema: Type.Object({}, { additionalProperties: false, description: 'No field is needed.' }),
    mediaTypes: ['application/json'],
    examples: { nothing: { value: {} } },
    optional: true,
  },
  rate: 'look-up',
  responses: {
    200: {
      description: 'The attempt, whether it was delivered or not.',
      schema: WebhookAttempt,
      examples: { delivered: { value: delivered } },
    },
  },
  problems: ['not_found'],
  async handle(services, { actor, params: { endpointId }, origin }) {
    return { status: 200, body: presentAttempt(await services.webhooks.ping(actor, endpointId, origin)) };
  },
});
