import { columnsOf, type Queryable, sql } from '../../storage/index.ts';
import type {
  Break,
  BreakClass,
  BreakNote,
  ChangedBreak,
  EndedBreak,
  FoundBreak,
  LockedBreak,
  OpenBreak,
} from './break.ts';

const open = sql(
  'core_open_breaks',
  `select b.break_key, b.class, b.subject, b.account_id, b.difference as difference_minor, b.as_of
   from core_breaks b where b.institution_id = $1 and b.closed_at is null`,
);

export async function selectOpenBreaks(db: Queryable): Promise<OpenBreak[]> {
  return (await db.query<OpenBreak>(open, [db.institutionId])).rows;
}

/** A break with the words that an event about it has. */
export interface BreakRow {
  readonly breakKey: bigint;
  readonly class: BreakClass;
  readonly accountId: string;
}

const insert = sql(
  'core_insert_breaks',
  `with given as (
     select * from unnest($3::text[], $4::text[], $5::text[], $6::bigint[], $7::bigint[], $8::text[], $9::bigint[], $10::text[],
                          $11::bigint[], $12::timestamptz[], $13::text[])
       as v (class, subject, account_id, account_key, account_seq, core_id, transfer_key, currency, difference, as_of, note)
   ), opened as (
     insert into core_breaks (institution_id, class, subject, account_id, account_key, account_seq, core_id, transfer_key, currency,
                              difference, as_of, opened_at)
     select $1, class, subject, account_id, account_key, account_seq, core_id, transfer_key, currency, difference, as_of, $2
     from given
     on conflict (institution_id, subject) where closed_at is null do nothing
     returning break_key, class, subject, account_id
   ), noted as (
     insert into core_break_notes (institution_id, break_key, noted_at, note)
     select $1, o.break_key, $2, g.note from opened o join given g on g.subject = o.subject
   )
   select break_key, class, account_id from opened`,
);

/** Opens breaks, except where one of the subject is open. Returns those that were opened. */
export async function insertBreaks(
  tx: Queryable,
  found: readonly FoundBreak[],
  at: Date,
): Promise<BreakRow[]> {
  if (found.length === 0) return [];
  const columns = columnsOf(
    found,
    ...(['class', 'subject', 'accountId', 'accountKey', 'accountSeq', 'coreId', 'transferKey'] as const),
    ...(['currency', 'differenceMinor', 'asOf', 'note'] as const),
  );
  return (await tx.query<BreakRow>(insert, [tx.institutionId, at, ...columns])).rows;
}

const change = sql(
  'core_change_breaks',
  `with given as (
     select * from unnest($3::bigint[], $4::text[], $5::bigint[], $6::bigint[], $7::timestamptz[], $8::text[])
       as v (break_key, class, account_seq, difference, as_of, note)
   ), changed as (
     update core_breaks b set class = g.class, account_seq = g.account_seq, difference = g.difference, as_of = g.as_of
     from given g where b.institution_id = $1 and b.break_key = g.break_key and b.closed_at is null
     returning b.break_key
   )
   insert into core_break_notes (institution_id, break_key, noted_at, note)
   select $1, c.break_key, $2, g.note from changed c join given g on g.break_key = c.break_key`,
);

/** Notes that open breaks differ otherwise than before. */
export async function updateBreaks(tx: Queryable, changed: readonly ChangedBreak[], at: Date): Promise<void> {
  if (changed.length === 0) return;
  const rows = changed.map(({ breakKey, found }) => ({ ...found, breakKey }));
  const columns = columnsOf(
    rows,
    ...(['breakKey', 'class', 'accountSeq', 'differenceMinor', 'asOf', 'note'] as const),
  );
  await tx.query(change, [tx.institutionId, at, ...columns]);
}

const close = sql(
  'core_close_breaks',
  `with given as (
     select * from unnest($3::bigint[], $4::text[], $5::text[]) as v (break_key, closed_by, note)
   ), closed as (
     update core_breaks b set closed_at = $2, closed_by = g.closed_by
     from given g where b.institution_id = $1 and b.break_key = g.break_key and b.closed_at is null
     returning b.break_key, b.class, b.account_id
   ), noted as (
     insert into core_break_notes (institution_id, break_key, noted_at, author, note)
     select $1, c.break_key, $2, $6, g.note from closed c join given g on g.break_key = c.break_key
   )
   select break_key, class, account_id from closed`,
);

/** Closes the breaks that are open. Returns them. */
export async function closeBreaks(
  tx: Queryable,
  ended: readonly EndedBreak[],
  { at, author = null }: { readonly at: Date; readonly author?: string | null },
): Promise<BreakRow[]> {
  if (ended.length === 0) return [];
  const columns = columnsOf(ended, 'breakKey', 'closedBy', 'note');
  return (await tx.query<BreakRow>(close, [tx.institutionId, at, ...columns, author])).rows;
}

/** Of the table core_breaks as b. $1 is the institution. */
export const breakColumns = `b.break_key, b.class, b.account_id, b.core_id,
  (select t.transfer_id from transfers t where t.institution_id = $1 and t.transfer_key = b.transfer_key) as transfer_id,
  b.currency, b.difference as difference_minor, b.as_of, b.owner, b.opened_at, b.closed_at, b.closed_by`;

const listOf = (name: string, condition: string) =>
  sql(
    name,
    `select ${breakColumns} from core_breaks b
     where b.institution_id = $1 and b.break_key > $2 and b.opened_at <= $3 ${condition}
     order by b.break_key limit $4`,
  );
const lists = {
  open: listOf('core_list_open_breaks', 'and b.closed_at is null and b.class = any ($5::text[])'),
  all: listOf('core_list_breaks', 'and b.class = any ($5::text[])'),
} as const;

/** Breaks of these classes that were opened at `until` or before, in the order of their keys. */
export async function selectBreaks(
  db: Queryable,
  wanted: {
    readonly isOpen: boolean;
    readonly classes: readonly BreakClass[];
    readonly until: Date;
    readonly after: bigint;
    readonly limit: number;
  },
): Promise<Break[]> {
  const { isOpen, classes, until, after, limit } = wanted;
  const values = [db.institutionId, after, until, limit, classes];
  return (await db.query<Break>(isOpen ? lists.open : lists.all, values)).rows;
}

const one = sql(
  'core_break',
  `select ${breakColumns} from core_breaks b where b.institution_id = $1 and b.break_key = $2`,
);

export async function selectBreak(db: Queryable, breakKey: bigint): Promise<Break | undefined> {
  return (await db.query<Break>(one, [db.institutionId, breakKey])).rows[0];
}

// The second condition is that of the statement core_breaks_to_close: what the core posted before the moment, and what has arrived since.
const locked = sql(
  'core_lock_break',
  `select ${breakColumns}, b.account_key,
          b.account_seq is not null and not exists (
            select from core_transactions c
            where c.institution_id = $1 and c.account_key = b.account_key and c.seq > b.account_seq
              and c.settlement_key is not null and c.posted_at <= b.as_of) as is_current
   from core_breaks b where b.institution_id = $1 and b.break_key = $2 for update of b`,
);

/** Locks a break, which a comparison or the clock then cannot close. */
export async function lockBreak(tx: Queryable, breakKey: bigint): Promise<LockedBreak | undefined> {
  return (await tx.query<LockedBreak>(locked, [tx.institutionId, breakKey])).rows[0];
}

const adjusted = sql(
  'core_note_adjustment',
  `update core_breaks set closed_at = $3, closed_by = 'ADJUSTED', adjusted_seq = $4
   where institution_id = $1 and break_key = $2`,
);

/** Ends a locked break by the entry that posted its difference. */
export async function closeAdjusted(
  tx: Queryable,
  breakKey: bigint,
  { at, seq }: { readonly at: Date; readonly seq: bigint },
): Promise<void> {
  await tx.query(adjusted, [tx.institutionId, breakKey, at, seq]);
}

const story = sql(
  'core_break_story',
  `select n.noted_at as at, n.author, n.note from core_break_notes n
   where n.institution_id = $1 and n.break_key = $2 order by n.note_key desc limit $3`,
);

/** The newest notes of a break, in the order of their time. */
export async function selectStory(db: Queryable, breakKey: bigint, limit: number): Promise<BreakNote[]> {
  return (await db.query<BreakNote>(story, [db.institutionId, breakKey, limit])).rows.toReversed();
}

const own = sql(
  'core_own_break',
  'update core_breaks set owner = $3 where institution_id = $1 and break_key = $2 and closed_at is null',
);

/** False: the break is closed, or there is none. */
export async function updateOwner(tx: Queryable, breakKey: bigint, owner: string | null): Promise<boolean> {
  return (await tx.query(own, [tx.institutionId, breakKey, owner])).rowCount === 1;
}

const note = sql(
  'core_note_break',
  'insert into core_break_notes (institution_id, break_key, noted_at, author, note) values ($1, $2, $3, $4, $5)',
);

export async function insertNote(
  tx: Queryable,
  breakKey: bigint,
  { at, author, note: text }: BreakNote,
): Promise<void> {
  await tx.query(note, [tx.institutionId, breakKey, at, author, text]);
}
