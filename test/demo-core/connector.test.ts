import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import type { Account, Instruction } from '../../dev/demo-core/books.ts';
import { Connector } from '../../dev/demo-core/connector.ts';
import { Core } from '../../dev/demo-core/core.ts';
import { readExtract } from '../../dev/demo-core/extract.ts';
import { type Fault, Switches } from '../../dev/demo-core/faults.ts';
import { planDay } from '../../dev/demo-core/life.ts';
import { randomOf } from '../../dev/demo-core/random.ts';
import { NoAnswerError, Service } from '../../dev/demo-core/service.ts';
import { type CoreDoors, openCoreDoors } from '../support/core-doors.ts';

let parent: string;
let meadow: { readonly accounts: Account[]; readonly zone: string };
before(async () => {
  parent = await mkdtemp(path.join(os.tmpdir(), 'sharedraft-connector-'));
  meadow = await readExtract('examples/meadow');
});
after(() => rm(parent, { recursive: true, force: true }));

interface Connected extends AsyncDisposable {
  readonly core: Core;
  readonly connector: Connector;
  readonly switches: Switches;
  readonly notes: string[];
}

async function connect(
  doors: CoreDoors,
  name: string,
  faults: readonly Fault[] = [],
  historyDays = 20,
): Promise<Connected> {
  const folder = path.join(parent, name);
  const core = await Core.open({
    ...meadow,
    folder,
    seed: 'test',
    historyDays,
    replayDays: 0,
    speed: 1,
  });
  const switches = new Switches();
  for (const fault of faults) switches.set(fault, true);
  const random = randomOf('faults');
  const notes: string[] = [];
  const service = new Service({ url: doors.address, clientId: 'a-core', key: doors.key, switches, random });
  const note = (event: string) => notes.push(event);
  const connector = new Connector({ core, service, switches, random, note, tickMillis: 5 });
  return { core, connector, switches, notes, [Symbol.asyncDispose]: () => core.close() };
}

function order(id: string, amount: number): Instruction {
  return {
    id,
    type: 'STANDARD',
    fromAccountId: 'a-1004-savings',
    toAccountId: 'a-1004-checking',
    amount,
    currencyCode: 'USD',
  };
}

/** Repeats the work until the service answers. */
async function untilAnswered(work: () => Promise<void>): Promise<void> {
  for (let tries = 0; tries < 200; tries += 1) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof NoAnswerError)) throw error;
    }
  }
  assert.fail('the door never answered');
}

test('the connector delivers every line once, with a token of its own key, and asks nothing twice after a restart', async () => {
  await using doors = await openCoreDoors();
  {
    await using first = await connect(doors, 'restart');
    await first.connector.deliver();
    assert.equal(doors.taken.size, first.core.books.lines.length);
    assert.deepEqual(first.core.undelivered(10), []);
  }
  await using second = await connect(doors, 'restart');
  doors.requests.length = 0;
  await second.connector.deliver();
  assert.deepEqual(doors.requests, []);
});

test('a token that the service no longer takes is renewed by the connector', async () => {
  await using doors = await openCoreDoors();
  await using connected = await connect(doors, 'token');
  doors.fail('/transactions', 401, 1);
  await connected.connector.deliver();
  assert.equal(doors.requests.filter((request) => request.endsWith('/token')).length, 2);
  assert.equal(doors.taken.size, connected.core.books.lines.length);
});

test('the connector decides an instruction once, reports it, and sends the echo after the outcome', async () => {
  await using doors = await openCoreDoors();
  await using connected = await connect(doors, 'echo');
  const { core, connector } = connected;
  doors.instructions.push(order('t-1', 25), order('t-2', 99_999_999));
  doors.fail('/outcome', 503, 1);
  await assert.rejects(connector.takeInstructions(0), NoAnswerError);
  await connector.deliver();
  assert.ok(core.books.decided.size === 2 && core.books.unreported.size >= 1);

  const balance = core.books.accounts.get('a-1004-savings')?.balance;
  await connector.takeInstructions(0);
  await connector.deliver();
  assert.equal(core.books.accounts.get('a-1004-savings')?.balance, balance);
  assert.deepEqual([...doors.outcomes].map(([id, outcome]) => [id, outcome.outcome]).sort(), [
    ['t-1', 'ACCEPTED'],
    ['t-2', 'REJECTED'],
  ]);
  const echoes = [...doors.taken.values()].filter(({ transferId }) => transferId === 't-1');
  assert.deepEqual(echoes.map(({ amount }) => amount).sort(), [-25, 25]);
  assert.deepEqual(core.undelivered(10), []);
});

test('returns from an outcome that the service contradicts with a note for an operator, and sends it once', async () => {
  await using doors = await openCoreDoors();
  await using connected = await connect(doors, 'contradicted');
  doors.instructions.push(order('t-1', 25));
  doors.fail('/outcome', 409, 1);
  await connected.connector.takeInstructions(0);
  assert.deepEqual(connected.notes, ['outcome_refused']);
  assert.equal(connected.core.books.unreported.size, 0);
});

test('the service gets each line and each outcome under all faults of the wire, and the core posts each order once', async () => {
  await using doors = await openCoreDoors();
  const faults = ['answers-lost', 'duplicates', 'out-of-order'] as const;
  await using connected = await connect(doors, 'faults', faults);
  const { core, connector, switches } = connected;
  const balance = core.books.accounts.get('a-1004-savings')?.balance ?? 0;
  for (let n = 1; n <= 30; n += 1) doors.instructions.push(order(`t-${n}`, 1));
  for (let round = 0; round < 5; round += 1) {
    await untilAnswered(() => connector.deliver());
    await untilAnswered(() => connector.takeInstructions(0));
  }
  for (const fault of faults) switches.set(fault, false);
  await connector.takeInstructions(0);
  await connector.deliver();
  assert.deepEqual(core.undelivered(10), []);
  assert.equal(doors.taken.size, core.books.lines.length);
  assert.equal(doors.outcomes.size, 30);
  assert.equal(core.books.accounts.get('a-1004-savings')?.balance, balance - 30_00);
  assert.equal(core.books.refused.size, 0);
});

test('a connector that is switched away sends nothing, and one that rejects refuses orders that the books allow', async () => {
  await using doors = await openCoreDoors();
  await using connected = await connect(doors, 'away', ['away', 'rejects']);
  const { connector, switches } = connected;
  await assert.rejects(connector.deliver(), NoAnswerError);
  assert.deepEqual(doors.requests, []);
  switches.set('away', false);
  for (let n = 0; n < 9; n += 1) doors.instructions.push(order(`t-${n}`, 1));
  await connector.takeInstructions(0);
  const rejected = [...doors.outcomes.values()].filter(({ outcome }) => outcome === 'REJECTED');
  assert.equal(rejected.length, 3);
});

test('the connector sends the records of opened accounts and new phone numbers before any line', async () => {
  await using doors = await openCoreDoors();
  await using connected = await connect(doors, 'records', [], 400);
  const { core, connector } = connected;
  const opened = core.books.records.filter(({ record }) => record === 'account');
  assert.ok(opened.length > 0 && opened.length < core.books.records.length);
  doors.fail('/records', 503, 1);
  await assert.rejects(connector.deliver(), NoAnswerError);
  assert.equal(doors.taken.size, 0);
  await connector.deliver();
  await connector.deliver();
  assert.deepEqual(doors.records, core.books.records);
  assert.equal(doors.taken.size, core.books.lines.length);
  assert.deepEqual(core.unannounced(10), []);
});

test('the plan of a day does not change when an account is opened on it', () => {
  const account = (accountId: string, openedOn?: string) => ({
    ...(meadow.accounts.find((one) => one.accountId === 'a-1001-savings') as Account),
    accountId,
    ...(openedOn !== undefined && { openedOn }),
  });
  const day = '2026-03-02';
  const before = planDay('test', day, meadow.accounts);
  assert.deepEqual(planDay('test', day, [...meadow.accounts, account('a-1001-club', day)]), before);
  const after = planDay('test', day, [...meadow.accounts, account('a-1001-club', '2026-03-01')]);
  assert.ok(after.some((act) => act.does === 'move' && act.toAccountId === 'a-1001-club'));
});
