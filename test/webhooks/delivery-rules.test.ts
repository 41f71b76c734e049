import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FeedEvent } from '../../src/feed/index.ts';
import { dueOf } from '../../src/webhooks/delivery/deliver.ts';
import type { Delivery } from '../../src/webhooks/delivery/delivery-queries.ts';
import { endpointAfter, waitingAfter } from '../../src/webhooks/delivery/outcome.ts';
import {
  attemptsOfAnEvent,
  failuresThatStop,
  probeAt,
  retryAt,
  retryDelaysSeconds,
} from '../../src/webhooks/delivery/schedule.ts';
import { bodyOf, type Endpoint, lanesOf, wants } from '../../src/webhooks/endpoints/endpoint.ts';

const at = new Date('2026-03-02T12:00:00Z');
const later = (seconds: number) => new Date(at.getTime() + seconds * 1000);
const failed = { at, spread: 1 };

test('retries after five seconds, then ever less often, for 75 hours, and then no more', () => {
  const delays = retryDelaysSeconds.map((_, index) => retryAt(index + 1, failed));
  assert.deepEqual(delays, retryDelaysSeconds.map(later));
  assert.equal(retryAt(attemptsOfAnEvent, failed), undefined);
  const hours = retryDelaysSeconds.reduce((sum, delay) => sum + delay, 0) / 3600;
  assert.ok(hours > 75 && hours < 76, `${hours}`);
});

test('waits for as long as Retry-After says, and a day at most', () => {
  assert.deepEqual(retryAt(1, { ...failed, retryAfterSeconds: 60 }), later(60));
  assert.deepEqual(retryAt(2, { ...failed, retryAfterSeconds: 60 }), later(300));
  assert.deepEqual(retryAt(1, { ...failed, retryAfterSeconds: 10 ** 9 }), later(86_400 * 1.1));
});

test('stops an endpoint after five failures in a row, and probes it', () => {
  assert.equal(probeAt(failuresThatStop - 1, failed), null);
  assert.deepEqual(probeAt(failuresThatStop, failed), later(10));
  assert.deepEqual(probeAt(failuresThatStop + 100, failed), later(3_600));
  assert.deepEqual(probeAt(1, { ...failed, retryAfterSeconds: 30 }), later(30));
});

const endpoint: Endpoint = {
  endpointId: 'e',
  transport: 'HTTPS',
  clientId: 'app',
  url: 'https://hooks.example.com/',
  description: null,
  eventTypes: null,
  payload: 'THIN',
  ordering: 'ACCOUNT',
  status: 'ACTIVE',
  statusReason: null,
  createdAt: at,
  position: [0n, 10n, 0n],
  number: 10n,
  failures: 0,
  failingSince: null,
  nextAttemptAt: null,
};

function eventOf(
  sequence: bigint,
  accounts: readonly string[] = [],
  more: Partial<FeedEvent> = {},
): FeedEvent {
  return {
    eventId: `0-${sequence}-${sequence}`,
    sequence,
    position: [0n, sequence, sequence],
    kind: 'transfer.completed',
    at,
    userId: 'u-1',
    transfer: null,
    accounts: accounts.map((accountId) => ({ accountId, sequence })),
    data: null,
    ...more,
  };
}

const transfer = {
  id: 't-1',
  transferType: 'STANDARD',
  fromAccountId: 'a',
  toAccountId: 'b',
  amountMinor: 10525n,
  currencyCode: 'USD',
  status: 'COMPLETED',
  createdAt: at,
  failureCode: undefined,
  memo: null,
};

test('orders an event behind those of its accounts, else of its user, and in a strict endpoint behind all', () => {
  assert.deepEqual(lanesOf(endpoint, eventOf(1n, ['a', 'b'])), ['account:a', 'account:b']);
  assert.deepEqual(lanesOf(endpoint, eventOf(1n, [], { transfer })), ['account:a', 'account:b']);
  assert.deepEqual(lanesOf(endpoint, eventOf(1n)), ['user:u-1']);
  assert.deepEqual(lanesOf(endpoint, eventOf(1n, [], { userId: null })), ['institution']);
  assert.deepEqual(lanesOf({ ordering: 'STRICT' }, eventOf(1n, ['a'])), ['all']);
});

test('writes a thin payload without amounts, memo and data, and a full one as the feed shows it', () => {
  const event = eventOf(7n, ['a'], { transfer, data: { secret: 1 } });
  const render = () => ({ whole: true });
  assert.deepEqual(JSON.parse(bodyOf('THIN', event, render)), {
    eventId: '0-7-7',
    sequence: 7,
    eventType: 'transfer.completed',
    timestamp: at.toISOString(),
    userId: 'u-1',
    transferId: 't-1',
    accounts: [{ accountId: 'a', sequence: 7 }],
  });
  assert.deepEqual(JSON.parse(bodyOf('FULL', event, render)), { whole: true });
});

test('wants only the types of its endpoint', () => {
  assert.equal(wants(endpoint, eventOf(1n)), true);
  assert.equal(wants({ eventTypes: ['member.activated'] }, eventOf(1n)), false);
});

function deliveryOf(number: bigint, lanes: readonly string[], nextAttemptAt: Date | null): Delivery {
  return { number, position: [0n, number, number], lanes, state: 'WAITING', attempts: 1, nextAttemptAt };
}

test('sends a waiting event when its time has come and no earlier one of its lanes waits longer', () => {
  const waiting = [
    deliveryOf(1n, ['a'], later(60)),
    deliveryOf(2n, ['a', 'b'], null),
    deliveryOf(3n, ['b'], null),
    deliveryOf(4n, ['c'], at),
    deliveryOf(5n, ['c'], null),
    deliveryOf(6n, ['d'], later(1)),
  ];
  assert.deepEqual(
    dueOf(waiting, at).map(({ number }) => number),
    [4n, 5n],
  );
  assert.deepEqual(
    dueOf(waiting, later(60)).map(({ number }) => number),
    [1n, 2n, 3n, 4n, 5n, 6n],
  );
});

const accepted = {
  status: 204,
  error: undefined,
  response: '',
  retryAfterSeconds: undefined,
  durationMillis: 1,
};
const refused = { ...accepted, status: 500, error: 'status_500' };
const pairOf = (number: bigint, result: Parameters<typeof endpointAfter>[1][number]['result']) => ({
  item: { event: eventOf(number), delivery: undefined, lanes: ['x'], isBehind: false },
  result,
});

test('moves the position past events that are accepted, unwanted or wait on their own, and not past unsent ones', () => {
  const next = endpointAfter(
    endpoint,
    [
      pairOf(11n, { kind: 'accepted', posted: accepted, at: later(2) }),
      pairOf(12n, { kind: 'unwanted' }),
      pairOf(13n, { kind: 'failed', posted: refused, at: later(1) }),
      pairOf(14n, { kind: 'blocked' }),
      pairOf(15n, { kind: 'unsent' }),
      pairOf(16n, { kind: 'blocked' }),
    ],
    later(3),
  );
  assert.equal(next.number, 14n);
  assert.deepEqual(next.position, [0n, 14n, 14n]);
  assert.deepEqual([next.failures, next.failingSince], [0, null]);
});

test('sends no event again that was sent before an earlier one was left unsent', () => {
  const pairs = [
    pairOf(11n, { kind: 'failed', posted: refused, at }),
    pairOf(12n, { kind: 'unsent' }),
    pairOf(13n, { kind: 'accepted', posted: accepted, at }),
    pairOf(14n, { kind: 'failed', posted: refused, at }),
    pairOf(15n, { kind: 'unsent' }),
    pairOf(16n, { kind: 'blocked' }),
  ];
  assert.equal(endpointAfter(endpoint, pairs, at).number, 14n);
  const rows = waitingAfter(pairs).map(({ item }) => item.event.sequence);
  assert.deepEqual(rows, [11n, 12n, 14n], 'a row for each event behind the position that was not accepted');
});

test('leaves the row of a waiting event that was not sent as it is', () => {
  const delivery = deliveryOf(9n, ['x'], null);
  const of = (result: Parameters<typeof endpointAfter>[1][number]['result']) => ({
    item: { event: eventOf(9n), delivery, lanes: ['x'], isBehind: false },
    result,
  });
  for (const kind of ['unsent', 'blocked'] as const) assert.deepEqual(waitingAfter([of({ kind })]), []);
  assert.equal(waitingAfter([of({ kind: 'failed', posted: refused, at })]).length, 1);
});

test('counts failures in a row from the last success, and forgets them at the next', () => {
  const failing = endpointAfter(endpoint, [pairOf(11n, { kind: 'failed', posted: refused, at })], at);
  assert.deepEqual([failing.failures, failing.failingSince, failing.nextAttemptAt], [1, at, null]);
  const more = endpointAfter(
    failing,
    [pairOf(12n, { kind: 'failed', posted: refused, at: later(9) })],
    later(9),
  );
  assert.deepEqual([more.failures, more.failingSince], [2, at]);
  const well = endpointAfter(
    more,
    [pairOf(13n, { kind: 'accepted', posted: accepted, at: later(10) })],
    later(10),
  );
  assert.deepEqual([well.failures, well.failingSince, well.status], [0, null, 'ACTIVE']);
});

test('counts a refusal for good as a sign that the receiver works, and lets the event go', () => {
  const final = { ...refused, status: 550, error: 'refused', isFinal: true };
  const pairs = [pairOf(11n, { kind: 'refused', posted: final, at })];
  const next = endpointAfter({ ...endpoint, failures: 4, failingSince: at }, pairs, at);
  assert.deepEqual([next.number, next.failures, next.failingSince], [11n, 0, null]);
  assert.deepEqual(waitingAfter(pairs), []);
});

test('disables an endpoint that is gone, or that has failed for five days', () => {
  const gone = { ...refused, status: 410, error: 'status_410' };
  const first = endpointAfter(endpoint, [pairOf(11n, { kind: 'failed', posted: gone, at })], at);
  assert.deepEqual([first.status, first.statusReason], ['DISABLED', 'gone']);
  const old = { ...endpoint, failures: 50, failingSince: later(-120 * 3600) };
  const last = endpointAfter(old, [pairOf(11n, { kind: 'failed', posted: refused, at })], at);
  assert.deepEqual([last.status, last.statusReason], ['DISABLED', 'failing']);
});
