import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createConnection } from 'node:net';
import { PassThrough } from 'node:stream';
import { after, before, describe, test } from 'node:test';
import { eventsOf } from '../../src/http/operators/event-stream.ts';
import { findOperator, LiveConsoles } from '../../src/operators/index.ts';
import type { LiveLimits } from '../../src/operators/live/live-consoles.ts';
import type { LiveMessage, LiveStream } from '../../src/operators/live/stream.ts';
import { type StatementMessage, seams } from '../../src/shared/seams.ts';
import { clientOf, paths } from '../support/demo.ts';
import { demoAddress, operatorOf, sendTo, type TestOperator } from '../support/operators.ts';
import { startTestService, type TestService } from '../support/service.ts';

const reason = { reason: 'a test' };
const fast = { tickMillis: 20 };
let service: TestService;
const operators = new Map<string, TestOperator>();

before(async () => {
  service = await startTestService({ environment: demoAddress });
  for (const name of ['Demo viewer', 'Demo teller', 'Demo approver', 'Demo auditor', 'Demo administrator'])
    operators.set(name, await operatorOf(service, name, 'harbor'));
});
after(() => service.close());

interface Console extends AsyncDisposable {
  readonly stream: LiveStream;
  readonly messages: AsyncGenerator<LiveMessage>;
  /** The next message of a kind. */
  next(event: LiveMessage['event']): Promise<LiveMessage>;
  leave(): void;
}

/** A console of a session, at streams of its own. */
async function openAt(
  consoles: LiveConsoles,
  { token }: Pick<TestOperator, 'token'>,
  lastId?: string,
): Promise<Console> {
  const operator = await findOperator(service.service.context, token);
  const left = new AbortController();
  const stream = consoles.open(operator, { lastId, left: left.signal });
  const messages = stream.messages();
  const leave = () => left.abort();
  return {
    ...{ stream, messages, leave },
    async next(event) {
      for (;;) {
        const { value, done } = await messages.next();
        assert.ok(!done, `the stream ended before ${event}`);
        if (value.event === event) return value;
      }
    },
    async [Symbol.asyncDispose]() {
      leave();
      await messages.return(undefined);
    },
  };
}

function consolesWith(limits: Partial<LiveLimits> = {}): LiveConsoles {
  return new LiveConsoles(service.service.context, { ...fast, ...limits });
}

function operatorNamed(name: string): TestOperator {
  return operators.get(name) as TestOperator;
}

async function order(id: string, amount: number): Promise<void> {
  const harbor = await clientOf(service, ['harbor-app', 'harbor-app-secret']);
  const accounts = { fromAccountId: 'a-1002-checking', toAccountId: 'a-1001-checking' };
  assert.equal((await harbor.post(paths.transfers, { id, amount, ...accounts })).status, 201);
}

const movedIn = ({ data }: LiveMessage): number =>
  JSON.parse(data).moved.reduce((sum: number, row: { transfers: number }) => sum + row.transfers, 0);

describe('a stream of a console', () => {
  test('carries the figures of Today again once a transfer was ordered, and names the queue that changed', async () => {
    await using console = await openAt(consolesWith(), operatorNamed('Demo viewer'));
    assert.deepEqual(JSON.parse((await console.next('changed')).data).screens, [
      'review',
      'breaks',
      'webhooks',
    ]);
    const first = movedIn(await console.next('figures'));
    await order('live-1', 510);
    assert.deepEqual(JSON.parse((await console.next('changed')).data).screens, ['review']);
    assert.equal(movedIn(await console.next('figures')), first + 1);
  });

  test('goes on after the last event of another process, with the changes since', async () => {
    await using first = await openAt(consolesWith(), operatorNamed('Demo viewer'));
    const { id } = await first.next('figures');
    await using again = await openAt(consolesWith(), operatorNamed('Demo viewer'), id);
    assert.equal((await again.messages.next()).value.event, 'figures');
    await order('live-2', 511);
    await using later = await openAt(consolesWith(), operatorNamed('Demo viewer'), id);
    assert.deepEqual(JSON.parse((await later.next('changed')).data).screens, ['review']);
  });

  test('ends when its session ends, its operator gets other roles, or its operator is suspended', async () => {
    const consoles = consolesWith();
    const teller = operatorNamed('Demo teller');
    const approver = operatorNamed('Demo approver');
    const auditor = await operatorOf(service, 'Demo auditor', 'harbor');
    const administrator = operatorNamed('Demo administrator');
    await using tellers = await openAt(consoles, teller);
    await using approvers = await openAt(consoles, approver);
    await using auditors = await openAt(consoles, auditor);
    await using others = await openAt(consoles, operatorNamed('Demo viewer'));
    const idOf = async (one: TestOperator) => (await one.get('/session')).body.operatorId;
    const change = async (one: TestOperator, body: object) =>
      administrator.send('PATCH', `/operators/${await idOf(one)}`, { ...body, ...reason });
    assert.equal((await change(teller, { roles: ['viewer', 'teller'] })).status, 200);
    assert.deepEqual(JSON.parse((await tellers.next('end')).data), { reason: 'roles' });
    assert.equal((await change(approver, { status: 'SUSPENDED' })).status, 200);
    assert.deepEqual(JSON.parse((await approvers.next('end')).data), { reason: 'session' });
    await service.db.superuser(`update operator_sessions set ended_at = now() where operator_id = $1`, [
      await idOf(auditor),
    ]);
    assert.deepEqual(JSON.parse((await auditors.next('end')).data), { reason: 'session' });
    await order('live-3', 5);
    await others.next('figures');
    for (const one of [tellers, approvers, auditors]) assert.equal((await one.messages.next()).done, true);
  });

  test('shows nothing of another institution', async () => {
    const consoles = consolesWith();
    const lakeside = await operatorOf(service, 'Demo viewer', 'lakeside');
    await using there = await openAt(consoles, lakeside);
    await using here = await openAt(consoles, operatorNamed('Demo viewer'));
    await there.next('figures');
    await here.next('figures');
    await order('live-4', 512);
    await here.next('changed');
    await here.next('figures');
    there.stream.end('stopping');
    const rest: string[] = [];
    for await (const { event } of there.messages) rest.push(event);
    assert.deepEqual(rest, ['end']);
  });

  test('asks the database one question a tick for a hundred of them', async () => {
    const questionsOf = async (streams: number) => {
      const consoles = consolesWith({ streamsOfOperator: 200 });
      const opened = await Promise.all(
        Array.from({ length: streams }, () => openAt(consoles, operatorNamed('Demo viewer'))),
      );
      await Promise.all(opened.map((one) => one.next('figures')));
      const counts = new Map<string, number>();
      const count = ({ statement }: StatementMessage) => {
        counts.set(statement, (counts.get(statement) ?? 0) + 1);
      };
      const listener = { asyncEnd: count };
      seams.statement.subscribe(listener);
      const waiting = opened.map((one) => one.messages.next());
      const deadline = performance.now() + 5_000;
      while ((counts.get('live_pulse') ?? 0) < 10 && performance.now() < deadline)
        await new Promise((resolve) => setTimeout(resolve, 5));
      seams.statement.unsubscribe(listener);
      for (const one of opened) one.leave();
      await Promise.all(waiting);
      return { pulses: counts.get('live_pulse') ?? 0, sessions: counts.get('access_sessions') ?? 0, counts };
    };
    const { pulses, sessions, counts } = await questionsOf(100);
    assert.ok(pulses >= 10 && pulses < 15, String(pulses));
    assert.ok(Math.abs(pulses - sessions) <= 1, `${pulses} ${sessions}`);
    assert.deepEqual(
      [...counts.keys()].filter((name) => /^figures|^access_session$/.test(name)),
      [],
    );
  });

  test('sends a beat in a silence, and cuts off a reader that takes nothing', async () => {
    await using console = await openAt(consolesWith({ beatMillis: 30 }), operatorNamed('Demo viewer'));
    await console.next('figures');
    await console.next('beat');
    const { cut } = console.stream;
    assert.equal(cut.aborted, false);
    await using slow = await openAt(
      consolesWith({ slowMillis: 50, beatMillis: 5 }),
      operatorNamed('Demo viewer'),
    );
    const { events, cut: cutOff } = eventsOf(slow.stream);
    // A socket without room: it takes one message, and nobody reads it.
    events.pipe(new PassThrough({ highWaterMark: 1 }));
    await once(cutOff, 'abort');
    assert.ok(events.readableLength <= 1);
  });

  test('ends if the database has not confirmed its session for some time', async () => {
    const { clock, businessTime, database } = service.service.context;
    let isSilent = false;
    const silent = Object.assign(Object.create(database), {
      read: (...given: Parameters<typeof database.read>) =>
        isSilent ? new Promise<never>(() => {}) : database.read(...given),
    });
    const consoles = new LiveConsoles(
      { database: silent, clock, businessTime },
      { ...fast, uncheckedMillis: 100 },
    );
    await using console = await openAt(consoles, operatorNamed('Demo viewer'));
    await console.next('changed');
    isSilent = true;
    assert.deepEqual(JSON.parse((await console.next('end')).data), { reason: 'unchecked' });
  });

  test('is refused beyond the limits of its operator and of the process', async () => {
    const consoles = consolesWith({ streamsOfOperator: 2, streamsOfProcess: 3 });
    const viewer = operatorNamed('Demo viewer');
    await using _one = await openAt(consoles, viewer);
    const two = await openAt(consoles, viewer);
    await assert.rejects(openAt(consoles, viewer), { code: 'too_many_requests' });
    await using _three = await openAt(consoles, operatorNamed('Demo administrator'));
    await assert.rejects(openAt(consoles, operatorNamed('Demo administrator')), { code: 'overloaded' });
    two.leave();
    await using _again = await openAt(consoles, viewer);
    consoles.close();
    await assert.rejects(openAt(consoles, viewer), { code: 'shutting_down' });
  });
});

describe('the stream over HTTP', () => {
  const address = '/operations/v1/today/stream';

  test('reaches a browser at once, unbuffered, and its connection ends with it', async () => {
    const { token } = operatorNamed('Demo viewer');
    const left = new AbortController();
    const response = await fetch(`${service.address}${address}`, {
      headers: { authorization: `Bearer ${token}`, accept: 'text/event-stream' },
      signal: left.signal,
    });
    assert.equal(response.status, 200);
    assert.equal(response.headers.get('content-type'), 'text/event-stream; charset=utf-8');
    assert.equal(response.headers.get('x-accel-buffering'), 'no');
    assert.match(response.headers.get('cache-control') ?? '', /no-transform/);
    assert.equal(response.headers.get('connection'), 'close');
    let text = '';
    const decoder = new TextDecoder();
    for await (const chunk of response.body ?? []) {
      text += decoder.decode(chunk, { stream: true });
      if (text.includes('event: figures')) break;
    }
    assert.match(text, /^retry: \d{4}\n\nevent: changed\nid: [\w-]+\.[\w-]+\.[\w-]+\ndata: \{/);
    left.abort();
  });

  test('is no use of the session, so that an open page does not keep it alive', async () => {
    const { token } = await operatorOf(service, 'Demo viewer', 'harbor');
    const lastUse = async () =>
      (await findOperator(service.service.context, token, false)).lastUsedAt.getTime();
    await service.db.superuser(
      `update operator_sessions set last_used_at = last_used_at - interval '5 minutes' where ended_at is null`,
    );
    const before = await lastUse();
    const headers = { authorization: `Bearer ${token}` };
    assert.equal((await sendTo(service.address, 'GET', '/today/stream', headers)).status, 200);
    assert.equal(await lastUse(), before);
    assert.equal((await sendTo(service.address, 'GET', '/today', headers)).status, 200);
    assert.ok((await lastUse()) > before);
  });

  test('HEAD opens no stream', async () => {
    const { token } = operatorNamed('Demo viewer');
    const response = await fetch(`${service.address}${address}`, {
      method: 'HEAD',
      headers: { authorization: `Bearer ${token}` },
    });
    assert.equal(response.status, 200);
  });

  test('does not hold up the end of the process', async () => {
    const other = await startTestService({ environment: demoAddress, beside: service });
    const { token } = operatorNamed('Demo viewer');
    const { hostname, port } = new URL(other.address);
    const socket = createConnection(Number(port), hostname);
    socket.write(`GET ${address} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n\r\n`);
    let text = '';
    socket.on('data', (bytes) => {
      text += bytes;
    });
    while (!text.includes('event: figures')) await once(socket, 'data');
    const ended = once(socket, 'close');
    const begun = performance.now();
    await other.close();
    await ended;
    assert.ok(performance.now() - begun < 2_000);
    assert.match(text, /event: end\ndata: \{"reason":"stopping"\}/);
  });
});
