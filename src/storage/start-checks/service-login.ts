import type { Database } from '../database.ts';
import { DatabaseStartError } from '../hosts/database-start-error.ts';
import { sql } from '../statement.ts';

interface Standing {
  readonly login: string;
  readonly database: string;
  readonly isExempt: boolean;
  readonly isPowerful: boolean;
  readonly hasRights: boolean;
  readonly isOpen: boolean;
}

/**
 * Rights of the login, not of the session's current role, which one statement could change. A role counts if the login is a
 * member of it, even without inheritance.
 */
const standingOfLogin = sql(
  'standing_of_login',
  `with reachable as (select r.* from pg_roles r where pg_has_role(session_user, r.oid, 'member'))
   select session_user::text as login, current_database()::text as database,
          exists (select from reachable where rolsuper or rolbypassrls or rolreplication
                  or rolname in ('pg_write_all_data', 'pg_read_server_files', 'pg_write_server_files',
                                 'pg_execute_server_program', 'pg_create_subscription', 'pg_maintain')) as "isExempt",
          exists (select from reachable r where r.rolcreaterole
                  or r.oid = (select datdba from pg_database where datname = current_database())
                  or exists (select from pg_namespace n where n.nspname = 'public' and n.nspowner = r.oid)
                  or exists (select from pg_class c where c.relnamespace = 'public'::regnamespace and c.relowner = r.oid)
                  or exists (select from pg_proc p where p.pronamespace = 'public'::regnamespace and p.proowner = r.oid)
                 ) as "isPowerful",
          has_table_privilege(current_user, 'public.' || $1, 'insert') as "hasRights",
          has_database_privilege('public', current_database(), 'connect')
          or has_database_privilege(current_user, current_database(), 'temporary')
          or has_schema_privilege(current_user, 'public', 'create') as "isOpen"`,
);

/**
 * Throws DatabaseStartError if the service's login could bypass row-level security or the triggers. With `ownerServes` the
 * owner's login is accepted; a superuser never is. `setting` names the URL, and `table` one that the service inserts into.
 */
export async function refuseUnfitLogin(
  database: Database,
  ownerServes: boolean,
  { setting, table } = { setting: 'DATABASE_URL', table: 'transfers' },
): Promise<void> {
  const { rows } = await database.directory((db) => db.query<Standing>(standingOfLogin, [table]));
  const [standing] = rows;
  const reason = standing && unfitness(standing, ownerServes, setting);
  if (reason !== undefined) throw new DatabaseStartError(reason);
}

function unfitness(standing: Standing, ownerServes: boolean, setting: string): string | undefined {
  const { login, database } = standing;
  const role = `"${database}_service"`;
  if (standing.isExempt) {
    return `The login "${login}" is a superuser, or exempt from row-level security: the service must not run as it. Set ${setting} to a login that is only a member of ${role}.`;
  }
  if (standing.isPowerful && !ownerServes) {
    return `The login "${login}" owns the database or can create roles. Set ${setting} to a login that is only a member of ${role}, and MIGRATION_${setting} to this one; or set ALLOW_SERVING_AS_DATABASE_OWNER=true if you mean it.`;
  }
  if (!standing.hasRights) {
    return `The login "${login}" has no rights in the database "${database}". Let an administrator run: grant ${role} to "${login}"`;
  }
  if (standing.isOpen) {
    return `Every login of the cluster may connect to the database "${database}", or create tables in it. Run "sharedraft migrate" as its owner, which revokes that.`;
  }
  return undefined;
}

const largeObjects = sql(
  'large_objects',
  `select has_function_privilege(current_user, 'lo_create(oid)', 'execute') as "areOpen"`,
);

/** Whether the login could store data outside of all tables. An owner that is no superuser cannot revoke it. */
export async function mayCreateLargeObjects(database: Database): Promise<boolean> {
  const { rows } = await database.directory((db) => db.query<{ areOpen: boolean }>(largeObjects));
  return rows[0]?.areOpen === true;
}

interface Setting {
  readonly name: string;
  readonly actual: string | null;
  readonly expected: string;
}

/** Compares by the server's own spelling, in which 60s and 1min are equal. */
const otherSettings = sql(
  'other_settings',
  `select * from (
     select name, current_setting(name, true) as actual, set_config(name, value, true) as expected
     from unnest($1::text[], $2::text[]) as sent (name, value)
   ) compared where actual is distinct from expected`,
);

/** Throws DatabaseStartError if a pooler or the URL replaced the settings that connections send at their start. */
export async function refuseOtherSettings(database: Database): Promise<void> {
  const { rows } = await database.directory((db) =>
    db.query<Setting>(otherSettings, [Object.keys(database.settings), Object.values(database.settings)]),
  );
  if (rows.length === 0) return;
  const differing = rows.map(({ name, actual, expected }) => `${name} is ${actual}, not ${expected}`);
  throw new DatabaseStartError(
    `The service's connections do not have the settings that they send when they start (${differing.join('; ')}). DATABASE_URL must lead to PostgreSQL itself, or to a pooler that passes start-up options on, and name no options of its own.`,
  );
}
