import { opensSigningKeys, openVault } from '../auth/index.ts';
import type { CellDirectory } from '../cell-directory/index.ts';
import {
  type Cell,
  findCell,
  findInstitution,
  findInstitutionByCode,
  type Institution,
} from '../institutions/index.ts';
import { sqlState, sqlStateOf } from '../storage/index.ts';
import type { Channel } from './replication.ts';
import { directoryCalled, nameAway, run, type Side, SideAwayError } from './side.ts';

/** A move that was refused before it changed anything. The message is for the operator. */
export class MoveRefusedError extends Error {
  override readonly name = 'MoveRefusedError';
}

/** Processes use keys that they reserved before the cell had its numbers for so long (PostingKeys). */
const settledMillis = 60_000;

export interface Secrets {
  readonly current: Uint8Array;
  readonly other: Uint8Array | undefined;
}

export interface Cells {
  readonly source: Cell;
  readonly target: Cell;
}

/** The cells of both sides. Throws MoveRefusedError unless they are two cells, and the target has the name. */
export async function findCells(source: Side, target: Side, name: string): Promise<Cells> {
  const [here, there] = await Promise.all([findCell(source.db), findCell(target.db)]);
  if (here === undefined) refuse('This database is no cell yet. Run "sharedraft cell set" first.');
  // So the two databases are different ones, since the other has another name.
  if (name === here.name)
    refuse(`The institution is in the cell "${here.name}". CELL_DATABASE_URL and --to name another one.`);
  if (there === undefined)
    refuse('The database of CELL_DATABASE_URL is no cell yet. Run "sharedraft cell set" there.');
  if (there.name !== name)
    refuse(`The database of CELL_DATABASE_URL is the cell "${there.name}", not "${name}".`);
  if (here.firstNumber <= there.lastNumber && there.firstNumber <= here.lastNumber)
    refuse(
      `The cells have numbers in common: ${here.firstNumber}-${here.lastNumber} here, ${there.firstNumber}-${there.lastNumber} there.`,
    );
  const wait = settledMillis - Date.now() + Math.max(here.setAt.getTime(), there.setAt.getTime());
  if (wait > 0) refuse(`The cell got its numbers just now. Try again in ${Math.ceil(wait / 1000)} seconds.`);
  return { source: here, target: there };
}

/** Throws MoveRefusedError for a login that cannot run a move. */
export async function requireRights(side: Side, name: string): Promise<void> {
  const [has] = await run<{
    login: string;
    owner: boolean;
    all: boolean;
    subscribe: boolean;
    quiet: boolean;
    stats: boolean;
  }>(
    side.db,
    `select current_user::text as login, r.rolsuper or r.rolreplication and r.rolbypassrls as all,
            pg_has_role(d.datdba, 'usage') as owner,
            r.rolsuper or exists (select from pg_roles s
                                  where s.rolname = 'pg_create_subscription' and pg_has_role(s.oid, 'usage')) as subscribe,
            r.rolsuper or has_parameter_privilege('session_replication_role', 'set') as quiet,
            pg_has_role('pg_read_all_stats', 'usage') as stats
     from pg_roles r, pg_database d where r.rolname = current_user and d.datname = current_database()`,
  );
  if (has?.owner && has.all && has.subscribe && has.quiet && has.stats) return;
  refuse(
    `${name}: the login "${has?.login}" needs more rights for a move: to own the database, REPLICATION, BYPASSRLS, the roles pg_create_subscription and pg_read_all_stats, and to set session_replication_role; or let a superuser move.`,
  );
}

interface MoveToCheck {
  /** As the source has it. */
  readonly institution: Institution;
  readonly cells: Cells;
  readonly secrets: Secrets;
  readonly channel: Channel;
}

/** Throws MoveRefusedError if the two databases or the institution do not fit together. */
export async function requireFit(
  source: Side,
  target: Side,
  { institution, cells, secrets, channel }: MoveToCheck,
): Promise<void> {
  const { institutionId, code } = institution;
  await requireServers(source, target);
  const versions = await Promise.all([source, target].map(versionOf));
  if (versions[0] !== versions[1])
    refuse(
      'The two databases have other migrations or functions. Bring both cells to the same version first.',
    );
  const [level] = await run<{ level: string }>(source.db, `select current_setting('wal_level') as level`);
  if (level?.level !== 'logical')
    refuse('The server of this cell needs wal_level = logical, and a restart for it.');
  await requireNamedStandbys(source, target);
  await requireRoom(source, target, channel);
  await requireSameSecrets(source, target, secrets);
  const [byId, byCode] = await Promise.all([
    findInstitution(target.db, institutionId),
    findInstitutionByCode(target.db, code),
  ]);
  if (byCode !== undefined && byCode.institutionId !== institutionId)
    refuse(`The cell "${cells.target.name}" has another institution with the code "${code}".`);
  if (byId?.served === 'left')
    refuse(`The cell "${cells.target.name}" still keeps the copy of before. Confirm its move there first.`);
  if (
    byId !== undefined &&
    byId.served !== 'gone' &&
    !(byId.served === 'arriving' && byId.otherCell === cells.source.name)
  )
    refuse(`The cell "${cells.target.name}" has an institution with the number ${institutionId}.`);
  await requireFreeNames(source, target, institution);
}

/** PostgreSQL 15 is the first with filters of rows. */
const leastServer = 15;

/** Throws MoveRefusedError for a server that is too old. This command has migrated the source only, which asks the same. */
async function requireServers(source: Side, target: Side): Promise<void> {
  for (const [cell, { db }] of [
    ['this cell', source],
    ['the other cell', target],
  ] as const) {
    const [server] = await run<{ major: number; version: string }>(
      db,
      `select current_setting('server_version_num')::integer / 10000 as major, current_setting('server_version') as version`,
    );
    if (server === undefined || server.major < leastServer)
      refuse(
        `The server of ${cell} is PostgreSQL ${server?.version}, and a move needs ${leastServer} or newer.`,
      );
  }
}

/** With `*` the other cell's subscription counts as a standby: commits of every institution would wait for it, and for no standby. */
async function requireNamedStandbys(source: Side, target: Side): Promise<void> {
  for (const [cell, { db }] of [
    ['this cell', source],
    ['the other cell', target],
  ] as const) {
    const [server] = await run<{ names: string }>(
      db,
      `select current_setting('synchronous_standby_names') as names`,
    );
    if (server?.names.includes('*'))
      refuse(
        `synchronous_standby_names of ${cell} has a *, which would take the subscription of a move for a standby. Name the standbys there, or repeat the command once Patroni has.`,
      );
  }
}

/** A slot, a sender and a worker follow the source, and others of each copy the tables. A copy that finds none free would wait for ever. */
const leastFree = 2;

/** This move may have taken some before it was interrupted. */
async function requireRoom(source: Side, target: Side, { slot }: Channel): Promise<void> {
  const [here] = await run<{ slots: number; senders: number }>(
    source.db,
    `select current_setting('max_replication_slots')::integer
              - (select count(*)::integer from pg_replication_slots where slot_name <> $1) as slots,
            current_setting('max_wal_senders')::integer
              - (select count(*)::integer from pg_stat_replication where application_name <> $1) as senders`,
    [slot],
  );
  const [there] = await run<{ workers: number }>(
    target.db,
    `select current_setting('max_logical_replication_workers')::integer
              - (select count(*)::integer from pg_stat_subscription where pid is not null and subname <> $1) as workers`,
    [slot],
  );
  const settings = [
    ['this cell', 'max_replication_slots', here?.slots],
    ['this cell', 'max_wal_senders', here?.senders],
    ['the other cell', 'max_logical_replication_workers', there?.workers],
  ] as const;
  for (const [cell, setting, free = 0] of settings)
    if (free < leastFree)
      refuse(
        `The server of ${cell} has ${free} left of ${setting}, and a move needs ${leastFree}: raise it.`,
      );
}

async function versionOf({ db }: Side): Promise<string> {
  const [row] = await run<{ version: string }>(
    db,
    `select (select string_agg(version || ' ' || checksum, ',' order by version) from schema_migrations)
            || (select string_agg(name || ' ' || checksum, ',' order by name) from schema_functions) as version`,
  );
  return row?.version ?? '';
}

/** Sealed secrets and stored hashes move as they are. */
async function requireSameSecrets(source: Side, target: Side, secrets: Secrets): Promise<void> {
  const vaults = await Promise.all(
    [source, target].map(async ({ database }) => {
      const vault = await openVault(database, secrets, { mayWrite: false });
      const opens = !vault.isHashingKeyLost && (await opensSigningKeys(database, vault));
      return opens ? vault.hash('comparison of cells', '').toString('hex') : undefined;
    }),
  );
  if (vaults[0] === undefined || vaults[0] !== vaults[1])
    refuse('The two cells need the same SECRET_KEY, since what it sealed and hashed moves along.');
}

/** Client ids, identity providers and host names are unique in a cell. */
async function requireFreeNames(source: Side, target: Side, { institutionId }: Institution): Promise<void> {
  for (const [table, name] of [
    ['client_directory', 'client_id'],
    ['provider_directory', `issuer || ' ' || audience`],
    ['institutions', 'host'],
  ] as const) {
    // One that is gone has its names at another cell.
    const holds = table === 'institutions' ? `served <> 'gone'` : 'true';
    const own = await run<{ name: string }>(
      source.db,
      `select ${name} as name from ${table} where institution_id = $1 and ${name} is not null`,
      [institutionId],
    );
    const taken = await run<{ name: string }>(
      target.db,
      `select ${name} as name from ${table} where institution_id <> $1 and ${holds} and ${name} = any ($2::text[])`,
      [institutionId, own.map((row) => row.name)],
    );
    if (taken.length > 0)
      refuse(`Another institution of the target has: ${taken.map((row) => row.name).join(', ')} (${table}).`);
  }
}

/**
 * Throws MoveRefusedError unless the directory, if there is one, can send the institution's requests to the target. It is asked before the
 * institution closes, so that one that is away lengthens no pause.
 */
export async function requireListed({
  directory,
  institution: { institutionId, code },
  cells: { source, target },
}: {
  readonly directory?: CellDirectory | undefined;
  readonly institution: Institution;
  readonly cells: Cells;
}): Promise<void> {
  if (directory === undefined) return;
  const [cells, place] = await Promise.all([
    directory.listCells(),
    directory.find({ kind: 'institution', institutionId }),
  ]).catch(refuseDirectory);
  const listed = cells.find(({ name }) => name === target.name);
  if (listed === undefined)
    refuse(`The directory does not have the cell "${target.name}". Run "sharedraft cell set" there.`);
  if (listed.state === 'out') refuse(`The cell "${target.name}" is out, as the directory says.`);
  if (place !== undefined && place.cell !== source.name)
    refuse(
      `The directory says that the cell "${place.cell}" serves "${code}". Run "sharedraft cell publish --take ${code}" here if that is wrong.`,
    );
}

function refuseDirectory(error: unknown): never {
  const named = nameAway(error, directoryCalled);
  if (named instanceof SideAwayError)
    refuse(`${named.message} Nothing has changed: repeat the command when it is back.`);
  const state = sqlStateOf(error);
  if (state !== sqlState.undefinedColumn && state !== sqlState.undefinedTable) throw error;
  refuse(
    'The directory of the cells has an older schema than this program. Run "sharedraft migrate" with MIGRATION_DIRECTORY_DATABASE_URL first.',
  );
}

export function refuse(sentence: string): never {
  throw new MoveRefusedError(sentence);
}
