import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { Vault } from '../../src/auth/index.ts';
import {
  type AnchorDeps,
  anchorChain,
  appendAudit,
  type Chain,
  changeAuditRetention,
  eraseAuditPersonal,
  maintainAudit,
  openAnchor,
  pruneAudit,
  readAuditPublicKeys,
  sealAudit,
  verifyChain,
} from '../../src/events/index.ts';
import { Database, type InstitutionId, sql } from '../../src/storage/index.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { commandOf } from '../support/operator.ts';

const settings = { accessDays: 400, changesDays: 2557 };
const clock = () => new Date('2026-03-02T12:00:00.000Z');

let db: TestDatabase;
let deps: AnchorDeps;
before(async () => {
  db = await testDatabase();
  deps = { database: db.database, vault: new Vault(randomBytes(32)), clock };
});
after(() => db.close());

/** Each test has an institution of its own. */
let institutions = 100;
function newInstitution(): InstitutionId {
  institutions += 1;
  return institutions as InstitutionId;
}

async function append(institutionId: InstitutionId, count: number): Promise<void> {
  await db.database.transaction(institutionId, async (tx) => {
    for (let n = 1; n <= count; n += 1) {
      const origin = { transactionId: `t-${n}`, address: '192.0.2.7' };
      const personal = { before: { email: 'old@example.test' }, after: { email: `new${n}@example.test` } };
      const entry = { action: 'user.contact_changed', outcome: 'succeeded', origin, personal } as const;
      await appendAudit(tx, { ...entry, userId: `u-${n}`, after: { changed: ['emailAddress'], n } }, clock());
    }
  });
}

const seal = (institutionId: InstitutionId) => sealAudit(db.database, institutionId, clock);
const verify = (institutionId: InstitutionId, chain: Chain = 'changes') =>
  verifyChain(db.database, institutionId, chain);

/** As the owner of the database, with the guards switched off. */
async function tamper(text: string): Promise<void> {
  await db.superuser(`set session_replication_role = replica; ${text}; reset session_replication_role`);
}

test('seals committed entries in one chain an institution, and verifies them', async () => {
  const institution = newInstitution();
  await append(institution, 1_203);
  assert.equal(await seal(institution), 1_203);
  assert.equal(await seal(institution), 0);
  const { entries, from, to, broken } = await verify(institution);
  assert.deepEqual({ entries, from, to, broken }, { entries: 1_203, from: 1, to: 1_203, broken: undefined });
  assert.equal((await verify(newInstitution())).entries, 0);
});

test('sign-ins stand in a chain apart from changes', async () => {
  const institution = newInstitution();
  await append(institution, 2);
  await db.database.transaction(institution, (tx) =>
    appendAudit(
      tx,
      { action: 'login', outcome: 'refused', origin: { transactionId: 'x', address: null } },
      clock(),
    ),
  );
  await seal(institution);
  assert.equal((await verify(institution, 'access')).entries, 1);
  assert.equal((await verify(institution, 'changes')).entries, 2);
});

test('a transaction that runs for long delays the sealing of its own entries only', async () => {
  const institution = newInstitution();
  let commit = () => {};
  const mayCommit = new Promise<void>((resolve) => {
    commit = resolve;
  });
  let written = () => {};
  const isWritten = new Promise<void>((resolve) => {
    written = resolve;
  });
  const origin = { transactionId: 'late', address: null };
  const late = db.database.transaction(institution, async (tx) => {
    await appendAudit(tx, { action: 'user.locked', outcome: 'succeeded', origin }, clock());
    written();
    await mayCommit;
  });
  await isWritten;
  await append(institution, 3);
  assert.equal(await seal(institution), 3);
  commit();
  await late;
  assert.equal(await seal(institution), 1);
  assert.equal((await verify(institution)).broken, undefined);
  const [last] = await db.superuser<{ id: string }>(
    'select transaction_id as id from audit_entries where institution_id = $1 order by chain_number desc limit 1',
    [institution],
  );
  assert.equal(last?.id, 'late');
});

test('several processes that seal at once make one chain', async () => {
  const institution = newInstitution();
  await append(institution, 1_400);
  const others = [1, 2, 3].map(() => new Database({ connection: db.connection, maxConnections: 2 }));
  const seals = others.map(async (own) => {
    let sealed = 0;
    for (let round = 0; round < 4; round += 1) sealed += await sealAudit(own, institution, clock);
    return sealed;
  });
  const sealed = await Promise.all(seals);
  await Promise.all(others.map((own) => own.close()));
  const rest = await seal(institution);
  assert.equal(sealed.reduce((sum, one) => sum + one, 0) + rest, 1_400);
  const { entries, broken } = await verify(institution);
  assert.deepEqual({ entries, broken }, { entries: 1_400, broken: undefined });
});

test('a sealer whose connection is killed leaves a chain that verifies and continues', async () => {
  const institution = newInstitution();
  await append(institution, 3_000);
  for (let round = 0; round < 12; round += 1) {
    // The kill is for this connection only, and over before the verification begins.
    const own = new Database({
      connection: db.connection,
      maxConnections: 1,
      settings: { application_name: 'doomed_sealer' },
      onIdleError: () => {},
    });
    const sealing = sealAudit(own, institution, clock).catch(() => 0);
    await new Promise((resolve) => setTimeout(resolve, 3 * round));
    await db.superuser(
      `select pg_terminate_backend(pid, 10000) from pg_stat_activity
       where datname = current_database() and application_name = 'doomed_sealer'`,
    );
    await sealing;
    await own.close();
    assert.equal((await verify(institution)).broken, undefined, `round ${round}`);
  }
  await seal(institution);
  const { entries, broken } = await verify(institution);
  assert.deepEqual({ entries, broken }, { entries: 3_000, broken: undefined });
});

describe('tampering by the owner of the database', () => {
  const cases: readonly (readonly [name: string, text: string, number: number, problem: RegExp])[] = [
    [
      'a changed entry',
      `update audit_entries set outcome = 'refused' where institution_id = $ and chain_number = 7`,
      7,
      /entry was changed/,
    ],
    [
      'a changed value of a change',
      `update audit_entries set after_change = '{"n": 8}' where institution_id = $ and chain_number = 7`,
      7,
      /entry was changed/,
    ],
    [
      'a time that is a microsecond later',
      `update audit_entries set recorded_at = recorded_at + interval '1 microsecond' where institution_id = $ and chain_number = 7`,
      7,
      /entry was changed/,
    ],
    [
      'a changed personal field',
      `update audit_entries set personal = '{"before": {}}' where institution_id = $ and chain_number = 7`,
      7,
      /personal field was changed/,
    ],
    [
      'a personal field put back after its erasure',
      `update audit_entries set personal_salt = null, address = null, name_hash = null, stated_reason = null, personal = null,
         erased_at = now() where institution_id = $ and chain_number = 7;
       alter table audit_entries drop constraint audit_entries_erased;
       update audit_entries set address = '192.0.2.9' where institution_id = $ and chain_number = 7`,
      7,
      /erased entry has personal fields/,
    ],
    [
      'a deleted entry',
      `delete from audit_entries where institution_id = $ and chain_number = 7`,
      7,
      /missing/,
    ],
    [
      'deleted entries at the end',
      `delete from audit_entries where institution_id = $ and chain_number > 15`,
      16,
      /missing/,
    ],
    [
      'an entry inserted in the middle',
      `update audit_entries set chain_number = chain_number + 1000 where institution_id = $ and chain_number >= 7;
       update audit_entries set chain_number = chain_number - 999 where institution_id = $ and chain_number >= 1000;
       insert into audit_entries (institution_id, recorded_at, action, outcome, transaction_id, times, chain, chain_number,
                                  sealed_at, personal_salt, personal_hash, chain_hash)
       select institution_id, recorded_at, action, outcome, 'false', 1, chain, 7, sealed_at, personal_salt, personal_hash, chain_hash
       from audit_entries where institution_id = $ and chain_number = 6`,
      7,
      /personal field was changed|entry was changed/,
    ],
    [
      'a false end of the chain',
      `update audit_chains set hash = sha256('x') where institution_id = $`,
      20,
      /recorded end/,
    ],
    [
      'a chain that is said to be pruned',
      `update audit_chains c set pruned_to = 5, pruned_hash = e.chain_hash from audit_entries e
       where c.institution_id = $ and e.institution_id = $ and e.chain_number = 5;
       delete from audit_entries where institution_id = $ and chain_number <= 5`,
      5,
      /pruned to here without a signed anchor/,
    ],
  ];
  for (const [name, text, number, problem] of cases) {
    test(`verifying names the first broken entry after ${name}`, async () => {
      const institution = newInstitution();
      await append(institution, 20);
      await seal(institution);
      await tamper(text.replaceAll('$', String(institution)));
      const { broken } = await verify(institution);
      assert.equal(broken?.number, number);
      assert.match(broken?.problem ?? '', problem);
    });
  }

  test('an anchor shows that the end of the chain was cut off with its record', async () => {
    const institution = newInstitution();
    await append(institution, 20);
    await seal(institution);
    const anchor = await anchorChain(deps, institution, 'changes');
    const cut = `delete from audit_entries where institution_id = $ and chain_number > 15;
       update audit_chains c set number = 15, hash = e.chain_hash from audit_entries e
       where c.institution_id = $ and e.institution_id = $ and e.chain_number = 15`;
    await tamper(cut.replaceAll('$', String(institution)));
    assert.match((await verify(institution)).broken?.problem ?? '', /missing/);
    // The owner deletes the stored anchor too: the copy outside still shows it.
    await tamper(`delete from audit_anchors where institution_id = ${institution}`);
    assert.equal((await verify(institution)).broken, undefined);
    const outside = [{ jws: anchor?.jws ?? '' }];
    const { broken } = await verifyChain(db.database, institution, 'changes', outside);
    assert.deepEqual([broken?.number, broken?.problem], [16, 'the entry is missing']);
  });

  test('an anchor shows that the whole chain was written anew', async () => {
    const institution = newInstitution();
    await append(institution, 5);
    await seal(institution);
    const anchor = await anchorChain(deps, institution, 'changes');
    await tamper(
      `delete from audit_entries where institution_id = ${institution}; delete from audit_chains where institution_id = ${institution};
       delete from audit_anchors where institution_id = ${institution}`,
    );
    await append(institution, 9);
    await seal(institution);
    assert.equal((await verify(institution)).broken, undefined);
    const { broken } = await verifyChain(db.database, institution, 'changes', [{ jws: anchor?.jws ?? '' }]);
    assert.equal(broken?.number, 5);
    assert.match(broken?.problem ?? '', /rewritten/);
  });

  test('an anchor signed by another key counts for nothing, and verifying says so', async () => {
    const institution = newInstitution();
    await append(institution, 5);
    await seal(institution);
    const anchor = await anchorChain(deps, institution, 'changes');
    const keys = await readAuditPublicKeys(db.database);
    const opened = openAnchor(anchor?.jws ?? '', keys);
    assert.equal(opened?.number, 5);
    const others = new Map([...keys].map(([kid]) => [kid, randomBytes(32).toString('base64url')]));
    assert.equal(openAnchor(anchor?.jws ?? '', others), undefined);
    const [header, , signature] = (anchor?.jws ?? '').split('.');
    const claims = Buffer.from(JSON.stringify({ ...opened, number: 4 })).toString('base64url');
    const forged = [{ jws: `${header}.${claims}.${signature}` }];
    const { broken } = await verifyChain(db.database, institution, 'changes', forged);
    assert.match(broken?.problem ?? '', /not signed by a known key/);
  });
});

test('the guards refuse a change of a sealed entry even by the owner: SD110', async () => {
  const institution = newInstitution();
  await append(institution, 3);
  await seal(institution);
  for (const text of [
    `update audit_entries set times = 2 where institution_id = ${institution}`,
    `update audit_entries set erased_at = now(), times = 2, address = null, personal = null, personal_salt = null
     where institution_id = ${institution}`,
    `update audit_entries set chain_hash = sha256('x') where institution_id = ${institution}`,
    `delete from audit_entries where institution_id = ${institution}`,
  ]) {
    await assert.rejects(db.superuser(text), { code: 'SD110' }, text);
  }
});

test('the service cannot set the place of an entry in the chain, nor change an anchor', async () => {
  const institution = newInstitution();
  await append(institution, 3);
  await seal(institution);
  await anchorChain(deps, institution, 'changes');
  const run = (text: string) => db.database.write(institution, (own) => own.query(sql('', text)));
  for (const text of [
    `insert into audit_entries (institution_id, recorded_at, action, outcome, transaction_id, times, chain_number)
     values (${institution}, now(), 'login', 'refused', 'x', 1, 4)`,
    'update audit_entries set times = 2',
    'delete from audit_entries',
    'update audit_chains set number = 0',
    'delete from audit_chains',
    'update audit_anchors set number = 1',
    'delete from audit_anchors',
    'update audit_keys set created_at = now()',
  ]) {
    await assert.rejects(run(text), /permission denied/, text);
  }
});

test('sealing on a hash that is not the end of the chain is refused: SD111', async () => {
  const institution = newInstitution();
  await append(institution, 2);
  await seal(institution);
  const zeros = Buffer.alloc(32);
  const text = 'select seal_audit_entries($1, $2, $3, $4, $5, $6, $7)';
  const stale = db.database.write(institution, (own) =>
    own.query(sql('', text), ['changes', zeros, [1n], [zeros], [zeros], [zeros], clock()]),
  );
  await assert.rejects(stale, { code: 'SD111' });
});

test('erasing personal fields keeps the chain, before and after sealing', async () => {
  const institution = newInstitution();
  await append(institution, 4);
  const erase = (userId: string) =>
    db.database.transaction(institution, (tx) =>
      eraseAuditPersonal(tx, { userIds: [userId], subjects: [] }, clock()),
    );
  assert.equal(await erase('u-1'), 1);
  await seal(institution);
  assert.equal(await erase('u-2'), 1);
  assert.equal(await erase('u-2'), 0);
  const { erased, broken, entries } = await verify(institution);
  assert.deepEqual({ erased, broken, entries }, { erased: 2, broken: undefined, entries: 4 });
  const rows = await db.superuser<{ row: string }>(
    `select t::text as row from audit_entries t where institution_id = $1 and user_id in ('u-1', 'u-2')`,
    [institution],
  );
  assert.equal(rows.length, 2);
  assert.ok(rows.every(({ row }) => !/example\.test|192\.0\.2/.test(row)));
});

describe('pruning', () => {
  async function aged(institution: InstitutionId, days: readonly number[]): Promise<void> {
    await db.superuser(
      `insert into audit_entries (institution_id, recorded_at, action, outcome, transaction_id, times)
       select $1, now() - make_interval(days => age), action, 'succeeded', 'aged-' || age, 1
       from unnest($2::integer[]) with ordinality d (age, place), unnest(array['login', 'user.locked']) action order by place`,
      [institution, days],
    );
  }
  const now = () => new Date();
  const numbers = async (institution: InstitutionId) =>
    (
      await db.superuser<{ entry: string }>(
        `select chain || ' ' || transaction_id as entry from audit_entries where institution_id = $1 and transaction_id like 'aged-%'
         order by chain, chain_number`,
        [institution],
      )
    ).map(({ entry }) => entry);

  test('prunes each chain by its own period, leaves a signed anchor, and the rest verifies', async () => {
    const institution = newInstitution();
    await aged(institution, [3_000, 2_600, 500, 100, 80]);
    const real = { ...deps, clock: now };
    await maintainAudit(real, institution, settings);
    assert.deepEqual(await numbers(institution), [
      'access aged-100',
      'access aged-80',
      'changes aged-500',
      'changes aged-100',
      'changes aged-80',
    ]);
    await sealAudit(db.database, institution, now);
    const access = await verify(institution, 'access');
    const changes = await verify(institution, 'changes');
    assert.deepEqual([access.broken, access.from], [undefined, 4]);
    assert.deepEqual([changes.broken, changes.from], [undefined, 3]);
    assert.equal(await pruneAudit(real, institution, settings), 0);
    // Without the anchor the beginning is not proven.
    await tamper(`delete from audit_anchors where institution_id = ${institution} and chain = 'access'`);
    assert.match((await verify(institution, 'access')).broken?.problem ?? '', /without a signed anchor/);
  });

  test('an entry that was recorded out of order stays with all behind it', async () => {
    const institution = newInstitution();
    await aged(institution, [3_000, 10, 2_900]);
    await maintainAudit({ ...deps, clock: now }, institution, settings);
    assert.deepEqual(await numbers(institution), [
      'access aged-10',
      'access aged-2900',
      'changes aged-10',
      'changes aged-2900',
    ]);
  });

  test('the database refuses to prune entries that the law or the institution keeps: SD112', async () => {
    const institution = newInstitution();
    await aged(institution, [1_900, 1_800, 100]);
    const real = { ...deps, clock: now };
    const prune = (text: string) => db.database.write(institution, (own) => own.query(sql('', text)));
    await sealAudit(db.database, institution, now);
    await assert.rejects(prune(`select prune_audit_chain('changes', 1)`), { code: 'SD112' }, 'no anchor');
    await anchorChain(real, institution, 'changes');
    await assert.rejects(prune(`select prune_audit_chain('changes', 3)`), {
      code: 'SD112',
      message: /an entry of the last 1827 days stays/,
    });
    // A clock that runs ahead prunes nothing that the database's clock protects.
    const ahead = { ...deps, clock: () => new Date('2999-01-01Z') };
    await assert.rejects(pruneAudit(ahead, institution, settings), { code: 'SD112' });
    const change = { accessDays: 5_000, changesDays: 5_000 };
    await changeAuditRetention(real, institution, { settings, change }, commandOf('olga'));
    await pruneAudit(real, institution, settings);
    assert.equal((await verify(institution)).from, 1);
    await assert.rejects(
      changeAuditRetention(real, institution, { settings, change: { changesDays: 100 } }, commandOf('olga')),
      { constraint: 'audit_retention_changes_days_check' },
    );
  });
});
