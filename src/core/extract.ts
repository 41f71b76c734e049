import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { parse } from 'csv-parse/sync';
import { accountTypes, type Category } from '../accounts/index.ts';
import type { InstitutionSettings } from '../institutions/index.ts';
import { currencyDecimals, parseDecimalAmount, toMinor } from '../ledger/index.ts';

/** What a core exports of an institution, read and found sound. Amounts are minor units. */
export interface Extract {
  readonly institution: InstitutionSettings;
  readonly persons: readonly PersonRecord[];
  readonly members: readonly MemberRecord[];
}

export interface PersonRecord {
  readonly personId: string;
  readonly firstName: string;
  readonly lastName: string;
  readonly email: string | null;
  readonly phoneNumber: string | null;
  readonly phoneType: string | null;
  readonly birthDate: string | null;
}

export interface MemberRecord {
  readonly customerId: string;
  readonly memberNumber: string;
  readonly memberType: string;
  readonly persons: readonly { readonly personId: string; readonly role: string }[];
  readonly accounts: readonly AccountRecord[];
}

export interface AccountRecord {
  readonly accountId: string;
  readonly accountNumber: string;
  readonly diAccountType: string;
  readonly category: Category;
  readonly description: string;
  readonly currency: string;
  /** In the ledger's sign: a deposit's balance, minus a debt's payoff. */
  readonly posted: bigint;
  readonly closed: boolean;
  readonly delinquent: boolean;
  readonly overdraftLimit: bigint;
  readonly creditLimit: bigint;
  readonly accruedInterest: bigint;
  readonly feesDue: bigint;
  readonly holders: readonly HolderRecord[];
}

export interface HolderRecord {
  readonly personId: string;
  readonly role: string;
  readonly mayPay: boolean;
}

/** Every error of an extract at once, each as `file:line: what was expected`. Nothing of it is imported. */
export class ExtractRejected extends Error {
  override readonly name = 'ExtractRejected';
  readonly errors: readonly string[];
  constructor(errors: readonly string[]) {
    super(`${errors.length} errors in the extract:\n${errors.join('\n')}`);
    this.errors = errors;
  }
}

const publicId = /^[A-Za-z0-9][A-Za-z0-9._:-]{0,63}$/;
const memberNumber = /^[A-Za-z0-9-]{1,32}$/;
const email = /^[^\s@]+@[^\s@]+\.[^\s@]+$/;
const e164 = /^\+[1-9][0-9]{6,14}$/;
const phoneTypes = ['MOBILE', 'HOME', 'WORK'];
const memberRoles = ['PRIMARY', 'JOINT', 'AUTHORIZED_SIGNER', 'BUSINESS_ADMIN', 'BUSINESS_USER'];
const holderRoles = ['PRIMARY', 'JOINT', 'AUTHORIZED_SIGNER'];

/** Reads a folder of CSV files and checks each value and each reference. Throws ExtractRejected. */
export async function readExtract(folder: string): Promise<Extract> {
  const errors: string[] = [];
  const table = (name: string, columns: readonly string[]) => readTable(folder, name, columns, errors);

  const institutions = (await table('institution.csv', institutionColumns)).map(readInstitution);
  if (institutions.length !== 1) errors.push('institution.csv:1: expected exactly one institution');

  const persons = unique(await table('persons.csv', personColumns), 'person_id').map(readPerson);
  const personIds = new Set(persons.map((person) => person.personId));

  const memberRows = unique(await table('members.csv', memberColumns), 'member_number');
  unique(memberRows, 'customer_id');
  const members = memberRows.map((row) => ({
    customerId: row.match('customer_id', publicId, 'an id of letters, digits and . _ : -'),
    memberNumber: row.match('member_number', memberNumber, '1 to 32 letters, digits or -'),
    memberType: row.oneOf('member_type', ['RETAIL', 'BUSINESS']),
    persons: [] as { personId: string; role: string }[],
    accounts: [] as (AccountRecord & { holders: HolderRecord[] })[],
  }));
  const membersByNumber = new Map(members.map((member) => [member.memberNumber, member]));

  for (const row of unique(
    await table('member-persons.csv', memberPersonColumns),
    'member_number',
    'person_id',
  )) {
    const member = row.refer('member_number', membersByNumber, 'members.csv');
    const personId = row.referTo('person_id', personIds, 'persons.csv');
    const role = row.oneOf('role', memberRoles);
    if (role === 'PRIMARY' && member?.persons.some((person) => person.role === 'PRIMARY')) {
      row.fail('role', 'one PRIMARY a membership');
    }
    member?.persons.push({ personId, role });
  }

  const accounts = new Map<
    string,
    { account: AccountRecord & { holders: HolderRecord[] }; personIds: Set<string> }
  >();
  for (const row of unique(await table('accounts.csv', accountColumns), 'account_id')) {
    const member = row.refer('member_number', membersByNumber, 'members.csv');
    const account = { ...readAccount(row), holders: [] as HolderRecord[] };
    member?.accounts.push(account);
    const memberPersons = new Set(member?.persons.map((person) => person.personId));
    accounts.set(account.accountId, { account, personIds: memberPersons });
  }

  for (const row of unique(await table('holders.csv', holderColumns), 'account_id', 'person_id')) {
    const held = row.refer('account_id', accounts, 'accounts.csv');
    const personId = row.referTo(
      'person_id',
      held?.personIds ?? personIds,
      'member-persons.csv, in that membership',
    );
    held?.account.holders.push({
      personId,
      role: row.oneOf('role', holderRoles),
      mayPay: row.yes('may_pay'),
    });
  }

  const [institution] = institutions;
  if (errors.length > 0 || institution === undefined) throw new ExtractRejected(errors);
  return { institution, persons, members };
}

const institutionColumns = [
  'code',
  'name',
  'currency',
  'time_zone',
  'enrollment',
  'opening_deposit',
  'password_min_length',
  'demo',
];

function readInstitution(row: Row): InstitutionSettings {
  const currency = readCurrency(row);
  const timeZone = row.text('time_zone');
  if (!Intl.supportedValuesOf('timeZone').includes(timeZone) && timeZone !== 'UTC') {
    row.fail('time_zone', 'an IANA time zone like America/New_York');
  }
  const passwordMinLength = Number(
    row.match('password_min_length', /^[0-9]{1,3}$/, 'a number from 8 to 128'),
  );
  if (passwordMinLength < 8 || passwordMinLength > 128)
    row.fail('password_min_length', 'a number from 8 to 128');
  return {
    code: row.match('code', /^[a-z][a-z0-9-]{1,30}$/, '2 to 31 lower-case letters, digits or -'),
    name: row.match('name', /\S/, 'a name'),
    currency,
    timeZone,
    enrollment: row.oneOf('enrollment', ['closed', 'open']) as 'closed' | 'open',
    openingDepositMinor: row.amount('opening_deposit', currency),
    passwordMinLength,
    demo: row.yes('demo'),
  };
}

const personColumns = [
  'person_id',
  'first_name',
  'last_name',
  'email',
  'phone_number',
  'phone_type',
  'birth_date',
];

function readPerson(row: Row): PersonRecord {
  const phoneNumber =
    row.text('phone_number') === '' ? null : row.match('phone_number', e164, 'E.164, like +12025550143');
  const birthDate = row.text('birth_date');
  if (birthDate !== '' && new Date(`${birthDate}T00:00:00Z`).toJSON()?.slice(0, 10) !== birthDate) {
    row.fail('birth_date', 'a date like 1980-12-31');
  }
  return {
    personId: row.match('person_id', publicId, 'an id of letters, digits and . _ : -'),
    firstName: row.text('first_name'),
    lastName: row.match('last_name', /\S/, 'a name'),
    email: row.text('email') === '' ? null : row.match('email', email, 'an e-mail address'),
    phoneNumber,
    phoneType: phoneNumber === null ? null : row.oneOf('phone_type', phoneTypes),
    birthDate: birthDate === '' ? null : birthDate,
  };
}

const memberColumns = ['customer_id', 'member_number', 'member_type'];
const memberPersonColumns = ['member_number', 'person_id', 'role'];
const holderColumns = ['account_id', 'person_id', 'role', 'may_pay'];
const accountColumns = [
  'account_id',
  'member_number',
  'account_number',
  'type',
  'description',
  'currency',
  'balance',
  'status',
  'delinquent',
  'overdraft_limit',
  'credit_limit',
  'accrued_interest',
  'fees_due',
];

function readAccount(row: Row): AccountRecord {
  const diAccountType = row.text('type');
  const known = accountTypes.get(diAccountType);
  if (known === undefined || known.category === 'INTERNAL') row.fail('type', 'a DIAccountType of a member');
  const category: Category =
    known === undefined || known.category === 'INTERNAL' ? 'DEPOSIT' : known.category;
  if (diAccountType === 'CREDIT_CARD_LOAN' && !/^[0-9]{4}$/.test(row.text('account_number'))) {
    row.fail('account_number', 'the last four digits of the card, never more');
  }
  const currency = readCurrency(row);
  const only = (column: string, kind: Category): bigint => {
    const amount = row.amount(column, currency);
    if (amount < 0n) row.fail(column, 'no negative amount');
    if (amount !== 0n && category !== kind) row.fail(column, `nothing, except on an account of kind ${kind}`);
    return amount;
  };
  const balance = row.amount('balance', currency);
  const accruedInterest = only('accrued_interest', 'LOAN');
  const feesDue = only('fees_due', 'LOAN');
  const isDebt = category === 'LOAN' || category === 'CREDIT';
  if (category === 'LOAN' && balance < 0n) row.fail('balance', 'the principal owed, not negative');
  return {
    accountId: row.match('account_id', publicId, 'an id of letters, digits and . _ : -'),
    accountNumber: row.match('account_number', /^\S{1,34}$/, '1 to 34 characters'),
    diAccountType,
    category,
    description: row.text('description') || (known?.description ?? ''),
    currency,
    posted: isDebt ? -(balance + accruedInterest + feesDue) : balance,
    closed: row.oneOf('status', ['open', 'closed']) === 'closed',
    delinquent: row.yes('delinquent'),
    overdraftLimit: only('overdraft_limit', 'DEPOSIT'),
    creditLimit: only('credit_limit', 'CREDIT'),
    accruedInterest,
    feesDue,
    holders: [],
  };
}

function readCurrency(row: Row): string {
  const currency = row.text('currency');
  if (currencyDecimals(currency) === undefined) row.fail('currency', 'an ISO 4217 code like USD');
  return currency;
}

/** One line of a file, which knows where it stands when something is wrong with it. */
class Row {
  readonly #file: string;
  readonly #line: number;
  readonly #values: Readonly<Record<string, string>>;
  readonly #errors: string[];

  constructor(file: string, line: number, values: Readonly<Record<string, string>>, errors: string[]) {
    this.#file = file;
    this.#line = line;
    this.#values = values;
    this.#errors = errors;
  }

  fail(column: string, expected: string): void {
    this.#errors.push(`${this.#file}:${this.#line}: ${column}: expected ${expected}`);
  }

  text(column: string): string {
    return this.#values[column]?.trim() ?? '';
  }

  match(column: string, pattern: RegExp, expected: string): string {
    const text = this.text(column);
    if (!pattern.test(text)) this.fail(column, expected);
    return text;
  }

  oneOf(column: string, choices: readonly string[]): string {
    const text = this.text(column);
    if (!choices.includes(text)) this.fail(column, choices.join(' or '));
    return text;
  }

  yes(column: string): boolean {
    return this.oneOf(column, ['yes', 'no']) === 'yes';
  }

  /** Major units with at most the currency's decimals, possibly negative; nothing is zero. */
  amount(column: string, currency: string): bigint {
    const text = this.text(column);
    if (/^-?0*(\.0*)?$/.test(text) || currencyDecimals(currency) === undefined) return 0n;
    const negative = text.startsWith('-');
    const amount = parseDecimalAmount(negative ? text.slice(1) : text);
    const minor = 'invalid' in amount ? amount : toMinor(amount, currency);
    if (typeof minor === 'bigint') return negative ? -minor : minor;
    this.fail(column, `an amount like 1234.56 (${minor.invalid})`);
    return 0n;
  }

  refer<T>(column: string, known: ReadonlyMap<string, T>, where: string): T | undefined {
    const found = known.get(this.text(column));
    if (found === undefined) this.fail(column, `one of ${where}`);
    return found;
  }

  referTo(column: string, known: ReadonlySet<string>, where: string): string {
    const text = this.text(column);
    if (!known.has(text)) this.fail(column, `one of ${where}`);
    return text;
  }
}

async function readTable(
  folder: string,
  name: string,
  columns: readonly string[],
  errors: string[],
): Promise<Row[]> {
  let text: string;
  try {
    text = await readFile(path.join(folder, name), 'utf8');
  } catch (error) {
    errors.push(`${name}:1: cannot be read (${(error as NodeJS.ErrnoException).code})`);
    return [];
  }
  try {
    const records: { record: Record<string, string>; info: { lines: number } }[] = parse(text, {
      bom: true,
      info: true,
      skip_empty_lines: true,
      columns: (header: string[]) => {
        const wrong = columns.filter((column) => !header.includes(column));
        const extra = header.filter((column) => !columns.includes(column));
        for (const column of wrong) errors.push(`${name}:1: expected a column ${column}`);
        for (const column of extra) errors.push(`${name}:1: no column ${column} is known`);
        return header;
      },
    });
    return records.map(({ record, info }) => new Row(name, info.lines, record, errors));
  } catch (error) {
    const { lines, message } = error as Error & { lines?: number };
    errors.push(`${name}:${lines ?? 1}: expected CSV (${message})`);
    return [];
  }
}

/** The same rows; each that repeats the key of an earlier one is an error. */
function unique(rows: readonly Row[], ...columns: readonly string[]): readonly Row[] {
  const seen = new Set<string>();
  for (const row of rows) {
    const key = columns.map((column) => row.text(column)).join('\0');
    if (seen.has(key)) row.fail(columns.join(', '), 'something that stands only once in the file');
    seen.add(key);
  }
  return rows;
}
