import { type Queryable, sql } from '../../storage/index.ts';
import { LeaseWalk } from './lease.ts';
import { type DeliveredInstruction, delivered, selectUndecided } from './lease-queries.ts';

const rowsAtOnce = 1_000;

const assign = sql(
  'transfers_assign_files',
  `with open as (
     select instruction_key, business_date from core_instructions
     where institution_id = $1 and instruction_key = any ($2::bigint[]) and state = 'OPEN'
     order by instruction_key for no key update
   ), numbered as (
     select o.instruction_key,
            dense_rank() over (order by o.business_date) + (
              select coalesce(max(i.file_number), 0) from core_instructions i
              where i.institution_id = $1 and i.file_number is not null) as number
     from open o
   ), given as (
     update core_instructions i
     set file_number = n.number, delivered_at = coalesce(i.delivered_at, $3), leased_by = null, lease_until = null
     from numbered n
     where i.institution_id = $1 and i.instruction_key = n.instruction_key and i.instruction_key = any ($2::bigint[])
     returning i.file_number
   )
   select distinct file_number as number from given order by number`,
);

/**
 * Gives the undecided instructions that no client works on the next file numbers, one for each business day. The caller lets
 * one transaction of an institution do so at a time.
 */
export async function assignFiles(tx: Queryable, at: Date): Promise<number[]> {
  // Stands for no client: it holds no lease, and it skips the instructions that clients have leased.
  const walk = new LeaseWalk({ clientId: '', at, after: 0n, limit: Number.POSITIVE_INFINITY });
  for (let after: bigint | undefined = 0n; after !== undefined; ) {
    const rows = await selectUndecided(tx, after, rowsAtOnce);
    for (const row of rows) walk.take(row);
    after = rows.length < rowsAtOnce ? undefined : rows.at(-1)?.sequence;
  }
  if (walk.given.length === 0) return [];
  const { rows } = await tx.query<{ number: number }>(assign, [tx.institutionId, walk.given, at]);
  return rows.map(({ number }) => number);
}

const ofFile = sql(
  'transfers_instructions_of_file',
  `select ${delivered}
   from core_instructions i
   join transfers t on t.institution_id = $1 and t.transfer_key = i.instruction_key
   where i.institution_id = $1 and i.file_number = $2 and i.file_number is not null
   order by i.sequence`,
);

/** The instructions of a file, in order. */
export async function selectFile(db: Queryable, number: number): Promise<DeliveredInstruction[]> {
  return (await db.query<DeliveredInstruction>(ofFile, [db.institutionId, number])).rows;
}
