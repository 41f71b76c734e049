import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, truncate } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { type AccountState, type Line, toCents } from '../../dev/demo-core/books.ts';
import { Core, type CoreOptions } from '../../dev/demo-core/core.ts';
import { readExtract } from '../../dev/demo-core/extract.ts';
import { Switches } from '../../dev/demo-core/faults.ts';
import { planDay } from '../../dev/demo-core/life.ts';
import { writeNightlyFiles } from '../../dev/demo-core/nightly.ts';

const dayMillis = 24 * 60 * 60_000;
const noon = new Date('2026-11-20T19:00:00Z');

let parent: string;
let meadow: Pick<CoreOptions, 'accounts' | 'zone'>;
before(async () => {
  parent = await mkdtemp(path.join(os.tmpdir(), 'sharedraft-core-'));
  meadow = await readExtract('examples/meadow');
});
after(() => rm(parent, { recursive: true, force: true }));

function open(name: string, change: Partial<CoreOptions> = {}): Promise<Core> {
  return Core.open({
    ...meadow,
    folder: path.join(parent, name),
    seed: 'test',
    historyDays: 60,
    replayDays: 0,
    speed: 1,
    now: () => noon,
    ...change,
  });
}

const balancesOf = (core: Core) =>
  [...core.books.accounts.values()].map(({ accountId, balance, held }) => [accountId, balance, held]);

test('the day of the demo core depends on the seed, the day and the accounts only', () => {
  const plan = (seed: string, day: string) => planDay(seed, day, meadow.accounts);
  assert.deepEqual(plan('s', '2026-03-06'), plan('s', '2026-03-06'));
  assert.notDeepEqual(plan('s', '2026-03-06'), plan('t', '2026-03-06'));
  assert.notDeepEqual(plan('s', '2026-03-06'), plan('s', '2026-03-07'));
});

test('a year of the demo core has every kind of posting, never passes a floor, and ids are used once', async () => {
  await using core = await disposable(open('year', { historyDays: 365 }));
  const { lines, accounts } = core.core.books;
  assert.deepEqual([...new Set(lines.map(({ kind }) => kind))].sort(), [
    'ACH_CREDIT',
    'ACH_DEBIT',
    'ADJUSTMENT',
    'ATM',
    'CARD',
    'CHECK',
    'DIVIDEND',
    'FEE',
    'INTEREST',
    'LOAN_PAYMENT',
    'TELLER',
    'TRANSFER',
    'WIRE',
  ]);
  const postings = lines.filter(({ status }) => status === undefined);
  assert.equal(new Set(postings.map(({ id }) => id)).size, postings.length);
  assert.ok(postings.filter(({ accountId }) => accountId === 'a-1001-checking').length > 300);
  // Fees and interest are charged without regard to the floor.
  const least = lowestBalances(postings.filter(({ kind }) => kind !== 'FEE'));
  for (const [accountId, cents] of least) {
    const { type, floor } = accounts.get(accountId) as AccountState;
    if (!type.endsWith('_LOAN')) assert.ok(cents >= floor, `${accountId}: ${cents}`);
  }
});

test('history tells no authorization that ended in it, and has those that are still open', async () => {
  await using opened = await disposable(open('holds'));
  const { lines, accounts } = opened.core.books;
  const authorized = lines.filter(({ status }) => status !== undefined);
  const settled = new Set(lines.flatMap(({ authorizationId }) => authorizationId ?? []));
  assert.ok(authorized.length > 0);
  assert.deepEqual(
    authorized.filter(({ id }) => settled.has(id)),
    [],
  );
  const openOnes = new Map(authorized.map((line) => [line.id, line]));
  for (const { accountId, held } of accounts.values()) {
    const own = [...openOnes.values()].filter((line) => line.accountId === accountId);
    assert.equal(
      held,
      own.reduce((sum, { amount }) => sum - toCents(amount), 0),
      accountId,
    );
  }
});

test('a core whose journal was cut repeats the same days', async () => {
  let now = noon;
  const live = () => now;
  const straight = await open('straight', { now: live, historyDays: 3 });
  now = new Date(noon.getTime() + 4 * dayMillis);
  await straight.advance();
  const expected = { balances: balancesOf(straight), lines: [...straight.books.lines] };
  await straight.close();

  now = noon;
  const journal = path.join(parent, 'cut', 'journal');
  await (await open('cut', { now: live, historyDays: 3 })).close();
  const history = (await readFile(journal)).length;
  for (const days of [0.3, 0.9, 1.7, 2.2, 4]) {
    now = new Date(noon.getTime() + days * dayMillis);
    const core = await open('cut', { now: live });
    await core.advance();
    if (days === 4) {
      assert.deepEqual(balancesOf(core), expected.balances);
      assert.deepEqual(core.books.lines, expected.lines);
    }
    await core.close();
    const { length } = await readFile(journal);
    if (days < 4) await truncate(journal, Math.max(history, length - 333));
  }
});

test('the clock of the demo core replays past days at its speed, and is never ahead of the real one', async () => {
  let now = noon;
  await using opened = await disposable(
    open('replay', { now: () => now, historyDays: 5, replayDays: 10, speed: 86_400 }),
  );
  const { core } = opened;
  assert.equal(core.time().toISOString(), '2026-11-10T07:00:00.000Z');
  now = new Date(noon.getTime() + 3_000);
  assert.equal(core.time().toISOString(), '2026-11-13T07:00:00.000Z');
  const before = core.books.lines.length;
  await core.advance();
  assert.ok(core.books.lines.length > before);
  assert.deepEqual(
    core.books.lines.filter(({ postedAt }) => new Date(postedAt) > core.time()),
    [],
  );
  now = new Date(noon.getTime() + 60_000);
  assert.deepEqual(core.time(), now);
});

test('nightly files hold each finished day, balance with the books, and are written once', async () => {
  let now = noon;
  await using opened = await disposable(open('nightly', { now: () => now }));
  const { core } = opened;
  const folder = path.join(parent, 'nightly');
  const write = () => writeNightlyFiles(core, folder, new Switches());
  assert.deepEqual(await write(), []);
  await core.advance();
  assert.deepEqual(await write(), ['2026-11-19']);
  assert.deepEqual(await write(), []);
  now = new Date(noon.getTime() + 2 * dayMillis);
  await core.advance();
  assert.deepEqual(await write(), ['2026-11-20', '2026-11-21']);
  const rows = async (day: string, file: string) =>
    (await readFile(path.join(folder, 'nightly', day, file), 'utf8')).trim().split('\n').slice(1);
  const total = (texts: readonly string[], column: number) =>
    texts.reduce((sum, text) => sum + toCents(Number(text.split(',')[column])), 0);
  const day = await rows('2026-11-21', 'transactions.csv');
  const before = await rows('2026-11-20', 'balances.csv');
  const after = await rows('2026-11-21', 'balances.csv');
  assert.ok(day.length > 0);
  assert.equal(total(after, 1) - total(before, 1), total(day, 2));
});

test('balances are due once a day and when someone asks, and a crash repeats the moment that was under way', async () => {
  let now = noon;
  const clock = { now: () => now };
  const due = async (core: Core) => {
    const comparison = await core.comparisonDue();
    return comparison && [comparison.since.toISOString(), comparison.asOf.toISOString()];
  };
  const yesterday = ['2026-11-13T06:59:59.000Z', '2026-11-20T06:59:59.000Z'];
  {
    await using opened = await disposable(open('comparisons', clock));
    assert.equal(await due(opened.core), undefined);
    await opened.core.advance();
    assert.deepEqual(await due(opened.core), yesterday);
  }
  await using opened = await disposable(open('comparisons', clock));
  const { core } = opened;
  assert.deepEqual(await due(core), yesterday);
  await core.compared(new Date(yesterday[1] ?? ''));
  await core.advance();
  assert.equal(await due(core), undefined);

  core.askForComparison();
  const today = [yesterday[1], '2026-11-20T18:59:59.000Z'];
  assert.deepEqual(await due(core), today);
  now = new Date(noon.getTime() + dayMillis);
  await core.advance();
  assert.deepEqual(await due(core), today);
  await core.compared(new Date(today[1] ?? ''));
  assert.deepEqual(await due(core), [today[1], '2026-11-21T06:59:59.000Z']);
});

test('the balances of a moment are those of the postings until then', async () => {
  await using opened = await disposable(open('balances'));
  const { books } = opened.core;
  const [moment] = books.lines.filter(({ status }) => status === undefined).slice(-40);
  const asOf = new Date(moment?.postedAt ?? '');
  const later = books.postingsBetween(new Date(asOf.getTime() + 1_000), noon);
  const sums = new Map(books.balancesAt(asOf));
  assert.ok(later.length > 30);
  for (const { accountId, amount } of later)
    sums.set(accountId, (sums.get(accountId) ?? 0) + toCents(amount));
  assert.deepEqual(
    [...sums],
    [...books.accounts.values()].map(({ accountId, balance }) => [accountId, balance]),
  );
});

test('a second core on the same folder is refused', async () => {
  await using _first = await disposable(open('shared'));
  await assert.rejects(open('shared'), /Another core runs on/);
});

async function disposable(opening: Promise<Core>): Promise<{ readonly core: Core } & AsyncDisposable> {
  const core = await opening;
  return { core, [Symbol.asyncDispose]: () => core.close() };
}

function lowestBalances(lines: readonly Line[]): Map<string, number> {
  const balances = new Map<string, number>();
  const lowest = new Map<string, number>();
  for (const { accountId, amount } of lines) {
    const balance = (balances.get(accountId) ?? 0) + toCents(amount);
    balances.set(accountId, balance);
    lowest.set(accountId, Math.min(balance, lowest.get(accountId) ?? balance));
  }
  return lowest;
}
