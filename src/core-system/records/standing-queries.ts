import { type Queryable, sql } from '../../storage/index.ts';

/* The rows that a batch of records meets, by their keys. */

export interface StandingPerson {
  readonly personId: string;
  readonly firstName: string;
  readonly lastName: string;
  readonly email: string | null;
  readonly phoneNumber: string | null;
  readonly phoneType: string | null;
  readonly birthDate: string | null;
}

const persons = sql(
  'core_standing_persons',
  `select person_id, first_name, last_name, email, phone_number, phone_type, birth_date::text
   from persons where institution_id = $1 and person_id = any ($2::text[])`,
);

export async function selectStandingPersons(
  tx: Queryable,
  personIds: readonly string[],
): Promise<StandingPerson[]> {
  return (await tx.query<StandingPerson>(persons, [tx.institutionId, personIds])).rows;
}

export interface StandingMember {
  readonly customerId: string;
  readonly memberNumber: string;
  readonly memberType: string;
}

const members = sql(
  'core_standing_members',
  `select customer_id, member_number, member_type from customers
   where institution_id = $1 and member_number = any ($2::text[])
   union
   select customer_id, member_number, member_type from customers
   where institution_id = $1 and customer_id = any ($3::text[])
   union
   select c.customer_id, c.member_number, c.member_type
   from accounts a
   join customers c on c.institution_id = $1 and c.customer_key = a.customer_key
   where a.institution_id = $1 and a.account_id = any ($4::text[])`,
);

/** Memberships with one of the numbers, one of the customer ids or one of the accounts. */
export async function selectStandingMembers(
  tx: Queryable,
  by: {
    readonly memberNumbers: readonly string[];
    readonly customerIds: readonly string[];
    readonly accountIds: readonly string[];
  },
): Promise<StandingMember[]> {
  const { memberNumbers, customerIds, accountIds } = by;
  const values = [tx.institutionId, memberNumbers, customerIds, accountIds];
  return (await tx.query<StandingMember>(members, values)).rows;
}

export interface StandingMemberPerson {
  readonly memberNumber: string;
  readonly personId: string;
  readonly role: string;
}

const memberPersons = sql(
  'core_standing_member_persons',
  `select c.member_number, p.person_id, cp.role
   from customers c
   join customer_persons cp on cp.institution_id = $1 and cp.customer_key = c.customer_key
   join persons p on p.institution_id = $1 and p.person_key = cp.person_key
   where c.institution_id = $1 and c.member_number = any ($2::text[])`,
);

export async function selectStandingMemberPersons(
  tx: Queryable,
  memberNumbers: readonly string[],
): Promise<StandingMemberPerson[]> {
  return (await tx.query<StandingMemberPerson>(memberPersons, [tx.institutionId, memberNumbers])).rows;
}

export interface StandingAccount {
  readonly accountId: string;
  readonly memberNumber: string;
  readonly accountNumber: string;
  readonly diAccountType: string;
  readonly description: string;
  readonly currency: string;
  readonly closed: boolean;
  /** For good: no record opens it again. */
  readonly closedByOperator: boolean;
  readonly delinquent: boolean;
  readonly overdraftLimit: bigint;
  readonly creditLimit: bigint;
  readonly transferRestriction: string | null;
  readonly accruedInterest: bigint | null;
  readonly feesDue: bigint | null;
  readonly amountDue: bigint | null;
  readonly nextDueOn: string | null;
}

const accounts = sql(
  'core_standing_accounts',
  `select a.account_id, c.member_number, a.account_number, a.di_account_type, a.description, a.currency, a.closed,
          a.closed_by_operator, a.delinquent, a.overdraft_limit, a.credit_limit, a.transfer_restriction,
          l.accrued_interest, l.fees_due, l.amount_due, l.next_due_on::text
   from accounts a
   join customers c on c.institution_id = $1 and c.customer_key = a.customer_key
   left join loans l on l.institution_id = $1 and l.account_key = a.account_key
   where a.institution_id = $1 and a.account_id = any ($2::text[])
   order by a.account_key
   for no key update of a`,
);

const loans = sql(
  'core_standing_loans',
  `select account_id from accounts
   where institution_id = $1 and account_id = any ($2::text[]) and category = 'LOAN'`,
);

/** Those of the accounts that are loans. */
export async function selectLoanIds(tx: Queryable, accountIds: readonly string[]): Promise<string[]> {
  const { rows } = await tx.query<{ accountId: string }>(loans, [tx.institutionId, accountIds]);
  return rows.map(({ accountId }) => accountId);
}

/**
 * Accounts of members; those of the institution itself are none. Their rows are locked: a payment or an operator may change one
 * meanwhile. The caller has locked the balances of loans before, as a payment does.
 */
export async function selectAccountsForUpdate(
  tx: Queryable,
  accountIds: readonly string[],
): Promise<StandingAccount[]> {
  return (await tx.query<StandingAccount>(accounts, [tx.institutionId, accountIds])).rows;
}

export interface StandingHolder {
  readonly accountId: string;
  readonly personId: string;
  readonly role: string;
  readonly mayPay: boolean;
}

const holders = sql(
  'core_standing_holders',
  `select a.account_id, p.person_id, h.role, h.may_pay
   from accounts a
   join holders h on h.institution_id = $1 and h.account_key = a.account_key
   join persons p on p.institution_id = $1 and p.person_key = h.person_key
   where a.institution_id = $1 and a.account_id = any ($2::text[])`,
);

export async function selectStandingHolders(
  tx: Queryable,
  accountIds: readonly string[],
): Promise<StandingHolder[]> {
  return (await tx.query<StandingHolder>(holders, [tx.institutionId, accountIds])).rows;
}

const held = sql(
  'core_held_accounts',
  `select distinct a.account_id
   from unnest($2::text[], $3::text[]) as given (member_number, person_id)
   join customers c on c.institution_id = $1 and c.member_number = given.member_number
   join persons p on p.institution_id = $1 and p.person_id = given.person_id
   join holders h on h.institution_id = $1 and h.person_key = p.person_key
   join accounts a on a.institution_id = $1 and a.account_key = h.account_key and a.customer_key = c.customer_key`,
);

/** The accounts that these persons hold in these memberships. */
export async function selectHeldAccounts(
  tx: Queryable,
  pairs: readonly { readonly memberNumber: string; readonly personId: string }[],
): Promise<string[]> {
  const values = [
    tx.institutionId,
    pairs.map(({ memberNumber }) => memberNumber),
    pairs.map(({ personId }) => personId),
  ];
  return (await tx.query<{ accountId: string }>(held, values)).rows.map(({ accountId }) => accountId);
}
