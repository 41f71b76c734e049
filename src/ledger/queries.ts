import {
  type Directory,
  type InstitutionId,
  type Queryable,
  rowsOf,
  sql,
  type Write,
} from '../storage/index.ts';
import type { AccountState } from './rules.ts';

export type EntryKind = 'OPENING' | 'ADJUSTMENT' | 'TRANSFER' | 'HOLD' | 'RELEASE';

export interface Entry {
  readonly accountKey: bigint;
  readonly seq: bigint;
  readonly postingKey: bigint;
  readonly kind: EntryKind;
  readonly amount: bigint;
  readonly postedAfter: bigint;
  readonly debitsPendingAfter: bigint;
  readonly creditsPendingAfter: bigint;
  readonly floor: bigint | null;
  readonly ceiling: bigint | null;
}

// Nothing is joined: a row that waited for its lock is read again, the rows joined to it are not.
const states = `
  select account_key, account_id, currency, posted, debits_pending, credits_pending, seq, last_at
  from balances
  where institution_id = $1 and account_id = any ($2::text[])
  order by account_key`;
const lockedColumns = `${states} for no key update`;

const readBalances = sql('ledger_read_balances', states);
const lockBalances = sql('ledger_lock_balances', lockedColumns);
const lockFreeBalances = sql('ledger_lock_free_balances', `${lockedColumns} skip locked`);

export async function selectBalances(db: Queryable, accountIds: readonly string[]): Promise<AccountState[]> {
  return (await db.query<AccountState>(readBalances, [db.institutionId, accountIds])).rows;
}

/** In key order, always, by every writer. Waits up to the connection's lock_timeout (SQLSTATE 55P03). */
export async function selectBalancesForUpdate(
  tx: Queryable,
  accountIds: readonly string[],
): Promise<AccountState[]> {
  return (await tx.query<AccountState>(lockBalances, [tx.institutionId, accountIds])).rows;
}

/** The same without waiting: accounts that somebody else has locked are left out. */
export async function selectFreeBalancesForUpdate(
  tx: Queryable,
  accountIds: readonly string[],
): Promise<AccountState[]> {
  return (await tx.query<AccountState>(lockFreeBalances, [tx.institutionId, accountIds])).rows;
}

const existingBalances = sql(
  'ledger_existing_balances',
  'select account_id from balances where institution_id = $1 and account_id = any ($2::text[])',
);

export async function selectExistingAccountIds(
  db: Queryable,
  accountIds: readonly string[],
): Promise<string[]> {
  const { rows } = await db.query<{ accountId: string }>(existingBalances, [db.institutionId, accountIds]);
  return rows.map((row) => row.accountId);
}

// One statement, so that the triggers of both tables see both halves.
const writeBook = sql(
  'ledger_write',
  `with moved as (
     update balances b
     set posted = v.posted, debits_pending = v.debits_pending, credits_pending = v.credits_pending, seq = v.seq,
         last_at = coalesce(v.last_at, $2)
     from unnest($4::balance_change[]) as v
     where b.institution_id = $1 and b.account_key = v.account_key and b.account_key = any ($3::bigint[])
     returning 1
   ), recorded as (
     insert into entries (institution_id, account_key, seq, posting_key, kind, amount, posted_after,
                          debits_pending_after, credits_pending_after, floor, ceiling, recorded_at)
     select $1, v.account_key, v.seq, v.posting_key, v.kind, v.amount, v.posted_after, v.debits_pending_after, v.credits_pending_after,
            v.floor, v.ceiling, coalesce(v.recorded_at, $2)
     from unnest($5::new_entry[]) as v
     returning 1
   )
   select expect_rows('balances', (select count(*) from moved), cardinality($3::bigint[])),
          expect_rows('entries', (select count(*) from recorded), cardinality($5::new_entry[]))`,
);

/**
 * Moved balances and recorded entries; one without a time of its own has `at`. Both row counts are checked by the database:
 * an update hidden by a policy touches no row and raises no error.
 */
export function insertEntriesAndMoveBalances(
  institutionId: InstitutionId,
  states: readonly Dated<AccountState>[],
  entries: readonly Dated<Entry>[],
  at: Date,
): Write {
  const values = [
    institutionId,
    at,
    states.map((s) => s.accountKey),
    rowsOf(states, (s) => [s.accountKey, s.posted, s.debitsPending, s.creditsPending, s.seq, s.recordedAt]),
    rowsOf(entries, (e) => [
      e.accountKey,
      e.seq,
      e.postingKey,
      e.kind,
      e.amount,
      e.postedAfter,
      e.debitsPendingAfter,
      e.creditsPendingAfter,
      e.floor,
      e.ceiling,
      e.recordedAt,
    ]),
  ];
  return { statement: writeBook, values };
}

/** Recorded at a time of its own; null: at the time of the batch. */
export type Dated<Row> = Row & { readonly recordedAt: Date | null };

const nextPostingKeys = sql('ledger_next_posting_keys', `select nextval('posting_keys') as first`);

/** The first of a block of `postingKeyBlock` keys that belong to the caller alone. */
export async function reservePostingKeys(db: Directory): Promise<bigint> {
  const { rows } = await db.query<{ first: bigint }>(nextPostingKeys);
  const first = rows[0]?.first;
  if (first === undefined) throw new Error('ledger: the sequence of posting keys gave nothing');
  return first;
}

const nextPostingKeyBlocks = sql(
  'ledger_next_posting_key_blocks',
  `select nextval('posting_keys') as first from generate_series(1, $1)`,
);

export async function reservePostingKeyBlocks(db: Directory, blocks: number): Promise<bigint[]> {
  const { rows } = await db.query<{ first: bigint }>(nextPostingKeyBlocks, [blocks]);
  return rows.map(({ first }) => first);
}

/** As in the sequence's `increment by`. */
export const postingKeyBlock = 1000n;
