import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { ExtractRejectedError, importExtract, openMembership } from '../../src/core-system/index.ts';
import { findInstitutionByCode, type Institution } from '../../src/institutions/index.ts';
import { PostingKeys } from '../../src/ledger/index.ts';
import { sql } from '../../src/storage/index.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { type ExtractFiles, extractFolder, extractOf, validExtract } from '../support/extract.ts';
import { balancesOf, dumpTables, importedRows, ledgerSums } from '../support/tables.ts';

const at = new Date('2026-03-02T12:00:00Z');

type ImportOptions = NonNullable<Parameters<typeof importExtract>[2]>;

function depsOf(db: TestDatabase, clock = () => at) {
  return { database: db.database, clock };
}

/** The balances are as of the import, unless the options set a time. */
async function importFiles(db: TestDatabase, files: ExtractFiles, options: ImportOptions = {}) {
  await using folder = await extractFolder(files);
  return await importExtract(depsOf(db), folder.folder, { asOf: at, ...options });
}

/** The valid extract with a text replaced everywhere in the file. */
function changed(file: string, from: string | RegExp, to: string): ExtractFiles {
  const files = validExtract();
  const before = files[file] as string[];
  files[file] = before.map((line) => line.replace(from, to));
  assert.notDeepEqual(files[file], before, 'the test changes nothing');
  return files;
}

async function holdersOf(db: TestDatabase, accountId: string): Promise<string[]> {
  const rows = await db.superuser<{ holder: string }>(
    `select concat_ws(' ', person_id, role, case when may_pay then 'pays' else 'sees' end) as holder
     from holders join accounts using (institution_id, account_key) join persons using (institution_id, person_key)
     where account_id = $1 order by 1`,
    [accountId],
  );
  return rows.map(({ holder }) => holder);
}

async function personsOf(db: TestDatabase, memberNumber: string): Promise<string[]> {
  const rows = await db.superuser<{ person: string }>(
    `select person_id || ' ' || role as person
     from customer_persons join customers using (institution_id, customer_key)
       join persons using (institution_id, person_key)
     where member_number = $1 order by 1`,
    [memberNumber],
  );
  return rows.map(({ person }) => person);
}

describe('importing the demo institutions', () => {
  const examples = fileURLToPath(new URL('../../examples', import.meta.url));
  const columns = (code: string, file: string) => {
    const [header = '', ...lines] = readFileSync(`${examples}/${code}/${file}`, 'utf8').trim().split('\n');
    assert.doesNotMatch(lines.join(), /"/, 'this reader knows no quotes');
    const names = header.split(',');
    return lines.map((line) => Object.fromEntries(line.split(',').map((value, n) => [names[n], value])));
  };
  const minor = (amount = '') => BigInt(amount.replace('.', '') || 0);

  test('imports every balance of the files, with a ledger that sums to zero', async () => {
    await using db = await testDatabase();
    for (const code of ['lakeside', 'harbor']) {
      const accounts = columns(code, 'accounts.csv');
      const report = await importExtract(depsOf(db), `${examples}/${code}`);
      assert.equal(report.members, columns(code, 'members.csv').length);
      assert.equal(report.persons, columns(code, 'persons.csv').length);
      assert.equal(report.accounts, accounts.length);

      const balances = await balancesOf(db, code);
      for (const account of accounts) {
        const owes = /_LOAN$/.test(account.type ?? '');
        const figure = minor(account.balance) + minor(account.accrued_interest) + minor(account.fees_due);
        const held = balances[account.account_id as string];
        assert.equal(held?.posted, owes ? -figure : figure, account.account_id);
        assert.equal(held?.kinds, figure === 0n ? '' : 'OPENING', account.account_id);
      }
      const own = Object.keys(balances).filter((accountId) => accountId.startsWith('internal:'));
      assert.equal(Object.keys(balances).length, accounts.length + own.length);
      assert.equal(own.length, 3 * new Set(accounts.map((account) => account.currency)).size);
    }
    const sums = await ledgerSums(db);
    assert.equal(sums.length, 8, 'three currencies at one, one at the other, in balances and in entries');
    assert.deepEqual(new Set(sums), new Set(['0']));
  });

  test('leaves everything unchanged when imported again, with and without balances', async () => {
    await using db = await testDatabase();
    for (const code of ['lakeside', 'harbor']) await importExtract(depsOf(db), `${examples}/${code}`);
    const before = await dumpTables(db, { except: ['audit_entries'] });
    assert.ok((before.entries?.length ?? 0) > 100);
    for (const code of ['lakeside', 'harbor']) {
      for (const adjustBalances of [false, true]) {
        const later = depsOf(db, () => new Date('2026-03-03T12:00:00Z'));
        const report = await importExtract(later, `${examples}/${code}`, { adjustBalances, asOf: at });
        assert.equal(report.openedAccounts + report.adjustedAccounts, 0);
      }
    }
    assert.deepEqual(await dumpTables(db, { except: ['audit_entries'] }), before);
  });

  test('keeps two institutions with the same ids apart', async () => {
    await using db = await testDatabase();
    for (const code of ['lakeside', 'harbor']) await importExtract(depsOf(db), `${examples}/${code}`);
    const seen: Record<string, unknown> = {};
    for (const code of ['lakeside', 'harbor']) {
      const { institutionId } = (await db.database.directory((directory) =>
        findInstitutionByCode(directory, code),
      )) as Institution;
      const { rows } = await db.database.read(institutionId, (tenant) =>
        tenant.query(
          sql(
            '',
            `select (select count(*) from persons) as persons, (select count(*) from customers) as customers,
                    (select count(*) from holders) as holders, (select count(*) from accounts) as accounts,
                    (select array_agg(posted) from balances where account_id = 'a-1001-checking') as posted`,
          ),
        ),
      );
      seen[code] = rows[0];
    }
    const count = (code: string, file: string) => BigInt(columns(code, file).length);
    assert.deepEqual(seen, {
      lakeside: {
        persons: count('lakeside', 'persons.csv'),
        customers: count('lakeside', 'members.csv'),
        holders: count('lakeside', 'holders.csv'),
        accounts: count('lakeside', 'accounts.csv') + 9n,
        posted: ['4825075'],
      },
      harbor: {
        persons: count('harbor', 'persons.csv'),
        customers: count('harbor', 'members.csv'),
        holders: count('harbor', 'holders.csv'),
        accounts: count('harbor', 'accounts.csv') + 3n,
        posted: ['111111'],
      },
    });
  });
});

describe('importing again', () => {
  test('an import updates every field that a core may change, and no setting of the operators', async () => {
    await using db = await testDatabase();
    await importFiles(db, validExtract());
    const files = validExtract();
    files['institution.csv']?.splice(1, 1, 'fictional,Renamed Bank,USD,Europe/Kyiv,closed,1.00,8,no');
    files['persons.csv']?.splice(1, 1, 'p-1,Ada,Married,new@example.test,+442079460018,HOME,1984-03-01');
    files['accounts.csv']?.splice(1, 1, 'a-1,1001,1001-99,CHECKING,Renamed,USD,-12.34,closed,yes,7.00,,,');
    await importFiles(db, files);

    const [institution] = await db.superuser(
      'select name, time_zone, enrollment, opening_deposit_minor, password_min_length from institutions',
    );
    assert.deepEqual(institution, {
      name: 'Renamed Bank',
      time_zone: 'Europe/Kyiv',
      enrollment: 'open',
      opening_deposit_minor: 25_000n,
      password_min_length: 15,
    });
    const [person] = await db.superuser(
      `select last_name, email, phone_number, phone_type, birth_date::text from persons where person_id = 'p-1'`,
    );
    assert.deepEqual(person, {
      last_name: 'Married',
      email: 'new@example.test',
      phone_number: '+442079460018',
      phone_type: 'HOME',
      birth_date: '1984-03-01',
    });
    const [account] = await db.superuser(
      `select account_number, description, closed, delinquent, overdraft_limit from accounts
       where account_id = 'a-1'`,
    );
    assert.deepEqual(account, {
      account_number: '1001-99',
      description: 'Renamed',
      closed: true,
      delinquent: true,
      overdraft_limit: 700n,
    });
  });

  test('an import makes holders those of the extract: removed, added and changed', async () => {
    await using db = await testDatabase();
    await importFiles(db, validExtract());
    assert.deepEqual(await holdersOf(db, 'a-1'), ['p-1 PRIMARY pays', 'p-2 AUTHORIZED_SIGNER sees']);
    assert.deepEqual(await holdersOf(db, 'a-2'), ['p-1 PRIMARY pays']);

    const files = validExtract();
    files['holders.csv']?.splice(1, 3, 'a-1,p-2,JOINT,yes', 'a-2,p-1,PRIMARY,no', 'a-2,p-2,JOINT,no');
    await importFiles(db, files);
    assert.deepEqual(await holdersOf(db, 'a-1'), ['p-2 JOINT pays']);
    assert.deepEqual(await holdersOf(db, 'a-2'), ['p-1 PRIMARY sees', 'p-2 JOINT sees']);
    assert.deepEqual(await holdersOf(db, 'a-4'), ['p-1 JOINT pays', 'p-3 PRIMARY pays']);
  });

  test('an import makes the persons of a membership those of the extract, and lets them change places', async () => {
    await using db = await testDatabase();
    await importFiles(db, validExtract());
    const files = validExtract();
    files['member-persons.csv']?.splice(1, 4, '1001,p-1,JOINT', '1001,p-2,PRIMARY', '1002,p-3,PRIMARY');
    files['holders.csv'] = (files['holders.csv'] ?? []).filter((line) => line !== 'a-4,p-1,JOINT,yes');
    await importFiles(db, files);
    assert.deepEqual(await personsOf(db, '1001'), ['p-1 JOINT', 'p-2 PRIMARY']);
    assert.deepEqual(await personsOf(db, '1002'), ['p-3 PRIMARY']);
    assert.deepEqual(await holdersOf(db, 'a-4'), ['p-3 PRIMARY pays']);
  });

  test('an import keeps everything that the extract leaves out', async () => {
    await using db = await testDatabase();
    await importFiles(db, validExtract());
    const before = await dumpTables(db, { except: ['audit_entries'] });
    const files = validExtract();
    files['members.csv']?.splice(1, 1);
    files['member-persons.csv']?.splice(1, 2);
    files['accounts.csv']?.splice(1, 3);
    files['holders.csv']?.splice(1, 4);
    await importFiles(db, files);
    assert.deepEqual(await dumpTables(db, { except: ['audit_entries'] }), before);
  });

  test('an import without a column lifts no restriction and pays nothing that is due', async () => {
    await using db = await testDatabase();
    const saying = (said: readonly [restriction: string, due: string]) => {
      const files = validExtract();
      const [header, ...lines] = files['accounts.csv'] ?? [];
      files['accounts.csv'] = [
        `${header},transfer_restriction,amount_due`,
        ...lines.map((line) => `${line},${line.startsWith('a-3,') ? said : `${said[0]},`}`),
      ];
      return files;
    };
    const standing = async () => {
      const [row] = await db.superuser<{ restrictions: string[]; due: number }>(
        `select array_agg(distinct transfer_restriction) as restrictions, max(amount_due)::integer as due
         from accounts left join loans using (institution_id, account_key) where customer_key is not null`,
      );
      return row;
    };
    await importFiles(db, saying(['EXCLUDE_ALL', '150.00']));
    const frozen = { restrictions: ['EXCLUDE_ALL'], due: 15_000 };
    assert.deepEqual(await standing(), frozen);
    await importFiles(db, validExtract());
    assert.deepEqual(await standing(), frozen);
    await importFiles(db, validExtract(), { adjustBalances: true });
    assert.deepEqual(await standing(), frozen);
    await importFiles(db, saying(['', '']));
    assert.deepEqual(await standing(), { restrictions: [null], due: 0 }, 'empty is said');
  });

  test('an import opens new accounts beside the existing ones', async () => {
    await using db = await testDatabase();
    const files = validExtract();
    const last = files['accounts.csv']?.pop() as string;
    const holder = files['holders.csv']?.pop() as string;
    await importFiles(db, files);
    files['accounts.csv']?.push(last.replace('USD,,', 'EUR,5.00,'));
    files['holders.csv']?.push(holder);
    const report = await importFiles(db, files);
    assert.equal(report.openedAccounts, 1);
    const balances = await balancesOf(db, 'fictional');
    assert.equal(balances['a-5']?.posted, 500n);
    assert.equal(balances['internal:core-settlement:EUR']?.posted, -500n);
    assert.equal(balances['a-4']?.kinds, 'OPENING');
    assert.deepEqual(new Set(await ledgerSums(db)), new Set(['0']));
  });

  test('an import leaves balances to the ledger unless it is asked to follow the core', async () => {
    await using db = await testDatabase();
    await importFiles(db, validExtract());
    const files = validExtract();
    files['accounts.csv']?.splice(
      1,
      5,
      'a-1,1001,1001-10,CHECKING,Share Draft,USD,100.00,open,no,500.00,,,',
      'a-2,1001,4242,CREDIT_CARD_LOAN,Rewards Card,USD,-1.00,open,no,,5000.00,,',
      'a-3,1001,1001-50,CONSUMER_LOAN,,USD,900.00,open,yes,,,1.00,',
      'a-4,1002,1002-10,CHECKING,Yen Checking,JPY,250000,open,no,,,,',
      'a-5,1002,1002-00,SAVINGS,Old Savings,USD,3.00,closed,no,,,,',
    );
    const figures = async () => {
      const balances = await balancesOf(db, 'fictional');
      const [loan] = await db.superuser('select accrued_interest, fees_due from loans');
      const of = (accountId: string) => [balances[accountId]?.posted, balances[accountId]?.kinds];
      return { a1: of('a-1'), a2: of('a-2'), a3: of('a-3'), a4: of('a-4'), a5: of('a-5'), loan };
    };
    const before = await figures();
    assert.deepEqual(before, {
      a1: [-1_234n, 'OPENING'],
      a2: [-84_219n, 'OPENING'],
      a3: [-103_750n, 'OPENING'],
      a4: [250_000n, 'OPENING'],
      a5: [0n, ''],
      loan: { accrued_interest: 1_250n, fees_due: 2_500n },
    });
    await importFiles(db, files);
    assert.deepEqual(await figures(), before);

    const report = await importFiles(db, files, { adjustBalances: true });
    assert.deepEqual([report.openedAccounts, report.adjustedAccounts], [1, 3]);
    assert.deepEqual(await figures(), {
      a1: [10_000n, 'OPENING ADJUSTMENT'],
      a2: [100n, 'OPENING ADJUSTMENT'],
      a3: [-90_100n, 'OPENING ADJUSTMENT'],
      a4: [250_000n, 'OPENING'],
      a5: [300n, 'OPENING'],
      loan: { accrued_interest: 100n, fees_due: 0n },
    });
    assert.deepEqual(new Set(await ledgerSums(db)), new Set(['0']));
  });

  test('an import takes a loan’s good standing from the core: the flag and the amount due, and no figure of the ledger', async () => {
    await using db = await testDatabase();
    const due = (delinquent: string, amountDue: string, interest = '12.50') => {
      const files = validExtract();
      files['accounts.csv'] = (files['accounts.csv'] ?? []).map((line, index) =>
        index === 0
          ? `${line},amount_due`
          : line.startsWith('a-3,')
            ? `a-3,1001,1001-50,CONSUMER_LOAN,,USD,1000.00,open,${delinquent},,,${interest},25,${amountDue}`
            : `${line},`,
      );
      return files;
    };
    const standing = async () => {
      const [row] = await db.superuser<{ delinquent: boolean; due: bigint; interest: bigint }>(
        `select a.delinquent, l.amount_due as due, l.accrued_interest as interest
         from loans l join accounts a using (institution_id, account_key) where a.account_id = 'a-3'`,
      );
      return [row?.delinquent, Number(row?.due), Number(row?.interest)];
    };
    await importFiles(db, due('yes', '150.00'));
    assert.deepEqual(await standing(), [true, 15_000, 1_250]);
    const report = await importFiles(db, due('no', '0', '99.00'));
    assert.deepEqual(await standing(), [false, 0, 1_250]);
    assert.deepEqual([report.openedAccounts, report.adjustedAccounts], [0, 0]);
    await importFiles(db, due('yes', '75.00', '99.00'));
    assert.deepEqual(await standing(), [true, 7_500, 1_250]);
  });

  const contradictions: Record<string, readonly [files: ExtractFiles, errors: readonly string[]]> = {
    'another currency of the institution': [
      changed('institution.csv', 'USD', 'EUR'),
      ['institution.csv:2: currency: expected the value of the earlier import'],
    ],
    'an institution that is no demo any more': [
      changed('institution.csv', /no$/, 'yes'),
      ['institution.csv:2: demo: expected the value of the earlier import'],
    ],
    'another customer id of a member': [
      changed('members.csv', 'c-2', 'c-9'),
      ['members.csv:3: customer_id: expected the value of the earlier import'],
    ],
    'another type of a member': [
      changed('members.csv', 'RETAIL', 'BUSINESS'),
      ['members.csv:2: member_type: expected the value of the earlier import'],
    ],
    'the customer id of another member': [
      (() => {
        const files = validExtract();
        files['members.csv']?.splice(1, 2, 'c-2,1001,RETAIL', 'c-1,1002,BUSINESS');
        return files;
      })(),
      [
        'members.csv:2: customer_id: expected the value of the earlier import',
        'members.csv:2: member_number: expected the value of the earlier import',
        'members.csv:2: member_type: expected the value of the earlier import',
        'members.csv:3: customer_id: expected the value of the earlier import',
        'members.csv:3: member_number: expected the value of the earlier import',
        'members.csv:3: member_type: expected the value of the earlier import',
      ],
    ],
    'an account under another membership': [
      (() => {
        const files = changed('accounts.csv', 'a-5,1002', 'a-5,1001');
        files['holders.csv']?.splice(-1, 1, 'a-5,p-2,PRIMARY,yes');
        return files;
      })(),
      ['accounts.csv:6: member_number: expected the value of the earlier import'],
    ],
    'an account of another type': [
      changed('accounts.csv', 'a-5,1002,1002-00,SAVINGS', 'a-5,1002,1002-00,CHECKING'),
      ['accounts.csv:6: type: expected the value of the earlier import'],
    ],
    'an account in another currency': [
      changed('accounts.csv', 'JPY', 'KRW'),
      ['accounts.csv:5: currency: expected the value of the earlier import'],
    ],
  };
  for (const [what, [files, errors]] of Object.entries(contradictions)) {
    test(`refuses a whole import for ${what}`, async () => {
      await using db = await testDatabase();
      await importFiles(db, validExtract());
      const before = await dumpTables(db);
      // Valid changes elsewhere in the same extract must not be imported either.
      files['persons.csv'] = (files['persons.csv'] ?? []).map((line) => line.replace('Bob', 'Robert'));
      const rejected = await importFiles(db, files, { adjustBalances: true }).catch((error) => error);
      assert.ok(rejected instanceof ExtractRejectedError, String(rejected));
      assert.deepEqual([...new Set(rejected.errors)].sort(), [...errors].sort());
      assert.deepEqual(await dumpTables(db), before);
    });
  }

  test('keeps the record of the accounts that the first import named', async () => {
    await using db = await testDatabase();
    const named = (record: string) => {
      const files = validExtract();
      const [header = '', row = ''] = files['institution.csv'] ?? [];
      files['institution.csv'] = [`${header},record`, `${row},${record}`];
      return files;
    };
    assert.equal((await importFiles(db, named('core'))).institution?.record, 'core');
    const again = changed('institution.csv', 'Fictional Credit Union', 'Fictional Bank');
    assert.equal((await importFiles(db, again)).institution?.record, 'core');
    const rejected = await importFiles(db, named('ledger')).catch((error) => error);
    assert.deepEqual(rejected.errors, [
      'institution.csv:2: record: expected the value of the earlier import',
    ]);
    await assert.rejects(
      db.database.directory((directory) =>
        directory.query({ name: 'move_record', text: `update institutions set record = 'ledger'` }),
      ),
      /permission denied/,
    );
  });

  test('takes the ledger for the record of the accounts if the first import names none', async () => {
    await using db = await testDatabase();
    assert.equal((await importFiles(db, validExtract())).institution?.record, 'ledger');
  });

  test('refuses to import an institution that is not a demo where only demos may be kept', async () => {
    await using db = await testDatabase();
    await using folder = await extractFolder(validExtract());
    const deps = { ...depsOf(db), demoOnly: 'The server runs as nobody.' };
    await assert.rejects(importExtract(deps, folder.folder), /The server runs as nobody\./);
    assert.deepEqual(await db.superuser('select from institutions'), []);

    await folder.write(changed('institution.csv', /no$/, 'yes'));
    assert.equal((await importExtract(deps, folder.folder)).institution?.demo, true);
  });

  test('refuses a whole extract that contains an error', async () => {
    await using db = await testDatabase();
    const before = await dumpTables(db);
    await assert.rejects(importFiles(db, changed('holders.csv', 'a-5', 'a-6')), ExtractRejectedError);
    assert.deepEqual(await dumpTables(db), before);
  });
});

/** Place and version of each row: a rewritten row has others. */
async function versionsOf(db: TestDatabase): Promise<unknown[]> {
  const tables = ['institutions', 'persons', 'customers', 'customer_persons', 'accounts', 'loans', 'holders'];
  return Promise.all(
    [...tables, 'balances'].map((table) =>
      db.superuser(`select '${table}' as table, ctid::text, xmin::text from ${table} order by ctid`),
    ),
  );
}

describe('changes that an import is about to make', () => {
  const planOf = async (db: TestDatabase, files: ExtractFiles, options: ImportOptions = {}) => {
    const { plan } = await importFiles(db, files, { ...options, dryRun: true });
    const { persons, members, memberPersons, accounts, holders, loans } = plan;
    const counts = { persons, members, memberPersons, accounts, holders, loans };
    return {
      ...Object.fromEntries(
        Object.entries(counts).map(([name, { added, changed, removed }]) => [
          name,
          [added, changed, removed],
        ]),
      ),
      settings: plan.settings,
      balances: [plan.opened, plan.adjusted],
    };
  };

  test('counts the changes of an import in a dry run, which changes nothing', async () => {
    await using db = await testDatabase();
    const empty = await dumpTables(db);
    const all = await planOf(db, validExtract());
    assert.deepEqual(all, {
      persons: [3, 0, 0],
      members: [2, 0, 0],
      memberPersons: [4, 0, 0],
      accounts: [5, 0, 0],
      holders: [7, 0, 0],
      loans: [0, 0, 0],
      settings: { after: (all as { settings: { after: object } }).settings.after, kept: {} },
      balances: [4, 0],
    });
    assert.deepEqual(await dumpTables(db), empty);

    await importFiles(db, validExtract());
    const before = await dumpTables(db);
    const files = validExtract();
    files['institution.csv']?.splice(1, 1, 'fictional,Renamed Bank,USD,America/New_York,open,250.00,15,no');
    files['persons.csv']?.splice(1, 1, 'p-1,Ada,Married,,,,', 'p-4,New,Person,,,,');
    files['members.csv']?.push('c-3,1003,RETAIL');
    files['member-persons.csv']?.splice(2, 1, '1001,p-4,JOINT', '1003,p-4,PRIMARY');
    files['accounts.csv']?.splice(1, 1, 'a-1,1001,1001-10,CHECKING,Renamed,USD,20.00,open,no,500.00,,,');
    files['accounts.csv']?.splice(3, 1, 'a-3,1001,1001-50,CONSUMER_LOAN,,USD,900.00,open,no,,,1.00,25');
    files['accounts.csv']?.push('a-6,1003,1003-00,SAVINGS,,USD,7.00,open,no,,,,');
    files['holders.csv']?.splice(1, 2, 'a-1,p-1,PRIMARY,no', 'a-6,p-4,PRIMARY,yes');
    const differences = {
      persons: [1, 1, 0],
      members: [1, 0, 0],
      memberPersons: [2, 0, 1],
      accounts: [1, 2, 0],
      holders: [1, 1, 1],
      settings: { before: { name: 'Fictional Credit Union' }, after: { name: 'Renamed Bank' }, kept: {} },
    };
    assert.deepEqual(await planOf(db, files), { ...differences, loans: [0, 0, 0], balances: [1, 0] });
    assert.deepEqual(await planOf(db, files, { adjustBalances: true }), {
      ...differences,
      loans: [0, 1, 0],
      balances: [1, 2],
    });
    assert.deepEqual(await dumpTables(db), before);
  });

  test('counts no change for an unchanged extract, and writes no row', async () => {
    await using db = await testDatabase();
    await importFiles(db, extractOf(300));
    const before = await versionsOf(db);
    const { plan } = await importFiles(db, extractOf(300), { adjustBalances: true });
    assert.deepEqual(plan.ranges, { persons: [], members: [] });
    assert.deepEqual(await versionsOf(db), before);
  });

  test('writes only the rows that differ', async () => {
    await using db = await testDatabase();
    await importFiles(db, extractOf(300));
    const before = (await versionsOf(db)) as object[][];
    const files = extractOf(300);
    files['persons.csv'] = (files['persons.csv'] ?? []).map((line) =>
      line.replace(/Example(7|77|177),/, 'Renamed$1,'),
    );
    await importFiles(db, files);
    const after = (await versionsOf(db)) as object[][];
    const written = after.map(
      (rows, table) => rows.length - rows.filter((row) => same(before[table], row)).length,
    );
    assert.deepEqual(written, [0, 3, 0, 0, 0, 0, 0, 0]);
  });

  for (const [what, dryRun] of [
    ['refused', false],
    ['refused in a dry run, too', true],
  ] as const) {
    test(`a holders.csv that was cut off is ${what}`, async () => {
      await using db = await testDatabase();
      await importFiles(db, extractOf(300));
      const before = await dumpTables(db);
      const files = extractOf(300);
      files['holders.csv']?.splice(400);
      await assert.rejects(importFiles(db, files, { dryRun }), {
        name: 'ImportRefusedError',
        message: /would remove 201 of 600 rows that holders\.csv no longer has\. Nothing was changed\./,
      });
      assert.deepEqual(await dumpTables(db), before);
    });
  }

  test('makes many removals only if they are allowed, and few without asking', async () => {
    await using db = await testDatabase();
    await importFiles(db, extractOf(300));
    const files = extractOf(300);
    files['holders.csv']?.splice(400);
    const { plan } = await importFiles(db, files, { allowRemovals: true });
    assert.deepEqual(plan.unheld.count, 201);
    assert.equal(plan.unheld.accountIds.length, 20);
    const [left] = await db.superuser('select count(*) as holders from holders');
    assert.deepEqual(left, { holders: 399n });
    files['holders.csv']?.splice(380);
    await importFiles(db, files);
    assert.deepEqual(await db.superuser('select count(*) as holders from holders'), [{ holders: 379n }]);
  });

  test('audits an import with the settings before and after', async () => {
    await using db = await testDatabase();
    await importFiles(db, validExtract());
    const files = changed('institution.csv', 'Fictional Credit Union', 'Renamed Bank');
    files['persons.csv'] = (files['persons.csv'] ?? []).map((line) => line.replace('Bob', 'Robert'));
    const operator = { user: 'ann', host: 'desk' };
    const origin = { transactionId: 'an-import', address: null, operator };
    await importFiles(db, files, { origin });
    assert.deepEqual(
      await db.superuser(
        `select action, before_change as before, after_change as after from audit_entries where transaction_id = 'an-import' order by audit_key`,
      ),
      [
        {
          action: 'institution.changed',
          before: { name: 'Fictional Credit Union' },
          after: { name: 'Renamed Bank' },
        },
        {
          action: 'import.started',
          before: null,
          after: {
            persons: { added: 0, changed: 1, removed: 0 },
            opened: 0,
            adjusted: 0,
            adjustBalances: false,
          },
        },
        { action: 'import.finished', before: null, after: { opened: 0, adjusted: 0 } },
      ],
    );
  });
});

function same(rows: readonly object[] | undefined, row: object): boolean {
  return rows?.some((other) => JSON.stringify(other) === JSON.stringify(row)) === true;
}

describe('interrupted imports by range', () => {
  test('running an import again completes one that was killed after a chunk', async () => {
    await using whole = await testDatabase();
    await using broken = await testDatabase();
    await using folder = await extractFolder(extractOf(2_300));
    await importExtract(depsOf(whole), folder.folder);

    let ranges = 0;
    const killed = importExtract(depsOf(broken), folder.folder, {
      commit: 'by-range',
      onProgress: ({ step }) => {
        if (step !== 'writing') return;
        ranges += 1;
        // The persons are imported in three ranges, and 200 and 500 memberships.
        if (ranges === 5) throw new Error('killed');
      },
    });
    await assert.rejects(killed, /killed/);
    const [half] = await broken.superuser<{ accounts: bigint; staged: bigint }>(
      `select (select count(*) from accounts where purpose is null) as accounts,
              (select count(*) from staged_accounts) + (select count(*) from import_runs) as staged`,
    );
    assert.deepEqual(half, { accounts: 1_400n, staged: 0n });

    await assert.rejects(
      importExtract(depsOf(broken), folder.folder),
      /--commit once or with --commit by-range/,
    );
    const report = await importExtract(depsOf(broken), folder.folder, { commit: 'by-range' });
    assert.equal(report.openedAccounts, 3_200);
    assert.deepEqual(await importedRows(broken), await importedRows(whole));
  });

  test('the next import of any institution clears the staged rows of an interrupted one', async () => {
    await using db = await testDatabase();
    await db.superuser(`insert into import_runs (code, institution_id) values ('died', 4711)`);
    await db.superuser(`insert into staged_members values (4711, 2, 'c-1', '1001', 'RETAIL')`);
    await importFiles(db, validExtract());
    const [left] = await db.superuser(
      'select (select count(*) from import_runs) as runs, (select count(*) from staged_members) as rows',
    );
    assert.deepEqual(left, { runs: 0n, rows: 0n });
  });

  test('an import that is killed at random moments again and again opens each account once', async () => {
    await using whole = await testDatabase();
    await using broken = await testDatabase();
    await using folder = await extractFolder(validExtract());
    await importExtract(depsOf(whole), folder.folder);

    // The clock is read in every transaction, after others of its statements.
    let kills = 0;
    for (let readings = 1; ; readings += 1) {
      let left = readings;
      const clock = () => {
        left -= 1;
        if (left < 0) throw new Error('killed');
        return at;
      };
      const done = await importExtract(depsOf(broken, clock), folder.folder, { commit: 'by-range' }).then(
        () => true,
        (error: Error) => {
          assert.match(error.message, /killed/);
          return false;
        },
      );
      if (done) break;
      kills += 1;
    }
    assert.ok(kills >= 2, `killed ${kills} times`);
    assert.deepEqual(await importedRows(broken), await importedRows(whole));
  });

  test('running an import again completes one whose connection was lost within a chunk', async () => {
    await using whole = await testDatabase();
    await using broken = await testDatabase();
    await using folder = await extractFolder(validExtract());
    await importExtract(depsOf(whole), folder.folder);

    await broken.superuser(
      `create function cut() returns trigger language plpgsql security definer
       as 'begin perform pg_terminate_backend(pg_backend_pid()); return new; end'`,
    );
    await broken.superuser(
      'create trigger cut before insert on accounts for each row when (new.purpose is null) execute function cut()',
    );
    const cutOff = importExtract(depsOf(broken), folder.folder, { commit: 'by-range' });
    await assert.rejects(cutOff, { code: 'database_unavailable' });
    await broken.superuser('drop trigger cut on accounts');
    assert.equal((await broken.superuser('select from accounts where purpose is null')).length, 0);
    await importExtract(depsOf(broken), folder.folder);
    assert.deepEqual(await importedRows(broken), await importedRows(whole));
  });
});

describe('imports beside other work', () => {
  test('two simultaneous imports do the work of one', async () => {
    await using one = await testDatabase();
    await using two = await testDatabase();
    await using folder = await extractFolder(extractOf(300));
    await importExtract(depsOf(one), folder.folder);
    const reports = await Promise.all([
      importExtract(depsOf(two), folder.folder),
      importExtract(depsOf(two), folder.folder),
    ]);
    assert.equal(
      reports.reduce((sum, report) => sum + report.openedAccounts, 0),
      600,
    );
    assert.deepEqual(await importedRows(two), await importedRows(one));
  });

  test('an import waits for an account that another session has locked for longer', async () => {
    await using db = await testDatabase();
    await importFiles(db, validExtract());
    const slow = db.superuser(
      `with locked as materialized (select account_key from balances where account_id = 'a-1' for update)
       select pg_sleep(0.9) from locked`,
    );
    await new Promise((resolve) => setTimeout(resolve, 100));
    const files = changed('accounts.csv', '-12.34', '20.00');
    const report = await importFiles(db, files, { adjustBalances: true });
    await slow;
    assert.equal(report.adjustedAccounts, 1);
    assert.equal((await balancesOf(db, 'fictional'))['a-1']?.posted, 2_000n);
  });

  test('an import names a member number that was enrolled meanwhile, and imports nothing', async () => {
    await using db = await testDatabase();
    await importFiles(db, validExtract());
    const institution = (await db.database.directory((directory) =>
      findInstitutionByCode(directory, 'fictional'),
    )) as Institution;
    const key = await new PostingKeys(db.database).next();
    await db.database.transaction(institution.institutionId, (tx) =>
      openMembership(tx, institution, {
        member: { memberNumber: '1003', email: 'new@example.test' },
        postingKey: key,
        at,
      }),
    );
    const before = await dumpTables(db);
    const files = validExtract();
    files['members.csv']?.push('c-3,1003,RETAIL');
    files['member-persons.csv']?.push('1003,p-2,PRIMARY');
    await assert.rejects(importFiles(db, files), {
      errors: ['members.csv:4: customer_id: expected the value of the earlier import'],
    });
    assert.deepEqual(await dumpTables(db), before);
  });
});

test('imports a thousand members within seconds', async () => {
  await using db = await testDatabase();
  const started = performance.now();
  const report = await importFiles(db, extractOf(1_000));
  const seconds = (performance.now() - started) / 1_000;
  assert.equal(report.openedAccounts, 2_000);
  assert.deepEqual(new Set(await ledgerSums(db)), new Set(['0']));
  assert.ok(seconds < 10, `${seconds.toFixed(1)} s`);
});
