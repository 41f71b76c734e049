import { type InstitutionId, type Queryable, type Statement, sql } from '../storage/index.ts';
import type { KeyRange } from './stage-queries.ts';

/*
 * What a range of the stage adds to the tables, changes in them and removes from them. Each difference is one text, counted for
 * the plan and written when the plan is carried out. In each, $1 is the institution, and $2 and $3 are the range's ends.
 *
 * `offset 0` keeps a look-up a look-up by key for each row of the range; rows to be changed are found by their place (ctid), for
 * the same reason. No one else changes these rows: imports of an institution take turns, and enrollment only adds.
 */

export interface Change {
  readonly added: number;
  readonly changed: number;
  readonly removed: number;
  /** Rows that stand and could be removed. */
  readonly standing: number;
}

const counted = `count(*) filter (where is_new)::integer as added, count(*) filter (where not is_new)::integer as changed`;

// Persons, by their ids.

const personDifference = `
  select s.*, p.person_key is null as is_new
  from staged_persons s
  left join persons p on p.institution_id = $1 and p.person_id = s.person_id
  where s.institution_id = $1 and s.person_id > $2 and s.person_id <= $3
    and (p.person_key is null
         or (p.first_name, p.last_name, p.email, p.phone_number, p.phone_type, p.birth_date) is distinct from
            (s.first_name, s.last_name, s.email, s.phone_number, s.phone_type, s.birth_date::date))`;

const countPersons = sql('core_count_persons', `select ${counted} from (${personDifference}) d`);
const mergePersons = sql(
  'core_merge_persons',
  `insert into persons (institution_id, person_id, first_name, last_name, email, phone_number, phone_type, birth_date)
   select $1, person_id, first_name, last_name, email, phone_number, phone_type, birth_date::date
   from (${personDifference}) d
   on conflict (institution_id, person_id) do update
   set first_name = excluded.first_name, last_name = excluded.last_name, email = excluded.email,
       phone_number = excluded.phone_number, phone_type = excluded.phone_type, birth_date = excluded.birth_date`,
);

// Memberships, and all below, by the member number.

const members = `s.institution_id = $1 and s.member_number > $2 and s.member_number <= $3`;

const memberDifference = `
  select s.*, true as is_new from staged_members s
  where ${members}
    and not exists (select from customers c where c.institution_id = $1 and c.member_number = s.member_number)`;

const countMembers = sql('core_count_members', `select ${counted} from (${memberDifference}) d`);
const mergeMembers = sql(
  'core_merge_members',
  `insert into customers (institution_id, customer_id, member_number, member_type)
   select $1, customer_id, member_number, member_type from (${memberDifference}) d
   on conflict do nothing`,
);
const strangers = sql(
  'core_strange_members',
  `select count(*)::integer as strange from staged_members s
   where ${members}
     and not exists (select from customers c
                     where c.institution_id = $1 and c.member_number = s.member_number
                       and c.customer_id = s.customer_id and c.member_type = s.member_type)`,
);

// Persons of memberships. A PRIMARY who changes must not meet the one before, so a changed role is removed and added.

const memberPersonDifference = `
  select s.*, c.customer_key, p.person_key, cp.role is null as is_new
  from staged_member_persons s
  left join customers c on c.institution_id = $1 and c.member_number = s.member_number
  left join persons p on p.institution_id = $1 and p.person_id = s.person_id
  left join customer_persons cp on cp.institution_id = $1 and cp.customer_key = c.customer_key
    and cp.person_key = p.person_key
  where ${members} and cp.role is distinct from s.role`;

const standingMemberPersons = `
  select cp.place, cp.role, k.role as staged_role
  from staged_members s
  cross join lateral (
    select c.customer_key from customers c
    where c.institution_id = $1 and c.member_number = s.member_number offset 0) c
  cross join lateral (
    select cp.ctid as place, cp.person_key, cp.role from customer_persons cp
    where cp.institution_id = $1 and cp.customer_key = c.customer_key offset 0) cp
  cross join lateral (
    select p.person_id from persons p where p.institution_id = $1 and p.person_key = cp.person_key offset 0) p
  left join staged_member_persons k on k.institution_id = $1 and k.member_number = s.member_number
    and k.person_id = p.person_id
  where ${members}`;

const countMemberPersons = sql(
  'core_count_member_persons',
  `select ${counted} from (${memberPersonDifference}) d`,
);
const countMemberPersonsGone = sql(
  'core_count_member_persons_gone',
  `select count(*) filter (where staged_role is null)::integer as removed, count(*)::integer as standing
   from (${standingMemberPersons}) d`,
);
const removeMemberPersons = sql(
  'core_remove_changed_member_persons',
  `delete from customer_persons where ctid = any (array(
     select place from (${standingMemberPersons}) d where role is distinct from staged_role))`,
);
const addMemberPersons = sql(
  'core_merge_member_persons',
  `insert into customer_persons (institution_id, customer_key, person_key, role)
   select $1, customer_key, person_key, role from (${memberPersonDifference}) d`,
);

// Accounts without their money.

const accountDifference = `
  select s.*, a.ctid as place, a.account_key is null as is_new
  from staged_accounts s
  left join accounts a on a.institution_id = $1 and a.account_id = s.account_id
  where ${members}
    and (a.account_key is null
         or (a.account_number, a.description, a.closed, a.delinquent, a.overdraft_limit, a.credit_limit)
              is distinct from
            (s.account_number, s.description, s.closed, s.delinquent, s.overdraft_limit, s.credit_limit)
         or s.restriction_given and a.transfer_restriction is distinct from s.transfer_restriction)`;

const countAccounts = sql('core_count_accounts', `select ${counted} from (${accountDifference}) d`);
const addAccounts = sql(
  'core_merge_accounts',
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
   returning account_key as "accountKey", account_id as "accountId", currency, (
     select s.posted from staged_accounts s
     where s.institution_id = $1 and s.account_id = accounts.account_id) as figure`,
);
const changeAccounts = sql(
  'core_change_accounts',
  `update accounts a
   set (account_number, description, closed, delinquent, overdraft_limit, credit_limit, transfer_restriction) = (
     select s.account_number, s.description, s.closed, s.delinquent, s.overdraft_limit, s.credit_limit,
            case when s.restriction_given then s.transfer_restriction else a.transfer_restriction end
     from staged_accounts s where s.institution_id = $1 and s.account_id = a.account_id)
   where a.ctid = any (array(select place from (${accountDifference}) d where not is_new))`,
);
const addLoans = sql(
  'core_merge_loans',
  `insert into loans (institution_id, account_key, accrued_interest, fees_due, amount_due)
   select $1, a.account_key, s.accrued_interest, s.fees_due, coalesce(s.amount_due, 0)
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
  select h.place, k.role is null as is_gone
  from staged_accounts s
  cross join lateral (
    select a.account_key from accounts a
    where a.institution_id = $1 and a.account_id = s.account_id offset 0) a
  cross join lateral (
    select h.ctid as place, h.person_key from holders h
    where h.institution_id = $1 and h.account_key = a.account_key offset 0) h
  cross join lateral (
    select p.person_id from persons p where p.institution_id = $1 and p.person_key = h.person_key offset 0) p
  left join staged_holders k on k.institution_id = $1 and k.account_id = s.account_id and k.person_id = p.person_id
  where ${members}`;

const countHolders = sql('core_count_holders', `select ${counted} from (${holderDifference}) d`);
const countHoldersGone = sql(
  'core_count_holders_gone',
  `select count(*) filter (where is_gone)::integer as removed, count(*)::integer as standing
   from (${standingHolders}) d`,
);
const removeHolders = sql(
  'core_remove_gone_holders',
  `delete from holders where ctid = any (array(select place from (${standingHolders}) d where is_gone))`,
);
const mergeHolders = sql(
  'core_merge_holders',
  `insert into holders (institution_id, account_key, person_key, role, may_pay)
   select $1, account_key, person_key, role, may_pay from (${holderDifference}) d
   on conflict (institution_id, account_key, person_key) do update
   set role = excluded.role, may_pay = excluded.may_pay`,
);

// Money. What members moved after the moment that the extract's figures are of comes on top of them; null: nothing does.
// Entries that no transfer made are the core's own figures of other imports, and are in this one's.

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
    select * from balances b where b.institution_id = $1 and b.account_id = s.account_id offset 0) b`;

const countFigures = sql(
  'core_count_figures',
  `select count(*) filter (where seq = 0)::integer as opened, count(*) filter (where seq > 0)::integer as adjusted
   from (${figures('$4')} where ${members}) d where figure <> posted`,
);
const countNewFigures = sql(
  'core_count_new_figures',
  `select count(*)::integer as opened from staged_accounts s
   where ${members} and s.posted <> 0
     and not exists (select from accounts a where a.institution_id = $1 and a.account_id = s.account_id)`,
);
const accountsToMove = sql(
  'core_accounts_to_move',
  `select account_id as "accountId", currency from (${figures('$4')} where ${members}) d where figure <> posted`,
);
const figuresOf = sql(
  'core_figures_of',
  `select account_id as "accountId", currency, figure from (
     ${figures('$3')} where s.institution_id = $1 and s.account_id = any ($2::text[])) d`,
);

// A loan's standing is the core's to say, whatever becomes of the balance: what is due. Interest and fees come with the figure ($5).

const dueNow = (figure: string, paid: string) =>
  `greatest(0, ${figure} - ${sinceThen('$4', 'loan_payments', paid)})`;

const loanDifference = `
  select * from (
    select s.account_id, l.account_key, l.place, l.accrued_interest as interest_before, l.fees_due as fees_before, l.amount_due as due_before,
           case when $5::boolean then ${dueNow('s.accrued_interest', 'e.to_interest')} else l.accrued_interest end as interest,
           case when $5 then ${dueNow('s.fees_due', 'e.to_fees')} else l.fees_due end as fees,
           case when s.amount_due is not null then ${dueNow('s.amount_due', 'e.to_due')} else l.amount_due end as due
    from staged_accounts s
    cross join lateral (
      select * from balances b where b.institution_id = $1 and b.account_id = s.account_id offset 0) b
    cross join lateral (
      select l.ctid as place, l.* from loans l
      where l.institution_id = $1 and l.account_key = b.account_key offset 0) l
    where ${members} and s.category = 'LOAN'
  ) d
  where (interest, fees, due) is distinct from (interest_before, fees_before, due_before)`;

const loansToChange = sql(
  'core_loans_to_change',
  `select account_id as "accountId" from (${loanDifference}) d`,
);
const changeLoans = sql(
  'core_change_loans',
  `with differing as materialized (${loanDifference})
   update loans l
   set (accrued_interest, fees_due, amount_due) = (
     select d.interest, d.fees, d.due from differing d where d.account_key = l.account_key)
   where l.ctid = any (array(select place from differing))`,
);

/** How much of a balance the extract decides: nothing of accounts that exist, or their figures as of a moment. */
export interface Figures {
  /** Bring balances that exist to the extract's figures. */
  readonly adjust: boolean;
  /** What was posted from here on comes on top; null: nothing does. */
  readonly from: Date | null;
}

type Asked = readonly [institutionId: InstitutionId, after: string, upTo: string];
const askedOf = (institutionId: InstitutionId, { after, upTo }: KeyRange): Asked => [
  institutionId,
  after,
  upTo,
];

async function one<Row extends object>(tx: Queryable, statement: Statement, values: readonly unknown[]) {
  return (await tx.query<Row>(statement, values)).rows[0] as Row;
}

const none: Change = { added: 0, changed: 0, removed: 0, standing: 0 };

export async function countPersonChanges(
  tx: Queryable,
  institutionId: InstitutionId,
  range: KeyRange,
): Promise<Change> {
  return { ...none, ...(await one<Partial<Change>>(tx, countPersons, askedOf(institutionId, range))) };
}

export interface MemberChanges {
  readonly members: Change;
  readonly memberPersons: Change;
  readonly accounts: Change;
  readonly holders: Change;
  readonly loans: Change;
  readonly opened: number;
  readonly adjusted: number;
}

export async function countMemberChanges(
  tx: Queryable,
  institutionId: InstitutionId,
  range: KeyRange,
  { adjust, from }: Figures,
): Promise<MemberChanges> {
  const asked = askedOf(institutionId, range);
  const count = (statement: Statement) => one<Partial<Change>>(tx, statement, asked);
  const [persons, personsGone, holders, holdersGone, accounts, customers, fresh, moved, loans] =
    await Promise.all([
      count(countMemberPersons),
      count(countMemberPersonsGone),
      count(countHolders),
      count(countHoldersGone),
      count(countAccounts),
      count(countMembers),
      one<{ opened: number }>(tx, countNewFigures, asked),
      adjust ? one<{ opened: number; adjusted: number }>(tx, countFigures, [...asked, from]) : undefined,
      tx.query(loansToChange, [...asked, from, adjust]),
    ]);
  return {
    members: { ...none, ...customers },
    memberPersons: { ...none, ...persons, ...personsGone },
    accounts: { ...none, ...accounts },
    holders: { ...none, ...holders, ...holdersGone },
    loans: { ...none, changed: loans.rowCount },
    opened: fresh.opened + (moved?.opened ?? 0),
    adjusted: moved?.adjusted ?? 0,
  };
}

export async function mergePersonRange(
  tx: Queryable,
  institutionId: InstitutionId,
  range: KeyRange,
): Promise<void> {
  await tx.query(mergePersons, askedOf(institutionId, range));
}

export interface NewAccount {
  readonly accountKey: bigint;
  readonly accountId: string;
  readonly currency: string;
  /** Of the extract, in the ledger's sign. */
  readonly figure: bigint;
}

/** Memberships, their persons, accounts and holders; without money. Returns the accounts that are new. */
export async function mergeMemberRange(
  tx: Queryable,
  institutionId: InstitutionId,
  range: KeyRange,
): Promise<NewAccount[]> {
  const asked = askedOf(institutionId, range);
  await tx.query(mergeMembers, asked);
  const { strange } = await one<{ strange: number }>(tx, strangers, asked);
  // Since the check somebody enrolled under one of these numbers; the next import names it.
  if (strange > 0) throw new Error('core: a membership was opened beside the import');
  await tx.query(removeMemberPersons, asked);
  await tx.query(addMemberPersons, asked);
  await tx.query(changeAccounts, asked);
  const { rows: newAccounts } = await tx.query<NewAccount>(addAccounts, asked);
  await tx.query(addLoans, asked);
  await tx.query(removeHolders, asked);
  await tx.query(mergeHolders, asked);
  return newAccounts;
}

/** Accounts with a balance that differs from its figure. */
export async function selectAccountsToMove(
  tx: Queryable,
  institutionId: InstitutionId,
  range: KeyRange,
  { from }: Figures,
): Promise<{ readonly accountId: string; readonly currency: string }[]> {
  const values = [...askedOf(institutionId, range), from];
  return (await tx.query<{ accountId: string; currency: string }>(accountsToMove, values)).rows;
}

/** What the balances of these accounts must be, in the ledger's sign. Stands still while they are locked. */
export async function selectFigures(
  tx: Queryable,
  institutionId: InstitutionId,
  accountIds: readonly string[],
  { from }: Figures,
): Promise<{ readonly accountId: string; readonly currency: string; readonly figure: bigint }[]> {
  const values = [institutionId, accountIds, from];
  return (await tx.query<{ accountId: string; currency: string; figure: bigint }>(figuresOf, values)).rows;
}

/** Loans of which the extract says another interest, other fees or another amount due. */
export async function selectLoansToChange(
  tx: Queryable,
  institutionId: InstitutionId,
  range: KeyRange,
  { adjust, from }: Figures,
): Promise<string[]> {
  const values = [...askedOf(institutionId, range), from, adjust];
  return (await tx.query<{ accountId: string }>(loansToChange, values)).rows.map((row) => row.accountId);
}

/** Their balances are locked: a payment changes a loan under that lock. */
export async function changeLoanRange(
  tx: Queryable,
  institutionId: InstitutionId,
  range: KeyRange,
  { adjust, from }: Figures,
): Promise<void> {
  await tx.query(changeLoans, [...askedOf(institutionId, range), from, adjust]);
}
