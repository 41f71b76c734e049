import { columnsOf, type Database, type InstitutionId, type Queryable, sql } from '../../../storage/index.ts';

/** A balance that the core states. */
export interface StatedBalance {
  readonly accountId: string;
  readonly currencyCode: string;
  /** A credit to the member's position is positive. */
  readonly balanceMinor: bigint;
}

/** A posting in the core's list. */
export interface StatedPosting {
  readonly coreId: string;
  readonly accountId: string;
  readonly currencyCode: string;
  readonly amountMinor: bigint;
}

const stageBalances = sql(
  'core_stage_balances',
  `insert into staged_core_balances (institution_id, delivery, staged_at, account_id, currency, balance)
   select $1, $2, $3, v.* from unnest($4::text[], $5::text[], $6::bigint[]) as v
   on conflict do nothing returning account_id as id`,
);

/** Returns the accounts that are new in the delivery. */
export async function addBalances(
  db: Queryable,
  delivery: string,
  rows: readonly StatedBalance[],
  at: Date,
): Promise<Set<string>> {
  const columns = columnsOf(rows, 'accountId', 'currencyCode', 'balanceMinor');
  const added = await db.query<{ id: string }>(stageBalances, [db.institutionId, delivery, at, ...columns]);
  return new Set(added.rows.map(({ id }) => id));
}

const stagePostings = sql(
  'core_stage_postings',
  `insert into staged_core_postings (institution_id, delivery, staged_at, core_id, account_id, currency, amount)
   select $1, $2, $3, v.* from unnest($4::text[], $5::text[], $6::text[], $7::bigint[]) as v
   on conflict do nothing returning core_id as id`,
);

/** Returns the ids that are new in the delivery. */
export async function addPostings(
  db: Queryable,
  delivery: string,
  rows: readonly StatedPosting[],
  at: Date,
): Promise<Set<string>> {
  const columns = columnsOf(rows, 'coreId', 'accountId', 'currencyCode', 'amountMinor');
  const added = await db.query<{ id: string }>(stagePostings, [db.institutionId, delivery, at, ...columns]);
  return new Set(added.rows.map(({ id }) => id));
}

const clear = (table: string) =>
  sql(
    `core_clear_${table}`,
    `delete from ${table} where ctid = any (array(
       select s.ctid from ${table} s where s.institution_id = $1 and (s.delivery = $2 or s.staged_at < $3) limit $4))`,
  );
const clears = [clear('staged_core_balances'), clear('staged_core_postings')];
const deletedAtOnce = 50_000;

/** Deletes the rows of the delivery, and those that deliveries which ended early have left before `abandoned`. */
export async function clearStage(
  database: Database,
  institutionId: InstitutionId,
  { delivery, abandoned }: { readonly delivery: string; readonly abandoned: Date },
): Promise<void> {
  for (const statement of clears) {
    const values = [institutionId, delivery, abandoned, deletedAtOnce];
    for (let deleted = deletedAtOnce; deleted === deletedAtOnce; ) {
      deleted = (await database.transaction(institutionId, (tx) => tx.query(statement, values))).rowCount;
    }
  }
}
