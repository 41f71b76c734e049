import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DatabaseFacts, InstitutionFacts } from './facts.ts';
import type { Finding } from './finding.ts';
import {
  judgeDatabase,
  judgeDisk,
  judgeInstitution,
  judgeKey,
  judgeReplication,
  judgeWork,
} from './judge.ts';

const now = new Date('2026-03-02T12:00:00Z');
const before = (seconds: number) => new Date(now.getTime() - seconds * 1_000);
const day = 86_400;

const sound: DatabaseFacts = {
  serverVersion: '18.1',
  now,
  isEncrypted: true,
  serviceConnections: 12,
  transactionAge: 1_000,
  multixactAge: 1,
  longestTransactionSeconds: 0,
  preparedTransactions: 0,
  invalidIndexes: [],
  indexes: ['one', 'two'],
  bloatedTables: [],
};

const database = (facts: Partial<DatabaseFacts>) =>
  judgeDatabase({ ...sound, ...facts }, { clock: now, expectedIndexes: ['one', 'two'] });

/** The findings that are not ok, as `check verdict`. */
const bad = (findings: readonly Finding[]) =>
  findings.filter(({ verdict }) => verdict !== 'ok').map(({ check, verdict }) => `${check} ${verdict}`);

const cases: readonly (readonly [what: string, facts: Partial<DatabaseFacts>, finding: string])[] = [
  ['clocks that differ by three seconds', { now: before(3) }, 'clock warning'],
  ['clocks that differ by two minutes', { now: before(-120) }, 'clock problem'],
  ['an invalid index', { invalidIndexes: ['one'] }, 'indexes problem'],
  ['a missing index', { indexes: ['two'] }, 'indexes problem'],
  ['dead rows', { bloatedTables: ['balances'] }, 'dead rows warning'],
  ['old transaction ids', { transactionAge: 600_000_000 }, 'transaction ids warning'],
  ['transaction ids near the limit', { transactionAge: 1_600_000_000 }, 'transaction ids problem'],
  ['multixact ids near the limit', { multixactAge: 1_600_000_000 }, 'multixact ids problem'],
  ['a transaction of two minutes', { longestTransactionSeconds: 120 }, 'long transactions warning'],
  ['a transaction of two hours', { longestTransactionSeconds: 7_200 }, 'long transactions problem'],
  ['a prepared transaction', { preparedTransactions: 1 }, 'prepared transactions problem'],
];

test('finds nothing wrong in a sound database, also without a running service', () => {
  assert.deepEqual(bad(database({})), []);
  assert.deepEqual(bad(database({ serviceConnections: 0 })), []);
});

for (const [what, facts, finding] of cases) {
  test(`reports ${what} alone, with a cure`, () => {
    const findings = database(facts);
    assert.deepEqual(bad(findings), [finding]);
    assert.ok(findings.filter(({ verdict }) => verdict !== 'ok').every(({ cure }) => cure !== null));
  });
}

test('reports standbys for which no commit waits, and neither a server without any nor a synchronous one', () => {
  const verdictOf = (standbys: number, isSynchronous: boolean) =>
    judgeReplication({ standbys, isSynchronous }).verdict;
  assert.equal(verdictOf(2, false), 'warning');
  assert.equal(verdictOf(0, false), 'ok');
  assert.equal(verdictOf(2, true), 'ok');
  assert.equal(verdictOf(0, true), 'ok', 'readyz tells if commits wait for ever');
});

test('reports a signing key that no service has rotated, and none before the first start', () => {
  assert.equal(judgeKey({ keys: 0, signsFrom: null }, now, 90).verdict, 'ok');
  assert.equal(judgeKey({ keys: 1, signsFrom: before(90 * day) }, now, 90).verdict, 'ok');
  assert.equal(judgeKey({ keys: 1, signsFrom: before(92 * day) }, now, 90).verdict, 'warning');
  assert.equal(judgeKey({ keys: 1, signsFrom: null }, now, 90).verdict, 'problem');
});

test('reports overdue transfers, stopped ones and a feed that is held back', () => {
  const work = {
    overdue: 0,
    stopped: 0,
    feedLagSeconds: 0,
    eventKeysAhead: 2_000_000n,
    eventDefaultBytes: 0n,
  };
  assert.deepEqual(bad(judgeWork(work)), []);
  assert.deepEqual(bad(judgeWork({ ...work, overdue: 2 })), ['due transfers problem']);
  assert.deepEqual(bad(judgeWork({ ...work, stopped: 2 })), ['stopped transfers warning']);
  assert.deepEqual(bad(judgeWork({ ...work, feedLagSeconds: 700 })), ['feed of events problem']);
  assert.deepEqual(bad(judgeWork({ ...work, eventKeysAhead: 999_999n })), ['partitions of events warning']);
  assert.deepEqual(bad(judgeWork({ ...work, eventDefaultBytes: 8_192n })), ['partitions of events warning']);
});

const quiet: InstitutionFacts = {
  record: 'ledger',
  webhooks: 0,
  webhooksDisabled: 0,
  webhooksFailingSince: null,
  coreHeardAt: null,
  oldestUndeliveredAt: null,
  reconciledAt: before(day),
  fullyReconciledAt: before(3 * day),
  findings: 0,
  reconcileRun: null,
};

const institutions: readonly (readonly [
  what: string,
  facts: Partial<InstitutionFacts>,
  bad: readonly string[],
])[] = [
  ['a reconciled institution', {}, []],
  ['books that were never reconciled', { reconciledAt: null, findings: null }, ['reconcile pine warning']],
  ['books reconciled ten days ago', { reconciledAt: before(10 * day) }, ['reconcile pine warning']],
  [
    'books of which only changes are checked',
    { fullyReconciledAt: before(36 * day) },
    ['reconcile pine warning'],
  ],
  ['books whose full runs were not noted yet', { fullyReconciledAt: null }, []],
  ['rows that are off', { findings: 3 }, ['reconcile pine problem']],
  ['a failing webhook', { webhooks: 2, webhooksFailingSince: before(60) }, ['webhooks pine warning']],
  ['a disabled webhook', { webhooks: 2, webhooksDisabled: 1 }, ['webhooks pine problem']],
  ['a core that asks', { record: 'core', coreHeardAt: before(10) }, []],
  ['a core that never asked', { record: 'core' }, ['core pine warning']],
  ['a quiet core with nothing to fetch', { record: 'core', coreHeardAt: before(day) }, ['core pine warning']],
  [
    'a core that leaves instructions',
    { record: 'core', coreHeardAt: before(day), oldestUndeliveredAt: before(day) },
    ['core pine problem'],
  ],
];

for (const [what, facts, expected] of institutions) {
  test(`judges ${what}`, () => {
    assert.deepEqual(bad(judgeInstitution('pine', { ...quiet, ...facts }, now)), expected);
  });
}

test('judges a disk by its free bytes and its share', () => {
  const disk = (freeBytes: number, bytes: number) => judgeDisk('/data', { freeBytes, bytes }).verdict;
  assert.deepEqual(
    [disk(50e9, 100e9), disk(9e9, 100e9), disk(1e9, 4e9), disk(1e8, 1e9)],
    ['ok', 'warning', 'warning', 'problem'],
  );
});
