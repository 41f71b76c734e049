import { type Change, countOf, type KeyRange, noChange } from '../memberships/index.ts';
import { type Queryable, type Statement, sql } from '../storage/index.ts';

/*
 * Differences between a range of an import's stage and the tables of this module, by the member number. As in
 * memberships/merge-queries.ts: one text for the count and the write; $1 is the institution, $2 and $3 are the ends of the range.
 */

const counted = `count(*) filter (where is_new)::integer as added, count(*) filter (where not is_new)::integer as changed`;
const members = `s.institution_id = $1 and s.member_number > $2 and s.member_number <= $3`;

// Accounts, without balances.

const accountDifference = `
  select s.*, a.account_key, a.account_key is null as is_new
  from staged_accounts s
  left join accounts a on a.institution_id = $1 and a.account_id = s.account_id
  where ${members}
    and (a.account_key is null
         or (a.account_number, a.description, a.closed, a.delinquent, a.overdraft_limit, a.credit_limit)
              is distinct from
            (s.account_number, s.description, s.closed or a.closed_by_operator, s.delinquent, s.overdraft_limit, s.credit_limit)
         or s.restriction_given and a.transfer_restriction is distinct from s.transfer_restriction)`;

const countAccounts = sql('accounts_count_accounts', `select ${counted} from (${accountDifference}) d`);
const addAccounts = sql(
  'accounts_merge_accounts',
  `insert into accounts (institution_id, account_id, customer_key, account_number, di_account_type, category, description,
                         currency, closed, delinquent, overdraft_limit, credit_limit, transfer_restriction)
   select $1, d.account_id, c.customer_key, d.account_number, d.di_account_type, d.category, d.description,
          d.currency, d.closed, d.delinquent, d.overdraft_limit, d.credit_limit, d.transfer_restriction
   from (${accountDifference}) d
   cross join lateral (
     select c.customer_key from customers c
     where c.institution_id = $1 and c.member_number = d.member_number offset 0) c
   where d.is_new
   order by d.line
   returning account_key, account_id, currency, (
     select s.posted from staged_accounts s
     where s.institution_id = $1 and s.account_id = accounts.account_id) as figure`,
);
const changeAccounts = sql(
  'accounts_change_accounts',
  `update accounts a
   set (account_number, description, closed, delinquent, overdraft_limit, credit_limit, transfer_restriction) = (
     select s.account_number, s.description, s.closed or a.closed_by_operator, s.delinquent, s.overdraft_limit, s.credit_limit,
            case when s.restriction_given then s.transfer_restriction else a.transfer_restriction end
     from staged_accounts s where s.institution_id = $1 and s.account_id = a.account_id)
   where a.institution_id = $1
     and a.account_key = any (array(select d.account_key from (${accountDifference}) d where not is_new))`,
);
const addLoans = sql(
  'accounts_merge_loans',
  `insert into loans (institution_id, account_key, accrued_interest, fees_due, amount_due, next_due_on)
   select $1, a.account_key, coalesce(s.accrued_interest, 0), coalesce(s.fees_due, 0), coalesce(s.amount_due, 0), s.next_due_on
   from staged_accounts s
   cross join lateral (
     select a.account_key from accounts a
     where a.institution_id = $1 and a.account_id = s.account_id offset 0) a
   where ${members} and s.category = 'LOAN'
   on conflict do nothing`,
);

// Holders.

const holderDifference = `
  select k.role, k.may_pay, a.account_key, p.person_key, h.role is null as is_new
  from staged_accounts s
  cross join lateral (
    select k.person_id, k.role, k.may_pay from staged_holders k
    where k.institution_id = $1 and k.account_id = s.account_id offset 0) k
  left join accounts a on a.institution_id = $1 and a.account_id = s.account_id
  left join persons p on p.institution_id = $1 and p.person_id = k.person_id
  left join holders h on h.institution_id = $1 and h.account_key = a.account_key and h.person_key = p.person_key
  where ${members} and (h.role, h.may_pay) is distinct from (k.role, k.may_pay)`;

const standingHolders = `
  select h.account_key, h.person_key, k.role is null as is_gone
  from staged_accounts s
  cross join lateral (
    select a.account_key from accounts a
    where a.institution_id = $1 and a.account_id = s.account_id offset 0) a
  cross join lateral (
    select h.account_key, h.person_key from holders h
    where h.institution_id = $1 and h.account_key = a.account_key offset 0) h
  cross join lateral (
    select p.person_id from persons p where p.institution_id = $1 and p.person_key = h.person_key offset 0) p
  left join staged_holders k on k.institution_id = $1 and k.account_id = s.account_id and k.person_id = p.person_id
  where ${members}`;

const countHolders = sql('accounts_count_holders', `select ${counted} from (${holderDifference}) d`);
const countHoldersGone = sql(
  'accounts_count_holders_gone',
  `select count(*) filter (where is_gone)::integer as removed, count(*)::integer as standing
   from (${standingHolders}) d`,
);
const removeHolders = sql(
  'accounts_remove_gone_holders',
  `delete from holders h
   using (select * from (${standingHolders}) d where is_gone offset 0) gone
   where h.institution_id = $1 and h.account_key = gone.account_key and h.person_key = gone.person_key`,
);
const mergeHolders = sql(
  'accounts_merge_holders',
  `insert into holders (institution_id, account_key, person_key, role, may_pay)
   select $1, account_key, person_key, role, may_pay from (${holderDifference}) d
   on conflict (institution_id, account_key, person_key) do update
   set role = excluded.role, may_pay = excluded.may_pay`,
);

// Balances. Transfers posted after the moment of the figures are added to them; with null, none are. Other entries come from earlier
// imports, and the figures include them. A balance that an operator closed stays at zero.

const sinceThen = (moment: string, table: string, sum: string, kinds = '') => `
  case when ${moment}::timestamptz is not null and b.last_at >= ${moment} then (
    select coalesce(sum(${sum}), 0)::bigint from ${table} e
    where e.institution_id = $1 and e.account_key = b.account_key
      and e.seq > entries_before($1, b.account_key, ${moment})${kinds}) else 0 end`;

const figures = (moment: string) => `
  select s.account_id, s.currency, b.account_key, b.seq, b.posted,
         s.posted + ${sinceThen(moment, 'entries', 'e.amount', ` and e.kind = 'TRANSFER'`)} as figure
  from staged_accounts s
  cross join lateral (
    select * from balances b
    where b.institution_id = $1 and b.account_id = s.account_id and not b.closed offset 0) b`;

const countFigures = sql(
  'accounts_count_figures',
  `select count(*) filter (where seq = 0)::integer as opened, count(*) filter (where seq > 0)::integer as adjusted
   from (${figures('$4')} where ${members}) d where figure <> posted`,
);
const countNewFigures = sql(
  'accounts_count_new_figures',
  `select count(*)::integer as opened from staged_accounts s
   where ${members} and s.posted <> 0
     and not exists (select from accounts a where a.institution_id = $1 and a.account_id = s.account_id)`,
);
const accountsToMove = sql(
  'accounts_accounts_to_move',
  `select account_id, currency from (${figures('$4')} where ${members}) d where figure <> posted`,
);
const figuresOf = sql(
  'accounts_figures_of',
  `select account_id, currency, figure from (
     ${figures('$3')} where s.institution_id = $1 and s.account_id = any ($2::text[])) d`,
);

// The amount due of a loan and its day always follow the extract. Interest and fees follow it only if they shall ($5). A figure that is null stays.

const dueNow = (figure: string, paid: string) =>
  `greatest(0, ${figure} - ${sinceThen('$4', 'loan_payments', paid)})`;

const loanDifference = `
  select * from (
    select s.account_id, l.account_key, l.accrued_interest as interest_before, l.fees_due as fees_before, l.amount_due as due_before,
           l.next_due_on as due_on_before,
           case when $5::boolean and s.accrued_interest is not null then ${dueNow('s.accrued_interest', 'e.to_interest')} else l.accrued_interest end as interest,
           case when $5 and s.fees_due is not null then ${dueNow('s.fees_due', 'e.to_fees')} else l.fees_due end as fees,
           case when s.amount_due is not null then ${dueNow('s.amount_due', 'e.to_due')} else l.amount_due end as due,
           case when s.due_given then s.next_due_on else l.next_due_on end as due_on
    from staged_accounts s
    cross join lateral (
      select * from balances b where b.institution_id = $1 and b.account_id = s.account_id offset 0) b
    cross join lateral (
      select * from loans l
      where l.institution_id = $1 and l.account_key = b.account_key offset 0) l
    where ${members} and s.category = 'LOAN'
  ) d
  where (interest, fees, due, due_on) is distinct from (interest_before, fees_before, due_before, due_on_before)`;

const loansToChange = sql('accounts_loans_to_change', `select account_id from (${loanDifference}) d`);
const changeLoans = sql(
  'accounts_change_loans',
  `with differing as materialized (${loanDifference})
   update loans l
   set (accrued_interest, fees_due, amount_due, next_due_on) = (
     select d.interest, d.fees, d.due, d.due_on from differing d where d.account_key = l.account_key)
   where l.institution_id = $1 and l.account_key = any (array(select account_key from differing))`,
);

/** The existing figures that an import or a record changes, and the moment of its figures. */
export interface Figures {
  /** Adjust existing balances to the extract's figures. */
  readonly adjust: boolean;
  /** Change the interest and fees of existing loans. */
  readonly adjustLoans: boolean;
  /** Transfers posted from here on are added to the figures; null: none are. */
  readonly from: Date | null;
}

export interface AccountChanges {
  readonly accounts: Change;
  readonly holders: Change;
  readonly loans: Change;
  readonly opened: number;
  readonly adjusted: number;
}

export async function countAccountChanges(
  tx: Queryable,
  range: KeyRange,
  figures: Figures,
): Promise<AccountChanges> {
  const count = (statement: Statement) => countOf<Partial<Change>>(tx, statement, range);
  const values = [tx.institutionId, range.after, range.upTo, figures.from];
  const [accounts, holders, holdersGone, { opened }, moved, loans] = await Promise.all([
    count(countAccounts),
    count(countHolders),
    count(countHoldersGone),
    countOf<{ opened: number }>(tx, countNewFigures, range),
    figures.adjust
      ? tx.query<{ opened: number; adjusted: number }>(countFigures, values)
      : { rows: [{ opened: 0, adjusted: 0 }] },
    selectLoansToChange(tx, range, figures),
  ]);
  const [existing] = moved.rows;
  return {
    accounts: { ...noChange, ...accounts },
    holders: { ...noChange, ...holders, ...holdersGone },
    loans: { ...noChange, changed: loans.length },
    opened: opened + (existing?.opened ?? 0),
    adjusted: existing?.adjusted ?? 0,
  };
}

export interface ImportedAccount {
  readonly accountKey: bigint;
  readonly accountId: string;
  readonly currency: string;
  /** The extract's balance with the ledger's sign. */
  readonly figure: bigint;
}

/** Accounts, loans and holders, without balances. Returns the accounts that are new. */
export async function mergeAccountRange(
  tx: Queryable,
  { after, upTo }: KeyRange,
): Promise<ImportedAccount[]> {
  const values = [tx.institutionId, after, upTo];
  await tx.query(changeAccounts, values);
  const { rows } = await tx.query<ImportedAccount>(addAccounts, values);
  await tx.query(addLoans, values);
  await tx.query(removeHolders, values);
  await tx.query(mergeHolders, values);
  return rows;
}

/** Accounts with a balance that differs from its figure. */
export async function selectAccountsToMove(
  tx: Queryable,
  { after, upTo }: KeyRange,
  { from }: Figures,
): Promise<{ readonly accountId: string; readonly currency: string }[]> {
  const values = [tx.institutionId, after, upTo, from];
  return (await tx.query<{ accountId: string; currency: string }>(accountsToMove, values)).rows;
}

/** The balances that these accounts must have, in the ledger's sign. Stable while the accounts are locked. */
export async function selectFigures(
  tx: Queryable,
  accountIds: readonly string[],
  { from }: Figures,
): Promise<{ readonly accountId: string; readonly currency: string; readonly figure: bigint }[]> {
  const values = [tx.institutionId, accountIds, from];
  return (await tx.query<{ accountId: string; currency: string; figure: bigint }>(figuresOf, values)).rows;
}

/** Loans with another interest, other fees or another amount due than the extract's. */
export async function selectLoansToChange(
  tx: Queryable,
  { after, upTo }: KeyRange,
  { adjustLoans, from }: Figures,
): Promise<string[]> {
  const values = [tx.institutionId, after, upTo, from, adjustLoans];
  return (await tx.query<{ accountId: string }>(loansToChange, values)).rows.map((row) => row.accountId);
}

/** The caller has locked their balances: a payment changes a loan under that lock. */
export async function changeLoanRange(
  tx: Queryable,
  { after, upTo }: KeyRange,
  { adjustLoans, from }: Figures,
): Promise<void> {
  await tx.query(changeLoans, [tx.institutionId, after, upTo, from, adjustLoans]);
}
