import * as Type from 'typebox/type';
import { operation } from '../../operation.ts';
import { endpointExample, endpointParameter, WebhookDeletion } from '../../webhook-shapes.ts';

export const deleteWebhook = operation({
  operationId: 'deleteWebhook',
  method: 'DELETE',
  path: '/digitalbanking/db-webhooks/v1/endpoints/{endpointId}',
  tag: 'Webhooks',
  summary: 'Delete webhook',
  description: 'Deletes an endpoint with its secrets and its log of attempts. A repeated request gets 404.',
  token: 'client',
  scope: 'webhooks:manage',
  params: Type.Object(endpointParameter),
  responses: {
    200: {
      description: 'The endpoint is deleted.',
      schema: WebhookDeletion,
      examples: { deleted: { value: { endpointId: endpointExample.endpointId, deleted: true } } },
    },
  },
  problems: ['not_found', 'outcome_unknown'],
  async handle(services, { actor, params: { endpointId }, origin }) {
    await services.webhooks.delete(actor, endpointId, origin);
    return { status: 200, body: { endpointId, deleted: true } };
  },
});
