import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { appendEvents, type NewEvent, wipeExpiredSecrets } from '../../src/events/index.ts';
import type { Institution } from '../../src/institutions/index.ts';
import { sql } from '../../src/storage/index.ts';
import { anInstitution } from '../support/builders.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';

const at = new Date('2026-03-02T12:00:00.123Z');
const later = new Date('2026-03-05T12:00:00Z');

let db: TestDatabase;
let institution: Institution;

before(async () => {
  db = await testDatabase();
});
after(() => db.close());

async function fresh(): Promise<Institution> {
  institution = await anInstitution(db.database);
  return institution;
}

function append(events: readonly NewEvent[]): Promise<void> {
  const { institutionId } = institution;
  return db.database.transaction(institutionId, (tx) => appendEvents(tx, events, at));
}

interface StoredEvent {
  readonly kind: string;
  readonly subjectKey: bigint;
  readonly secret: Buffer | null;
  readonly secretExpiresAt: Date | null;
  readonly recordedAt: Date;
}

const stored = sql(
  'test_stored_events',
  `select kind, subject_key, from_key, from_seq, to_key, to_seq, data, secret, secret_expires_at, recorded_at
   from outbox where institution_id = $1 order by event_key`,
);

async function events(): Promise<StoredEvent[]> {
  const { institutionId } = institution;
  return db.database.read(
    institutionId,
    async (q) => (await q.query<StoredEvent>(stored, [institutionId])).rows,
  );
}

test('stores an event with all of its data and nothing else', async () => {
  await fresh();
  const secret = Uint8Array.from([0, 255, 92, 34, 39]);
  await append([
    {
      kind: 'transfer.completed',
      subjectKey: 9_007_199_254_740_993n,
      fromKey: 1n,
      fromSeq: 2n,
      toKey: 3n,
      toSeq: 4n,
      data: { before: { emailAddress: `quote " ' \\ {},` }, after: [null, 1.5] },
      secret,
      secretExpiresAt: later,
    },
    { kind: 'member.activated', subjectKey: 5n },
  ]);
  assert.deepEqual(await events(), [
    {
      kind: 'transfer.completed',
      subjectKey: 9_007_199_254_740_993n,
      fromKey: 1n,
      fromSeq: 2n,
      toKey: 3n,
      toSeq: 4n,
      data: { before: { emailAddress: `quote " ' \\ {},` }, after: [null, 1.5] },
      secret: Buffer.from(secret),
      secretExpiresAt: later,
      recordedAt: at,
    },
    {
      kind: 'member.activated',
      subjectKey: 5n,
      fromKey: null,
      fromSeq: null,
      toKey: null,
      toSeq: null,
      data: null,
      secret: null,
      secretExpiresAt: null,
      recordedAt: at,
    },
  ]);
});

test('stores many events in the given order', async () => {
  await fresh();
  const given = Array.from({ length: 1000 }, (_, i) => ({
    kind: 'transfer.pending',
    subjectKey: BigInt((i * 7919) % 1000),
  }));
  await append(given);
  assert.deepEqual(
    (await events()).map((event) => event.subjectKey),
    given.map((event) => event.subjectKey),
  );
});

test('runs no statement for an empty list of events', async () => {
  await fresh();
  await append([]);
  assert.deepEqual(await events(), []);
});

test('stores an event exactly if its transaction commits', async () => {
  const { institutionId } = await fresh();
  const failed = db.database.transaction(institutionId, async (tx) => {
    await appendEvents(tx, [{ kind: 'member.activated', subjectKey: 1n }], at);
    throw new Error('the change failed');
  });
  await assert.rejects(failed, /the change failed/);
  assert.deepEqual(await events(), []);
});

test('refuses a secret without an expiry and an expiry without a secret before storing anything', async () => {
  await fresh();
  const event = { kind: 'member.registered', subjectKey: 1n };
  await assert.rejects(append([{ ...event, secret: new Uint8Array(3) }]), TypeError);
  await assert.rejects(append([{ ...event, secretExpiresAt: later }]), TypeError);
  assert.deepEqual(await events(), []);
});

test('writes and reads no event of another institution', async () => {
  const other = await fresh();
  await append([{ kind: 'member.activated', subjectKey: 1n }]);
  const mine = await anInstitution(db.database);
  const crossing = db.database.transaction(mine.institutionId, (tx) =>
    appendEvents(
      { ...tx, institutionId: other.institutionId },
      [{ kind: 'member.activated', subjectKey: 2n }],
      at,
    ),
  );
  await assert.rejects(crossing, /row-level security/);
  const seen = await db.database.read(mine.institutionId, (q) => q.query(stored, [other.institutionId]));
  assert.deepEqual(seen.rows, []);
  assert.equal((await events()).length, 1);
});

test('wipes a secret at its expiry and not before, and keeps the event', async () => {
  const { institutionId } = await fresh();
  const secret = Uint8Array.from([1, 2, 3]);
  await append([
    { kind: 'member.registered', subjectKey: 1n, secret, secretExpiresAt: later },
    { kind: 'member.registered', subjectKey: 2n, secret, secretExpiresAt: new Date(later.getTime() + 1) },
    { kind: 'member.activated', subjectKey: 3n },
  ]);
  const wipe = (now: Date) => db.database.transaction(institutionId, (tx) => wipeExpiredSecrets(tx, now));
  const secrets = async () => (await events()).map((event) => event.secret?.toString('hex') ?? null);

  assert.equal(await wipe(new Date(later.getTime() - 1)), 0);
  assert.deepEqual(await secrets(), ['010203', '010203', null]);
  assert.equal(await wipe(later), 1);
  assert.deepEqual(await secrets(), [null, '010203', null]);
  assert.equal(await wipe(later), 0, 'wiping again wipes nothing');
  assert.deepEqual(
    (await events()).map(({ kind, secretExpiresAt }) => [kind, secretExpiresAt !== null]),
    [
      ['member.registered', false],
      ['member.registered', true],
      ['member.activated', false],
    ],
  );
});

test('does not wipe the secrets of another institution', async () => {
  await fresh();
  await append([
    { kind: 'member.registered', subjectKey: 1n, secret: new Uint8Array([7]), secretExpiresAt: later },
  ]);
  const other = await anInstitution(db.database);
  const wiped = await db.database.transaction(other.institutionId, (tx) =>
    wipeExpiredSecrets({ ...tx, institutionId: institution.institutionId }, new Date('2030-01-01T00:00:00Z')),
  );
  assert.equal(wiped, 0);
  assert.equal((await events())[0]?.secret?.length, 1);
});
