import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type Changes, selectChanges } from '../../src/memory/change-queries.ts';
import { Basis, ChangeWatch, deleteOldChanges } from '../../src/memory/index.ts';
import { Database, type InstitutionId, sql } from '../../src/storage/index.ts';
import { aMember, anAccount, anInstitution, type Member } from '../support/builders.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { eventually } from '../support/processes.ts';

let db: TestDatabase;
let questions: Database;
let member: Member;
let institutionId: InstitutionId;
before(async () => {
  db = await testDatabase();
  questions = new Database({ connection: db.connection, maxConnections: 2 });
  member = await aMember(db.database, await anInstitution(db.database));
  institutionId = member.institution.institutionId;
});
after(async () => {
  await questions.close();
  await db.close();
});

const nothing = { institutions: [], accountKeys: [], seqs: [] };
const since = (at: string | null, known: Parameters<typeof selectChanges>[2] = nothing): Promise<Changes> =>
  questions.directory((d) => selectChanges(d, { since: at }, known));
const now = async () => (await since(null)).at;

const rename = sql(
  'test_rename',
  'update persons set last_name = $3 where institution_id = $1 and person_key = $2',
);
const renaming = (of: Member, name: string) =>
  [of.institution.institutionId, of.person.personKey, name] as const;

/** The number of a thing as the database returns it. */
function numberOf(of: Member): string {
  const basis = Basis.none(of.institution.institutionId);
  basis.add('person', of.person.personKey);
  return String(basis.subjects[1] ?? assert.fail());
}

describe('changes_since', () => {
  test('returns a committed change to each question that began before it, and to no later one', async () => {
    const at = await now();
    await db.database.write(institutionId, (d) => d.query(rename, renaming(member, 'One')));
    const { at: later, changed } = await since(at);
    assert.deepEqual(changed, [numberOf(member)]);
    assert.deepEqual((await since(at)).changed, [numberOf(member)]);
    assert.deepEqual((await since(later)).changed ?? [], []);
  });

  test('returns a change when it commits, however long its transaction ran, and never one that was rolled back', async () => {
    const other = await aMember(db.database, member.institution);
    const begun = Promise.withResolvers<void>();
    const gate = Promise.withResolvers<void>();
    const slow = db.database.transaction(institutionId, async (tx) => {
      await tx.query(rename, renaming(member, 'Slow'));
      begun.resolve();
      await gate.promise;
    });
    await begun.promise;
    const at = await now();
    await db.database.write(institutionId, (d) => d.query(rename, renaming(other, 'Quick')));
    const { at: between, changed } = await since(at);
    assert.deepEqual(changed, [numberOf(other)]);
    gate.resolve();
    await slow;
    assert.deepEqual((await since(between)).changed, [numberOf(member)]);

    const { at: before } = await since(null);
    const undone = db.database.transaction(institutionId, async (tx) => {
      await tx.query(rename, renaming(member, 'Never'));
      throw new Error('undone');
    });
    await assert.rejects(undone, /undone/);
    assert.deepEqual((await since(before)).changed ?? [], []);
  });

  test('returns each change that was confirmed before the question, with many writers at once', async () => {
    const members = await Promise.all(
      Array.from({ length: 8 }, () => aMember(db.database, member.institution)),
    );
    const write = async (of: Member) => {
      for (let round = 0; round < 40; round += 1) {
        const at = await now();
        await db.database.write(institutionId, (d) => d.query(rename, renaming(of, `Round ${round}`)));
        const { changed } = await since(at);
        assert.ok(changed?.includes(numberOf(of)), `round ${round}: ${changed}`);
      }
    };
    await Promise.all(members.map(write));
  });

  test('returns the places of balances that moved, of each institution by itself', async () => {
    const elsewhere = await aMember(db.database, await anInstitution(db.database));
    const [mine, theirs] = [
      await anAccount(db.database, member, {}),
      await anAccount(db.database, elsewhere, {}),
    ];
    const rows = await db.superuser<{ account_key: bigint; seq: bigint }>(
      'select account_key, seq from balances',
    );
    const seqOf = (key: bigint) => rows.find((row) => row.account_key === key)?.seq ?? assert.fail();
    const [here, there] = [mine.accountKey, theirs.accountKey];
    const known = {
      institutions: [1, 2, 1, 2, 1].map((which) =>
        which === 1 ? institutionId : elsewhere.institution.institutionId,
      ),
      accountKeys: [here, there, here, there, there],
      seqs: [seqOf(here), seqOf(there), seqOf(here) + 1n, seqOf(there) + 1n, seqOf(there)],
    };
    const { moved } = await since(null, known);
    // An account of another institution is as good as none.
    assert.deepEqual(moved?.toSorted(), [3, 4, 5]);
  });

  test('returns only numbers, and the service may neither read nor write what it is made of', async () => {
    const [row] = await db.superuser<{ returns: string }>(
      `select pg_get_function_arguments(oid) as returns from pg_proc where proname = 'changes_since'`,
    );
    assert.match(
      row?.returns ?? '',
      /OUT at pg_snapshot, OUT is_kept boolean, OUT changed bigint\[\], OUT moved integer\[\]$/,
    );
    for (const statement of [
      'select * from changes',
      'insert into changes values (pg_current_xact_id(), 1, 1)',
      'delete from changes',
      'select * from changes_kept',
      `update changes_kept set kept_from = '0'`,
      'alter table persons disable trigger note_updated',
    ]) {
      const attempt = db.database.write(institutionId, (d) => d.query(sql('', statement)));
      await assert.rejects(attempt, /permission denied|must be owner/, statement);
    }
  });

  test('leaves the institution of the connection as it was', async () => {
    await questions.read(institutionId, async (d) => {
      const known = { institutions: [institutionId + 1], accountKeys: [1n], seqs: [1n] };
      await selectChanges(d, { since: null }, known);
      const current = sql('test_current', `select current_setting('sharedraft.institution') as institution`);
      const { rows } = await d.query<{ institution: string }>(current);
      assert.deepEqual(rows, [{ institution: String(institutionId) }]);
    });
  });
});

describe('delete_old_changes', () => {
  const minute = 60_000;
  const clean = (at: number) => questions.directory((d) => deleteOldChanges(d, new Date(at)));

  test('keeps changes for ten minutes at least, and then tells those who ask from an earlier moment', async () => {
    const start = Date.now();
    await clean(start);
    const at = await now();
    await db.database.write(institutionId, (d) => d.query(rename, renaming(member, 'Kept')));
    const count = async () =>
      (await db.superuser<{ n: bigint }>('select count(*) as n from changes'))[0]?.n ?? 0n;
    const before = await count();
    await clean(start + 9 * minute);
    assert.equal(await count(), before);
    await clean(start + 11 * minute);
    assert.deepEqual((await since(at)).changed, [numberOf(member)], 'the first call only marks the moment');
    const { at: later } = await since(at);
    await clean(start + 22 * minute);
    assert.equal((await since(later)).isKept, true);
    // A transaction in another database of the cluster may hold the changes for further calls.
    let minutes = 22;
    await eventually('the changes are deleted', async () => {
      minutes += 11;
      await clean(start + minutes * minute);
      return (await count()) === 0n;
    });
    assert.equal((await since(at)).isKept, false);
  });

  test('deletes numbers that the cluster has not given out, which came with the data of another one', async () => {
    await db.superuser(`insert into changes values ('999999999999', $1, 0)`, [institutionId]);
    await clean(Date.now() + 600 * minute);
    const foreign = `select from changes where xid = '999999999999'`;
    assert.deepEqual(await db.superuser(foreign), []);
  });
});

describe('a watch', () => {
  test('begins anew after its connection was lost, and after it was idle longer than changes are kept', async () => {
    const own = new Database({
      connection: db.connection,
      maxConnections: 1,
      settings: { application_name: 'watch' },
    });
    const watch = new ChangeWatch(own);
    try {
      assert.equal((await watch.ask(nothing)).isKept, false);
      assert.equal((await watch.ask(nothing)).isKept, true);
      await db.superuser(
        `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'watch'`,
      );
      // The first question may still meet the dying connection.
      await watch.ask(nothing).catch(() => {});
      await watch.ask(nothing);
      assert.equal((await watch.ask(nothing)).isKept, true);

      await db.superuser(
        `update changes_kept set kept_from = (pg_current_xact_id()::text::numeric + 1)::text::xid8`,
      );
      assert.equal((await watch.ask(nothing)).isKept, false);
      // As soon as no older transaction runs in another database of the cluster.
      await eventually('the changes are kept again', async () => (await watch.ask(nothing)).isKept);
    } finally {
      await own.close();
    }
  });
});
