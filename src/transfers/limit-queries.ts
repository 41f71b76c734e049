import { type InstitutionId, type Queryable, sql } from '../storage/index.ts';
import { expectRows } from './queries.ts';
import type { TransferType } from './transfer.ts';

export interface LimitRow {
  readonly limitKey: number;
  /** Whose transfers count together: a user's, those out of a membership's accounts, those out of one account. */
  readonly subject: 'USER' | 'CUSTOMER' | 'ACCOUNT';
  readonly period: 'DAY' | 'MONTH';
  /** Null: of any type. */
  readonly transferType: TransferType | null;
  /** The DIAccountType of the source; null: any. */
  readonly sourceType: string | null;
  readonly currency: string;
  readonly maxPerTransfer: bigint | null;
  readonly maxAmount: bigint | null;
  readonly maxCount: number | null;
}

const limits = sql(
  'transfers_limits',
  `select limit_key, subject, period, transfer_type, source_type, currency, max_per_transfer, max_amount, max_count
   from transfer_limits where institution_id = $1 order by limit_key`,
);

export async function selectLimits(db: Queryable, institutionId: InstitutionId): Promise<LimitRow[]> {
  const { rows } = await db.query<{
    limit_key: number;
    subject: LimitRow['subject'];
    period: LimitRow['period'];
    transfer_type: TransferType | null;
    source_type: string | null;
    currency: string;
    max_per_transfer: bigint | null;
    max_amount: bigint | null;
    max_count: number | null;
  }>(limits, [institutionId]);
  return rows.map((row) => ({
    limitKey: row.limit_key,
    subject: row.subject,
    period: row.period,
    transferType: row.transfer_type,
    sourceType: row.source_type,
    currency: row.currency,
    maxPerTransfer: row.max_per_transfer,
    maxAmount: row.max_amount,
    maxCount: row.max_count,
  }));
}

const removeLimits = sql('transfers_remove_limits', 'delete from transfer_limits where institution_id = $1');
const addLimits = sql(
  'transfers_add_limits',
  `insert into transfer_limits (institution_id, limit_key, subject, period, transfer_type, source_type, currency,
                                max_per_transfer, max_amount, max_count)
   select $1, v.*
   from unnest($2::integer[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::bigint[], $9::bigint[],
               $10::integer[]) as v`,
);

/** Exactly these. A limit keeps its counters for as long as it keeps its key. */
export async function replaceLimits(
  tx: Queryable,
  institutionId: InstitutionId,
  rows: readonly LimitRow[],
): Promise<void> {
  await tx.query(removeLimits, [institutionId]);
  await tx.query(addLimits, [
    institutionId,
    rows.map((row) => row.limitKey),
    rows.map((row) => row.subject),
    rows.map((row) => row.period),
    rows.map((row) => row.transferType),
    rows.map((row) => row.sourceType),
    rows.map((row) => row.currency),
    rows.map((row) => row.maxPerTransfer),
    rows.map((row) => row.maxAmount),
    rows.map((row) => row.maxCount),
  ]);
}

/** What was counted under one limit for one subject in one period. */
export interface CounterRow {
  readonly limitKey: number;
  readonly subjectKey: bigint;
  /** The period's first day. */
  readonly periodStart: string;
  readonly amount: bigint;
  readonly transfers: number;
  readonly maxAmount: bigint | null;
  readonly maxTransfers: number | null;
}

/** What a batch may count. */
export interface CounterScope {
  /** The batch's business day. */
  readonly day: string;
  readonly userKeys: readonly bigint[];
  readonly sourceIds: readonly string[];
  /** Side by side: destinations and the first day of the year that a contribution to them counts for. */
  readonly destinationIds: readonly string[];
  readonly taxYearStarts: readonly string[];
  /** Transfers whose counts may be given back. */
  readonly changingIds: readonly string[];
}

// Every counter that one of the orders could need: which limits bind an order is known only after its accounts are.
const subjects = `
  select 'USER' as subject, user_key as subject_key from unnest($3::bigint[]) as u (user_key)
  union
  select s.subject, s.subject_key
  from accounts a
  cross join lateral (values ('CUSTOMER', a.customer_key), ('ACCOUNT', a.account_key)) as s (subject, subject_key)
  where a.institution_id = $1 and a.account_id = any ($4::text[]) and a.customer_key is not null`;

/** Whose yearly limit a contribution to an IRA counts against: its owner of record. */
const owners = `
  select distinct 0 as limit_key, o.person_key as subject_key, d.year_start as period_start
  from unnest($5::text[], $6::date[]) as d (account_id, year_start)
  join accounts a on a.institution_id = $1 and a.account_id = d.account_id and a.account_id = any ($5::text[])
    and a.di_account_type = 'RETIREMENT_IRA'
  cross join lateral (
    select min(h.person_key) as person_key from holders h
    where h.institution_id = $1 and h.account_key = a.account_key and h.role = 'PRIMARY') o
  where o.person_key is not null`;

const openCounters = sql(
  'transfers_open_counters',
  `insert into limit_counters (institution_id, limit_key, subject_key, period_start, amount, transfers)
   select $1, n.limit_key, n.subject_key, n.period_start, 0, 0
   from (
     select l.limit_key, s.subject_key,
            case l.period when 'DAY' then $2::date else date_trunc('month', $2::date)::date end as period_start
     from (${subjects}) s
     join transfer_limits l on l.institution_id = $1 and l.subject = s.subject
       and (l.max_amount is not null or l.max_count is not null)
     union
     ${owners}
   ) n
   order by n.limit_key, n.subject_key, n.period_start
   on conflict do nothing`,
);

// Here and below "= any" says again what the joins say: each table is read by its keys, whatever the planner believes
// of its size (a join planned on an empty table read all counters and ids: 450 transfers a second instead of 1,700).
const countersInScope = `
  with uses as materialized (
    select u.limit_key, u.subject_key, u.period_start
    from used_ids i
    join limit_uses u on u.institution_id = $1 and u.transfer_key = i.transfer_key
    where i.institution_id = $1 and i.transfer_id = any ($7::text[])
  ), owned as materialized (${owners})
  select c.limit_key, c.subject_key, c.period_start, c.amount, c.transfers, c.max_amount, c.max_transfers
  from limit_counters c
  where c.institution_id = $1
    and c.limit_key = any (array(
      select l.limit_key from transfer_limits l where l.institution_id = $1
      union select limit_key from owned union select limit_key from uses))
    and c.subject_key = any (array(
      select s.subject_key from (${subjects}) s
      union select subject_key from owned union select subject_key from uses))
    and c.period_start = any (array(
      select $2::date union select date_trunc('month', $2::date)::date
      union select period_start from owned union select period_start from uses))
  order by c.limit_key, c.subject_key, c.period_start`;

const readCounters = sql('transfers_read_counters', countersInScope);
const lockCounters = sql('transfers_lock_counters', `${countersInScope} for no key update of c`);

interface CounterDbRow {
  limit_key: number;
  subject_key: bigint;
  period_start: string;
  amount: bigint;
  transfers: number;
  max_amount: bigint | null;
  max_transfers: number | null;
}

/** A row that does not exist cannot be locked: the missing ones are inserted first. In key order, after accounts. */
export async function selectCountersForUpdate(
  tx: Queryable,
  institutionId: InstitutionId,
  scope: CounterScope,
): Promise<CounterRow[]> {
  const values = valuesOf(institutionId, scope);
  const [, { rows }] = await Promise.all([
    tx.query(openCounters, values.slice(0, 6)),
    tx.query<CounterDbRow>(lockCounters, values),
  ]);
  return rows.map(toCounter);
}

/** The same without locks; a counter that nothing has counted yet is not among them. */
export async function selectCounters(
  db: Queryable,
  institutionId: InstitutionId,
  scope: CounterScope,
): Promise<CounterRow[]> {
  return (await db.query<CounterDbRow>(readCounters, valuesOf(institutionId, scope))).rows.map(toCounter);
}

function valuesOf(institutionId: InstitutionId, scope: CounterScope): unknown[] {
  const { day, userKeys, sourceIds, destinationIds, taxYearStarts, changingIds } = scope;
  return [institutionId, day, userKeys, sourceIds, destinationIds, taxYearStarts, changingIds];
}

function toCounter(row: CounterDbRow): CounterRow {
  return {
    limitKey: row.limit_key,
    subjectKey: row.subject_key,
    periodStart: row.period_start,
    amount: row.amount,
    transfers: row.transfers,
    maxAmount: row.max_amount,
    maxTransfers: row.max_transfers,
  };
}

const writeCounters = sql(
  'transfers_write_counters',
  `update limit_counters c
   set amount = v.amount, transfers = v.transfers, max_amount = v.max_amount, max_transfers = v.max_transfers
   from unnest($2::integer[], $3::bigint[], $4::date[], $5::bigint[], $6::integer[], $7::bigint[], $8::integer[])
     as v (limit_key, subject_key, period_start, amount, transfers, max_amount, max_transfers)
   where c.institution_id = $1 and c.limit_key = v.limit_key and c.subject_key = v.subject_key
     and c.period_start = v.period_start
     and c.limit_key = any ($2::integer[]) and c.subject_key = any ($3::bigint[])`,
);

export async function updateCounters(
  tx: Queryable,
  institutionId: InstitutionId,
  rows: readonly CounterRow[],
): Promise<void> {
  if (rows.length === 0) return;
  const { rowCount } = await tx.query(writeCounters, [
    institutionId,
    rows.map((row) => row.limitKey),
    rows.map((row) => row.subjectKey),
    rows.map((row) => row.periodStart),
    rows.map((row) => row.amount),
    rows.map((row) => row.transfers),
    rows.map((row) => row.maxAmount),
    rows.map((row) => row.maxTransfers),
  ]);
  expectRows('limit_counters', rowCount, rows.length);
}

/** What a transfer counted, kept where it may have to be given back. */
export interface LimitUse {
  readonly transferKey: bigint;
  readonly limitKey: number;
  readonly subjectKey: bigint;
  readonly periodStart: string;
  readonly amount: bigint;
}

const uses = sql(
  'transfers_limit_uses',
  `select u.transfer_key, u.limit_key, u.subject_key, u.period_start, u.amount
   from used_ids i
   join limit_uses u on u.institution_id = $1 and u.transfer_key = i.transfer_key
   where i.institution_id = $1 and i.transfer_id = any ($2::text[])`,
);

export async function selectLimitUses(
  db: Queryable,
  institutionId: InstitutionId,
  transferIds: readonly string[],
): Promise<LimitUse[]> {
  const { rows } = await db.query<{
    transfer_key: bigint;
    limit_key: number;
    subject_key: bigint;
    period_start: string;
    amount: bigint;
  }>(uses, [institutionId, transferIds]);
  return rows.map((row) => ({
    transferKey: row.transfer_key,
    limitKey: row.limit_key,
    subjectKey: row.subject_key,
    periodStart: row.period_start,
    amount: row.amount,
  }));
}

const addUses = sql(
  'transfers_add_limit_uses',
  `insert into limit_uses (institution_id, transfer_key, limit_key, subject_key, period_start, amount)
   select $1, v.* from unnest($2::bigint[], $3::integer[], $4::bigint[], $5::date[], $6::bigint[]) as v`,
);

export async function insertLimitUses(
  tx: Queryable,
  institutionId: InstitutionId,
  rows: readonly LimitUse[],
): Promise<void> {
  if (rows.length === 0) return;
  const { rowCount } = await tx.query(addUses, [
    institutionId,
    rows.map((row) => row.transferKey),
    rows.map((row) => row.limitKey),
    rows.map((row) => row.subjectKey),
    rows.map((row) => row.periodStart),
    rows.map((row) => row.amount),
  ]);
  expectRows('limit_uses', rowCount, rows.length);
}

const dropUses = sql(
  'transfers_drop_limit_uses',
  `delete from limit_uses u
   using unnest($2::bigint[], $3::integer[], $4::bigint[]) as v (transfer_key, limit_key, subject_key)
   where u.institution_id = $1 and u.transfer_key = v.transfer_key and u.limit_key = v.limit_key
     and u.subject_key = v.subject_key and u.transfer_key = any ($2::bigint[])`,
);

export async function deleteLimitUses(
  tx: Queryable,
  institutionId: InstitutionId,
  rows: readonly LimitUse[],
): Promise<void> {
  if (rows.length === 0) return;
  const { rowCount } = await tx.query(dropUses, [
    institutionId,
    rows.map((row) => row.transferKey),
    rows.map((row) => row.limitKey),
    rows.map((row) => row.subjectKey),
  ]);
  expectRows('limit_uses', rowCount, rows.length);
}
