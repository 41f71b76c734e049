import type { InstitutionId } from '../storage/index.ts';
import { run, type Side } from './side.ts';
import type { MovedTable } from './tables.ts';

/*
 * Keys of rows are numbers of sequences, and unique in an institution. Each cell has keys of its own: its first number times a billion
 * and more. So an institution brings keys that its new cell never gives out, and no sequence moves with it.
 */

const keysPerNumber = 1_000_000_000n;
/** Room for the keys that are given out between the look at a sequence and its change. */
const margin = 1_000_000n;

interface Sequence {
  readonly sequence: string;
  /** The table and column of an identity; null for a sequence of its own. */
  readonly tableName: string | null;
  readonly columnName: string | null;
  readonly lastValue: bigint | null;
}

/** Every sequence but that of the institutions. */
async function listSequences({ db }: Pick<Side, 'db'>): Promise<readonly Sequence[]> {
  return run<Sequence>(
    db,
    `select format('%I.%I', s.schemaname, s.sequencename) as sequence, t.relname::text as table_name,
            a.attname::text as column_name, s.last_value
     from pg_sequences s
     join pg_class c on c.relname = s.sequencename and c.relnamespace = 'public'::regnamespace
     left join pg_depend d on d.objid = c.oid and d.classid = 'pg_class'::regclass and d.deptype = 'i'
     left join pg_class t on t.oid = d.refobjid
     left join pg_attribute a on a.attrelid = d.refobjid and a.attnum = d.refobjsubid
     where s.schemaname = 'public' and t.relname is distinct from 'institutions' order by 1`,
  );
}

/** The keys of the cell whose institutions have these numbers, from the first to behind the last. */
function keysOf({ firstNumber, lastNumber }: { readonly firstNumber: number; readonly lastNumber: number }) {
  return { first: BigInt(firstNumber) * keysPerNumber, end: (BigInt(lastNumber) + 1n) * keysPerNumber };
}

/** Gives the database the keys of its cell. In the caller's transaction. Returns the sequences that are beyond them. */
export async function giveKeys(
  side: Pick<Side, 'db'>,
  numbers: { readonly firstNumber: number; readonly lastNumber: number },
): Promise<readonly string[]> {
  const { first, end } = keysOf(numbers);
  const sequences = await listSequences(side);
  for (const { sequence, lastValue } of sequences) {
    if (lastValue === null || lastValue < first)
      await run(side.db, `alter sequence ${sequence} restart with ${first}`);
  }
  return sequences.flatMap(({ sequence, lastValue }) =>
    lastValue !== null && lastValue >= end ? [sequence] : [],
  );
}

/**
 * An institution that comes back may have keys of this cell that its sequences would give out again, if the cell was restored from a
 * backup meanwhile. The sequences then go on behind them.
 */
export async function continueKeys(
  side: Side,
  institutionId: InstitutionId,
  tables: readonly MovedTable[],
): Promise<void> {
  const moved = new Set(tables.flatMap(({ name, moves }) => (moves === 'replicated' ? [name] : [])));
  const [cell] = await run<{ firstNumber: number; lastNumber: number }>(
    side.db,
    'select first_number, last_number from public."cell"',
  );
  if (cell === undefined) throw new Error('cells: the target has no numbers');
  const { first, end } = keysOf(cell);
  for (const { sequence, tableName, columnName, lastValue } of await listSequences(side)) {
    // The others give transfers and providers their keys, beside the identities.
    const columns = tableName === null ? keysOfSequence[sequence] : [[tableName, columnName ?? '']];
    if (columns === undefined) throw new Error(`cells: ${sequence} needs a line in keysOfSequence`);
    for (const [table = '', column = ''] of columns) {
      if (!moved.has(table)) continue;
      const [newest] = await run<{ key: bigint | null }>(
        side.db,
        `select max("${column}")::bigint as key from public."${table}"
         where institution_id = $1 and "${column}" >= $2 and "${column}" < $3`,
        [institutionId, first, end],
      );
      const key = newest?.key ?? null;
      if (key !== null && (lastValue === null || key > lastValue))
        await run(side.db, `select setval($1::regclass, $2::bigint)`, [sequence, key + margin]);
    }
  }
}

/** The columns that sequences without an identity fill. */
const keysOfSequence: Readonly<Record<string, readonly (readonly [table: string, column: string])[]>> = {
  'public.posting_keys': [
    ['transfers', 'transfer_key'],
    ['entries', 'posting_key'],
  ],
  'public.provider_generations': [['identity_providers', 'generation']],
};
