import * as Type from 'typebox/type';
import { Problem } from '../../../shared/problem.ts';
import {
  changeWebhook,
  endpointStatuses,
  getWebhook,
  listAttempts,
  listDeliveries,
  listWebhooks,
  pingWebhook,
  replayWebhook,
} from '../../../webhooks/index.ts';
import { readInstant } from '../../request/moments.ts';
import {
  presentAttempt,
  presentDelivery,
  presentEndpoint,
  ReplayedEvents,
  WebhookAttempt,
  WebhookDelivery,
  WebhookEndpoint,
} from '../../webhook-shapes.ts';
import { type OperatorOperation, operatorOperation } from '../operation.ts';
import { body, flag, moment, oneOf, optional, reason, text, withReason } from '../shapes.ts';

/** The endpoints of every client of the institution. */
const ofAnyClient = { clientId: null };

export const webhookOperations: readonly OperatorOperation[] = [
  operatorOperation({
    operationId: 'listWebhooks',
    method: 'GET',
    path: '/webhooks',
    right: 'institution:read',
    summary: 'The endpoints of all clients with their position, failures and state.',
    response: Type.Array(WebhookEndpoint),
    handle: async ({ webhooks }, { institutionId }) =>
      (await listWebhooks(webhooks, { institutionId, ...ofAnyClient })).map((one) => presentEndpoint(one)),
  }),
  operatorOperation({
    operationId: 'showWebhook',
    method: 'GET',
    path: '/webhooks/{endpointId}',
    right: 'institution:read',
    summary: 'One endpoint.',
    response: WebhookEndpoint,
    handle: async ({ webhooks }, { institutionId, params }) =>
      presentEndpoint(await getWebhook(webhooks, { institutionId, ...ofAnyClient }, params.endpointId)),
  }),
  operatorOperation({
    operationId: 'listAttempts',
    method: 'GET',
    path: '/webhooks/{endpointId}/attempts',
    right: 'institution:read',
    summary: 'The attempts to deliver, the newest first.',
    response: WebhookAttempt,
    positionWords: 1,
    async handle({ webhooks }, { institutionId, params: { endpointId }, page }) {
      const found = await listAttempts(webhooks, { institutionId, ...ofAnyClient }, { endpointId, page });
      return { ...found, items: found.items.map(presentAttempt) };
    },
  }),
  operatorOperation({
    operationId: 'listDeliveries',
    method: 'GET',
    path: '/webhooks/{endpointId}/deliveries',
    right: 'institution:read',
    summary: 'The events that wait for another attempt, or that are parked.',
    query: Type.Object({ state: optional(oneOf(['WAITING', 'PARKED'])) }),
    response: WebhookDelivery,
    positionWords: 1,
    async handle(
      { webhooks },
      { institutionId, params: { endpointId }, query: { state = 'WAITING' }, page },
    ) {
      const wanted = { endpointId, state, page };
      const found = await listDeliveries(webhooks, { institutionId, ...ofAnyClient }, wanted);
      return { ...found, items: found.items.map(presentDelivery) };
    },
  }),
  operatorOperation({
    operationId: 'changeWebhook',
    method: 'PATCH',
    path: '/webhooks/{endpointId}',
    right: 'institution:change',
    summary: 'Pause an endpoint, or send again from its position on. Nothing is lost.',
    body: body({ reason, status: oneOf(endpointStatuses) }),
    response: WebhookEndpoint,
    async handle({ webhooks }, { institutionId, params: { endpointId }, body: { status }, origin }) {
      const caller = { institutionId, ...ofAnyClient, origin };
      await changeWebhook(webhooks, caller, { endpointId, change: { status } });
      return presentEndpoint(await getWebhook(webhooks, caller, endpointId));
    },
  }),
  operatorOperation({
    operationId: 'replayWebhook',
    method: 'POST',
    path: '/webhooks/{endpointId}/replay',
    right: 'institution:change',
    summary:
      'Send events again: all from a number or a time on, some by their ids, or those that are parked.',
    body: body({
      reason,
      from: optional(Type.Integer({ minimum: 1 })),
      since: optional(moment),
      eventIds: optional(Type.Array(text, { minItems: 1, maxItems: 100 })),
      parked: optional(flag),
    }),
    response: ReplayedEvents,
    handle({ webhooks }, { institutionId, params: { endpointId }, body: given, origin }) {
      const { from, since, eventIds, parked } = given;
      const ways = [
        from === undefined ? undefined : { from: BigInt(from) },
        since === undefined ? undefined : { since: readInstant('/since', since) },
        eventIds && { eventIds },
        parked === true ? { parked } : undefined,
      ].filter((way) => way !== undefined);
      const [replay, another] = ways;
      if (replay === undefined || another !== undefined)
        throw new Problem('invalid_request', 'Name one of from, since, eventIds and parked.');
      return replayWebhook(webhooks, { institutionId, ...ofAnyClient, origin }, { endpointId, replay });
    },
  }),
  operatorOperation({
    operationId: 'pingWebhook',
    method: 'POST',
    path: '/webhooks/{endpointId}/ping',
    right: 'institution:change',
    summary: 'Send a test event now.',
    body: withReason,
    response: WebhookAttempt,
    handle: async ({ webhooks }, { institutionId, params, origin }) =>
      presentAttempt(
        await pingWebhook(webhooks, { institutionId, ...ofAnyClient, origin }, params.endpointId),
      ),
  }),
];
