import type { Restriction } from '../../accounts/index.ts';
import { type Queryable, sql } from '../../storage/index.ts';

export interface LedgerAccountRow {
  readonly accountKey: bigint;
  readonly accountId: string;
  /** Of an account of the institution itself; null for a member's. */
  readonly purpose: string | null;
  readonly accountNumber: string;
  readonly diAccountType: string;
  readonly category: string;
  readonly description: string;
  readonly currency: string;
  readonly closed: boolean;
  readonly closedByOperator: boolean;
  readonly delinquent: boolean;
  readonly transferRestriction: Restriction | null;
  readonly operatorRestriction: Restriction | null;
  readonly overdraftLimit: bigint;
  readonly creditLimit: bigint;
  /** The membership; null for an account of the institution itself. */
  readonly customerKey: bigint | null;
  readonly customerId: string | null;
  readonly memberNumber: string | null;
  readonly posted: bigint;
  readonly debitsPending: bigint;
  readonly creditsPending: bigint;
  readonly accruedInterest: bigint | null;
  readonly feesDue: bigint | null;
  readonly amountDue: bigint | null;
  readonly nextDueOn: string | null;
}

/** A member's account. */
export type AccountRow = LedgerAccountRow & {
  readonly purpose: null;
  readonly customerKey: bigint;
  readonly customerId: string;
  readonly memberNumber: string;
};

const account = sql(
  'operators_account',
  `select a.account_key, a.account_id, a.purpose, a.account_number, a.di_account_type, a.category, a.description, a.currency,
          a.closed, a.closed_by_operator, a.delinquent, a.transfer_restriction, a.operator_restriction,
          a.overdraft_limit, a.credit_limit, c.customer_key, c.customer_id, c.member_number,
          b.posted, b.debits_pending, b.credits_pending, l.accrued_interest, l.fees_due, l.amount_due,
          l.next_due_on::text
   from accounts a
   left join customers c on c.institution_id = a.institution_id and c.customer_key = a.customer_key
   join balances b on b.institution_id = a.institution_id and b.account_key = a.account_key
   left join loans l on l.institution_id = a.institution_id and l.account_key = a.account_key
   where a.institution_id = $1 and a.account_id = $2`,
);

/** An account of a member, or of the institution itself. */
export async function selectLedgerAccount(
  db: Queryable,
  accountId: string,
): Promise<LedgerAccountRow | undefined> {
  return (await db.query<LedgerAccountRow>(account, [db.institutionId, accountId])).rows[0];
}

/** A member's account; undefined for any other. */
export async function selectAccountRow(db: Queryable, accountId: string): Promise<AccountRow | undefined> {
  const row = await selectLedgerAccount(db, accountId);
  return row !== undefined && isOfMember(row) ? row : undefined;
}

/** The database has the same rule: an account has a membership or a purpose. */
function isOfMember(row: LedgerAccountRow): row is AccountRow {
  return row.purpose === null;
}

export interface HolderRow {
  readonly personId: string;
  readonly firstName: string;
  readonly lastName: string;
  readonly role: string;
  readonly mayPay: boolean;
}

const holders = sql(
  'operators_holders',
  `select p.person_id, p.first_name, p.last_name, h.role, h.may_pay
   from holders h
   join persons p on p.institution_id = h.institution_id and p.person_key = h.person_key
   where h.institution_id = $1 and h.account_key = $2
   order by h.person_key
   limit 100`,
);

export async function selectHolders(db: Queryable, accountKey: bigint): Promise<HolderRow[]> {
  return (await db.query<HolderRow>(holders, [db.institutionId, accountKey])).rows;
}

export interface PendingOfAccountRow {
  readonly transferId: string;
  readonly fromAccountId: string;
  readonly toAccountId: string;
  readonly amountMinor: bigint;
  readonly heldFor: string;
  readonly dueAt: Date;
  readonly whenDue: string;
}

const pending = sql(
  'operators_pending_of_account',
  `select t.transfer_id, t.from_account_id, t.to_account_id, t.amount as amount_minor, p.held_for, p.due_at, p.when_due
   from (
     (select * from transfers o
      where o.institution_id = $1 and o.from_key = $2 and o.list_class between 0 and 5
      order by o.list_class, o.created_at, o.transfer_key limit 50)
     union all
     (select * from transfers i
      where i.institution_id = $1 and i.to_key = $2 and i.list_class between 0 and 5
      order by i.list_class, i.created_at, i.transfer_key limit 50)
   ) t
   join pending_transfers p on p.institution_id = $1 and p.transfer_key = t.transfer_key
   order by p.due_at, t.transfer_id`,
);

/** At most fifty in each direction. */
export async function selectPendingOfAccount(
  db: Queryable,
  accountKey: bigint,
): Promise<PendingOfAccountRow[]> {
  return (await db.query<PendingOfAccountRow>(pending, [db.institutionId, accountKey])).rows;
}

export interface EntryRow {
  readonly seq: bigint;
  readonly recordedAt: Date;
  readonly kind: string;
  readonly amount: bigint;
  readonly postedAfter: bigint;
  readonly transferId: string | null;
}

const entries = sql(
  'operators_last_entries',
  `select e.seq, e.recorded_at, e.kind, e.amount, e.posted_after, t.transfer_id
   from entries e
   left join transfers t on t.institution_id = e.institution_id and t.transfer_key = e.posting_key
   where e.institution_id = $1 and e.account_key = $2
   order by e.seq desc
   limit 10`,
);

/** The newest ten, newest first. */
export async function selectLastEntries(db: Queryable, accountKey: bigint): Promise<EntryRow[]> {
  return (await db.query<EntryRow>(entries, [db.institutionId, accountKey])).rows;
}
