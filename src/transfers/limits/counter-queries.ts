import {
  columnsOf,
  counted,
  type InstitutionId,
  type Queryable,
  rowsOf,
  type Statement,
  sql,
  type Write,
} from '../../storage/index.ts';
import type { Counter, CounterName } from '../rules/controls/limits.ts';

// A look-up by the whole key for each name: no plan can scan the table, even with wrong statistics.
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

/**
 * Locks in key order, after the accounts. A counter without a row cannot be locked and is left out. The first transaction
 * that counts there inserts it; the unique key refuses a second one.
 */
export async function selectCountersForUpdate(
  tx: Queryable,
  names: readonly CounterName[],
): Promise<Counter[]> {
  if (names.length === 0) return [];
  return (await tx.query<Counter>(lockCounters, valuesOf(tx, names.toSorted(inKeyOrder)))).rows;
}

/** The same without locks. */
export async function selectCounters(db: Queryable, names: readonly CounterName[]): Promise<Counter[]> {
  if (names.length === 0) return [];
  return (await db.query<Counter>(readCounters, valuesOf(db, names))).rows;
}

function inKeyOrder(a: CounterName, b: CounterName): number {
  if (a.limitKey !== b.limitKey) return a.limitKey - b.limitKey;
  if (a.subjectKey !== b.subjectKey) return a.subjectKey < b.subjectKey ? -1 : 1;
  return a.periodStart < b.periodStart ? -1 : 1;
}

function valuesOf({ institutionId }: Queryable, names: readonly CounterName[]): unknown[] {
  return [institutionId, ...columnsOf(names, 'limitKey', 'subjectKey', 'periodStart')];
}

const insertGiven = `
  insert into limit_counters (institution_id, limit_key, subject_key, period_start, amount, transfers, max_amount,
                              max_transfers, reviewed, review_above)
  select $1, v.* from unnest($2::counter_state[]) as v`;
const counters = ['limit_counters', 'cardinality($2::counter_state[])'] as const;
const addCounters = counted('transfers_add_counters', ...counters, insertGiven);
// An upsert, although each row exists and is locked: it finds the row by its key. The plan of a join compared each with all.
const writeCounters = counted(
  'transfers_write_counters',
  ...counters,
  `${insertGiven}
   on conflict (institution_id, limit_key, subject_key, period_start) do update
   set amount = excluded.amount, transfers = excluded.transfers, max_amount = excluded.max_amount,
       max_transfers = excluded.max_transfers, reviewed = excluded.reviewed, review_above = excluded.review_above`,
);

/** A unique violation means that another transaction inserted the counter meanwhile; this one must start again. */
export function insertCounters(institutionId: InstitutionId, rows: readonly Counter[]): readonly Write[] {
  return write(addCounters, institutionId, rows.toSorted(inKeyOrder));
}

export function updateCounters(institutionId: InstitutionId, rows: readonly Counter[]): readonly Write[] {
  return write(writeCounters, institutionId, rows);
}

function write(
  statement: Statement,
  institutionId: InstitutionId,
  rows: readonly Counter[],
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

/** Deletes up to `most` counters of periods that began before a day. Returns their number. */
export async function deleteOldCounters(db: Queryable, before: string, most: number): Promise<number> {
  const { rows } = await db.query<{ gone: bigint }>(dropCounters, [before, most]);
  return Number(rows[0]?.gone ?? 0n);
}
