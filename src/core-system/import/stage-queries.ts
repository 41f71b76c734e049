import {
  type Directory,
  type InstitutionId,
  insertOf,
  jsonOf,
  type Queryable,
  rowsIn,
  type Statement,
  sql,
  sqlState,
  sqlStateOf,
} from '../../storage/index.ts';
import type {
  AccountRecord,
  HolderRecord,
  MemberPersonRecord,
  MemberRecord,
  PersonRecord,
} from '../extract/extract.ts';

/** One table of the stage: the statement that inserts rows, and the keys that must be unique. */
export interface Stage<Item> {
  readonly add: Statement;
  readonly repeats: readonly { readonly columns: string; readonly find: Statement }[];
  readonly rowOf: (item: Item) => object;
}

interface Repeated {
  readonly line: number;
  readonly firstLine: number;
  readonly columns: string;
}

export interface StagedRow<Item> {
  readonly line: number;
  readonly item: Item;
}

function stageOf<Item>(
  table: string,
  { columns, keys }: { readonly columns: string; readonly keys: readonly (readonly string[])[] },
  rowOf: (item: Item) => object,
): Stage<Item> {
  return {
    add: sql(`core_add_${table}`, `${insertOf(table, `line, ${columns}`)} on conflict do nothing`),
    repeats: keys.map((key) => ({
      columns: key.join(', '),
      find: sql(
        `core_repeated_${table}_${key.join('_')}`,
        `select given.line, s.line as first_line from ${rowsIn('$2', table)} as given
         join ${table} s on s.institution_id = $1 and s.line < given.line
           and ${key.map((column) => `s.${column} = given.${column}`).join(' and ')}`,
      ),
    })),
    rowOf,
  };
}

/** The length of an index key is limited. A longer value is an error already. */
const cut = (key: string) => key.slice(0, 200);

export const personStage = stageOf<PersonRecord>(
  'staged_persons',
  {
    columns: 'person_id, first_name, last_name, email, phone_number, phone_type, birth_date',
    keys: [['person_id']],
  },
  (person) => ({ ...person, personId: cut(person.personId) }),
);

export const memberStage = stageOf<MemberRecord>(
  'staged_members',
  { columns: 'customer_id, member_number, member_type', keys: [['member_number'], ['customer_id']] },
  (member) => ({
    ...member,
    customerId: cut(member.customerId),
    memberNumber: cut(member.memberNumber),
  }),
);

export const memberPersonStage = stageOf<MemberPersonRecord>(
  'staged_member_persons',
  { columns: 'member_number, person_id, role', keys: [['member_number', 'person_id']] },
  (row) => ({ ...row, memberNumber: cut(row.memberNumber), personId: cut(row.personId) }),
);

export const accountStage = stageOf<AccountRecord>(
  'staged_accounts',
  {
    columns: `account_id, member_number, account_number, di_account_type, category, description, currency, posted, closed,
      delinquent, overdraft_limit, credit_limit, accrued_interest, fees_due, amount_due, due_given, next_due_on,
      restriction_given, transfer_restriction`,
    keys: [['account_id']],
  },
  (account) => ({
    ...account,
    accountId: cut(account.accountId),
    memberNumber: cut(account.memberNumber),
    dueGiven: account.nextDueOn !== undefined,
    restrictionGiven: account.transferRestriction !== undefined,
  }),
);

export const holderStage = stageOf<HolderRecord>(
  'staged_holders',
  { columns: 'account_id, person_id, role, may_pay', keys: [['account_id', 'person_id']] },
  (holder) => ({ ...holder, accountId: cut(holder.accountId), personId: cut(holder.personId) }),
);

/** Inserts the rows with new keys. Returns the others: the line, the first line with the key, and the columns of the key. */
export async function addToStage<Item>(
  tx: Queryable,
  stage: Stage<Item>,
  rows: readonly StagedRow<Item>[],
): Promise<Repeated[]> {
  const given = rows.map(({ line, item }) => ({ line, ...stage.rowOf(item) }));
  const values = [tx.institutionId, jsonOf(given)];
  const { rowCount } = await tx.query(stage.add, values);
  if (rowCount === rows.length) return [];
  const repeated: Repeated[] = [];
  for (const { columns, find } of stage.repeats) {
    const found = await tx.query<{ line: number; firstLine: number }>(find, values);
    for (const { line, firstLine } of found.rows) repeated.push({ line, firstLine, columns });
  }
  return repeated;
}

// Every look-up of an import is by key. plan_cache_mode stays as it is: the checks of foreign keys, one a row, would be planned anew
// each time, which takes longer than the rows.
const planByKeys = sql(
  'core_plan_by_keys',
  `select set_config('enable_seqscan', 'off', true), set_config('enable_hashjoin', 'off', true),
          set_config('enable_mergejoin', 'off', true)`,
);

/** Makes the planner look rows up by their keys until the transaction ends. */
export async function lookUpByKeys(tx: Queryable): Promise<void> {
  await tx.query(planByKeys);
}

const joinByHash = sql('core_join_by_hash', `select set_config('enable_hashjoin', 'on', true)`);

/**
 * Until the transaction ends, for the ledger's write: joined with its balances in a nested loop, its time would grow with the
 * square of the rows.
 */
export async function allowHashJoins(tx: Queryable): Promise<void> {
  await tx.query(joinByHash);
}

const waitLonger = sql('core_wait_for_locks', `select set_config('lock_timeout', '8s', true)`);

/** Until the transaction ends, waits for locks almost as long as a statement may take: a whole import is not repeated for one. */
export async function waitForLocks(tx: Queryable): Promise<void> {
  await tx.query(waitLonger);
}

const analyze = sql('core_analyze_imported', 'select analyze_imported()');

/** Updates the statistics of the stage and of the tables that an import writes. */
export async function analyzeImported(db: Directory): Promise<void> {
  await db.query(analyze);
}

const analyzeTables = sql('core_analyze_written', 'select analyze_written()');

/** The same without the stage. */
export async function analyzeWritten(db: Directory): Promise<void> {
  await db.query(analyzeTables);
}

const analyzeNew = sql(
  'core_analyze_new_tables',
  `select analyze_written() from pg_class where oid = 'accounts'::regclass and reltuples < 10000`,
);

/**
 * The same within a transaction, which keeps other analyses, vacuums and builds of indexes off the tables until it ends. So only those
 * of a database without other institutions are analyzed.
 */
export async function analyzeNewTables(tx: Queryable): Promise<void> {
  await tx.query(analyzeNew);
}

const anyMember = sql(
  'core_any_member',
  'select exists (select from customers where institution_id = $1) as has_members',
);

export async function hasMembers(tx: Queryable): Promise<boolean> {
  return (
    (await tx.query<{ hasMembers: boolean }>(anyMember, [tx.institutionId])).rows[0]?.hasMembers === true
  );
}

function nextKey(table: string, key: string) {
  return sql(
    `core_next_${table}`,
    `select ${key} as key from ${table} where institution_id = $1 and ${key} > $2
     order by ${key} offset $3 limit 1`,
  );
}

const nextKeys = {
  persons: nextKey('staged_persons', 'person_id'),
  members: nextKey('staged_members', 'member_number'),
  holders: nextKey('staged_holders', 'account_id'),
} as const;

export type StageKey = keyof typeof nextKeys;

/** The key that is `rows` rows behind `after`; undefined if fewer follow. */
export async function selectNextKey(
  tx: Queryable,
  key: StageKey,
  { after, rows }: { readonly after: string; readonly rows: number },
): Promise<string | undefined> {
  const found = await tx.query<{ key: string }>(nextKeys[key], [tx.institutionId, after, rows - 1]);
  return found.rows[0]?.key;
}

const registerRun = sql(
  'core_register_run',
  `insert into import_runs (code, institution_id)
   values ($1, coalesce($2, nextval('institutions_institution_id_seq')::integer))
   returning institution_id`,
);

/** The institution's number, under which rows are staged. A new institution's number is reserved here. */
export async function insertRun(
  db: Directory,
  code: string,
  institutionId: InstitutionId | undefined,
): Promise<InstitutionId> {
  const values = [code, institutionId ?? null];
  const { rows } = await db.query<{ institutionId: InstitutionId }>(registerRun, values);
  return (rows[0] as { institutionId: InstitutionId }).institutionId;
}

const runs = sql('core_runs', 'select code, institution_id from import_runs');

export async function selectRuns(
  db: Directory,
): Promise<{ readonly code: string; readonly institutionId: InstitutionId }[]> {
  return (await db.query<{ code: string; institutionId: InstitutionId }>(runs)).rows;
}

const removeRun = sql('core_remove_run', 'delete from import_runs where code = $1');

export async function deleteRun(db: Directory, code: string): Promise<void> {
  await db.query(removeRun, [code]);
}

const emptyStage = sql('core_empty_stage', 'select empty_import_stage($1) as emptied');

/** False if the stage has rows of another import; then nothing was deleted. */
export async function emptyStageOf(db: Directory, code: string): Promise<boolean> {
  const { rows } = await db.query<{ emptied: boolean }>(emptyStage, [code]);
  return rows[0]?.emptied === true;
}

const stagedTables = [
  'staged_persons',
  'staged_members',
  'staged_member_persons',
  'staged_accounts',
  'staged_holders',
  'staged_rejects',
];
const removals = stagedTables.map((table) =>
  sql(
    `core_clear_${table}`,
    `delete from ${table} where ctid = any (array(
       select s.ctid from ${table} s where s.institution_id = $1 limit $2))`,
  ),
);

/** Deletes at most so many rows of each table. True if none are left. */
export async function clearStage(tx: Queryable, most: number): Promise<boolean> {
  const removed = await Promise.all(removals.map((removal) => tx.query(removal, [tx.institutionId, most])));
  return removed.every(({ rowCount }) => rowCount < most);
}

// The lock of the session that imports the institution with this code. The first number tells this lock from others.
const tryLock = sql(
  'core_try_import_lock',
  'select pg_try_advisory_lock(1935893348, hashtext($1)) as locked',
);
const unlock = sql('core_unlock_import', 'select pg_advisory_unlock(1935893348, hashtext($1))');

export async function tryImportLock(db: Directory, code: string): Promise<boolean> {
  return (await db.query<{ locked: boolean }>(tryLock, [code])).rows[0]?.locked === true;
}

const waitForLock = sql('core_wait_for_import_lock', 'select pg_advisory_lock(1935893348, hashtext($1))');

/**
 * Waits for the lock in the database's queue, where a stream of records cannot pass an import. False after the time that a statement
 * waits for a lock.
 */
export async function awaitImportLock(db: Directory, code: string): Promise<boolean> {
  try {
    await db.query(waitForLock, [code]);
    return true;
  } catch (error) {
    if (sqlStateOf(error) !== sqlState.lockNotAvailable) throw error;
    return false;
  }
}

const lockUntilCommit = sql('core_lock_records', 'select pg_advisory_xact_lock(1935893348, hashtext($1))');

/** The same lock until the transaction ends. Problem `overloaded` of the transaction if an import has it. */
export async function lockAgainstImports(tx: Queryable, code: string): Promise<void> {
  await tx.query(lockUntilCommit, [code]);
}

const anyStaged = sql(
  'core_any_staged',
  `select ${stagedTables.map((table) => `exists (select from ${table} where institution_id = $1)`).join(' or ')} as staged`,
);

/** Whether an import was killed and left its stage. The caller has the lock. */
export async function hasStage(tx: Queryable): Promise<boolean> {
  return (await tx.query<{ staged: boolean }>(anyStaged, [tx.institutionId])).rows[0]?.staged === true;
}

export async function releaseImportLock(db: Directory, code: string): Promise<void> {
  await db.query(unlock, [code]);
}
