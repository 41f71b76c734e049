import * as Type from 'typebox/type';
import { operation } from '../../operation.ts';
import { nextLink, pageParameters, pageResponse, readPage } from '../../request/paging.ts';
import { attemptExample, endpointParameter, presentDelivery, WebhookDelivery } from '../../webhook-shapes.ts';

const state = Type.Unsafe<'WAITING' | 'PARKED'>({
  type: 'string',
  enum: ['WAITING', 'PARKED'],
  description:
    'WAITING: for another attempt, or for an earlier event of the same accounts. PARKED: all attempts failed. Default: PARKED.',
});
const { eventId, sequence } = attemptExample;

export const listWebhookDeliveries = operation({
  operationId: 'listWebhookDeliveries',
  method: 'GET',
  path: '/digitalbanking/db-webhooks/v1/endpoints/{endpointId}/deliveries',
  tag: 'Webhooks',
  summary: 'List undelivered events',
  description:
    'Returns the events that the endpoint has not accepted, by their sequence. Ten attempts in about 75 hours park an event; the events after it are sent.',
  token: 'client',
  scope: 'webhooks:manage',
  params: Type.Object(endpointParameter),
  query: Type.Object({ state: Type.Optional(state), ...pageParameters }),
  responses: {
    200: {
      description: 'A page of events.',
      headers: nextLink,
      schema: Type.Array(WebhookDelivery),
      examples: { parked: { value: [{ eventId, sequence, attempts: 10 }] }, none: { value: [] } },
    },
  },
  problems: ['not_found'],
  async handle(services, { actor, params: { endpointId }, url, query }) {
    const listRequest = { actor, url, query };
    const wanted = { endpointId, state: query.state ?? 'PARKED', page: readPage(listRequest, 1) } as const;
    return pageResponse(listRequest, await services.webhooks.deliveries(actor, wanted), presentDelivery);
  },
});
