import { listClasses } from '../../ledger/index.ts';
import { type Queryable, sql } from '../../storage/index.ts';
import { controlsOfColumn } from '../rules/controls/controls.ts';
import type { LimitUsage } from '../rules/controls/limits.ts';
import type { OrderSignIn } from '../rules/controls/step-up.ts';

const signIn = sql(
  'transfers_sign_in_of',
  'select signed_in_at, acr, checked_at from transfer_sign_ins where institution_id = $1 and transfer_key = $2',
);

/** The sign-in behind the order; null if the institution wanted none. */
export async function selectSignInOf(db: Queryable, transferKey: bigint): Promise<OrderSignIn | null> {
  return (await db.query<OrderSignIn>(signIn, [db.institutionId, transferKey])).rows[0] ?? null;
}

/** The part of the source account that chooses among limits, as it is now. */
export interface SourceRow {
  readonly accountKey: bigint;
  readonly customerKey: bigint;
  readonly diAccountType: string;
}

const source = sql(
  'transfers_source_of',
  `select account_key, customer_key, di_account_type from accounts
   where institution_id = $1 and account_key = $2 and customer_key is not null`,
);

/** Undefined for an account of the institution itself. */
export async function selectSource(db: Queryable, accountKey: bigint): Promise<SourceRow | undefined> {
  return (await db.query<SourceRow>(source, [db.institutionId, accountKey])).rows[0];
}

/** The orders that a limit counted before another one. */
export interface Counted {
  readonly limitKey: number;
  readonly amount: bigint;
  readonly transfers: number;
}

// Each class is a range of the index by user or by source. An order that failed later counted until then.
const classes = listClasses.map(({ code }) => code).join(', ');
const countedBefore = sql(
  'transfers_counted_before',
  `select v.limit_key, c.amount, c.transfers
   from unnest($5::integer[], $6::text[], $7::bigint[], $8::timestamptz[], $9::text[], $10::text[])
        as v (limit_key, subject, subject_key, since, transfer_type, source_type)
   cross join lateral (
     select coalesce(sum(t.amount), 0)::bigint as amount, count(*)::integer as transfers
     from (
       select t.transfer_key, t.from_key, t.transfer_type, t.amount, t.currency, t.status, t.settled_at, t.created_at, t.client_id,
              t.reverses_key
       from transfers t
       where v.subject = 'USER' and t.institution_id = $1 and t.user_key = v.subject_key
         and t.list_class = any (array[${classes}]::smallint[]) and t.created_at >= v.since and t.created_at <= $2
       union all
       select t.transfer_key, t.from_key, t.transfer_type, t.amount, t.currency, t.status, t.settled_at, t.created_at, t.client_id,
              t.reverses_key
       from accounts a
       join transfers t on t.institution_id = $1 and t.from_key = a.account_key
         and t.list_class = any (array[${classes}]::smallint[]) and t.created_at >= v.since and t.created_at <= $2
       where a.institution_id = $1
         and (v.subject = 'CUSTOMER' and a.customer_key = v.subject_key or v.subject = 'ACCOUNT' and a.account_key = v.subject_key)
     ) t
     join accounts a on a.institution_id = $1 and a.account_key = t.from_key
     where (t.created_at, t.transfer_key) < ($2, $3::bigint) and t.currency = $4
       and t.client_id is not null and t.reverses_key is null
       and (t.status <> 'FAILED' or t.settled_at > $2)
       and (v.transfer_type is null or ${controlsOfColumn('t.transfer_type')} = v.transfer_type)
       and (v.source_type is null or a.di_account_type = v.source_type)
   ) c`,
);

/**
 * The orders of the period that each limit had counted when another order was decided, by their times. Memberships and types of accounts are those of today.
 * Orders that two processes decided in the same moment may stand in the other order.
 */
export async function selectCountedBefore(
  db: Queryable,
  usages: readonly { readonly usage: LimitUsage; readonly limit: CountedLimit; readonly since: Date }[],
  {
    at,
    transferKey,
    currency,
  }: { readonly at: Date; readonly transferKey: bigint; readonly currency: string },
): Promise<Counted[]> {
  if (usages.length === 0) return [];
  const { rows } = await db.query<Counted>(countedBefore, [
    db.institutionId,
    at,
    transferKey,
    currency,
    usages.map(({ usage }) => usage.limitKey),
    usages.map(({ limit }) => limit.subject),
    usages.map(({ usage }) => usage.subjectKey),
    usages.map(({ since }) => since),
    usages.map(({ limit }) => limit.transferType),
    usages.map(({ limit }) => limit.sourceType),
  ]);
  return rows;
}

interface CountedLimit {
  readonly subject: string;
  readonly transferType: string | null;
  readonly sourceType: string | null;
}

/** The balance of an account when an order was decided that moved nothing. */
export interface BalanceBefore {
  readonly accountKey: bigint;
  readonly posted: bigint;
  readonly debitsPending: bigint;
  readonly creditsPending: bigint;
}

const balancesBefore = sql(
  'transfers_balances_before',
  `select e.account_key, e.posted_after as posted, e.debits_pending_after as debits_pending,
          e.credits_pending_after as credits_pending
   from unnest($2::bigint[]) as a (account_key)
   cross join lateral (select entries_before($1, a.account_key, $3) as number offset 0) before
   join entries e on e.institution_id = $1 and e.account_key = a.account_key and e.seq = before.number`,
);

/** By the newest entries before a moment. */
export async function selectBalancesBefore(
  db: Queryable,
  accountKeys: readonly bigint[],
  at: Date,
): Promise<BalanceBefore[]> {
  return (await db.query<BalanceBefore>(balancesBefore, [db.institutionId, accountKeys, at])).rows;
}
