import assert from 'node:assert/strict';
import { globSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { listClasses, transferTypes } from '../../src/ledger/index.ts';
import { describeError } from '../../src/shared/describe-error.ts';
import { Problem } from '../../src/shared/problem.ts';
import { declaredStatements, type SocketConnection, type Statement, sql } from '../../src/storage/index.ts';
import { anInstitution } from '../support/builders.ts';
import { type TestDatabase, testDatabase, testDirectory } from '../support/database.ts';
import { asSuperuser, serviceRole } from '../support/postgres.ts';

let db: TestDatabase;
before(async () => {
  db = await testDatabase();
});
after(() => db.close());

/** EXPLAIN accepts none of these. They name no table. */
const withoutPlan = /^(begin|commit|rollback)\b/;

test('the database plans every statement of the sources under the rights of the service’s role', async () => {
  const files = globSync('src/**/*.ts').filter((file) => !/\.(test|d)\.ts$|^src\/main\.ts$/.test(file));
  for (const file of files) await import(`../../${file}`);
  const declared = [...declaredStatements.values()];
  const ofDirectory = declared.filter(({ name }) => name.startsWith('directory_'));
  const statements = declared.filter((one) => !ofDirectory.includes(one));
  const names = declared.map(({ name }) => name);
  assert.deepEqual(names, [...new Set(names)], 'no two statements have one name');
  assert.ok(statements.length > 150, `${statements.length} statements`);
  assert.deepEqual(await failuresOf(statements), []);
  assert.ok(ofDirectory.length > 20, `${ofDirectory.length} statements of the directory of cells`);
  await using directory = await testDirectory();
  // The directory has no standbys.
  const isOfBoth = ({ name }: Statement) =>
    name.startsWith('memory_') && name !== 'memory_changes_and_position';
  const both = statements.filter(isOfBoth);
  assert.deepEqual(
    await failuresOf([...ofDirectory, ...both], directory.owner, `${directory.owner.database}_service`),
    [],
  );
  const [failure] = await failuresOf([{ name: 'test_forbidden', text: 'update entries set amount = 0' }]);
  assert.match(failure ?? '', /permission denied for table entries/);
});

async function failuresOf(
  statements: readonly Statement[],
  connection: SocketConnection = db.connection,
  role = serviceRole,
): Promise<string[]> {
  return asSuperuser(connection, async (client) => {
    await client.query(`set role ${role}`);
    await client.query(`select set_config('sharedraft.institution', '1', false)`);
    const failures: string[] = [];
    for (const { name, text } of statements.filter((one) => !withoutPlan.test(one.text))) {
      // Unlike PREPARE it checks the rights to tables and columns too.
      await client
        .query(`explain (generic_plan) ${text}`)
        .catch((error: Error) => failures.push(`${name}: ${error.message}`));
    }
    return failures;
  });
}

test('the numbers of transfer types in the code equal those of the database', async () => {
  const taken = await db.superuser<{ conname: string; check: string }>(
    `select conname, pg_get_constraintdef(oid) as check from pg_constraint
     where conname like '%_transfer_type_check' order by conname`,
  );
  assert.deepEqual(
    taken.map(({ conname }) => conname),
    [
      'transfer_limits_transfer_type_check',
      'transfer_policies_transfer_type_check',
      'transfers_transfer_type_check',
    ],
  );
  const types = [...transferTypes];
  for (const { conname, check } of taken) {
    const listed = [...check.matchAll(/'([A-Z_]+)'/g)].map(([, name]) => name);
    assert.deepEqual(listed, types, conname);
  }
  const classes = await db.superuser<{ status: string; transfer_type: string | null; code: number }>(
    `select status, transfer_type, list_class_of(status, transfer_type)::integer as code
     from unnest(array['PENDING', 'COMPLETED', 'FAILED']) with ordinality as s (status, place)
     cross join unnest(array[null, ${types.map((type) => `'${type}'`).join(', ')}]) with ordinality as t (transfer_type, nth)
     where status = 'FAILED' or transfer_type is not null
     order by place, nth`,
  );
  assert.deepEqual(
    classes.map(({ status, transfer_type, code }) => ({
      code,
      status,
      transferType: transfer_type ?? undefined,
    })),
    listClasses,
  );
});

test('logs a statement’s error with its name, its SQLSTATE and the caller, without its values', async () => {
  const { institutionId } = await anInstitution(db.database);
  const malformed = sql('test_malformed', 'select * from unnest($1::text::balances[])');
  const fine = sql('test_fine', 'select 1');
  async function aCaller(): Promise<void> {
    await db.database.transaction(institutionId, (tx) =>
      Promise.all([tx.query(fine), tx.query(malformed, ['{"(1,secret-account"}']), tx.query(fine)]),
    );
  }
  const error = await aCaller().then(
    () => assert.fail('it did not fail'),
    (failure: Error) => failure,
  );
  assert.match(error.message, /malformed record literal: .*secret-account/);
  const logged = JSON.stringify(describeError(new Problem('internal_error', 'It failed.', { cause: error })));
  assert.doesNotMatch(logged, /secret-account/);
  assert.match(logged, /"code":"22P02","statement":"test_malformed"/);
  assert.match(logged, /at async aCaller/);
});

test('logs the name of the broken invariant, as docs/invariants.md has it', async () => {
  const { institutionId } = await anInstitution(db.database);
  for (const [text, values, invariant] of [
    [`select expect_rows('secret-table', 1, 2)`, [], 'SD016'],
    [
      `insert into idempotency_keys select $1, 'secret-id', key from generate_series(1, 2) as key`,
      [institutionId],
      'idempotency_keys_pkey',
    ],
    ['select 1 / 0', [], undefined],
  ] as const) {
    const error = await db.database
      .transaction(institutionId, (tx) => tx.query({ name: '', text }, [...values]))
      .then(
        () => assert.fail('it did not fail'),
        (failure: Error) => failure,
      );
    const logged = describeError(error) as { readonly invariant?: string };
    assert.equal(logged.invariant, invariant);
    assert.doesNotMatch(JSON.stringify(logged), /secret-/);
  }
});
