import { type Directory, type InstitutionId, sql } from '../storage/index.ts';
import type { ServedState } from './queries.ts';

/** This database's cell. Institutions that are created here have its numbers. */
export interface Cell {
  readonly name: string;
  readonly firstNumber: number;
  readonly lastNumber: number;
  readonly setAt: Date;
  /** The cluster and timeline of this database when it last contradicted the directory in nothing; null: it was never compared. */
  readonly comparedTimeline: string | null;
}

const cell = sql(
  'institutions_cell',
  'select name, first_number, last_number, set_at, compared_timeline from cell',
);

/** Undefined for a service of one cell. */
export async function findCell(db: Directory): Promise<Cell | undefined> {
  return (await db.query<Cell>(cell)).rows[0];
}

const noteCompared = sql(
  'institutions_note_compared',
  'update cell set compared_timeline = $1 where compared_timeline is distinct from $1',
);

/** Notes that this database, on this timeline of its cluster, contradicts the directory in nothing. */
export async function markCompared(db: Directory, timeline: string | undefined): Promise<void> {
  await db.query(noteCompared, [timeline ?? null]);
}

const closeMoved = sql('institutions_close_moved', 'select close_moved($1, $2, $3) as closed');

/** Lets go of an institution that has moved oftener than this database knows. False: the database knows it, or has let go. */
export async function closeMovedInstitution(
  db: Directory,
  institutionId: InstitutionId,
  { cell, moves }: { readonly cell: string; readonly moves: number },
): Promise<boolean> {
  const { rows } = await db.query<{ closed: boolean }>(closeMoved, [institutionId, cell, moves]);
  return rows[0]?.closed === true;
}

/* The statements below need the owner's login. */

const store = {
  name: 'institutions_store_cell',
  text: `insert into cell (name, first_number, last_number, set_at) values ($1, $2, $3, $4)
         on conflict (only_row) do update set name = excluded.name, first_number = excluded.first_number,
           last_number = excluded.last_number, set_at = excluded.set_at`,
};

export async function storeCell(
  db: Directory,
  { name, firstNumber, lastNumber, setAt }: Omit<Cell, 'comparedTimeline'>,
): Promise<void> {
  await db.query(store, [name, firstNumber, lastNumber, setAt]);
}

const copy = sql(
  'institutions_copy',
  'select to_jsonb(i)::text as copy from institutions i where institution_id = $1',
);

/** The whole row, as text. */
export async function copyInstitution(db: Directory, institutionId: InstitutionId): Promise<string> {
  const { rows } = await db.query<{ copy: string }>(copy, [institutionId]);
  return (rows[0] as { copy: string }).copy;
}

const arrive = {
  name: 'institutions_arrive',
  text: `insert into institutions overriding system value
         select * from jsonb_populate_record(null::institutions,
           $1::jsonb || jsonb_build_object('served', 'arriving', 'other_cell', $2::text))`,
};

/** Adds the row of an institution that arrives for the first time. */
export async function insertArriving(db: Directory, copied: string, from: string): Promise<void> {
  await db.query(arrive, [copied, from]);
}

const arriveAgain = {
  name: 'institutions_arrive_again',
  text: `update institutions set served = 'arriving', other_cell = $3,
           host = (select host from jsonb_populate_record(null::institutions, $2::jsonb))
         where institution_id = $1`,
};

/** The same for one that has been here before. Its host name of then may be another institution's now. */
export async function updateArriving(
  db: Directory,
  institutionId: InstitutionId,
  { copied, from }: Record<'copied' | 'from', string>,
): Promise<void> {
  await db.query(arriveAgain, [institutionId, copied, from]);
}

const changeState = {
  name: 'institutions_change_served',
  text: `update institutions
         set served = $2, other_cell = $3, moves = coalesce($4, moves) where institution_id = $1`,
};

/** The next step of a move. */
export async function updateServed(
  db: Directory,
  institutionId: InstitutionId,
  {
    served,
    otherCell,
    moves,
  }: { readonly served: ServedState; readonly otherCell: string | null; readonly moves?: number },
): Promise<void> {
  await db.query(changeState, [institutionId, served, otherCell, moves]);
}

const ownColumns = sql(
  'institutions_own_columns',
  `select string_agg(quote_ident(attname), ', ' order by attnum) as columns from pg_attribute
         where attrelid = 'institutions'::regclass and attnum > 0 and not attisdropped
           and attname not in ('institution_id', 'served', 'other_cell', 'moves')`,
);

/** Opens an institution that has arrived by this move, with its settings as they were when it left the other cell. */
export async function openArrived(
  db: Directory,
  institutionId: InstitutionId,
  { copied, moves }: { readonly copied: string; readonly moves: number },
): Promise<void> {
  const { rows } = await db.query<{ columns: string }>(ownColumns);
  const columns = rows[0]?.columns;
  const text = `update institutions set served = 'here', other_cell = null, moves = $3,
      (${columns}) = (select ${columns} from jsonb_populate_record(null::institutions, $2::jsonb))
    where institution_id = $1`;
  await db.query({ name: 'institutions_open_arrived', text }, [institutionId, copied, moves]);
}
