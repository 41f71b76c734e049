import type { OwnConnection } from '../storage/index.ts';
import { run } from './side.ts';

/** A table with rows of institutions, and the way in which its rows move. */
export interface MovedTable {
  readonly name: string;
  /** Its columns in the order of their names, without those that PostgreSQL computes; quoted. */
  readonly columns: string;
  /**
   * `replicated`: copied and followed. `at_the_end`: copied in the pause. `row`: the one row of the institution itself. `not`: its rows
   * are of this cluster, or of an import under way, which ends with the pause.
   */
  readonly moves: 'replicated' | 'at_the_end' | 'row' | 'not';
}

/** Small tables of the directory, whose keys do not begin with the institution, so that no filter can follow them; and a log of proofs. */
const atTheEnd = ['client_directory', 'provider_directory', 'dpop_proofs'];
/** Names by which a cell still knows requests of an institution that left it, and answers 421. */
const outliveTheCopy = ['client_directory', 'provider_directory'];
/** `changes` are numbers of transactions of this cluster, and `cell_keys` go their own way (src/auth/keys/cell-key-queries.ts). */
const neverMoves = /^(?:changes|cell_keys|import_runs|staged_\w+)$/;

/**
 * Every table of the schema with rows of institutions, so that a new one cannot be left out. Throws an Error for a table that none of
 * the ways fits.
 */
export async function listTables(db: OwnConnection): Promise<readonly MovedTable[]> {
  const rows = await run<{ name: string; columns: string; logged: boolean; keyed: boolean }>(
    db,
    `select c.relname::text as name, c.relpersistence = 'p' as logged,
            exists (select from pg_index i
                    where i.indrelid = c.oid and i.indisprimary and a.attnum = any (i.indkey)) as keyed,
            (select string_agg(quote_ident(o.attname), ', ' order by o.attname) from pg_attribute o
             where o.attrelid = c.oid and o.attnum > 0 and not o.attisdropped and o.attgenerated = '') as columns
     from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'institution_id'
     where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition order by 1`,
  );
  return rows.map(({ name, columns, logged, keyed }) => ({
    name,
    columns,
    moves: wayOf(name, logged && keyed),
  }));
}

function wayOf(name: string, canBeFollowed: boolean): MovedTable['moves'] {
  if (name === 'institutions') return 'row';
  if (atTheEnd.includes(name)) return 'at_the_end';
  if (neverMoves.test(name)) return 'not';
  if (!canBeFollowed)
    throw new Error(`cells: ${name} needs a key with the institution and a log, or a way of its own`);
  return 'replicated';
}

/** The names of the tables that move in this way. */
export function thatMove(
  tables: readonly MovedTable[],
  ...ways: MovedTable['moves'][]
): readonly MovedTable[] {
  return tables.filter(({ moves }) => ways.includes(moves));
}

/** The tables of a copy, which an undo and a confirmation delete. */
export function tablesOfCopy(tables: readonly MovedTable[]): readonly MovedTable[] {
  return thatMove(tables, 'replicated', 'at_the_end').filter(({ name }) => !outliveTheCopy.includes(name));
}
