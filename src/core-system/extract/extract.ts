import { parsePhoneNumberFromString } from 'libphonenumber-js/max';
import { accountTypes, type Category } from '../../accounts/index.ts';
import {
  type InstitutionPolicies,
  type InstitutionSettings,
  isLocalDate,
  isTimeZone,
} from '../../institutions/index.ts';
import { publicId } from '../../shared/public-id.ts';
import type { Row } from './extract-table.ts';
import type { TableShape } from './table-shape.ts';

/** One line of persons.csv. All amounts in this file are minor units. */
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
}

export interface MemberPersonRecord {
  readonly memberNumber: string;
  readonly personId: string;
  readonly role: string;
}

export interface AccountRecord {
  readonly accountId: string;
  readonly memberNumber: string;
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
  /** Undefined if a record omits it. */
  readonly accruedInterest: bigint | undefined;
  readonly feesDue: bigint | undefined;
  /** The amount that brings the loan into good standing; undefined if the extract or record omits it. */
  readonly amountDue: bigint | undefined;
  /** The day on which a loan's amount due is to be paid: null for none; undefined if the extract or record omits it. */
  readonly nextDueOn: string | null | undefined;
  /** Null for none; undefined if the extract omits it. */
  readonly transferRestriction: string | null | undefined;
}

export interface HolderRecord {
  readonly accountId: string;
  readonly personId: string;
  readonly role: string;
  readonly mayPay: boolean;
}

/** All errors of an extract, each as `file:line: column: expected …`. Nothing of it is imported. */
export class ExtractRejectedError extends Error {
  override readonly name = 'ExtractRejectedError';
  readonly errors: readonly string[];
  constructor(errors: readonly string[]) {
    super(`Nothing was imported. Errors: ${errors.length}\n${errors.join('\n')}`);
    this.errors = errors;
  }
}

const publicIdExpected = 'an id of 1 to 64 letters, digits and . _ : -';
const email = /^(?=.{3,254}$)[^\s@<>,;]+@[^\s@<>,;]+\.[^\s@<>,;]+$/;
const phoneTypes = ['MOBILE', 'HOME', 'WORK'];
export const retailRoles = ['PRIMARY', 'JOINT', 'AUTHORIZED_SIGNER'];
export const businessRoles = [...retailRoles, 'BUSINESS_ADMIN', 'BUSINESS_USER'];
const holderRoles = ['PRIMARY', 'JOINT', 'AUTHORIZED_SIGNER'];

const institutionColumns = ['code', 'name', 'currency', 'time_zone', 'demo'];

/**
 * The first import lays these down, or their defaults; later ones leave the institution's settings as they are. A later
 * import with another `record` is refused.
 */
const optionalInstitutionColumns = [
  'enrollment',
  'opening_deposit',
  'password_min_length',
  'contact_change_max_age',
  'registration_birth_date',
  'openings_per_day',
  'opening_deposits_per_day',
  'record',
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

/** The default of NIST SP 800-63B-4 for a password without a second factor. */
const defaultPasswordMinLength = 15;

export function readInstitution(row: Row): InstitutionSettings {
  const currency = row.currency('currency');
  const timeZone = row.text('time_zone');
  if (!isTimeZone(timeZone)) row.fail('time_zone', 'an IANA time zone like America/New_York');
  return {
    code: row.match('code', /^[a-z][a-z0-9-]{1,30}$/, '2 to 31 lower-case letters, digits or -'),
    name: row.match('name', /\S/, 'a name'),
    currency,
    timeZone,
    enrollment: row.has('enrollment')
      ? (row.oneOf('enrollment', ['closed', 'open']) as 'closed' | 'open')
      : 'closed',
    openingDepositMinor: row.amountFromZero('opening_deposit', currency),
    passwordMinLength: readPasswordMinLength(row),
    demo: row.yes('demo'),
    ...(row.has('record') && { record: row.oneOf('record', ['ledger', 'core']) as 'ledger' | 'core' }),
    policies: readPolicies(row, currency),
  };
}

function readPasswordMinLength(row: Row): number {
  if (!row.has('password_min_length')) return defaultPasswordMinLength;
  const text = row.text('password_min_length');
  const length = /^[0-9]{1,3}$/.test(text) ? Number(text) : 0;
  if (length < 8 || length > 128) row.fail('password_min_length', 'a number from 8 to 128');
  return length;
}

/** The settings that an extract names beside those of a core; the institution's own win over them. */
export function namedSettings(row: Row): ReadonlySet<string> {
  const named = {
    enrollment: 'enrollment',
    opening_deposit: 'openingDepositMinor',
    password_min_length: 'passwordMinLength',
    contact_change_max_age: 'contactChangeMaxAgeSeconds',
    registration_birth_date: 'registrationBirthDate',
    openings_per_day: 'openingsPerDay',
    opening_deposits_per_day: 'openingDepositsPerDayMinor',
  };
  return new Set(Object.entries(named).flatMap(([column, setting]) => (row.has(column) ? [setting] : [])));
}

/** The moment of the balances; undefined if the extract omits it. */
export function readAsOf(row: Row): Date | undefined {
  const expected = 'a moment with its offset, like 2026-03-02T06:00:00-05:00';
  const text = row.optional('balances_as_of', (given) => parseMoment(given) !== undefined, expected);
  return text === null ? undefined : parseMoment(text);
}

/** RFC 3339; undefined for anything else: without an offset, a moment differs by time zone. */
export function parseMoment(text: string): Date | undefined {
  const [, day] =
    /^([0-9]{4}-[0-9]{2}-[0-9]{2})T[0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,3})?)?(?:Z|[+-][0-9]{2}:[0-9]{2})$/.exec(
      text,
    ) ?? [];
  const moment = new Date(text);
  return day === undefined || !isLocalDate(day) || Number.isNaN(moment.getTime()) ? undefined : moment;
}

/** A moment of the core, which may have more digits than milliseconds: these are cut off. */
export function parseFineMoment(text: string): Date | undefined {
  return parseMoment(text.replace(/(\.[0-9]{3})[0-9]{1,9}/, '$1'));
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

export function readPerson(row: Row): PersonRecord {
  const phoneNumber = row.optional('phone_number', isE164, 'a valid phone number like +12025550143');
  const phoneType = row.optional('phone_type', (text) => phoneTypes.includes(text), phoneTypes.join(' or '));
  if ((phoneNumber === null) !== (phoneType === null))
    row.fail('phone_type', 'a type exactly if there is a number');
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

export function readMember(row: Row): MemberRecord {
  return {
    customerId: row.match('customer_id', publicId, publicIdExpected),
    memberNumber: row.match('member_number', /^[A-Za-z0-9-]{1,32}$/, '1 to 32 letters, digits or -'),
    memberType: row.oneOf('member_type', ['RETAIL', 'BUSINESS']),
  };
}

/** The role is checked later: it depends on the type of the membership, which is in another file. */
export function readMemberPerson(row: Row): MemberPersonRecord {
  return {
    memberNumber: row.text('member_number'),
    personId: row.text('person_id'),
    role: row.text('role'),
  };
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
/** An extract without them leaves the accounts' values unchanged. */
const optionalAccountColumns = ['amount_due', 'next_due_on', 'transfer_restriction'];
const restrictions = ['EXCLUDE_ALL', 'EXCLUDE_AS_FROM', 'EXCLUDE_AS_TO'];

export function readAccount(row: Row): AccountRecord {
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
  const nextDueOn = row.has('next_due_on')
    ? row.optional('next_due_on', isLocalDate, 'a date like 1980-12-31')
    : undefined;
  if (category !== 'LOAN' && typeof nextDueOn === 'string')
    row.fail('next_due_on', 'nothing, except on an account of kind LOAN');
  const isDebt = category === 'LOAN' || category === 'CREDIT';
  return {
    accountId,
    memberNumber: row.text('member_number'),
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
    nextDueOn,
    transferRestriction: row.has('transfer_restriction')
      ? row.optional('transfer_restriction', (text) => restrictions.includes(text), restrictions.join(' or '))
      : undefined,
  };
}

export function readHolder(row: Row): HolderRecord {
  return {
    accountId: row.text('account_id'),
    personId: row.text('person_id'),
    role: row.oneOf('role', holderRoles),
    mayPay: row.yes('may_pay'),
  };
}

/** The files of an extract; each refers to files above it only. */
export const institutionShape: TableShape = {
  file: 'institution.csv',
  columns: institutionColumns,
  optional: [...optionalInstitutionColumns, 'balances_as_of'],
};
export const personShape: TableShape = { file: 'persons.csv', columns: personColumns };
export const memberShape: TableShape = { file: 'members.csv', columns: memberColumns };
export const memberPersonShape: TableShape = { file: 'member-persons.csv', columns: memberPersonColumns };
export const accountShape: TableShape = {
  file: 'accounts.csv',
  columns: accountColumns,
  optional: optionalAccountColumns,
};
export const holderShape: TableShape = { file: 'holders.csv', columns: holderColumns };

/** The files that a core exports; institution.csv is the operator's. */
export const coreShapes = [personShape, memberShape, memberPersonShape, accountShape, holderShape];

/** PCI DSS 3.4: only the last four digits of a card number may be shown, so an extract holds no more. */
function refuseCardNumbers(row: Row): void {
  row.match('account_number', /^[0-9]{4}$/, 'the last four digits of the card, never more');
  for (const column of ['account_id', 'description']) {
    if (holdsCardNumber(row.text(column))) row.fail(column, "anything but a card's number");
  }
}

/** 13 to 19 digits in any grouping, with a valid check digit (ISO/IEC 7812-1 annex B). */
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

function isE164(text: string): boolean {
  const number = parsePhoneNumberFromString(text, { extract: false });
  return number?.isValid() === true && number.number === text && text.length <= 16;
}
