import {
  counted,
  type InstitutionId,
  type Queryable,
  rowsOf,
  type Statement,
  sql,
  type Write,
} from '../storage/index.ts';
import type { TransferType } from './rules/transfer.ts';

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
  /** More than this in the period, counted together, is held for review; null: not by this limit. */
  readonly reviewAbove: bigint | null;
}

const limits = sql(
  'transfers_limits',
  `select limit_key, subject, period, transfer_type, source_type, currency, max_per_transfer, max_amount, max_count,
          review_above
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
    review_above: bigint | null;
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
    reviewAbove: row.review_above,
  }));
}

const removeLimits = sql('transfers_remove_limits', 'delete from transfer_limits where institution_id = $1');
const addLimits = sql(
  'transfers_add_limits',
  `insert into transfer_limits (institution_id, limit_key, subject, period, transfer_type, source_type, currency,
                                max_per_transfer, max_amount, max_count, review_above)
   select $1, v.*
   from unnest($2::integer[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::bigint[], $9::bigint[],
               $10::integer[], $11::bigint[]) as v`,
);
const useKeys = sql(
  'transfers_use_limit_keys',
  `insert into limit_keys (institution_id, limit_key, counts)
   select $1, v.* from unnest($2::integer[], $3::text[]) as v
   on conflict do nothing`,
);
const keysTaken = sql(
  'transfers_limit_keys_taken',
  `select k.limit_key from limit_keys k
   join unnest($2::integer[], $3::text[]) as v (limit_key, counts) on v.limit_key = k.limit_key
   where k.institution_id = $1 and k.counts <> v.counts
   order by k.limit_key`,
);

/**
 * Exactly these. A limit keeps its counters for as long as it keeps its key. Answers the keys that have ever counted something
 * else: with one of those nothing is replaced.
 */
export async function replaceLimits(
  tx: Queryable,
  institutionId: InstitutionId,
  rows: readonly LimitRow[],
): Promise<number[]> {
  const keys = rows.map((row) => row.limitKey);
  const used = [institutionId, keys, rows.map(whatCounts)];
  await tx.query(useKeys, used);
  const taken = (await tx.query<{ limit_key: number }>(keysTaken, used)).rows.map((row) => row.limit_key);
  if (taken.length > 0) return taken;
  await tx.query(removeLimits, [institutionId]);
  await tx.query(addLimits, [
    institutionId,
    keys,
    rows.map((row) => row.subject),
    rows.map((row) => row.period),
    rows.map((row) => row.transferType),
    rows.map((row) => row.sourceType),
    rows.map((row) => row.currency),
    rows.map((row) => row.maxPerTransfer),
    rows.map((row) => row.maxAmount),
    rows.map((row) => row.maxCount),
    rows.map((row) => row.reviewAbove),
  ]);
  return [];
}

/** As the column `counts` of the database has it. */
function whatCounts({ subject, period, transferType, sourceType, currency }: LimitRow): string {
  return [subject, period, transferType ?? '', sourceType ?? '', currency].join(' ');
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
  /** How much of the amount was held for review. */
  readonly reviewed: bigint;
  /** What the rest of the amount may come to. */
  readonly reviewAbove: bigint | null;
}

/** Which counter: of a limit, for a subject, in the period that begins on a day. */
export type CounterName = Pick<CounterRow, 'limitKey' | 'subjectKey' | 'periodStart'>;

// A look-up by the whole key for each name: no plan can make a scan of it, whatever it believes of the table's size.
const countersByName = `
  select c.*
  from unnest($2::integer[], $3::bigint[], $4::date[]) as n (limit_key, subject_key, period_start)
  cross join lateral (
    select c.limit_key, c.subject_key, c.period_start, c.amount, c.transfers, c.max_amount, c.max_transfers,
           c.reviewed, c.review_above
    from limit_counters c
    where c.institution_id = $1 and c.limit_key = n.limit_key and c.subject_key = n.subject_key
      and c.period_start = n.period_start
    offset 0`;

const readCounters = sql('transfers_read_counters', `${countersByName}) c`);
const lockCounters = sql('transfers_lock_counters', `${countersByName} for no key update of c) c`);

interface CounterDbRow {
  limit_key: number;
  subject_key: bigint;
  period_start: string;
  amount: bigint;
  transfers: number;
  max_amount: bigint | null;
  max_transfers: number | null;
  reviewed: bigint;
  review_above: bigint | null;
}

/**
 * In key order, after accounts. A row that does not exist cannot be locked: it is left out, and whoever counts there
 * first inserts it, where the key lets only one of two in.
 */
export async function selectCountersForUpdate(
  tx: Queryable,
  institutionId: InstitutionId,
  names: readonly CounterName[],
): Promise<CounterRow[]> {
  if (names.length === 0) return [];
  const values = valuesOf(institutionId, names.toSorted(inKeyOrder));
  return (await tx.query<CounterDbRow>(lockCounters, values)).rows.map(toCounter);
}

/** The same without locks; a counter that nothing has counted yet is not among them. */
export async function selectCounters(
  db: Queryable,
  institutionId: InstitutionId,
  names: readonly CounterName[],
): Promise<CounterRow[]> {
  if (names.length === 0) return [];
  return (await db.query<CounterDbRow>(readCounters, valuesOf(institutionId, names))).rows.map(toCounter);
}

function inKeyOrder(a: CounterName, b: CounterName): number {
  if (a.limitKey !== b.limitKey) return a.limitKey - b.limitKey;
  if (a.subjectKey !== b.subjectKey) return a.subjectKey < b.subjectKey ? -1 : 1;
  return a.periodStart < b.periodStart ? -1 : 1;
}

function valuesOf(institutionId: InstitutionId, names: readonly CounterName[]): unknown[] {
  return [
    institutionId,
    names.map((name) => name.limitKey),
    names.map((name) => name.subjectKey),
    names.map((name) => name.periodStart),
  ];
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
    reviewed: row.reviewed,
    reviewAbove: row.review_above,
  };
}

const insertGiven = `
  insert into limit_counters (institution_id, limit_key, subject_key, period_start, amount, transfers, max_amount,
                              max_transfers, reviewed, review_above)
  select $1, v.* from unnest($2::counter_state[]) as v`;
const counters = ['limit_counters', 'cardinality($2::counter_state[])'] as const;
const addCounters = counted('transfers_add_counters', ...counters, insertGiven);
// An upsert, though each row stands and is locked: it finds it by its key, where the plan of a join compared each with all.
const writeCounters = counted(
  'transfers_write_counters',
  ...counters,
  `${insertGiven}
   on conflict (institution_id, limit_key, subject_key, period_start) do update
   set amount = excluded.amount, transfers = excluded.transfers, max_amount = excluded.max_amount,
       max_transfers = excluded.max_transfers, reviewed = excluded.reviewed, review_above = excluded.review_above`,
);

/** A unique violation: somebody else has begun to count there meanwhile, unseen by this transaction, which must start anew. */
export function insertCounters(institutionId: InstitutionId, rows: readonly CounterRow[]): readonly Write[] {
  return write(addCounters, institutionId, rows.toSorted(inKeyOrder));
}

export function updateCounters(institutionId: InstitutionId, rows: readonly CounterRow[]): readonly Write[] {
  return write(writeCounters, institutionId, rows);
}

function write(
  statement: Statement,
  institutionId: InstitutionId,
  rows: readonly CounterRow[],
): readonly Write[] {
  if (rows.length === 0) return [];
  const values = [
    institutionId,
    rowsOf(rows, (row) => [
      row.limitKey,
      row.subjectKey,
      row.periodStart,
      row.amount,
      row.transfers,
      row.maxAmount,
      row.maxTransfers,
      row.reviewed,
      row.reviewAbove,
    ]),
  ];
  return [{ statement, values }];
}

const dropCounters = sql(
  'transfers_expire_counters',
  'select expire_limit_counters($1::date, $2::integer) as gone',
);

/** Some counters of periods that began before a day. Answers how many. */
export async function deleteOldCounters(db: Queryable, before: string, most: number): Promise<number> {
  const { rows } = await db.query<{ gone: bigint }>(dropCounters, [before, most]);
  return Number(rows[0]?.gone ?? 0n);
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
   from idempotency_keys i
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

const addUses = counted(
  'transfers_add_limit_uses',
  'limit_uses',
  'cardinality($2::bigint[])',
  `insert into limit_uses (institution_id, transfer_key, limit_key, subject_key, period_start, amount)
   select $1, v.* from unnest($2::bigint[], $3::integer[], $4::bigint[], $5::date[], $6::bigint[]) as v`,
);

export function insertLimitUses(institutionId: InstitutionId, rows: readonly LimitUse[]): readonly Write[] {
  if (rows.length === 0) return [];
  return [
    {
      statement: addUses,
      values: [
        institutionId,
        rows.map((row) => row.transferKey),
        rows.map((row) => row.limitKey),
        rows.map((row) => row.subjectKey),
        rows.map((row) => row.periodStart),
        rows.map((row) => row.amount),
      ],
    },
  ];
}

const dropUses = counted(
  'transfers_drop_limit_uses',
  'limit_uses',
  'cardinality($2::bigint[])',
  `delete from limit_uses u
   using unnest($2::bigint[], $3::integer[], $4::bigint[]) as v (transfer_key, limit_key, subject_key)
   where u.institution_id = $1 and u.transfer_key = v.transfer_key and u.limit_key = v.limit_key
     and u.subject_key = v.subject_key and u.transfer_key = any ($2::bigint[])`,
);

export function deleteLimitUses(institutionId: InstitutionId, rows: readonly LimitUse[]): readonly Write[] {
  if (rows.length === 0) return [];
  return [
    {
      statement: dropUses,
      values: [
        institutionId,
        rows.map((row) => row.transferKey),
        rows.map((row) => row.limitKey),
        rows.map((row) => row.subjectKey),
      ],
    },
  ];
}
