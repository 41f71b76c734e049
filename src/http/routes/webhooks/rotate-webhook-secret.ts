import * as Type from 'typebox/type';
import { operation } from '../../operation.ts';
import { endpointParameter, keysExample, WebhookKeys, WebhookRotation } from '../../webhook-shapes.ts';

const defaultOverlapHours = 24;

export const rotateWebhookSecret = operation({
  operationId: 'rotateWebhookSecret',
  method: 'POST',
  path: '/digitalbanking/db-webhooks/v1/endpoints/{endpointId}/rotate',
  tag: 'Webhooks',
  summary: 'Rotate webhook secret',
  description:
    'Makes a new secret and a new key pair. Until the overlap ends each webhook is signed by both, so a receiver may change at any time in between.',
  token: 'client',
  scope: 'webhooks:manage',
  params: Type.Object(endpointParameter),
  body: {
    schema: WebhookRotation,
    mediaTypes: ['application/json'],
    examples: { day: { value: { overlapHours: 24 } } },
    optional: true,
  },
  responses: {
    200: {
      description: 'The new keys. The secret is not shown again.',
      schema: WebhookKeys,
      examples: { rotated: { value: keysExample } },
    },
  },
  problems: ['not_found', 'rotation_under_way', 'outcome_unknown'],
  async handle(services, { actor, params: { endpointId }, body, origin }) {
    const { overlapHours = defaultOverlapHours } = body;
    const keys = await services.webhooks.rotate(actor, { endpointId, overlapHours }, origin);
    return { status: 200, body: keys };
  },
});
