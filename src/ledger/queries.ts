import {
  type Cell,
  type Directory,
  type InstitutionId,
  type Queryable,
  rowsOf,
  sql,
  type Write,
} from '../storage/index.ts';
import type { AccountState } from './rules.ts';

export type EntryKind =
  | 'OPENING'
  | 'ADJUSTMENT'
  | 'TRANSFER'
  | 'HOLD'
  | 'RELEASE'
  | 'CORE'
  | 'CORE_HOLD'
  | 'CORE_RELEASE';

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

// No joins: after a wait for its lock PostgreSQL reads a row again, but not the rows joined to it.
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

/** Every writer locks in key order. Waits up to the connection's lock_timeout (SQLSTATE 55P03). */
export async function selectBalancesForUpdate(
  tx: Queryable,
  accountIds: readonly string[],
): Promise<AccountState[]> {
  return (await tx.query<AccountState>(lockBalances, [tx.institutionId, accountIds])).rows;
}

/** The same without waiting: accounts that another transaction has locked are left out. */
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

// One statement, so that the triggers of both tables see both halves. Planned with a hash join, its time grows with the rows;
// planned as a nested loop, with their square.
const movedAndRecorded = `
   moved as (
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
   )`;
const bothCounted = `
   expect_rows('balances', (select count(*) from moved), cardinality($3::bigint[])),
   expect_rows('entries', (select count(*) from recorded), cardinality($5::new_entry[]))`;
const writeBook = sql('ledger_write', `with ${movedAndRecorded} select ${bothCounted}`);

/** Inserted with the state that the entries leave, so that an opening balance is not written twice. */
const newBalances = (states: string, accountIds: string, currencies: string) => `
   insert into balances (institution_id, account_key, account_id, currency, posted, debits_pending, credits_pending, seq, last_at)
   select $1, v.account_key, v.account_id, v.currency, v.posted, v.debits_pending, v.credits_pending, v.seq, coalesce(v.last_at, $2)
   from unnest(${states}::balance_change[], ${accountIds}::text[], ${currencies}::text[])
     as v (account_key, posted, debits_pending, credits_pending, seq, last_at, account_id, currency)`;
const openBook = sql(
  'ledger_open_and_write',
  `with opened as (${newBalances('$6', '$7', '$8')} returning 1), ${movedAndRecorded}
   select expect_rows('balances', (select count(*) from opened), cardinality($7::text[])), ${bothCounted}`,
);

/**
 * Opened and moved balances and recorded entries; one without a time of its own has `at`. The database checks the row counts:
 * an update hidden by a policy touches no row and raises no error.
 */
export function insertEntriesAndMoveBalances(
  institutionId: InstitutionId,
  book: {
    readonly opened: readonly Dated<AccountState>[];
    readonly moved: readonly Dated<AccountState>[];
    readonly entries: readonly Dated<Entry>[];
  },
  at: Date,
): Write {
  const { opened, moved } = book;
  const values = [
    institutionId,
    at,
    moved.map((s) => s.accountKey),
    rowsOf(moved, changeCells),
    rowsOf(book.entries, (e) => [
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
  if (opened.length === 0) return { statement: writeBook, values };
  return { statement: openBook, values: [...values, ...openedValues(opened)] };
}

const changeCells = (s: Dated<AccountState>): readonly Cell[] => [
  s.accountKey,
  s.posted,
  s.debitsPending,
  s.creditsPending,
  s.seq,
  s.recordedAt,
];

const openedValues = (states: readonly Dated<AccountState>[]) => [
  rowsOf(states, changeCells),
  states.map((s) => s.accountId),
  states.map((s) => s.currency),
];

const close = sql(
  'ledger_close_balance',
  'update balances set closed = true where institution_id = $1 and account_key = $2',
);

/** Closes a balance for good. The caller has locked it, and found it zero; the database refuses any other. */
export async function closeBalance(tx: Queryable, accountKey: bigint): Promise<void> {
  await tx.query(close, [tx.institutionId, accountKey]);
}

const openBalances = sql('ledger_open_balances', newBalances('$3', '$4', '$5'));

/** Returns how many were inserted. */
export async function insertBalances(
  db: Queryable,
  states: readonly AccountState[],
  at: Date,
): Promise<number> {
  const opened = states.map((state) => ({ ...state, recordedAt: null }));
  return (await db.query(openBalances, [db.institutionId, at, ...openedValues(opened)])).rowCount;
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

/** The same number as the sequence's `increment by`. */
export const postingKeyBlock = 1000n;
