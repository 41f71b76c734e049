import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ExtractRejectedError, importExtract } from '../../src/core-system/index.ts';
import { reconcile } from '../../src/reconciliation/index.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { type ExtractFiles, extractFolder, extractOf, validExtract } from '../support/extract.ts';
import { mulberry32, pick } from '../support/random.ts';
import { balancesOf, dumpTables } from '../support/tables.ts';

const at = new Date('2026-03-02T12:00:00Z');
type ImportOptions = NonNullable<Parameters<typeof importExtract>[2]>;

/** Imports with rejects. Returns the report and the rejected rows, as `file:line: column: expected …`. */
async function importRejecting(db: TestDatabase, files: ExtractFiles, options: ImportOptions = {}) {
  await using folder = await extractFolder(files);
  const rejects: string[] = [];
  const report = await importExtract({ database: db.database, clock: () => at }, folder.folder, {
    asOf: at,
    onRejected: async (blocks) => {
      for await (const rows of blocks) {
        for (const { file, line, columnName, expected } of rows)
          rejects.push(`${file}:${line}: ${columnName}: expected ${expected}`);
      }
    },
    ...options,
  });
  return { report, rejects };
}

async function importStrictly(db: TestDatabase, files: ExtractFiles) {
  await using folder = await extractFolder(files);
  return await importExtract({ database: db.database, clock: () => at }, folder.folder, { asOf: at });
}

/** The rows that an extract lays down, without keys that depend on the order of inserts. */
async function books(db: TestDatabase): Promise<string[]> {
  const rows = await db.superuser<{ row: string }>(
    `select concat_ws(' ', 'person', person_id, first_name, last_name, email) as row from persons
     union all select concat_ws(' ', 'member', customer_id, member_number, member_type) from customers
     union all select concat_ws(' ', 'person of', member_number, person_id, role)
       from customer_persons join customers using (institution_id, customer_key) join persons using (institution_id, person_key)
     union all select concat_ws(' ', 'account', account_id, description, posted)
       from accounts join balances using (institution_id, account_id)
     union all select concat_ws(' ', 'holder', account_id, person_id, role, may_pay)
       from holders join accounts using (institution_id, account_key) join persons using (institution_id, person_key)
     union all select concat_ws(' ', 'loan', account_id, accrued_interest, fees_due, amount_due)
       from loans join accounts using (institution_id, account_key)
     order by 1`,
  );
  return rows.map(({ row }) => row);
}

async function findingsOf(db: TestDatabase): Promise<string[]> {
  const findings: string[] = [];
  const [institution] = await db.superuser<{ institution_id: number }>(
    'select institution_id from institutions',
  );
  await reconcile(db.database, institution?.institution_id as never, {
    at,
    onFinding: ({ check, row, detail }) => findings.push(`${check} ${row}: ${detail}`),
  });
  return findings;
}

function edited(edit: (files: Record<string, string[]>) => void): ExtractFiles {
  const files = validExtract();
  edit(files as Record<string, string[]>);
  return files;
}

describe('an import that rejects rows', () => {
  test('imports the good rows, and lists an account with an error and the holders that depend on it', async () => {
    await using db = await testDatabase();
    const { report, rejects } = await importRejecting(
      db,
      edited((files) =>
        files['accounts.csv']?.splice(4, 1, 'a-4,1002,1002-10,CHECKING,,JPY,2.5,open,no,,,,'),
      ),
    );
    assert.deepEqual(rejects, [
      'accounts.csv:5: balance: expected an amount like 123456',
      'holders.csv:6: account_id: expected an account whose row is not rejected',
      'holders.csv:7: account_id: expected an account whose row is not rejected',
    ]);
    assert.deepEqual(report.plan.rejected, { 'accounts.csv': 1, 'holders.csv': 2 });
    assert.deepEqual([report.persons, report.members, report.accounts], [3, 2, 4]);
    const balances = await balancesOf(db, 'fictional');
    assert.equal(balances['a-4'], undefined);
    assert.equal(balances['a-1']?.posted, -1_234n);
    assert.equal(balances['internal:core-settlement:JPY'], undefined, 'no account has the currency');
    assert.deepEqual(await findingsOf(db), []);
  });

  test('rejects a membership whole with a person that is rejected, and its accounts and holders', async () => {
    await using db = await testDatabase();
    const { rejects } = await importRejecting(
      db,
      edited((files) => files['persons.csv']?.splice(2, 1, 'p-2,Bob,Example,no-address,,,')),
    );
    const membership = 'member_number: expected a membership whose row is not rejected';
    const account = 'account_id: expected an account whose row is not rejected';
    assert.deepEqual(rejects, [
      'persons.csv:3: email: expected an e-mail address',
      'members.csv:2: member_number: expected a membership none of whose rows in member-persons.csv is rejected',
      `member-persons.csv:2: ${membership}`,
      'member-persons.csv:3: person_id: expected a person whose row is not rejected',
      ...[2, 3, 4].map((line) => `accounts.csv:${line}: ${membership}`),
      ...[2, 3, 4, 5].map((line) => `holders.csv:${line}: ${account}`),
    ]);
    const [stored] = await db.superuser('select array_agg(member_number) as numbers from customers');
    assert.deepEqual(stored, { numbers: ['1002'] });
    assert.deepEqual(await findingsOf(db), []);
  });

  test('rejects both rows of a repeated key, rows with too many values, and rows that name nothing', async () => {
    await using db = await testDatabase();
    const { rejects } = await importRejecting(
      db,
      edited((files) => {
        files['accounts.csv']?.push('a-5,1002,1002-00,SAVINGS,Old Savings,USD,7.00,open,no,,,,');
        files['accounts.csv']?.splice(
          3,
          1,
          'a-3,1001,1001-50,CONSUMER_LOAN,A,B,USD,1000.00,open,yes,,,12.50,25',
        );
        files['accounts.csv']?.push('a-6,1003,1003-00,SAVINGS,,USD,,open,no,,,,');
      }),
    );
    assert.deepEqual(rejects, [
      'accounts.csv:4: : expected 13 values, found 14',
      'accounts.csv:6: account_id: expected a value that no line below has',
      'accounts.csv:7: account_id: expected a value that no line above has',
      'accounts.csv:8: member_number: expected one of members.csv',
      'holders.csv:5: account_id: expected one of accounts.csv',
      'holders.csv:8: account_id: expected an account whose row is not rejected',
    ]);
    assert.deepEqual(
      Object.keys(await balancesOf(db, 'fictional'))
        .filter((id) => id.startsWith('a-'))
        .sort(),
      ['a-1', 'a-2', 'a-4'],
    );
  });

  test('leaves what is stored of a rejected membership and account as it is, and changes the others', async () => {
    await using db = await testDatabase();
    await importStrictly(db, validExtract());
    const before = await books(db);
    const { report, rejects } = await importRejecting(
      db,
      edited((files) => {
        // p-1 gives the first place to p-2 and is misspelled; without its row, the merge would take p-1 for gone.
        files['member-persons.csv']?.splice(1, 2, '1001,p-1,JOIN', '1001,p-2,PRIMARY');
        files['holders.csv']?.splice(5, 2, 'a-4,p-3,PRIMARY,maybe');
        files['accounts.csv']?.splice(5, 1, 'a-5,1002,1002-00,SAVINGS,Renamed,USD,,closed,no,,,,');
      }),
    );
    assert.equal(rejects.length, 1 + 1 + 1 + 3 + 4 + 1 + 1, rejects.join('\n'));
    assert.equal(report.plan.accounts.changed, 1);
    const after = await books(db);
    assert.deepEqual(
      after,
      before.map((row) => row.replace('account a-5 Old Savings', 'account a-5 Renamed')).sort(),
    );
  });

  test('rejects a value that never changes, and keeps the institution to its own', async () => {
    await using db = await testDatabase();
    await importStrictly(db, validExtract());
    const { rejects } = await importRejecting(
      db,
      edited((files) => files['members.csv']?.splice(1, 1, 'c-9,1001,RETAIL')),
    );
    assert.equal(rejects[0], 'members.csv:2: customer_id: expected the value of the earlier import');
    const files = validExtract();
    files['institution.csv']?.splice(1, 1, 'fictional,A,EUR,America/New_York,open,250.00,15,no');
    await assert.rejects(importRejecting(db, files), ExtractRejectedError);
  });

  test('refuses removals beside a holder with a misspelled account, unless they are allowed', async () => {
    await using db = await testDatabase();
    await importStrictly(db, validExtract());
    const files = edited((all) => all['holders.csv']?.splice(2, 1, 'a-1x,p-2,AUTHORIZED_SIGNER,no'));
    await assert.rejects(importRejecting(db, files), {
      name: 'ImportRefusedError',
      message: /would remove 1 of 7 rows that holders.csv no longer has.*misspelled key/,
    });
    const { report } = await importRejecting(db, files, { allowRemovals: true });
    assert.equal(report.plan.holders.removed, 1);
  });

  test('removes a holder who left beside rows that are rejected for other reasons', async () => {
    await using db = await testDatabase();
    await importStrictly(db, validExtract());
    const { report } = await importRejecting(
      db,
      edited((files) => {
        files['holders.csv']?.splice(2, 1);
        files['accounts.csv']?.splice(4, 1, 'a-4,1002,1002-10,CHECKING,,JPY,x,open,no,,,,');
      }),
    );
    assert.equal(report.plan.holders.removed, 1);
  });

  test('refuses the whole extract for a file that is no table', async () => {
    await using db = await testDatabase();
    const files = edited((all) => all['holders.csv']?.push('a-5,"p-3,PRIMARY,yes'));
    await assert.rejects(importRejecting(db, files), /holders\.csv:9: expected CSV as in RFC 4180/);
    assert.deepEqual(await books(db), []);
  });

  test('changes nothing in a dry run, and nothing if it is interrupted before the first row is written', async () => {
    await using db = await testDatabase();
    const files = edited((all) =>
      all['accounts.csv']?.splice(4, 1, 'a-4,1002,1002-10,CHECKING,,JPY,x,open,no,,,,'),
    );
    const before = await dumpTables(db);
    const dry = await importRejecting(db, files, { dryRun: true });
    assert.equal(dry.rejects.length, 3);
    assert.deepEqual(await dumpTables(db), before);
    const stop = { onRejected: () => Promise.reject(new Error('The disk is full.')) };
    await assert.rejects(importRejecting(db, files, stop), /The disk is full/);
    assert.deepEqual(await dumpTables(db), before, 'the stage is empty, too');
  });

  test('has the counts of the rejected rows in the audit, also if the other rows change nothing', async () => {
    await using db = await testDatabase();
    await importStrictly(db, validExtract());
    const { report } = await importRejecting(
      db,
      edited((files) => files['accounts.csv']?.splice(4, 1, 'a-4,1002,1002-10,CHECKING,,JPY,x,open,no,,,,')),
    );
    assert.deepEqual(report.plan.rejected, { 'accounts.csv': 1, 'holders.csv': 2 });
    const [last] = await db.superuser(
      `select after_change->'rejected' as rejected from audit_entries where action = 'import.started'
       order by audit_key desc limit 1`,
    );
    assert.deepEqual(last, { rejected: report.plan.rejected });
  });

  test('leaves the same books as a strict import of the files without the rejected lines, for random errors', async (t) => {
    const seed = Number(process.env.SEED ?? Date.now() % 1_000_000);
    t.diagnostic(`SEED=${seed}`);
    const random = mulberry32(seed);
    const files = extractOf(400) as Record<string, string[]>;
    for (let n = 1; n <= 400; n += 3) {
      files['persons.csv']?.push(`j-${n},Jo,Joint${n},,,,`);
      files['member-persons.csv']?.push(`${n},j-${n},JOINT`);
      files['holders.csv']?.push(`checking-${n},j-${n},JOINT,no`);
    }
    const spoil = ['', 'x', 'é\u0007', 'a,b', '-1', 'p-1', '7'];
    for (let n = 0; n < 60; n += 1) {
      const name = pick(random, [
        'persons.csv',
        'members.csv',
        'member-persons.csv',
        'accounts.csv',
        'holders.csv',
      ]);
      const lines = files[name] as string[];
      const line = 1 + random(lines.length - 1);
      const values = (lines[line] as string).split(',');
      values[random(values.length)] = pick(random, spoil);
      if (random(10) === 0) lines.push(lines[line] as string);
      else lines[line] = values.join(',');
    }
    await using db = await testDatabase();
    await using other = await testDatabase();
    const { rejects } = await importRejecting(db, files);
    assert.ok(rejects.length > 20);
    const rejected = new Set(rejects.map((text) => text.split(':', 2).join(':')));
    const clean = Object.fromEntries(
      Object.entries(files).map(([name, lines]) => [
        name,
        lines.filter((_, index) => !rejected.has(`${name}:${index + 1}`)),
      ]),
    );
    await importStrictly(other, clean);
    assert.deepEqual(await books(db), await books(other));
    assert.deepEqual(await findingsOf(db), []);
  });
});
