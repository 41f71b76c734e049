import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  accountShape,
  holderShape,
  institutionShape,
  memberPersonShape,
  memberShape,
  personShape,
} from '../../src/core-system/extract/extract.ts';
import { ExtractRejectedError, type ImportReport, importExtract } from '../../src/core-system/index.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { type ExtractFiles, extractFolder, validExtract } from '../support/extract.ts';

/*
 * One case for each column of the files of an extract: its value in the first import, another value in the second, and the
 * fields of the database that then differ. A column without a case fails.
 */

type Case =
  /** `row` is the place of the line in the file, 1 for the first below the header. */
  | {
      readonly row: number;
      readonly from: string;
      readonly to: string;
      /** `table key field`, without the institution. */
      readonly changes: readonly string[];
    }
  /** The first import laid it down: another value changes nothing. */
  | { readonly kept: true; readonly row: number; readonly from: string; readonly to: string }
  /** An earlier import fixed it: another value is an error. */
  | { readonly fixed: true; readonly row: number; readonly from: string; readonly to: string }
  /** Names the row, so another value is another row. */
  | 'key';

const changes = (row: number, from: string, to: string, ...fields: string[]): Case => ({
  row,
  from,
  to,
  changes: fields,
});
const kept = (row: number, from: string, to: string): Case => ({ kept: true, row, from, to });
const fixed = (row: number, from: string, to: string): Case => ({ fixed: true, row, from, to });

const cases: Readonly<Record<string, Readonly<Record<string, Case>>>> = {
  'institution.csv': {
    code: 'key',
    name: changes(1, 'Fictional Credit Union', 'Invented Bank', 'institutions name'),
    currency: fixed(1, 'USD', 'EUR'),
    time_zone: changes(1, 'America/New_York', 'America/Denver', 'institutions time_zone'),
    demo: fixed(1, 'no', 'yes'),
    enrollment: kept(1, 'open', 'closed'),
    opening_deposit: kept(1, '250.00', '0'),
    password_min_length: kept(1, '15', '20'),
    contact_change_max_age: kept(1, '600', '900'),
    registration_birth_date: kept(1, 'yes', 'no'),
    openings_per_day: kept(1, '7', '8'),
    opening_deposits_per_day: kept(1, '500.00', '600'),
    record: fixed(1, 'ledger', 'core'),
    balances_as_of: changes(1, '2026-03-01T12:00:00Z', '2026-03-01T13:00:00Z'),
  },
  'persons.csv': {
    person_id: 'key',
    // The folded columns are computed from these.
    first_name: changes(1, 'Ada', 'Adele', 'persons p-1 first_name', 'persons p-1 first_name_lower'),
    last_name: changes(1, 'Example', 'Sample', 'persons p-1 last_name', 'persons p-1 last_name_lower'),
    email: changes(1, 'ada@example.test', '', 'persons p-1 email', 'persons p-1 email_lower'),
    phone_number: changes(1, '+12025550143', '+12025550144', 'persons p-1 phone_number'),
    phone_type: changes(1, 'MOBILE', 'HOME', 'persons p-1 phone_type'),
    birth_date: changes(1, '1984-02-29', '1984-03-01', 'persons p-1 birth_date'),
  },
  'members.csv': {
    customer_id: fixed(1, 'c-1', 'c-9'),
    member_number: 'key',
    member_type: fixed(1, 'RETAIL', 'BUSINESS'),
  },
  'member-persons.csv': {
    member_number: 'key',
    person_id: 'key',
    role: changes(4, 'BUSINESS_ADMIN', 'BUSINESS_USER', 'customer_persons 1002 p-1 role'),
  },
  'accounts.csv': {
    account_id: 'key',
    member_number: fixed(2, '1001', '1002'),
    account_number: changes(1, '1001-10', '1001-11', 'accounts a-1 account_number'),
    type: fixed(1, 'CHECKING', 'SAVINGS'),
    description: changes(1, 'Share Draft', 'Daily Draft', 'accounts a-1 description'),
    currency: fixed(1, 'USD', 'EUR'),
    balance: changes(1, '-12.34', '56.78', 'balances a-1 posted'),
    status: changes(1, 'open', 'closed', 'accounts a-1 closed'),
    delinquent: changes(3, 'yes', 'no', 'accounts a-3 delinquent'),
    overdraft_limit: changes(1, '500.00', '400', 'accounts a-1 overdraft_limit'),
    credit_limit: changes(2, '5000.00', '6000', 'accounts a-2 credit_limit'),
    // The payoff of a loan has its interest and its fees.
    accrued_interest: changes(3, '12.50', '13', 'balances a-3 posted', 'loans a-3 accrued_interest'),
    fees_due: changes(3, '25', '26', 'balances a-3 posted', 'loans a-3 fees_due'),
    amount_due: changes(3, '90', '80', 'loans a-3 amount_due'),
    next_due_on: changes(3, '2026-03-15', '2026-04-15', 'loans a-3 next_due_on'),
    transfer_restriction: changes(1, 'EXCLUDE_AS_TO', 'EXCLUDE_ALL', 'accounts a-1 transfer_restriction'),
  },
  'holders.csv': {
    account_id: 'key',
    person_id: 'key',
    role: changes(2, 'AUTHORIZED_SIGNER', 'JOINT', 'holders a-1 p-2 role'),
    may_pay: changes(2, 'no', 'yes', 'holders a-1 p-2 may_pay'),
  },
};

const shapes = [institutionShape, personShape, memberShape, memberPersonShape, accountShape, holderShape];

let db: TestDatabase;
before(async () => {
  db = await testDatabase();
});
after(() => db.close());

test('each column of each file of an extract has a case', () => {
  for (const { file, columns, optional = [] } of shapes) {
    assert.deepEqual(Object.keys(cases[file] ?? {}), [...columns, ...optional], file);
  }
  assert.equal(Object.keys(cases).length, shapes.length);
});

for (const [file, columns] of Object.entries(cases)) {
  for (const [column, one] of Object.entries(columns)) {
    if (one === 'key') continue;
    if ('fixed' in one) {
      test(`refuses another value of ${column} in ${file} than in the import before`, async () => {
        const { code, files } = completeExtract();
        await importFiles(files);
        const held = await fieldsOf(code);
        setCell(files, { file, column, ...one });
        await assert.rejects(
          importFiles(files),
          (error) =>
            error instanceof ExtractRejectedError &&
            error.message.includes(
              `${file}:${one.row + 1}: ${column}: expected the value of the earlier import`,
            ),
        );
        assert.deepEqual(await fieldsOf(code), held);
      });
    } else if ('kept' in one) {
      test(`another value of ${column} in ${file} is kept out of the institution and named in the plan`, async () => {
        const { code, files } = completeExtract();
        await importFiles(files);
        const held = await fieldsOf(code);
        setCell(files, { file, column, ...one });
        const { plan } = await importFiles(files);
        assert.equal(Object.keys(plan.settings.kept).length, 1);
        assert.deepEqual(await fieldsOf(code), held);
      });
    } else {
      test(`another value of ${column} in ${file} changes its own field and no other`, async () => {
        const { code, files } = completeExtract();
        await importFiles(files);
        const held = await fieldsOf(code);
        setCell(files, { file, column, ...one });
        await importFiles(files);
        const now = await fieldsOf(code);
        const differing = [...new Set([...held.keys(), ...now.keys()])]
          .filter((field) => held.get(field) !== now.get(field))
          .sort();
        assert.deepEqual(differing, one.changes);
      });
    }
  }
}

for (const { file, optional = [] } of shapes) {
  for (const column of optional) {
    test(`leaving ${column} out of ${file} changes nothing that the database holds`, async () => {
      const { code, files } = completeExtract();
      await importFiles(files);
      const held = await fieldsOf(code);
      assert.ok(held.size > 50);
      const lines = files[file] ?? [];
      const place = placeOf(lines, column);
      files[file] = lines.map((line) => line.split(',').toSpliced(place, 1).join(','));
      await importFiles(files);
      assert.deepEqual(await fieldsOf(code), held);
    });
  }
}

let codes = 0;

/** The small valid extract with every optional column, for an institution of its own. */
function completeExtract(): { readonly code: string; readonly files: ExtractFiles } {
  const code = `columns-${++codes}`;
  const files = validExtract();
  const add = (file: string, header: string, ...cells: string[]) => {
    files[file] = (files[file] ?? []).map(
      (line, row) => `${line},${row === 0 ? header : (cells[row - 1] ?? '')}`,
    );
  };
  add(
    'institution.csv',
    'contact_change_max_age,registration_birth_date,openings_per_day,opening_deposits_per_day,record,balances_as_of',
    '600,yes,7,500.00,ledger,2026-03-01T12:00:00Z',
  );
  const none = ',,';
  add(
    'accounts.csv',
    'amount_due,next_due_on,transfer_restriction',
    ',,EXCLUDE_AS_TO',
    none,
    '90,2026-03-15,',
    none,
    none,
  );
  setCell(files, { file: 'institution.csv', column: 'code', row: 1, from: 'fictional', to: code });
  return { code, files };
}

async function importFiles(files: ExtractFiles): Promise<ImportReport> {
  await using folder = await extractFolder(files);
  const clock = () => new Date('2026-03-02T12:00:00Z');
  const adjustBalances = placeOf(files['institution.csv'] ?? [], 'balances_as_of') >= 0;
  return await importExtract({ database: db.database, clock }, folder.folder, { adjustBalances });
}

function placeOf(lines: readonly string[], column: string): number {
  return (lines[0] ?? '').split(',').indexOf(column);
}

function setCell(
  files: ExtractFiles,
  cell: { file: string; column: string; row: number; from: string; to: string },
): void {
  const lines = files[cell.file] ?? [];
  const values = (lines[cell.row] ?? '').split(',');
  const place = placeOf(lines, cell.column);
  assert.equal(values[place], cell.from, `${cell.file}: ${cell.column}`);
  lines[cell.row] = values.with(place, cell.to).join(',');
}

/** `table key field` with its value: everything that an import keeps, except numbers that the service gives. */
async function fieldsOf(code: string): Promise<ReadonlyMap<string, string>> {
  const rows = await db.superuser<{ name: string; row: Record<string, unknown> }>(
    `with i as (select * from institutions where code = $1),
       a as (select a.* from accounts a join i using (institution_id) where a.customer_key is not null)
     select 'institutions' as name, to_jsonb(i) as row from i
     union all select 'persons ' || person_id, to_jsonb(p) from persons p join i using (institution_id)
     union all select 'customers ' || member_number, to_jsonb(c) from customers c join i using (institution_id)
     union all select concat_ws(' ', 'customer_persons', member_number, person_id), to_jsonb(cp)
       from customer_persons cp join i using (institution_id) join customers using (institution_id, customer_key)
         join persons using (institution_id, person_key)
     union all select 'accounts ' || account_id, to_jsonb(a) from a
     union all select 'loans ' || account_id, to_jsonb(l) from loans l join a using (institution_id, account_key)
     union all select 'balances ' || b.account_id, jsonb_build_object('posted', b.posted)
       from balances b join a using (institution_id, account_key)
     union all select concat_ws(' ', 'holders', account_id, person_id), to_jsonb(h)
       from holders h join a using (institution_id, account_key) join persons using (institution_id, person_key)`,
    [code],
  );
  return new Map(
    rows.flatMap(({ name, row }) =>
      Object.entries(row).map(([field, value]) => [`${name} ${field}`, JSON.stringify(value)] as const),
    ),
  );
}
