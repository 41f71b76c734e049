import * as Type from 'typebox/type';
import { Problem } from '../../../shared/problem.ts';
import type { Replay } from '../../../webhooks/index.ts';
import { operation } from '../../operation.ts';
import { endpointParameter, ReplayedEvents, WebhookReplay } from '../../webhook-shapes.ts';

export const replayWebhook = operation({
  operationId: 'replayWebhook',
  method: 'POST',
  path: '/digitalbanking/db-webhooks/v1/endpoints/{endpointId}/replay',
  tag: 'Webhooks',
  summary: 'Replay webhook',
  description:
    'Sends events again: all from a sequence or a time on, some by their ids, or the parked ones. They have the same `webhook-id` as before.',
  token: 'client',
  scope: 'webhooks:manage',
  params: Type.Object(endpointParameter),
  body: {
    schema: WebhookReplay,
    mediaTypes: ['application/json'],
    examples: {
      from: { value: { from: 90400 } },
      since: { value: { since: '2026-11-20T15:00:00Z' } },
      some: { value: { eventIds: ['0-731822-90551'] } },
      parked: { value: { parked: true } },
    },
  },
  responses: {
    200: {
      description: 'The number of events that will be sent again, those of other types included.',
      schema: ReplayedEvents,
      examples: { some: { value: { events: 17 } } },
    },
  },
  problems: ['not_found', 'outcome_unknown'],
  async handle(services, { actor, params: { endpointId }, body, origin }) {
    const replay = readReplay(body);
    return { status: 200, body: await services.webhooks.replay(actor, { endpointId, replay }, origin) };
  },
});

function readReplay({ from, since, eventIds, parked }: Type.Static<typeof WebhookReplay>): Replay {
  const given: Replay[] = [];
  if (from !== undefined) given.push({ from: BigInt(from) });
  if (since !== undefined) given.push({ since: new Date(since) });
  if (eventIds !== undefined) given.push({ eventIds });
  if (parked === true) given.push({ parked });
  const [only, another] = given;
  if (only !== undefined && another === undefined) return only;
  throw new Problem('invalid_request', 'A replay starts at one place.', {
    errors: [{ pointer: '', detail: 'Needs exactly one of from, since, eventIds and parked.' }],
  });
}
