import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { ExtractRejectedError, importExtract, MappingError } from '../../src/core-system/index.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { extractFolder, validExtract } from '../support/extract.ts';
import { dumpTables } from '../support/tables.ts';

/* A core's own files: other names of columns, other words, dates and numbers, in Windows-1252. */

let db: TestDatabase;
before(async () => {
  db = await testDatabase();
});
after(() => db.close());

const at = new Date('2026-03-02T12:00:00Z');

const mapping = {
  encoding: 'windows-1252',
  delimiter: ';',
  dates: 'MM/DD/YYYY',
  decimal: ',',
  files: {
    'persons.csv': { columns: { person_id: 'PERS_NO', last_name: 'SURNAME', birth_date: 'DOB' } },
    'accounts.csv': {
      columns: { account_id: 'ACCT', balance: 'CURR BAL' },
      constants: { delinquent: 'no', credit_limit: '' },
      values: { status: { A: 'open', C: 'closed' }, type: { DDA: 'CHECKING', SAV: 'SAVINGS' } },
    },
  },
};

const persons = [
  'PERS_NO;first_name;SURNAME;email;phone_number;phone_type;DOB;BRANCH',
  'p-1;Zoé;Éxample;zoe@example.test;+12025550143;MOBILE;2/29/1984;07',
];
const accounts = [
  'ACCT;member_number;account_number;type;description;currency;CURR BAL;status;overdraft_limit;accrued_interest;fees_due',
  'a-1;1001;1001-10;DDA;"Girokonto; groß";USD;1.234,50-;A;2.000;;',
  'a-2;1001;1001-00;SAV;;USD;10,00;C;;;',
];

/** The core's files, with the changes of a test. */
async function coresFolder(
  changes: { readonly mapping?: object; readonly persons?: readonly string[] } = {},
) {
  const files = validExtract();
  for (const name of ['members.csv', 'member-persons.csv', 'holders.csv']) {
    const lines = files[name] ?? [];
    const kept = lines.filter(
      (line, index) => index === 0 || /1001,RETAIL|1001,p-1|a-1,p-1|a-2,p-1/.test(line),
    );
    files[name] = kept.map((line) => line.replaceAll(',', ';'));
  }
  const folder = await extractFolder(files);
  const write = (name: string, lines: readonly string[]) =>
    writeFile(path.join(folder.folder, name), Buffer.from(`${lines.join('\r\n')}\r\n`, 'latin1'));
  await write('persons.csv', changes.persons ?? persons);
  await write('accounts.csv', accounts);
  await writeFile(
    path.join(folder.folder, 'extract-columns.json'),
    JSON.stringify({ ...mapping, ...changes.mapping }),
  );
  return folder;
}

const deps = () => ({ database: db.database, clock: () => at });

test('imports a core’s own files by extract-columns.json, and changes nothing the second time', async () => {
  await using folder = await coresFolder();
  const report = await importExtract(deps(), folder.folder, { asOf: at });
  assert.deepEqual([report.persons, report.members, report.accounts], [1, 1, 2]);
  const rows = await db.superuser<{ text: string }>(
    `select concat_ws('|', account_id, di_account_type, description, a.closed, posted, overdraft_limit) as text
     from accounts a join balances using (institution_id, account_id) where purpose is null order by 1`,
  );
  assert.deepEqual(
    rows.map(({ text }) => text),
    ['a-1|CHECKING|Girokonto; groß|f|-123450|200000', 'a-2|SAVINGS|Share Savings|t|1000|0'],
  );
  const [person] = await db.superuser<{ text: string }>(
    `select concat_ws('|', person_id, first_name, last_name, birth_date) as text from persons`,
  );
  assert.equal(person?.text, 'p-1|Zoé|Éxample|1984-02-29');
  const stored = await dumpTables(db);
  await importExtract(deps(), folder.folder, { asOf: at });
  assert.deepEqual(await dumpTables(db), stored);
});

test('names the extract’s column and the core’s line of a value that does not fit, and imports nothing', async () => {
  await using folder = await coresFolder({
    persons: [...persons, 'p-2;Ann;Example;;;;31/12/1980;07', 'p-3;Ann'],
  });
  const stored = await dumpTables(db);
  await assert.rejects(importExtract(deps(), folder.folder, { asOf: at }), (error) => {
    assert.ok(error instanceof ExtractRejectedError);
    assert.deepEqual(error.errors, ['persons.csv:4: expected 8 values, found 2']);
    return true;
  });
  const text = await readFile(path.join(folder.folder, 'persons.csv'), 'latin1');
  await writeFile(path.join(folder.folder, 'persons.csv'), text.replace('p-3;Ann\r\n', ''), 'latin1');
  await assert.rejects(importExtract(deps(), folder.folder, { asOf: at }), {
    errors: ['persons.csv:3: birth_date: expected a date like 1980-12-31'],
  });
  assert.deepEqual(await dumpTables(db), stored);
});

for (const [what, changes, message] of [
  ['an unknown part', { colour: 'red' }, /colour is not a part of a mapping/],
  ['an unknown encoding', { encoding: 'ebcdic' }, /encoding must be one of "utf-8", "windows-1252"/],
  [
    'a file that is not the core’s',
    { files: { 'institution.csv': {} } },
    /institution\.csv is not a mapped file/,
  ],
  [
    'a column that an extract does not have',
    { files: { 'persons.csv': { columns: { surname: 'X' } } } },
    /surname is not a column of persons\.csv/,
  ],
  ['a value that is no text', { files: { 'persons.csv': { columns: { last_name: 7 } } } }, /must have texts/],
] as const) {
  test(`refuses a mapping with ${what}`, async () => {
    await using folder = await coresFolder({ mapping: changes });
    await assert.rejects(importExtract(deps(), folder.folder, { asOf: at }), (error) => {
      assert.ok(error instanceof MappingError);
      assert.match(error.message, message);
      return true;
    });
  });
}

test('a column of the mapping that the file lacks is an error of its header', async () => {
  await using folder = await coresFolder({
    mapping: { files: { ...mapping.files, 'persons.csv': { columns: { person_id: 'NUMBER' } } } },
  });
  await assert.rejects(
    importExtract(deps(), folder.folder, { asOf: at }),
    /persons\.csv:1: expected one column person_id, found 0/,
  );
});
