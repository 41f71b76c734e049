import * as Type from 'typebox/type';
import {
  type Attempt,
  type Endpoint,
  type EndpointKeys,
  endpointStatuses,
  orderings,
  payloads,
  type ShownEndpoint,
  type WaitingEvent,
} from '../webhooks/index.ts';
import { line } from './schemas.ts';

/** Shapes of webhooks in openapi.json, and the documents of that shape. */

export const endpointParameter = {
  endpointId: Type.String({
    pattern: '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$',
    description: 'Unique identifier of the endpoint.',
  }),
};

export const WebhookPayload = Type.Unsafe<Endpoint['payload']>({
  type: 'string',
  enum: [...payloads],
  description:
    'THIN: ids, type, sequences and time; fetch the rest. FULL: the event as in the feed. Default: THIN.',
});
export const WebhookOrdering = Type.Unsafe<Endpoint['ordering']>({
  type: 'string',
  enum: [...orderings],
  description:
    'ACCOUNT: an event is sent after every earlier one of its accounts. STRICT: after every earlier one. Default: ACCOUNT.',
});
export const WebhookStatus = Type.Unsafe<Endpoint['status']>({
  type: 'string',
  enum: [...endpointStatuses],
  description:
    'Nothing is sent unless ACTIVE. The position is kept: once ACTIVE again, it goes on from there.',
});
const url = Type.String({ maxLength: 2048, description: 'https, with a public address.' });
const eventTypes = Type.Array(Type.String({ pattern: '^[a-z_]+\\.[a-z_]+$', maxLength: 64 }), {
  minItems: 1,
  maxItems: 100,
  description: 'Only events of these types. Default: all.',
});

export const WebhookOrder = Type.Object(
  {
    url,
    description: Type.Optional(line(140)),
    eventTypes: Type.Optional(eventTypes),
    payload: Type.Optional(WebhookPayload),
    ordering: Type.Optional(WebhookOrdering),
  },
  { additionalProperties: false, description: 'A new endpoint.' },
);

export const WebhookUpdate = Type.Object(
  {
    url: Type.Optional(url),
    description: Type.Optional(line(140)),
    eventTypes: Type.Optional(eventTypes),
    allEventTypes: Type.Optional(
      Type.Boolean({ description: '`true` lifts the restriction to some types.' }),
    ),
    payload: Type.Optional(WebhookPayload),
    ordering: Type.Optional(WebhookOrdering),
    status: Type.Optional(WebhookStatus),
  },
  { additionalProperties: false, description: 'Changes; a field left out stays as it is.' },
);

export const WebhookReplay = Type.Object(
  {
    from: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: Number.MAX_SAFE_INTEGER,
        description: 'Every event from this sequence on.',
      }),
    ),
    since: Type.Optional(Type.String({ format: 'date-time', description: 'Every event from this time on.' })),
    eventIds: Type.Optional(
      Type.Array(Type.String({ minLength: 5, maxLength: 64 }), {
        minItems: 1,
        maxItems: 100,
        description: 'These events.',
      }),
    ),
    parked: Type.Optional(
      Type.Boolean({ description: '`true`: the parked events, at most a thousand at a time.' }),
    ),
  },
  { additionalProperties: false, description: 'Exactly one of the fields.' },
);

export const WebhookRotation = Type.Object(
  {
    overlapHours: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 720,
        description: 'Hours for which the secret before stays valid. Default: 24.',
      }),
    ),
  },
  { additionalProperties: false },
);

export const WebhookKeys = Type.Object(
  {
    secret: Type.String({ description: 'For signature `v1` (HMAC-SHA256): `whsec_…`. It is shown once.' }),
    publicKey: Type.String({ description: 'For signature `v1a` (Ed25519): `whpk_…`.' }),
  },
  { description: 'The keys by which a receiver verifies.' },
);

const moment = (description: string) => Type.String({ format: 'date-time', description });

export const WebhookEndpoint = Type.Object(
  {
    endpointId: Type.String({ format: 'uuid' }),
    clientId: Type.String({ description: 'The client that owns it.' }),
    url: Type.String(),
    description: Type.Optional(Type.String()),
    eventTypes: Type.Optional(Type.Array(Type.String(), { description: 'Missing: all.' })),
    payload: WebhookPayload,
    ordering: WebhookOrdering,
    status: WebhookStatus,
    statusReason: Type.Optional(
      Type.String({
        description:
          'Why it is not ACTIVE: `client` or `operator` changed it, it responded 410 (`gone`), or it failed for five days (`failing`). New values may be added.',
      }),
    ),
    createdAt: moment('Creation.'),
    sequence: Type.Integer({ description: 'The last event that was sent, or that waits on its own.' }),
    failures: Type.Integer({ description: 'Failed attempts since the last success.' }),
    failingSince: Type.Optional(moment('First of those failures.')),
    nextAttemptAt: Type.Optional(moment('After five failures in a row: nothing is sent before this.')),
    publicKeys: Type.Array(Type.String(), { description: 'The valid ones, the newest first.' }),
    keys: Type.Optional(WebhookKeys),
  },
  { description: 'An address to which events are sent.' },
);

export const WebhookAttempt = Type.Object(
  {
    sequence: Type.Optional(Type.Integer({ description: 'The sequence of the event; missing for a ping.' })),
    eventId: Type.String(),
    eventType: Type.String(),
    attemptedAt: moment('Start of the attempt.'),
    durationMs: Type.Integer(),
    delivered: Type.Boolean({ description: 'The response had a status from 200 to 299.' }),
    status: Type.Optional(Type.Integer({ description: 'Missing without a response.' })),
    error: Type.Optional(
      Type.String({
        description:
          'Why it failed: `status_…`, `timeout`, `connection`, `tls`, `name_not_found` or `address_not_allowed`. New values may be added.',
      }),
    ),
    response: Type.Optional(Type.String({ description: 'The first 256 bytes of the response, escaped.' })),
  },
  { description: 'One try to deliver an event.' },
);

export const WebhookDelivery = Type.Object(
  {
    eventId: Type.String(),
    sequence: Type.Integer(),
    attempts: Type.Integer(),
    nextAttemptAt: Type.Optional(
      moment('Missing for a parked event, and while an earlier event has to go first.'),
    ),
  },
  { description: 'An event that the endpoint has not accepted.' },
);

export const WebhookDeletion = Type.Object({
  endpointId: Type.String({ format: 'uuid' }),
  deleted: Type.Boolean({ description: '`true`.' }),
});

export const ReplayedEvents = Type.Object({
  events: Type.Integer({ description: 'Number of events to send again.' }),
});

export const endpointExample = {
  endpointId: '0b5e1a4e-8f0e-4c5b-9a55-3f1f6f0f2a11',
  clientId: 'demo-app',
  url: 'https://hooks.example.com/sharedraft',
  eventTypes: ['transfer.completed', 'transfer.failed'],
  payload: 'THIN',
  ordering: 'ACCOUNT',
  status: 'ACTIVE',
  createdAt: '2026-11-20T15:04:05.678Z',
  sequence: 90417,
  failures: 0,
  publicKeys: ['whpk_11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo='],
} as const;

export const keysExample = {
  secret: 'whsec_bm90IGEgc2VjcmV0OiBhbiBleGFtcGxlIGZvciB5b3U=',
  publicKey: endpointExample.publicKeys[0],
} as const;

export const attemptExample = {
  sequence: 90417,
  eventId: '0-731822-90551',
  eventType: 'transfer.completed',
  attemptedAt: '2026-11-20T15:04:05.900Z',
  durationMs: 112,
  delivered: false,
  status: 503,
  error: 'status_503',
  response: 'try later',
} as const;

export function presentEndpoint(endpoint: ShownEndpoint, keys?: EndpointKeys) {
  const { endpointId, clientId, url, description, eventTypes, payload, ordering, status, statusReason } =
    endpoint;
  const { createdAt, number, failures, failingSince, nextAttemptAt, publicKeys } = endpoint;
  return {
    endpointId,
    // Only mail has none, and no client sees that.
    clientId: clientId ?? '',
    url,
    ...(description !== null && { description }),
    ...(eventTypes !== null && { eventTypes }),
    payload,
    ordering,
    status,
    ...(statusReason !== null && { statusReason }),
    createdAt: createdAt.toISOString(),
    sequence: Number(number),
    failures,
    ...(failingSince !== null && { failingSince: failingSince.toISOString() }),
    ...(nextAttemptAt !== null && { nextAttemptAt: nextAttemptAt.toISOString() }),
    publicKeys: publicKeys.map(({ publicKey }) => publicKey),
    ...(keys && { keys }),
  };
}

export function presentAttempt(attempt: Attempt) {
  const { number, eventId, eventType, attemptedAt, durationMs, delivered, status, error, response } = attempt;
  return {
    ...(number !== null && { sequence: Number(number) }),
    eventId,
    eventType,
    attemptedAt: attemptedAt.toISOString(),
    durationMs,
    delivered,
    ...(status !== null && { status }),
    ...(error !== null && { error }),
    ...(response !== null && { response }),
  };
}

export function presentDelivery({ eventId, number, attempts, nextAttemptAt }: WaitingEvent) {
  return {
    eventId,
    sequence: Number(number),
    attempts,
    ...(nextAttemptAt !== null && { nextAttemptAt: nextAttemptAt.toISOString() }),
  };
}
