import { parsePhoneNumberFromString } from 'libphonenumber-js/max';
import { accountTypes, type Category } from '../accounts/index.ts';
import { type InstitutionPolicies, type InstitutionSettings, isLocalDate } from '../institutions/index.ts';
import { publicId } from '../public-id.ts';
import { expectUnique, type Row, readTable } from './extract-table.ts';

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
  /** Where it stands in members.csv. */
  readonly line: number;
  readonly customerId: string;
  readonly memberNumber: string;
  readonly memberType: string;
  readonly persons: readonly { readonly personId: string; readonly role: string }[];
  readonly accounts: readonly AccountRecord[];
}

export interface AccountRecord {
  /** Where it stands in accounts.csv. */
  readonly line: number;
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
  /** What must be paid for the loan to be in good standing; undefined: the extract does not say. */
  readonly amountDue: bigint | undefined;
  /** Null: none; undefined: the extract does not say. */
  readonly transferRestriction: string | null | undefined;
  readonly holders: readonly HolderRecord[];
}

interface HolderRecord {
  readonly personId: string;
  readonly role: string;
  readonly mayPay: boolean;
}

/** Every error of a folder of CSV files at once, each as `file:line: what was expected`. Nothing of it is brought in. */
export class ExtractRejected extends Error {
  override readonly name = 'ExtractRejected';
  readonly errors: readonly string[];
  constructor(errors: readonly string[]) {
    super(`Nothing was brought in. Errors: ${errors.length}\n${errors.join('\n')}`);
    this.errors = errors;
  }
}

/** Reads a folder of CSV files and checks each value and each reference. Throws ExtractRejected. */
export async function readExtract(folder: string): Promise<Extract> {
  const errors: string[] = [];
  const table = (name: string, columns: readonly string[]) => readTable(folder, name, columns, errors);
  const institutionRows = await readTable(
    folder,
    'institution.csv',
    institutionColumns,
    errors,
    optionalInstitutionColumns,
  );
  const personRows = await table('persons.csv', personColumns);
  const memberRows = await table('members.csv', memberColumns);
  const memberPersonRows = await table('member-persons.csv', memberPersonColumns);
  const accountRows = await readTable(folder, 'accounts.csv', accountColumns, errors, optionalAccountColumns);
  const holderRows = await table('holders.csv', holderColumns);
  // What refers to a file that could not be read would only hide the error that matters.
  if (errors.length > 0) throw new ExtractRejected(errors);

  const [institution] = institutionRows.map(readInstitution);
  if (institutionRows.length !== 1) errors.push('institution.csv:1: expected exactly one institution');

  expectUnique(personRows, 'person_id');
  const persons = personRows.map(readPerson);
  const personsById = new Map(persons.map((person) => [person.personId, person]));

  expectUnique(memberRows, 'member_number');
  expectUnique(memberRows, 'customer_id');
  const members = memberRows.map(readMember);
  const membersByNumber = new Map(members.map((member) => [member.memberNumber, member]));

  expectUnique(memberPersonRows, 'member_number', 'person_id');
  for (const row of memberPersonRows) {
    const member = row.refer('member_number', membersByNumber, 'members.csv');
    const person = row.refer('person_id', personsById, 'persons.csv');
    const role = row.oneOf('role', member?.memberType === 'RETAIL' ? retailRoles : businessRoles);
    if (role === 'PRIMARY' && member && hasPrimary(member)) row.fail('role', 'one PRIMARY a membership');
    if (person) member?.persons.push({ personId: person.personId, role });
  }
  for (const row of memberRows) {
    const member = membersByNumber.get(row.text('member_number'));
    if (member && !hasPrimary(member)) row.fail('member_number', 'a PRIMARY in member-persons.csv');
  }

  expectUnique(accountRows, 'account_id');
  const held = new Map<string, { account: Draft<AccountRecord>; holdable: ReadonlySet<string> }>();
  for (const row of accountRows) {
    const member = row.refer('member_number', membersByNumber, 'members.csv');
    const account = readAccount(row);
    member?.accounts.push(account);
    const holdable = new Set(member?.persons.map((person) => person.personId) ?? personsById.keys());
    held.set(account.accountId, { account, holdable });
  }

  expectUnique(holderRows, 'account_id', 'person_id');
  for (const row of holderRows) {
    const { account, holdable } = row.refer('account_id', held, 'accounts.csv') ?? {};
    const personId = row.text('person_id');
    if (holdable?.has(personId) === false) {
      row.fail('person_id', "a person of the account's membership in member-persons.csv");
    }
    account?.holders.push({ personId, role: row.oneOf('role', holderRoles), mayPay: row.yes('may_pay') });
  }

  if (errors.length > 0 || institution === undefined) throw new ExtractRejected(errors);
  return { institution, persons, members };
}

/** A record whose lists are still being filled from the files behind. */
type Draft<Record> = {
  readonly [Name in keyof Record]: Record[Name] extends readonly (infer Item)[] ? Item[] : Record[Name];
};

const publicIdExpected = 'an id of 1 to 64 letters, digits and . _ : -';
const email = /^(?=.{3,254}$)[^\s@<>,;]+@[^\s@<>,;]+\.[^\s@<>,;]+$/;
const phoneTypes = ['MOBILE', 'HOME', 'WORK'];
const retailRoles = ['PRIMARY', 'JOINT', 'AUTHORIZED_SIGNER'];
const businessRoles = [...retailRoles, 'BUSINESS_ADMIN', 'BUSINESS_USER'];
const holderRoles = ['PRIMARY', 'JOINT', 'AUTHORIZED_SIGNER'];

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

/** Came later: an extract without them leaves them as they are. */
const optionalInstitutionColumns = [
  'contact_change_max_age',
  'registration_birth_date',
  'openings_per_day',
  'opening_deposits_per_day',
];

function readPolicies(row: Row, currency: string): Partial<InstitutionPolicies> {
  const whole = (column: string, most: number) => {
    const text = row.match(column, /^[0-9]{1,9}$/, `a whole number from 0 to ${most}`);
    if (Number(text) > most) row.fail(column, `a whole number from 0 to ${most}`);
    return Number(text);
  };
  return {
    ...(row.has('contact_change_max_age') && {
      contactChangeMaxAgeSeconds: whole('contact_change_max_age', 2_592_000),
    }),
    ...(row.has('registration_birth_date') && { registrationBirthDate: row.yes('registration_birth_date') }),
    ...(row.has('openings_per_day') && { openingsPerDay: whole('openings_per_day', 10_000_000) }),
    ...(row.has('opening_deposits_per_day') && {
      openingDepositsPerDayMinor: row.amountFromZero('opening_deposits_per_day', currency),
    }),
  };
}

function readInstitution(row: Row): InstitutionSettings {
  const currency = row.currency('currency');
  const timeZone = row.text('time_zone');
  if (!isTimeZone(timeZone)) row.fail('time_zone', 'an IANA time zone like America/New_York');
  const passwordMinLength = /^[0-9]{1,3}$/.test(row.text('password_min_length'))
    ? Number(row.text('password_min_length'))
    : 0;
  if (passwordMinLength < 8 || passwordMinLength > 128) {
    row.fail('password_min_length', 'a number from 8 to 128');
  }
  return {
    code: row.match('code', /^[a-z][a-z0-9-]{1,30}$/, '2 to 31 lower-case letters, digits or -'),
    name: row.match('name', /\S/, 'a name'),
    currency,
    timeZone,
    enrollment: row.oneOf('enrollment', ['closed', 'open']) as 'closed' | 'open',
    openingDepositMinor: row.amountFromZero('opening_deposit', currency),
    passwordMinLength,
    demo: row.yes('demo'),
    policies: readPolicies(row, currency),
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
  const phoneNumber = row.optional('phone_number', isE164, 'a number that can be dialled, like +12025550143');
  const phoneType = row.optional('phone_type', (text) => phoneTypes.includes(text), phoneTypes.join(' or '));
  if ((phoneNumber === null) !== (phoneType === null))
    row.fail('phone_type', 'one exactly where there is a number');
  return {
    personId: row.match('person_id', publicId, publicIdExpected),
    firstName: row.text('first_name'),
    lastName: row.match('last_name', /\S/, 'a name'),
    email: row.optional('email', (text) => email.test(text), 'an e-mail address'),
    phoneNumber,
    phoneType,
    birthDate: row.optional('birth_date', isLocalDate, 'a date like 1980-12-31'),
  };
}

const memberColumns = ['customer_id', 'member_number', 'member_type'];
const memberPersonColumns = ['member_number', 'person_id', 'role'];

function readMember(row: Row): Draft<MemberRecord> {
  return {
    line: row.line,
    customerId: row.match('customer_id', publicId, publicIdExpected),
    memberNumber: row.match('member_number', /^[A-Za-z0-9-]{1,32}$/, '1 to 32 letters, digits or -'),
    memberType: row.oneOf('member_type', ['RETAIL', 'BUSINESS']),
    persons: [],
    accounts: [],
  };
}

function hasPrimary(member: Draft<MemberRecord>): boolean {
  return member.persons.some((person) => person.role === 'PRIMARY');
}

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
/** Came later: extracts without them are as good as before, and change nothing of what they do not say. */
const optionalAccountColumns = ['amount_due', 'transfer_restriction'];
const restrictions = ['EXCLUDE_ALL', 'EXCLUDE_AS_FROM', 'EXCLUDE_AS_TO'];

function readAccount(row: Row): Draft<AccountRecord> {
  const diAccountType = row.text('type');
  const known = accountTypes.get(diAccountType);
  if (known === undefined || known.category === 'INTERNAL') row.fail('type', 'a DIAccountType of a member');
  const category: Category =
    known === undefined || known.category === 'INTERNAL' ? 'DEPOSIT' : known.category;
  if (diAccountType === 'CREDIT_CARD_LOAN') refuseCardNumbers(row);
  const accountId = row.match('account_id', publicId, publicIdExpected);
  if (accountId.startsWith('internal:')) row.fail('account_id', "none of the institution's own accounts");

  const currency = row.currency('currency');
  const onlyOn = (kind: Category, column: string): bigint => {
    const amount = row.amountFromZero(column, currency);
    if (amount > 0n && category !== kind) row.fail(column, `nothing, except on an account of kind ${kind}`);
    return amount;
  };
  const balance =
    category === 'LOAN' ? row.amountFromZero('balance', currency) : row.amount('balance', currency);
  const accruedInterest = onlyOn('LOAN', 'accrued_interest');
  const feesDue = onlyOn('LOAN', 'fees_due');
  const isDebt = category === 'LOAN' || category === 'CREDIT';
  return {
    line: row.line,
    accountId,
    accountNumber: row.match('account_number', /^\S{1,40}$/, '1 to 40 characters without spaces'),
    diAccountType,
    category,
    description: row.text('description') || (known?.description ?? ''),
    currency,
    posted: isDebt ? -(balance + accruedInterest + feesDue) : balance,
    closed: row.oneOf('status', ['open', 'closed']) === 'closed',
    delinquent: row.yes('delinquent'),
    overdraftLimit: onlyOn('DEPOSIT', 'overdraft_limit'),
    creditLimit: onlyOn('CREDIT', 'credit_limit'),
    accruedInterest,
    feesDue,
    amountDue: row.has('amount_due') ? onlyOn('LOAN', 'amount_due') : undefined,
    transferRestriction: row.has('transfer_restriction')
      ? row.optional('transfer_restriction', (text) => restrictions.includes(text), restrictions.join(' or '))
      : undefined,
    holders: [],
  };
}

/** PCI DSS 3.4: no more of a card's number than its last four digits may be shown, so no more is taken in. */
function refuseCardNumbers(row: Row): void {
  row.match('account_number', /^[0-9]{4}$/, 'the last four digits of the card, never more');
  for (const column of ['account_id', 'description']) {
    if (holdsCardNumber(row.text(column))) row.fail(column, "anything but a card's number");
  }
}

/** 13 to 19 digits, however grouped, whose check digit is right (ISO/IEC 7812-1 annex B). */
function holdsCardNumber(text: string): boolean {
  const groups = text.match(/[0-9](?:[ ._:-]?[0-9]){12,18}/g) ?? [];
  return groups.some((group) => {
    const digits = [...group.replace(/[^0-9]/g, '')].map(Number).reverse();
    const sum = digits.reduce((total, digit, place) => {
      const weighted = place % 2 === 1 ? digit * 2 : digit;
      return total + (weighted > 9 ? weighted - 9 : weighted);
    }, 0);
    return sum % 10 === 0;
  });
}

/** Asked of the formatter, since Intl.supportedValuesOf leaves out names that are as good (Europe/Kyiv). */
function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return /^[A-Z]/.test(name);
  } catch {
    return false;
  }
}

function isE164(text: string): boolean {
  const number = parsePhoneNumberFromString(text, { extract: false });
  return number?.isValid() === true && number.number === text && text.length <= 16;
}
