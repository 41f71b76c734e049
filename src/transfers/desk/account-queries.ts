import { type Queryable, sql } from '../../storage/index.ts';
import type { AccountFacts, LoanDues } from '../rules/accounts/account.ts';

/** The restrictions of the core and of an operator together: two different ones leave nothing. */
const restriction = `case
            when a.transfer_restriction = a.operator_restriction then a.transfer_restriction
            when a.transfer_restriction is not null and a.operator_restriction is not null then 'EXCLUDE_ALL'
            else coalesce(a.transfer_restriction, a.operator_restriction) end`;

// Holders are looked up account by account: joined by person as well, the plan read all accounts of each person.
const accountFacts = sql(
  'transfers_account_facts',
  `select a.account_key, a.account_id, a.customer_key, a.di_account_type, a.category, a.currency, a.closed,
          a.overdraft_limit, ${restriction} as transfer_restriction, h.person_key, h.may_pay
   from accounts a
   left join lateral (
     select h.person_key, h.may_pay from holders h
     where h.institution_id = $1 and h.account_key = a.account_key
     offset 0) h on true
   where a.institution_id = $1 and a.account_id = any ($2::text[]) and a.customer_key is not null`,
);

interface Holding {
  readonly accountKey: bigint;
  readonly personKey: bigint;
  readonly mayPay: boolean;
}

/** The accounts without the details of loans and IRAs (`selectDetails`), and the holder records of all. */
export async function selectAccountFacts(
  tx: Queryable,
  accountIds: readonly string[],
): Promise<{ readonly accounts: AccountFacts[]; readonly holdings: Holding[] }> {
  const { rows } = await tx.query<
    Omit<AccountFacts, 'loan' | 'owner'> & { readonly personKey: bigint | null; readonly mayPay: boolean }
  >(accountFacts, [tx.institutionId, accountIds]);
  const accounts = new Map<bigint, AccountFacts>();
  const holdings: Holding[] = [];
  // A row for each holder.
  for (const { personKey, mayPay, ...account } of rows) {
    const { accountKey } = account;
    if (personKey !== null) holdings.push({ accountKey, personKey, mayPay });
    if (!accounts.has(accountKey)) accounts.set(accountKey, { ...account, loan: null, owner: null });
  }
  return { accounts: [...accounts.values()], holdings };
}

const details = sql(
  'transfers_account_details',
  `select a.account_key, l.fees_due as fees, l.accrued_interest as interest, l.amount_due, o.person_key, o.birth_date
   from accounts a
   left join lateral (
     select l.fees_due, l.accrued_interest, l.amount_due from loans l
     where l.institution_id = $1 and l.account_key = a.account_key
     offset 0) l on true
   left join lateral (
     select h.person_key, p.birth_date
     from holders h
     join persons p on p.institution_id = h.institution_id and p.person_key = h.person_key
     where a.di_account_type = 'RETIREMENT_IRA'
       and h.institution_id = $1 and h.account_key = a.account_key and h.role = 'PRIMARY'
     order by h.person_key limit 1) o on true
   where a.institution_id = $1 and a.account_key = any ($2::bigint[])`,
);

/** These accounts with the dues of a loan and the owner of an IRA. */
export async function selectDetails(
  tx: Queryable,
  accounts: readonly AccountFacts[],
): Promise<AccountFacts[]> {
  if (accounts.length === 0) return [];
  const { rows } = await tx.query<
    { [Due in keyof LoanDues]: bigint | null } & {
      readonly accountKey: bigint;
      readonly personKey: bigint | null;
      readonly birthDate: string | null;
    }
  >(details, [tx.institutionId, accounts.map((account) => account.accountKey)]);
  const known = new Map(rows.map((row) => [row.accountKey, row]));
  return accounts.map((account) => {
    const row = known.get(account.accountKey);
    if (row === undefined) return account;
    const { fees, interest, amountDue, personKey, birthDate } = row;
    const isLoan = fees !== null && interest !== null && amountDue !== null;
    return {
      ...account,
      loan: isLoan ? { fees, interest, amountDue } : null,
      owner: personKey === null ? null : { personKey, birthDate },
    };
  });
}

export interface MembershipRow {
  readonly customerKey: bigint;
  readonly personKey: bigint;
}

const membershipsOf = sql(
  'transfers_memberships_of',
  `select customer_key, person_key from customer_persons
   where institution_id = $1 and person_key = any ($2::bigint[])`,
);

/** The memberships that these persons belong to. */
export async function selectMembershipsOf(
  tx: Queryable,
  personKeys: readonly bigint[],
): Promise<MembershipRow[]> {
  if (personKeys.length === 0) return [];
  return (await tx.query<MembershipRow>(membershipsOf, [tx.institutionId, personKeys])).rows;
}

const usersOfCustomers = sql(
  'transfers_users_of_customers',
  `select cp.customer_key, cp.person_key
   from customer_persons cp
   join users u on u.institution_id = cp.institution_id and u.person_key = cp.person_key
   where cp.institution_id = $1 and cp.customer_key = any ($2::bigint[])`,
);

/** Persons with digital access in these memberships. */
export async function selectUsersOfCustomers(
  tx: Queryable,
  customerKeys: readonly bigint[],
): Promise<MembershipRow[]> {
  if (customerKeys.length === 0) return [];
  return (await tx.query<MembershipRow>(usersOfCustomers, [tx.institutionId, customerKeys])).rows;
}
