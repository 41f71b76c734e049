import { insertAccounts, type NewAccount } from '../../src/accounts/index.ts';
import {
  type ClientActor,
  type Institution,
  type InstitutionSettings,
  insertInstitution,
  type MemberActor,
} from '../../src/institutions/index.ts';
import { Book, PostingKeys } from '../../src/ledger/index.ts';
import type { Database, Statement, Transaction } from '../../src/storage/index.ts';

/**
 * Inserts the data that a test needs, with invented defaults for the rest. It writes as the service's own role, so
 * that a test starts from data that the service could have written.
 */

export const longAgo = new Date('2026-01-02T09:00:00Z');

export interface Person {
  readonly personKey: bigint;
  readonly firstName: string;
  readonly lastName: string;
  readonly email: string | null;
}

export interface Customer {
  readonly institution: Institution;
  readonly customerKey: bigint;
  readonly customerId: string;
  readonly memberNumber: string;
}

/** A membership, its PRIMARY, and that person's user. */
export interface Member extends Customer {
  readonly person: Person;
  readonly user: MemberActor;
}

export interface PlantedAccount {
  readonly institution: Institution;
  readonly accountKey: bigint;
  readonly accountId: string;
}

export type Role = 'PRIMARY' | 'JOINT' | 'AUTHORIZED_SIGNER' | 'BUSINESS_ADMIN' | 'BUSINESS_USER';

let planted = 0;

/** Different at each call in one process: the base of ids, member numbers and usernames. */
export function uniqueNumber(): number {
  planted += 1;
  return planted;
}

export async function anInstitution(
  database: Database,
  settings: Partial<InstitutionSettings> = {},
): Promise<Institution> {
  const code = `fictional-${uniqueNumber()}`;
  const defaults: InstitutionSettings = {
    code,
    name: 'Fictional Credit Union',
    currency: 'USD',
    timeZone: 'America/New_York',
    enrollment: 'closed',
    openingDepositMinor: 0n,
    passwordMinLength: 15,
    demo: false,
  };
  return database.directory((db) => insertInstitution(db, { ...defaults, ...settings }, longAgo));
}

export function aClient(institution: Institution): ClientActor {
  return { kind: 'client', institutionId: institution.institutionId, clientId: `app-of-${institution.code}` };
}

export interface PersonSettings {
  readonly firstName?: string;
  readonly lastName?: string;
  readonly email?: string | null;
  readonly phoneNumber?: string;
  readonly phoneType?: 'MOBILE' | 'HOME' | 'WORK';
}

export async function aPerson(
  database: Database,
  institution: Institution,
  settings: PersonSettings = {},
): Promise<Person> {
  const number = uniqueNumber();
  const { firstName = 'Ada', lastName = `Example${number}`, email = `ada.${number}@example.test` } = settings;
  const row = await plant<{ personKey: bigint }>(
    database,
    institution,
    `insert into persons (institution_id, person_id, first_name, last_name, email, phone_number, phone_type)
     values ($1, $2, $3, $4, $5, $6, $7) returning person_key as "personKey"`,
    [
      `person-${number}`,
      firstName,
      lastName,
      email,
      settings.phoneNumber ?? null,
      settings.phoneNumber === undefined ? null : (settings.phoneType ?? 'MOBILE'),
    ],
  );
  return { personKey: row.personKey, firstName, lastName, email };
}

export interface CustomerSettings {
  readonly customerId?: string;
  readonly memberNumber?: string;
  readonly memberType?: 'RETAIL' | 'BUSINESS';
}

/** A membership without persons. */
export async function aCustomer(
  database: Database,
  institution: Institution,
  settings: CustomerSettings = {},
): Promise<Customer> {
  const number = uniqueNumber();
  const { customerId = `customer-${number}`, memberNumber = `${100_000 + number}` } = settings;
  const { customerKey } = await plant<{ customerKey: bigint }>(
    database,
    institution,
    `insert into customers (institution_id, customer_id, member_number, member_type)
     values ($1, $2, $3, $4) returning customer_key as "customerKey"`,
    [customerId, memberNumber, settings.memberType ?? 'RETAIL'],
  );
  return { institution, customerKey, customerId, memberNumber };
}

/** Puts the person into the membership. */
export async function aRole(
  database: Database,
  customer: Customer,
  person: Person,
  role: Role = 'JOINT',
): Promise<void> {
  await plant(
    database,
    customer.institution,
    `insert into customer_persons (institution_id, customer_key, person_key, role) values ($1, $2, $3, $4)
     returning role`,
    [customer.customerKey, person.personKey, role],
  );
}

export interface UserSettings {
  readonly email?: string;
  readonly username?: string;
  readonly active?: boolean;
  readonly lockedByOperator?: boolean;
  readonly lockedUntil?: Date;
}

/**
 * Digital access for the person, with the core's e-mail by default, verified unless another user has it. The username
 * only identifies: no password matches.
 */
export async function aUser(
  database: Database,
  institution: Institution,
  person: Person,
  settings: UserSettings = {},
): Promise<MemberActor> {
  const number = uniqueNumber();
  const userId = `user-${number}`;
  const { userKey } = await plant<{ userKey: bigint }>(
    database,
    institution,
    `insert into users (institution_id, user_id, person_key, email, username, password_hash, active,
                        locked_by_operator, locked_until, created_at, verified_email, email_verified_by)
     select $1, $2, $3::bigint, $4::text, $5, $6, $7, $8, $9, $10, case when f.by is not null then $4::text end, f.by
     from (select case
             when exists (select from persons p where p.institution_id = $1 and p.person_key = $3 and p.email = $4)
               then 'CORE'
             when not exists (select from users o where o.institution_id = $1 and o.verified_email_lower = lower($4))
               then 'CODE'
           end as by) f
     returning user_key as "userKey"`,
    [
      userId,
      person.personKey,
      settings.email ?? person.email ?? `user.${number}@example.test`,
      settings.username ?? null,
      settings.username === undefined ? null : 'no password fits this',
      settings.active ?? true,
      settings.lockedByOperator ?? false,
      settings.lockedUntil ?? null,
      longAgo,
    ],
  );
  const { institutionId } = institution;
  const clientId = `app-of-${institution.code}`;
  return { kind: 'member', institutionId, clientId, userId, userKey, personKey: person.personKey };
}

/** A membership whose PRIMARY has digital access. */
export async function aMember(
  database: Database,
  institution: Institution,
  settings: PersonSettings & CustomerSettings & { readonly user?: UserSettings } = {},
): Promise<Member> {
  const person = await aPerson(database, institution, settings);
  const customer = await aCustomer(database, institution, settings);
  await aRole(database, customer, person, 'PRIMARY');
  const user = await aUser(database, institution, person, settings.user);
  return { ...customer, person, user };
}

export type AccountSettings = Partial<Omit<NewAccount, 'customerKey' | 'purpose'>> & {
  /** The posted balance, credit positive; it comes from the institution's funding account. */
  readonly posted?: bigint;
  /** The part held for pending transfers. */
  readonly debitsPending?: bigint;
};

/** An account without a holder. */
export async function anAccount(
  database: Database,
  customer: Customer,
  settings: AccountSettings = {},
): Promise<PlantedAccount> {
  const { posted = 0n, debitsPending = 0n, ...given } = settings;
  const number = uniqueNumber();
  const { institution } = customer;
  const account: NewAccount = {
    accountId: `account-${number}`,
    customerKey: customer.customerKey,
    purpose: null,
    accountNumber: given.diAccountType === 'CREDIT_CARD_LOAN' ? '4242' : `${9_000_000 + number}`,
    diAccountType: 'CHECKING',
    description: 'Share Draft',
    currency: institution.currency,
    closed: false,
    delinquent: false,
    overdraftLimit: 0n,
    creditLimit: 0n,
    accruedInterest: 0n,
    feesDue: 0n,
    ...given,
  };
  const keys = await database.transaction(institution.institutionId, (tx) =>
    insertAccounts(tx, [account], longAgo),
  );
  const accountKey = keys.get(account.accountId);
  if (accountKey === undefined) throw new Error('the account was not planted');
  const plantedAccount = { institution, accountKey, accountId: account.accountId };
  if (posted !== 0n) await post(database, plantedAccount, posted, account.currency);
  if (debitsPending !== 0n) await hold(database, plantedAccount, debitsPending);
  return plantedAccount;
}

/** A holder record: the person may see the account and, by default, pay from it. */
export async function aHolder(
  database: Database,
  account: PlantedAccount,
  person: Person,
  settings: { readonly role?: 'PRIMARY' | 'JOINT' | 'AUTHORIZED_SIGNER'; readonly mayPay?: boolean } = {},
): Promise<void> {
  await plant(
    database,
    account.institution,
    `insert into holders (institution_id, account_key, person_key, role, may_pay) values ($1, $2, $3, $4, $5)
     returning role`,
    [account.accountKey, person.personKey, settings.role ?? 'PRIMARY', settings.mayPay ?? true],
  );
}

/** The institution's funding account, opened as by an import, on first use. */
export async function aFundingAccount(
  database: Database,
  institution: Institution,
  currency = institution.currency,
): Promise<string> {
  const accountId = `internal:funding:${currency}`;
  await database.transaction(institution.institutionId, async (tx) => {
    const { rows } = await tx.query(
      unnamed('select from accounts where institution_id = $1 and account_id = $2'),
      [institution.institutionId, accountId],
    );
    if (rows.length > 0) return;
    const funding: NewAccount = {
      accountId,
      customerKey: null,
      purpose: 'FUNDING',
      accountNumber: accountId,
      diAccountType: 'GENERAL_LEDGER_ACCOUNT',
      description: 'Funding',
      currency,
      closed: false,
      delinquent: false,
      overdraftLimit: 0n,
      creditLimit: 0n,
      accruedInterest: 0n,
      feesDue: 0n,
    };
    await insertAccounts(tx, [funding], longAgo);
  });
  return accountId;
}

async function post(
  database: Database,
  account: PlantedAccount,
  posted: bigint,
  currency: string,
): Promise<void> {
  const { institution, accountId } = account;
  const fundingId = await aFundingAccount(database, institution, currency);
  const postingKey = await new PostingKeys(database).next();
  await database.transaction(institution.institutionId, async (tx) => {
    const book = await Book.lock(tx, [accountId, fundingId]);
    book.record({
      kind: 'OPENING',
      postingKey,
      debitAccountId: posted > 0n ? fundingId : accountId,
      creditAccountId: posted > 0n ? accountId : fundingId,
      amountMinor: posted > 0n ? posted : -posted,
    });
    await book.write(longAgo);
  });
}

/** A hold like a pending transfer's, toward the funding account. */
async function hold(database: Database, account: PlantedAccount, debitsPending: bigint): Promise<void> {
  const { institution, accountId } = account;
  const fundingId = await aFundingAccount(database, institution);
  const postingKey = await new PostingKeys(database).next();
  await database.transaction(institution.institutionId, async (tx) => {
    const book = await Book.lock(tx, [accountId, fundingId]);
    const bounds = { floor: -debitsPending, ceiling: null };
    book.apply(
      postingKey,
      'HOLD',
      { accountId, change: { debitsPending }, bounds },
      { accountId: fundingId, change: { creditsPending: debitsPending }, bounds },
    );
    await book.write(longAgo);
    await balanceControlTotal(tx);
  });
}

/** One statement for one institution, as the service; returns its first row. */
async function plant<Row extends object>(
  database: Database,
  institution: Institution,
  text: string,
  values: readonly unknown[],
): Promise<Row> {
  const { institutionId } = institution;
  const { rows } = await database.read(institutionId, (db) =>
    db.query<Row>(unnamed(text), [institutionId, ...values]),
  );
  const row = rows[0];
  if (row === undefined) throw new Error('nothing was planted');
  return row;
}

function unnamed(text: string): Statement {
  return { name: '', text };
}

/**
 * Makes postings and holds that a test writes by hand count as ordered by a transfer of the same transaction. Call it after the
 * writes.
 */
export async function balanceControlTotal(tx: Transaction): Promise<void> {
  await tx.query({ name: '', text: 'select test_support.ordered_elsewhere()' });
}
