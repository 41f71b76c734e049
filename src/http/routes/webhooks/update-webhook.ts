import * as Type from 'typebox/type';
import { operation } from '../../operation.ts';
import {
  endpointExample,
  endpointParameter,
  presentEndpoint,
  WebhookEndpoint,
  WebhookUpdate,
} from '../../webhook-shapes.ts';

export const updateWebhook = operation({
  operationId: 'updateWebhook',
  method: 'PATCH',
  path: '/digitalbanking/db-webhooks/v1/endpoints/{endpointId}',
  tag: 'Webhooks',
  summary: 'Update webhook',
  description:
    'Changes an endpoint, pauses it (`PAUSED`) or sends to it again (`ACTIVE`). Nothing is lost while it is not active: it goes on with the event after the last one. Any change also ends a wait after failures.',
  token: 'client',
  scope: 'webhooks:manage',
  params: Type.Object(endpointParameter),
  body: {
    schema: WebhookUpdate,
    mediaTypes: ['application/json'],
    examples: { pause: { value: { status: 'PAUSED' } }, move: { value: { url: endpointExample.url } } },
  },
  responses: {
    200: {
      description: 'The changed endpoint.',
      schema: WebhookEndpoint,
      examples: {
        paused: { value: { ...endpointExample, status: 'PAUSED', statusReason: 'client' } },
      },
    },
  },
  problems: ['not_found', 'outcome_unknown'],
  async handle(services, { actor, params: { endpointId }, body: { allEventTypes, ...change }, origin }) {
    const all = allEventTypes === true ? { eventTypes: null } : {};
    const changed = await services.webhooks.change(
      actor,
      { endpointId, change: { ...change, ...all } },
      origin,
    );
    return { status: 200, body: presentEndpoint(changed) };
  },
});
