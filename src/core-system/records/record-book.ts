import { accountTypes } from '../../accounts/index.ts';
import type { LocalDate } from '../../institutions/index.ts';
import { formatMinor } from '../../ledger/index.ts';
import {
  type AccountRecord,
  businessRoles,
  type HolderRecord,
  type MemberPersonRecord,
  type MemberRecord,
  type PersonRecord,
  readAccount,
  readHolder,
  readMember,
  readPerson,
  retailRoles,
} from '../extract/extract.ts';
import { Row } from '../extract/extract-table.ts';
import {
  fieldOf,
  type RecordLine,
  type RecordRefusal,
  type RecordRefusalCode,
  type Texts,
} from './record-line.ts';
import type {
  StandingAccount,
  StandingHolder,
  StandingMember,
  StandingMemberPerson,
  StandingPerson,
} from './standing-queries.ts';

/** The result of a record. */
export type RecordOutcome =
  | { readonly id: string; readonly result: 'added' | 'changed' | 'removed' | 'unchanged' }
  /** A newer change of the record, or of one in its list, stands. */
  | { readonly id: string; readonly result: 'stale'; readonly detail: string }
  | ({ readonly result: 'refused' } & RecordRefusal);

/** The rows that the records of a batch name, and those that they depend on. */
export interface Standing {
  readonly persons: readonly StandingPerson[];
  readonly members: readonly StandingMember[];
  readonly memberPersons: readonly StandingMemberPerson[];
  readonly accounts: readonly StandingAccount[];
  readonly holders: readonly StandingHolder[];
}

/** Rows for the stage of an import, each with the number of its line. */
export interface StagedRecords {
  readonly persons: readonly Staged<PersonRecord>[];
  readonly members: readonly Staged<MemberRecord>[];
  readonly memberPersons: readonly Staged<MemberPersonRecord>[];
  readonly accounts: readonly Staged<AccountRecord>[];
  readonly holders: readonly Staged<HolderRecord>[];
}

interface Staged<Item> {
  readonly line: number;
  readonly item: Item;
}

interface Member {
  readonly texts: Texts;
  readonly item: MemberRecord;
  /** Roles by person id. */
  readonly persons: ReadonlyMap<string, string>;
}

interface Account {
  readonly texts: Texts;
  /** Undefined until a record of the account itself was taken. */
  readonly item?: AccountRecord;
  readonly memberNumber: string;
  readonly closedByOperator?: boolean;
  /** By person id. */
  readonly holders: ReadonlyMap<string, HolderRecord>;
}

/** Figures of a loan, which payments change meanwhile: they are staged only if a record gives them. */
const loanFigures = ['accrued_interest', 'fees_due', 'amount_due'];
const earliestBirth = '1870-01-01';

/**
 * Decides records one after another, each on what stands as the records before it left it, and keeps the rows that changed. A
 * record with its dependants is taken as a whole or not at all.
 */
export class RecordBook {
  readonly #today: LocalDate;
  readonly #persons: Map<string, { readonly texts: Texts; readonly item?: PersonRecord }>;
  readonly #members: Map<string, Member>;
  readonly #numberOf: Map<string, string>;
  readonly #accounts: Map<string, Account>;
  /** The loan figures that were given, by account. */
  readonly #figures = new Map<string, Set<string>>();
  readonly #changed = {
    persons: new Map<string, number>(),
    members: new Map<string, number>(),
    accounts: new Map<string, number>(),
  };

  constructor(standing: Standing, today: LocalDate) {
    this.#today = today;
    this.#persons = new Map(standing.persons.map((row) => [row.personId, { texts: textsOfPerson(row) }]));
    this.#members = new Map(
      standing.members.map((item) => [
        item.memberNumber,
        { item, texts: textsOfMember(item), persons: new Map() },
      ]),
    );
    for (const { memberNumber, personId, role } of standing.memberPersons) {
      (this.#members.get(memberNumber)?.persons as Map<string, string> | undefined)?.set(personId, role);
    }
    this.#numberOf = new Map(standing.members.map((row) => [row.customerId, row.memberNumber]));
    this.#accounts = new Map(
      standing.accounts.map((row) => [
        row.accountId,
        {
          texts: textsOfAccount(row),
          memberNumber: row.memberNumber,
          closedByOperator: row.closedByOperator,
          holders: new Map(),
        },
      ]),
    );
    for (const row of standing.holders) {
      (this.#accounts.get(row.accountId)?.holders as Map<string, HolderRecord> | undefined)?.set(
        row.personId,
        row,
      );
    }
  }

  take(line: number, record: RecordLine): RecordOutcome {
    switch (record.kind) {
      case 'person':
        return this.#person(line, record);
      case 'member':
        return this.#member(line, record);
      case 'memberPerson':
        return this.#memberPerson(line, record);
      case 'account':
        return this.#account(line, record);
      case 'holder':
        return this.#holder(line, record);
    }
  }

  /** The rows that changed. A membership is staged with all its persons, an account with all its holders. */
  staged(): StagedRecords {
    const members = [...this.#changed.members].map(([memberNumber, line]) => ({
      line,
      ...(this.#members.get(memberNumber) as Member),
    }));
    const accounts = [...this.#changed.accounts].map(([accountId, line]) => ({
      line,
      accountId,
      ...(this.#accounts.get(accountId) as Account),
    }));
    return {
      persons: [...this.#changed.persons].map(([personId, line]) => ({
        line,
        item: this.#persons.get(personId)?.item as PersonRecord,
      })),
      members: members.map(({ line, item }) => ({ line, item })),
      memberPersons: members.flatMap(({ line, item: { memberNumber }, persons }) =>
        [...persons].map(([personId, role]) => ({ line, item: { memberNumber, personId, role } })),
      ),
      accounts: accounts.map(({ line, accountId, texts, item }) => ({
        line,
        item: this.#withGivenFigures(accountId, item ?? overlaid(readAccount, texts, {}).item),
      })),
      holders: accounts.flatMap(({ line, holders }) => [...holders.values()].map((item) => ({ line, item }))),
    };
  }

  #withGivenFigures(accountId: string, item: AccountRecord): AccountRecord {
    const given = this.#figures.get(accountId);
    const figure = (column: string, value: bigint | undefined) => (given?.has(column) ? value : undefined);
    return {
      ...item,
      accruedInterest: figure('accrued_interest', item.accruedInterest),
      feesDue: figure('fees_due', item.feesDue),
      amountDue: figure('amount_due', item.amountDue),
    };
  }

  #person(line: number, { id, given }: RecordLine): RecordOutcome {
    const before = this.#persons.get(id);
    if (before === undefined && given.last_name === undefined) {
      return refused(
        id,
        'person_not_found',
        'There is no person with this personId; a new one needs lastName.',
      );
    }
    const { item, wrong } = overlaid(readPerson, before?.texts, given);
    if (wrong !== '') return refused(id, 'invalid_line', wrong);
    const { birthDate } = item;
    if (
      given.birth_date !== undefined &&
      birthDate !== null &&
      (birthDate < earliestBirth || birthDate > this.#today)
    ) {
      return refused(id, 'date_out_of_range', 'birthDate must be from 1870 on and not in the future.');
    }
    const texts = textsOfPerson(item);
    if (before !== undefined && isSame(before.texts, texts)) return { id, result: 'unchanged' };
    this.#persons.set(id, { texts, item });
    this.#changed.persons.set(id, line);
    return { id, result: before === undefined ? 'added' : 'changed' };
  }

  #member(line: number, { id, given, dependants }: RecordLine): RecordOutcome {
    const before = this.#members.get(id);
    if (before === undefined && (given.customer_id ?? given.member_type) === undefined) {
      return refused(
        id,
        'member_not_found',
        `${noMember} A new one needs customerId, memberType and persons.`,
      );
    }
    const { item, wrong } = overlaid(readMember, before?.texts, given);
    if (wrong !== '') return refused(id, 'invalid_line', wrong);
    const texts = textsOfMember(item);
    if (before !== undefined) {
      const fixed = differing(before.texts, texts);
      if (fixed.length > 0)
        return refused(id, 'id_reused', `The membership stands with another ${fixed.join(', ')}.`);
    } else if (this.#numberOf.has(item.customerId)) {
      return refused(id, 'id_reused', 'The customerId belongs to another membership.');
    }
    const persons = new Map(before?.persons);
    for (const { person_id: personId = '', role } of dependants) {
      persons.set(personId, role ?? persons.get(personId) ?? '');
    }
    const refusal = this.#refusePersons(id, item, persons);
    if (refusal !== undefined) return refusal;
    if (before !== undefined && isSame(Object.fromEntries(before.persons), Object.fromEntries(persons))) {
      return { id, result: 'unchanged' };
    }
    this.#members.set(id, { texts, item, persons });
    this.#numberOf.set(item.customerId, id);
    this.#changed.members.set(id, line);
    return { id, result: before === undefined ? 'added' : 'changed' };
  }

  #memberPerson(line: number, { id, given, isRemoved }: RecordLine): RecordOutcome {
    const { member_number: memberNumber = '', person_id: personId = '' } = given;
    const member = this.#members.get(memberNumber);
    if (member === undefined) return refused(id, 'member_not_found', noMember);
    const before = member.persons.get(personId);
    const persons = new Map(member.persons);
    if (isRemoved) {
      if (before === undefined) return { id, result: 'unchanged' };
      const held = [...this.#accounts.values()].some(
        (account) => account.memberNumber === memberNumber && account.holders.has(personId),
      );
      if (held) {
        return refused(
          id,
          'still_holder',
          'The person holds accounts of the membership. Remove the holders first.',
        );
      }
      persons.delete(personId);
    } else {
      const role = given.role ?? before ?? '';
      if (role === before) return { id, result: 'unchanged' };
      persons.set(personId, role);
    }
    const refusal = this.#refusePersons(id, member.item, persons);
    if (refusal !== undefined) return refusal;
    this.#members.set(memberNumber, { ...member, persons });
    this.#changed.members.set(memberNumber, line);
    return { id, result: isRemoved ? 'removed' : before === undefined ? 'added' : 'changed' };
  }

  #refusePersons(
    id: string,
    { memberNumber, memberType }: MemberRecord,
    persons: ReadonlyMap<string, string>,
  ): RecordOutcome | undefined {
    const roles = memberType === 'RETAIL' ? retailRoles : businessRoles;
    const before = this.#members.get(memberNumber)?.persons;
    for (const [personId, role] of persons) {
      if (before?.get(personId) === role) continue;
      if (!this.#persons.has(personId))
        return refused(id, 'person_not_found', 'There is no person with this personId.');
      if (!roles.includes(role))
        return refused(id, 'role_not_allowed', `role must be ${roles.join(' or ')}.`);
    }
    const primaries = [...persons.values()].filter((role) => role === 'PRIMARY').length;
    if (primaries === 1) return undefined;
    return refused(
      id,
      'primary_required',
      'A membership has one PRIMARY. To replace it, send both persons in one record of kind member.',
    );
  }

  #account(line: number, { id, given, dependants }: RecordLine): RecordOutcome {
    const before = this.#accounts.get(id);
    if (before === undefined && (given.member_number ?? given.type) === undefined) {
      const needed = 'memberNumber, accountNumber, type and currency';
      return refused(
        id,
        'account_not_found',
        `There is no such account of a member; a new one needs ${needed}.`,
      );
    }
    const { item, wrong } = overlaid(
      readAccount,
      before?.texts,
      before === undefined
        ? { ...newAccount, ...given }
        : { ...given, ...(before.closedByOperator && closed) },
    );
    if (wrong !== '') return refused(id, 'invalid_line', wrong);
    const { memberNumber } = item;
    const texts = textsOfAccount(item);
    if (before === undefined) {
      if (!this.#members.has(memberNumber)) return refused(id, 'member_not_found', noMember);
    } else {
      const fixed = differing(before.texts, texts, ['member_number', 'type', 'currency']);
      if (fixed.length > 0) {
        const code = fixed.includes('currency') ? 'currency_mismatch' : 'id_reused';
        return refused(id, code, `The account stands with another ${fixed.join(', ')}.`);
      }
    }
    const holders = new Map(before?.holders);
    for (const dependant of dependants) {
      const refusal = this.#refuseHolder(id, { memberNumber, holders }, { account_id: id, ...dependant });
      if (refusal !== undefined) return refusal;
    }
    const changed = before === undefined ? [] : differing(before.texts, texts);
    if (before !== undefined && changed.length === 0 && isSameHolders(before.holders, holders)) {
      return { id, result: 'unchanged' };
    }
    this.#accounts.set(id, { ...before, texts, item, memberNumber, holders });
    const figures = this.#figures.get(id) ?? new Set();
    for (const column of loanFigures) if (column in given) figures.add(column);
    this.#figures.set(id, figures);
    this.#changed.accounts.set(id, line);
    return { id, result: before === undefined ? 'added' : 'changed' };
  }

  #holder(line: number, { id, given, isRemoved }: RecordLine): RecordOutcome {
    const { account_id: accountId = '', person_id: personId = '' } = given;
    const account = this.#accounts.get(accountId);
    if (account === undefined)
      return refused(id, 'account_not_found', 'No member of the institution has this account.');
    const holders = new Map(account.holders);
    if (isRemoved) {
      if (!holders.delete(personId)) return { id, result: 'unchanged' };
    } else {
      const refusal = this.#refuseHolder(id, { memberNumber: account.memberNumber, holders }, given);
      if (refusal !== undefined) return refusal;
      if (isSameHolders(account.holders, holders)) return { id, result: 'unchanged' };
    }
    this.#accounts.set(accountId, { ...account, holders });
    this.#changed.accounts.set(accountId, line);
    if (isRemoved) return { id, result: 'removed' };
    return { id, result: account.holders.has(personId) ? 'changed' : 'added' };
  }

  /** Adds the holder to `holders`, or returns why not. */
  #refuseHolder(
    id: string,
    { memberNumber, holders }: { readonly memberNumber: string; readonly holders: Map<string, HolderRecord> },
    given: Texts,
  ): RecordOutcome | undefined {
    const personId = given.person_id ?? '';
    const before = holders.get(personId);
    const { item, wrong } = overlaid(
      readHolder,
      before === undefined ? undefined : textsOfHolder(before),
      given,
    );
    if (wrong !== '') return refused(id, 'invalid_line', wrong);
    if (this.#members.get(memberNumber)?.persons.has(personId) !== true) {
      return refused(id, 'not_in_membership', "A holder must be a person of the account's membership.");
    }
    holders.set(personId, item);
    return undefined;
  }
}

const noMember = 'There is no membership with this memberNumber.';
/** A new account is open and in good standing unless the record says otherwise. */
const newAccount: Texts = { status: 'open', delinquent: 'no' };
/** Laid over every record of an account that an operator closed for good. */
const closed: Texts = { status: 'closed' };

function refused(id: string, code: RecordRefusalCode, detail: string): RecordOutcome {
  return { id, result: 'refused', code, detail };
}

/**
 * Reads what stands with the given columns laid over it, by the rules of the extract. `wrong` is a sentence for each error, empty if
 * there is none. An error that stands already is not the record's.
 */
function overlaid<Item>(
  read: (row: Row) => Item,
  standing: Texts | undefined,
  given: Texts,
): { readonly item: Item; readonly wrong: string } {
  const one = readTexts(read, { ...standing, ...given });
  if (one.errors.length === 0) return { item: one.item, wrong: '' };
  const known = standing === undefined ? [] : readTexts(read, standing).errors;
  return { item: one.item, wrong: one.errors.filter((error) => !known.includes(error)).join(' ') };
}

function readTexts<Item>(
  read: (row: Row) => Item,
  texts: Texts,
): { readonly item: Item; readonly errors: readonly string[] } {
  const errors: string[] = [];
  const places = new Map(Object.keys(texts).map((column, place) => [column, place]));
  const fail = ({ column, expected }: { readonly column: string; readonly expected: string }) => {
    errors.push(`${fieldOf(column)} must be ${expected}.`);
  };
  return { item: read(new Row({ places, fail }, { line: 0, values: Object.values(texts) })), errors };
}

/** The fields, among these columns, in which the texts differ. */
function differing(before: Texts, after: Texts, columns = Object.keys(after)): string[] {
  return columns.filter((column) => (before[column] ?? '') !== (after[column] ?? '')).map(fieldOf);
}

function isSame(before: Texts, after: Texts): boolean {
  return Object.keys(before).length === Object.keys(after).length && differing(before, after).length === 0;
}

function isSameHolders(
  before: ReadonlyMap<string, HolderRecord>,
  after: ReadonlyMap<string, HolderRecord>,
): boolean {
  return (
    before.size === after.size &&
    [...after].every(([personId, holder]) => {
      const known = before.get(personId);
      return known?.role === holder.role && known.mayPay === holder.mayPay;
    })
  );
}

function textsOfPerson(person: StandingPerson | PersonRecord): Texts {
  return {
    person_id: person.personId,
    first_name: person.firstName,
    last_name: person.lastName,
    email: person.email ?? '',
    phone_number: person.phoneNumber ?? '',
    phone_type: person.phoneType ?? '',
    birth_date: person.birthDate ?? '',
  };
}

function textsOfMember({ customerId, memberNumber, memberType }: MemberRecord): Texts {
  return { customer_id: customerId, member_number: memberNumber, member_type: memberType };
}

/** Without the balance: transactions change it, records do not. */
function textsOfAccount(account: StandingAccount | AccountRecord): Texts {
  const { currency, diAccountType } = account;
  const isLoan = accountTypes.get(diAccountType)?.category === 'LOAN';
  const amount = (minor: bigint | null | undefined) => formatMinor(minor ?? 0n, currency);
  return {
    account_id: account.accountId,
    member_number: account.memberNumber,
    account_number: account.accountNumber,
    type: diAccountType,
    description: account.description,
    currency,
    status: account.closed ? 'closed' : 'open',
    delinquent: yesOrNo(account.delinquent),
    overdraft_limit: amount(account.overdraftLimit),
    credit_limit: amount(account.creditLimit),
    transfer_restriction: account.transferRestriction ?? '',
    ...(isLoan && {
      accrued_interest: amount(account.accruedInterest),
      fees_due: amount(account.feesDue),
      amount_due: amount(account.amountDue),
      next_due_on: account.nextDueOn ?? '',
    }),
  };
}

function textsOfHolder({ accountId, personId, role, mayPay }: HolderRecord): Texts {
  return { account_id: accountId, person_id: personId, role, may_pay: yesOrNo(mayPay) };
}

function yesOrNo(flag: boolean): string {
  return flag ? 'yes' : 'no';
}
