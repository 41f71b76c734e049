import assert from 'node:assert/strict';
import { rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { ExtractRejectedError } from '../../src/core-system/extract/extract.ts';
import { readIntoStage } from '../../src/core-system/import/check-stage.ts';
import { Complaints, readHeading } from '../../src/core-system/import/stage-extract.ts';
import type { InstitutionId } from '../../src/storage/index.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { type ExtractFiles, extractFolder, validExtract } from '../support/extract.ts';

let db: TestDatabase;
let stages = 0;
before(async () => {
  db = await testDatabase();
});
after(() => db.close());

/** The staged rows of a folder, each time in a stage of its own. */
async function readFolder(folder: string) {
  stages += 1;
  const stageId = stages as InstitutionId;
  const complaints = new Complaints();
  const { settings, asOf } = await readHeading(folder, complaints);
  const { contents, unheld } = await db.database.session((session) =>
    readIntoStage({ session, institutionId: stageId }, { folder, complaints }, () => {}),
  );
  const staged = async (table: string) => {
    const rows = await db.superuser<{ row: Record<string, unknown> }>(
      `select to_jsonb(s) - 'institution_id' as row from ${table} s where institution_id = $1 order by line`,
      [stageId],
    );
    return rows.map(({ row }) => row);
  };
  return {
    institution: settings,
    asOf,
    contents,
    unheld,
    persons: await staged('staged_persons'),
    members: await staged('staged_members'),
    memberPersons: await staged('staged_member_persons'),
    accounts: await staged('staged_accounts'),
    holders: await staged('staged_holders'),
  };
}

async function read(files: ExtractFiles) {
  await using folder = await extractFolder(files);
  // Awaited here: the folder goes when this function returns.
  return await readFolder(folder.folder);
}

async function errorsOf(files: ExtractFiles): Promise<readonly string[]> {
  const rejected = await read(files).then(
    () => undefined,
    (error) => error,
  );
  assert.ok(rejected instanceof ExtractRejectedError, `expected to be rejected, was ${rejected}`);
  return rejected.errors;
}

/** The valid extract with one text replaced in one line. */
function replacedIn(file: string, line: number, from: string | RegExp, to: string): ExtractFiles {
  const files = validExtract();
  const lines = files[file] as string[];
  const before = lines[line - 1] as string;
  lines[line - 1] = before.replace(from, to);
  assert.notEqual(lines[line - 1], before, 'the test spoils nothing');
  return files;
}

test('accepts the later columns of accounts: the amount due, its day and a restriction', async () => {
  const files = validExtract();
  const [header = '', ...lines] = files['accounts.csv'] ?? [];
  const extras = [',,EXCLUDE_AS_FROM', ',,', '60.25,2026-03-15,', ',,', ',,'];
  files['accounts.csv'] = [
    `${header},amount_due,next_due_on,transfer_restriction`,
    ...lines.map((line, index) => `${line},${extras[index]}`),
  ];
  await using extract = await extractFolder(files);
  const { accounts } = await readFolder(extract.folder);
  assert.deepEqual(
    accounts.map((account) => [
      account.amount_due,
      account.next_due_on,
      account.restriction_given,
      account.transfer_restriction,
    ]),
    [
      [0, null, true, 'EXCLUDE_AS_FROM'],
      [0, null, true, null],
      [60_25, '2026-03-15', true, null],
      [0, null, true, null],
      [0, null, true, null],
    ],
  );
  files['accounts.csv'] = files['accounts.csv'].map((line) => line.replace('EXCLUDE_AS_FROM', 'NEVER'));
  await extract.write(files);
  await assert.rejects(readFolder(extract.folder), {
    name: 'ExtractRejectedError',
    message: /transfer_restriction/,
  });
});

const plain = {
  currency: 'USD',
  closed: false,
  delinquent: false,
  overdraft_limit: 0,
  credit_limit: 0,
  accrued_interest: 0,
  fees_due: 0,
  amount_due: null,
  due_given: false,
  next_due_on: null,
  restriction_given: false,
  transfer_restriction: null,
};

test('reads every value of an extract: money in minor units, debts negative by their payoff', async () => {
  assert.deepEqual(await read(validExtract()), {
    institution: {
      code: 'fictional',
      name: 'Fictional Credit Union',
      currency: 'USD',
      timeZone: 'America/New_York',
      enrollment: 'open',
      openingDepositMinor: 25_000n,
      passwordMinLength: 15,
      demo: false,
      policies: {},
    },
    asOf: undefined,
    contents: {
      persons: 3,
      members: 2,
      memberPersons: 4,
      accounts: 5,
      holders: 7,
      figures: 4,
      currencies: new Set(['USD', 'JPY']),
    },
    unheld: { count: 0, accountIds: [] },
    persons: [
      {
        line: 2,
        person_id: 'p-1',
        first_name: 'Ada',
        last_name: 'Example',
        email: 'ada@example.test',
        phone_number: '+12025550143',
        phone_type: 'MOBILE',
        birth_date: '1984-02-29',
      },
      {
        line: 3,
        person_id: 'p-2',
        first_name: 'Bob',
        last_name: 'Example',
        email: null,
        phone_number: null,
        phone_type: null,
        birth_date: null,
      },
      {
        line: 4,
        person_id: 'p-3',
        first_name: '',
        last_name: 'Example, Sample & Co',
        email: 'office@example.test',
        phone_number: '+442079460018',
        phone_type: 'WORK',
        birth_date: null,
      },
    ],
    members: [
      { line: 2, customer_id: 'c-1', member_number: '1001', member_type: 'RETAIL' },
      { line: 3, customer_id: 'c-2', member_number: '1002', member_type: 'BUSINESS' },
    ],
    memberPersons: [
      { line: 2, member_number: '1001', person_id: 'p-1', role: 'PRIMARY' },
      { line: 3, member_number: '1001', person_id: 'p-2', role: 'JOINT' },
      { line: 4, member_number: '1002', person_id: 'p-3', role: 'PRIMARY' },
      { line: 5, member_number: '1002', person_id: 'p-1', role: 'BUSINESS_ADMIN' },
    ],
    accounts: [
      {
        ...plain,
        line: 2,
        account_id: 'a-1',
        member_number: '1001',
        account_number: '1001-10',
        di_account_type: 'CHECKING',
        category: 'DEPOSIT',
        description: 'Share Draft',
        posted: -1_234,
        overdraft_limit: 50_000,
      },
      {
        ...plain,
        line: 3,
        account_id: 'a-2',
        member_number: '1001',
        account_number: '4242',
        di_account_type: 'CREDIT_CARD_LOAN',
        category: 'CREDIT',
        description: 'Rewards Card',
        posted: -84_219,
        credit_limit: 500_000,
      },
      {
        ...plain,
        line: 4,
        account_id: 'a-3',
        member_number: '1001',
        account_number: '1001-50',
        di_account_type: 'CONSUMER_LOAN',
        category: 'LOAN',
        description: 'Consumer Loan',
        posted: -103_750,
        delinquent: true,
        accrued_interest: 1_250,
        fees_due: 2_500,
      },
      {
        ...plain,
        line: 5,
        account_id: 'a-4',
        member_number: '1002',
        account_number: '1002-10',
        di_account_type: 'CHECKING',
        category: 'DEPOSIT',
        description: 'Yen Checking',
        currency: 'JPY',
        posted: 250_000,
      },
      {
        ...plain,
        line: 6,
        account_id: 'a-5',
        member_number: '1002',
        account_number: '1002-00',
        di_account_type: 'SAVINGS',
        category: 'DEPOSIT',
        description: 'Old Savings',
        posted: 0,
        closed: true,
      },
    ],
    holders: [
      { line: 2, account_id: 'a-1', person_id: 'p-1', role: 'PRIMARY', may_pay: true },
      { line: 3, account_id: 'a-1', person_id: 'p-2', role: 'AUTHORIZED_SIGNER', may_pay: false },
      { line: 4, account_id: 'a-2', person_id: 'p-1', role: 'PRIMARY', may_pay: true },
      { line: 5, account_id: 'a-3', person_id: 'p-1', role: 'PRIMARY', may_pay: true },
      { line: 6, account_id: 'a-4', person_id: 'p-3', role: 'PRIMARY', may_pay: true },
      { line: 7, account_id: 'a-4', person_id: 'p-1', role: 'JOINT', may_pay: true },
      { line: 8, account_id: 'a-5', person_id: 'p-3', role: 'PRIMARY', may_pay: true },
    ],
  });
});

describe('other spellings of the same extract', () => {
  const same: Record<string, (files: ExtractFiles) => void> = {
    'a byte order mark': (files) => {
      files['members.csv'] = (files['members.csv'] ?? []).map((line, n) =>
        n === 0 ? `\uFEFF${line}` : line,
      );
    },
    'carriage returns': (files) => {
      for (const [name, lines] of Object.entries(files)) files[name] = lines.map((line) => `${line}\r`);
    },
    'empty lines at the end': (files) => files['holders.csv']?.push('', ''),
    'space around values': (files) => {
      files['member-persons.csv'] = (files['member-persons.csv'] ?? []).map((l) => l.replaceAll(',', ' , '));
    },
    'quotes around everything': (files) => {
      files['members.csv'] = (files['members.csv'] ?? []).map((line) => `"${line.replaceAll(',', '","')}"`);
    },
    'columns in another order': (files) => {
      files['members.csv'] = (files['members.csv'] ?? []).map((line) => line.split(',').reverse().join(','));
    },
    'zeros in front of an amount': (files) => {
      files['accounts.csv'] = (files['accounts.csv'] ?? []).map((line) =>
        line.replace('842.19', '000842.19'),
      );
    },
  };
  for (const [what, change] of Object.entries(same)) {
    test(`reads the same extract in another spelling: ${what}`, async () => {
      const files = validExtract();
      change(files);
      assert.notDeepEqual(files, validExtract());
      assert.deepEqual(await read(files), await read(validExtract()));
    });
  }
});

interface Refusal {
  /** File, line and column, and the expected form. */
  readonly error: string;
  /** Other accepted values: a text of the valid line, and its replacement. */
  readonly for: Readonly<Record<string, readonly [from: string | RegExp, to: string]>>;
}

const roles = 'PRIMARY or JOINT or AUTHORIZED_SIGNER';

/** One wrong value each, and the error with its place and the expected form. */
const refusals: readonly Refusal[] = [
  {
    error: 'institution.csv:2: code: expected 2 to 31 lower-case letters, digits or -',
    for: { 'a code in capitals': ['fictional', 'Fictional'] },
  },
  {
    error: 'institution.csv:2: name: expected a name',
    for: { 'no name': ['Fictional Credit Union', ' '] },
  },
  {
    error: 'institution.csv:2: currency: expected an ISO 4217 code like USD',
    for: { 'a currency that is none': ['USD', 'usd'] },
  },
  {
    error: 'institution.csv:2: time_zone: expected an IANA time zone like America/New_York',
    for: {
      'a time zone that is none': ['New_York', 'Atlantis'],
      'an offset for a time zone': ['America/New_York', '+05:00'],
    },
  },
  {
    error: 'institution.csv:2: enrollment: expected closed or open',
    for: { 'another enrollment': ['open', 'maybe'] },
  },
  {
    error: 'institution.csv:2: opening_deposit: expected no negative amount',
    for: { 'a negative opening deposit': ['250.00', '-250.00'] },
  },
  {
    error: 'institution.csv:2: password_min_length: expected a number from 8 to 128',
    for: {
      'a password length below 8': [',15,', ',7,'],
      'a password length above 128': [',15,', ',129,'],
      'no password length': [',15,', ',,'],
      'a password length in another notation': [',15,', ',0xF,'],
    },
  },
  {
    error: 'institution.csv:2: demo: expected yes or no',
    for: { 'a flag of another language': [/no$/, 'false'] },
  },
  {
    error: 'persons.csv:3: person_id: expected an id of 1 to 64 letters, digits and . _ : -',
    for: { 'a person without an id': ['p-2,', ','] },
  },
  {
    error: 'persons.csv:2: last_name: expected a name',
    for: { 'a person without a last name': ['Ada,Example', 'Ada,'] },
  },
  {
    error: 'persons.csv:2: email: expected an e-mail address',
    for: {
      'an e-mail that is none': ['ada@example.test', 'ada(at)example.test'],
      'two e-mails': ['ada@example.test', 'a@x.test;b@x.test'],
      'an e-mail longer than 254': ['ada@', `${'a'.repeat(242)}@`],
    },
  },
  {
    error: 'persons.csv:2: phone_number: expected a valid phone number like +12025550143',
    for: {
      'a phone number as people write it': ['+12025550143', '(202) 555-0143'],
      'a phone number with spaces': ['+12025550143', '+1 202 555 0143'],
      'a phone number that cannot be': ['+12025550143', '+11235550143'],
      'a phone number with an extension': ['+12025550143', '+12025550143x5'],
    },
  },
  {
    error: 'persons.csv:2: phone_type: expected MOBILE or HOME or WORK',
    for: { 'another type of phone': ['MOBILE', 'FAX'] },
  },
  {
    error: 'persons.csv:2: phone_type: expected a type exactly if there is a number',
    for: {
      'a number without a type': ['MOBILE', ''],
      'a type without a number': ['+12025550143', ''],
    },
  },
  {
    error: 'persons.csv:2: birth_date: expected a date like 1980-12-31',
    for: {
      'a day that never was': ['1984-02-29', '1985-02-29'],
      'a date the other way round': ['1984-02-29', '29.02.1984'],
      'a moment for a date': ['1984-02-29', '1984-02-29T00:00'],
    },
  },
  {
    error: 'persons.csv:2: first_name: expected text without control characters',
    for: { 'a character that the database cannot hold': ['Ada', 'A\0da'] },
  },
  {
    error: 'persons.csv:4: last_name: expected text without control characters',
    for: { 'a name over two lines': ['Sample &', 'Sample\t&'] },
  },
  {
    error: 'persons.csv:3: first_name: expected text without bidirectional or invisible characters',
    for: {
      'a name that reads backward': ['Bob', '\u202Eboy'],
      'a name with an invisible space': ['Bob', 'B\u200Bob'],
    },
  },
  {
    error: 'institution.csv:2: name: expected text without bidirectional or invisible characters',
    for: { 'an institution whose name isolates what follows': ['Fictional', '\u2067Fictional'] },
  },
  {
    error: 'accounts.csv:3: description: expected text without bidirectional or invisible characters',
    for: { 'an account described with a soft hyphen': ['Rewards', 'Re\u00ADwards'] },
  },
  {
    error: 'members.csv:2: customer_id: expected an id of 1 to 64 letters, digits and . _ : -',
    for: {
      'an id that starts with a point': ['c-1', '.c-1'],
      'an id of 65 characters': ['c-1', 'c'.repeat(65)],
    },
  },
  {
    error: 'members.csv:2: member_type: expected RETAIL or BUSINESS',
    for: { 'another type of member': ['RETAIL', 'Retail'] },
  },
  {
    error: 'member-persons.csv:3: person_id: expected one of persons.csv',
    for: { 'a person who is not there': ['p-2', 'p-9'] },
  },
  {
    error: `member-persons.csv:5: role: expected ${roles} or BUSINESS_ADMIN or BUSINESS_USER`,
    for: { 'another role': ['BUSINESS_ADMIN', 'OWNER'] },
  },
  {
    error: `member-persons.csv:3: role: expected ${roles}`,
    for: { 'a role of businesses in a RETAIL membership': ['JOINT', 'BUSINESS_USER'] },
  },
  {
    error: 'member-persons.csv:3: role: expected one PRIMARY a membership',
    for: { 'a second PRIMARY': ['JOINT', 'PRIMARY'] },
  },
  {
    error: 'accounts.csv:3: member_number: expected one of members.csv',
    for: { 'an account of nobody': ['1001', '1009'] },
  },
  {
    error: 'accounts.csv:2: type: expected a DIAccountType of a member',
    for: { 'a type that is none': ['CHECKING', 'SHARE_DRAFT'] },
  },
  {
    error: 'accounts.csv:6: type: expected a DIAccountType of a member',
    for: { 'a type of the institution itself': ['SAVINGS', 'GENERAL_LEDGER_ACCOUNT'] },
  },
  {
    error: 'accounts.csv:3: account_number: expected the last four digits of the card, never more',
    for: {
      'a full card number': ['4242', '4111111111111111'],
      'a masked card number': ['4242', '****4242'],
    },
  },
  {
    error: "accounts.csv:3: description: expected anything but a card's number",
    for: { 'a card number in the description': ['Rewards Card', 'Visa 4111 1111 1111 1111'] },
  },
  {
    error: 'accounts.csv:2: account_number: expected 1 to 40 characters without spaces',
    for: {
      'an account number with spaces': ['1001-10', '1001 10'],
      'no account number': ['1001-10', ''],
    },
  },
  {
    error: 'accounts.csv:2: currency: expected an ISO 4217 code like USD',
    for: { 'a currency that is none': ['USD', 'XXX'] },
  },
  {
    error: 'accounts.csv:2: balance: expected an amount like 1234.56',
    for: { 'an amount with a symbol': ['-12.34', '$12.34'] },
  },
  {
    error: 'accounts.csv:3: balance: expected an amount like 1234.56',
    for: {
      'an amount with thousands': ['842.19', '"1,842.19"'],
      'a decimal comma': ['842.19', '"842,19"'],
      'an exponent': ['842.19', '8e2'],
      'a sign behind': ['842.19', '842.19-'],
      'a sign alone': ['842.19', '-'],
      'a point alone': ['842.19', '.'],
      'a fraction of a cent': ['842.19', '842.190'],
      'a zero with fractions of a cent': ['842.19', '0.000'],
      '14 digits': ['842.19', '10000000000000'],
    },
  },
  {
    error: 'accounts.csv:5: balance: expected an amount like 123456',
    for: { 'a fraction of a yen': ['250000', '250000.0'] },
  },
  {
    error: 'accounts.csv:4: balance: expected no negative amount',
    for: { 'a loan that owes the member': ['1000.00', '-1000.00'] },
  },
  {
    error: 'accounts.csv:4: accrued_interest: expected no negative amount',
    for: { 'negative interest': ['12.50', '-12.50'] },
  },
  {
    error: 'accounts.csv:2: accrued_interest: expected nothing, except on an account of kind LOAN',
    for: { 'interest on a deposit': [/,,,$/, ',,1.00,'] },
  },
  {
    error: 'accounts.csv:3: fees_due: expected nothing, except on an account of kind LOAN',
    for: { 'fees on a card': [/,,$/, ',,1.00'] },
  },
  {
    error: 'accounts.csv:4: overdraft_limit: expected nothing, except on an account of kind DEPOSIT',
    for: { 'an overdraft line on a loan': ['yes,,', 'yes,1.00,'] },
  },
  {
    error: 'accounts.csv:2: credit_limit: expected nothing, except on an account of kind CREDIT',
    for: { 'a credit line on a deposit': ['500.00,,', '500.00,1.00,'] },
  },
  {
    error: 'accounts.csv:2: status: expected open or closed',
    for: { 'another status': ['open', 'dormant'] },
  },
  {
    error: 'accounts.csv:2: delinquent: expected yes or no',
    for: { 'no word on delinquency': ['open,no', 'open,'] },
  },
  {
    error: 'holders.csv:2: account_id: expected one of accounts.csv',
    for: { 'a holder of an account that is not there': ['a-1', 'a-9'] },
  },
  {
    error: "holders.csv:4: person_id: expected a person of the account's membership in member-persons.csv",
    for: { 'a holder from another membership': ['p-1', 'p-3'] },
  },
  {
    error: `holders.csv:3: role: expected ${roles}`,
    for: { 'another role of a holder': ['AUTHORIZED_SIGNER', 'BUSINESS_USER'] },
  },
  {
    error: 'holders.csv:3: may_pay: expected yes or no',
    for: { 'no word on paying': [/no$/, ''] },
  },
  {
    error: 'holders.csv:3: account_id, person_id: expected a value that no line above has',
    for: { 'the same holder twice': ['p-2', 'p-1'] },
  },
  {
    error: 'member-persons.csv:3: member_number, person_id: expected a value that no line above has',
    for: { 'the same person twice in a membership': ['p-2', 'p-1'] },
  },
];

describe('errors of an extract by file and line', () => {
  for (const { error, for: cases } of refusals) {
    const [file = '', line] = error.split(':');
    for (const [what, [from, to]] of Object.entries(cases)) {
      test(`reports an error in ${file}: ${what}`, async () => {
        const errors = await errorsOf(replacedIn(file, Number(line), from, to));
        // References from other files may then be wrong too.
        assert.deepEqual(
          errors.filter((each) => each.startsWith(`${file}:`)),
          [error],
        );
      });
    }
  }

  for (const [file, line, columns] of [
    ['persons.csv', 3, 'person_id'],
    ['members.csv', 3, 'member_number'],
    ['members.csv', 3, 'customer_id'],
    ['accounts.csv', 3, 'account_id'],
  ] as const) {
    test(`reports a repeated ${columns} in ${file}`, async () => {
      const files = validExtract();
      const lines = files[file] as string[];
      const place = (lines[0] as string).split(',').indexOf(columns);
      const values = (lines[line - 1] as string).split(',');
      values[place] = (lines[1] as string).split(',')[place] as string;
      lines[line - 1] = values.join(',');
      const errors = await errorsOf(files);
      assert.ok(
        errors.includes(`${file}:${line}: ${columns}: expected a value that no line above has`),
        errors.join('\n'),
      );
    });
  }

  test('reports a membership without a PRIMARY', async () => {
    const errors = await errorsOf(replacedIn('member-persons.csv', 2, 'PRIMARY', 'JOINT'));
    assert.deepEqual(errors, ['members.csv:2: member_number: expected a PRIMARY in member-persons.csv']);
  });

  test('reports an account id that equals one of the institution’s own', async () => {
    const files = replacedIn('accounts.csv', 6, 'a-5', 'internal:funding:USD');
    files['holders.csv']?.splice(-1);
    assert.deepEqual(await errorsOf(files), [
      "accounts.csv:6: account_id: expected none of the institution's own accounts",
    ]);
  });

  test('reports a card number as an account id without repeating it', async () => {
    const files = replacedIn('accounts.csv', 3, 'a-2', '4111-1111-1111-1111');
    files['holders.csv'] = (files['holders.csv'] ?? []).map((l) => l.replace('a-2', '4111-1111-1111-1111'));
    const errors = await errorsOf(files);
    assert.deepEqual(errors, ["accounts.csv:3: account_id: expected anything but a card's number"]);
    assert.doesNotMatch(new ExtractRejectedError(errors).message, /4111/);
  });

  test('accepts sixteen digits that are not a card number in the description of a card account', async () => {
    await read(replacedIn('accounts.csv', 3, 'Rewards Card', 'Card of 4111111111111112'));
  });

  test('reports all errors at once, in the order of the files', async () => {
    const files = replacedIn('persons.csv', 2, 'ada@example.test', 'ada');
    files['accounts.csv'] = (files['accounts.csv'] ?? []).map((line) => line.replace(',open,', ',ajar,'));
    assert.deepEqual(await errorsOf(files), [
      'persons.csv:2: email: expected an e-mail address',
      'accounts.csv:2: status: expected open or closed',
      'accounts.csv:3: status: expected open or closed',
      'accounts.csv:4: status: expected open or closed',
      'accounts.csv:5: status: expected open or closed',
    ]);
  });
});

describe('files outside the extract’s format', () => {
  const cases: Record<string, readonly [change: (files: ExtractFiles) => void, error: string]> = {
    'an empty file': [
      (files) => {
        files['members.csv'] = [];
      },
      'members.csv:1: expected one column customer_id, found 0',
    ],
    'a column missing': [
      (files) => {
        files['members.csv'] = (files['members.csv'] ?? []).map((line) => line.replace(/,[^,]*$/, ''));
      },
      'members.csv:1: expected one column member_type, found 0',
    ],
    'a column twice': [
      (files) => {
        files['members.csv'] = (files['members.csv'] ?? []).map((line) =>
          line.replace(/,([^,]*)$/, ',$1,$1'),
        );
      },
      'members.csv:1: expected one column member_type, found 2',
    ],
    'an unknown column': [
      (files) => {
        files['members.csv'] = (files['members.csv'] ?? []).map((line) => `${line},x`);
      },
      'members.csv:1: expected no columns except customer_id, member_number, member_type',
    ],
    'a line with a value too few': [
      (files) => {
        files['members.csv']?.splice(2, 1, 'c-2,1002');
      },
      'members.csv:3: expected 3 values, found 2',
    ],
    'a line with a value too many': [
      (files) => {
        files['members.csv']?.splice(2, 1, 'c-2,1002,BUSINESS,');
      },
      'members.csv:3: expected 3 values, found 4',
    ],
    'a quote in the middle of a value': [
      (files) => {
        files['members.csv']?.splice(2, 1, 'c-2,10"02",BUSINESS');
      },
      'members.csv:3: expected CSV as in RFC 4180',
    ],
  };
  for (const [what, [change, error]] of Object.entries(cases)) {
    test(`reports a file with ${what}`, async () => {
      const files = validExtract();
      change(files);
      const errors = await errorsOf(files);
      assert.equal(errors[0], error);
      assert.ok(
        errors.every((each) => each.startsWith('members.csv:')),
        'references to the file are not reported',
      );
    });
  }

  test('reports a missing file', async () => {
    await using folder = await extractFolder(validExtract());
    await rm(path.join(folder.folder, 'holders.csv'));
    await assert.rejects(readFolder(folder.folder), {
      errors: ['holders.csv:1: expected a readable file (ENOENT)'],
    });
  });

  test('reports a file in Latin-1 by the first line that shows it', async () => {
    await using folder = await extractFolder(validExtract());
    const text = (validExtract()['persons.csv'] as string[]).join('\n').replace('Bob', 'Zoë');
    await writeFile(path.join(folder.folder, 'persons.csv'), text, 'latin1');
    await assert.rejects(readFolder(folder.folder), { errors: ['persons.csv:3: expected UTF-8'] });
  });

  for (const [what, lines] of [
    ['no institution', [0]],
    ['two institutions', [0, 1, 1]],
  ] as const) {
    test(`reports an institution.csv with ${what}`, async () => {
      const files = validExtract();
      files['institution.csv'] = lines.map((line) => files['institution.csv']?.[line] as string);
      assert.deepEqual(await errorsOf(files), ['institution.csv:1: expected exactly one institution']);
    });
  }
});

test('lists the first hundred lines of each kind of error, and counts the others', async () => {
  const files = validExtract();
  for (let n = 0; n < 150; n += 1) files['persons.csv']?.push(`q-${n},Ada,Example,not an address,,,`);
  const errors = await errorsOf(files);
  assert.equal(errors.length, 101);
  assert.equal(errors[99], 'persons.csv:104: email: expected an e-mail address');
  assert.equal(errors[100], 'persons.csv: email: expected an e-mail address (and 50 more lines)');
});

test('refuses an unclosed quote without reading the rest of the file into it', async () => {
  const files = validExtract();
  files['persons.csv']?.push('p-9,"Ada,Example,,,,');
  for (let n = 0; n < 4_000; n += 1) files['persons.csv']?.push(`q-${n},Ada,Example,,,,`);
  assert.deepEqual(await errorsOf(files), ['persons.csv:5: expected CSV as in RFC 4180']);
});

test('refuses a line of more than 65,536 characters', async () => {
  const files = validExtract();
  files['persons.csv']?.push(`p-9,${'A'.repeat(300_000)},Example,,,,`);
  assert.deepEqual(await errorsOf(files), [
    'persons.csv:5: expected no record longer than 65,536 characters',
  ]);
});

test('names the accounts without a holder', async () => {
  const files = validExtract();
  files['holders.csv'] = (files['holders.csv'] ?? []).filter((line) => !/^a-[25],/.test(line));
  const { unheld } = await read(files);
  assert.deepEqual(unheld, { count: 2, accountIds: ['a-2', 'a-5'] });
});

describe('time of the balances in an extract', () => {
  const saying = (moment: string) => {
    const files = validExtract();
    const [header, line] = files['institution.csv'] ?? [];
    files['institution.csv'] = [`${header},balances_as_of`, `${line},${moment}`];
    return files;
  };
  test('reads the time of balances with its offset', async () => {
    assert.deepEqual(
      (await read(saying('2026-03-02T06:00:00-05:00'))).asOf,
      new Date('2026-03-02T11:00:00Z'),
    );
    assert.equal((await read(saying(''))).asOf, undefined);
  });
  for (const moment of [
    '2026-03-02',
    '2026-03-02T06:00:00',
    '2026-02-30T06:00:00Z',
    '2026-03-02T26:00:00Z',
    'now',
  ]) {
    test(`refuses ${moment} as the time of balances`, async () => {
      assert.deepEqual(await errorsOf(saying(moment)), [
        'institution.csv:2: balances_as_of: expected a moment with its offset, like 2026-03-02T06:00:00-05:00',
      ]);
    });
  }
});

for (const timeZone of ['UTC', 'Europe/Kyiv', 'Asia/Kolkata', 'America/Argentina/Buenos_Aires']) {
  test(`accepts ${timeZone} as a time zone`, async () => {
    const { institution } = await read(replacedIn('institution.csv', 2, 'America/New_York', timeZone));
    assert.equal(institution?.timeZone, timeZone);
  });
}
