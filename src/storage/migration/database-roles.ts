import pg from 'pg';
import { sqlState, sqlStateOf } from '../errors.ts';
import { DatabaseStartError } from '../hosts/database-start-error.ts';

/*
 * Roles belong to a cluster, databases do not. Each database has roles of its own, named after it, so that two databases of
 * one cluster are apart (ADR 18): `<database>_service` may do what the service does, `<database>_backup` reads every row and
 * writes none. Both own nothing. Logins are members of them.
 */

/** Placeholder in migrations and functions for the name of the database's service role. */
const placeholder = 'sharedraft_service';

/** The login of the service in an embedded database. */
export const embeddedLogin = 'sharedraft_app';

const longestNameBytes = 63;

export interface DatabaseRoles {
  readonly service: string;
  readonly backup: string;
}

/** Throws DatabaseStartError if a role name cannot begin with the database's name. */
export function rolesOf(database: string): DatabaseRoles {
  const roles = { service: `${database}_service`, backup: `${database}_backup` };
  if (/['"\\$\p{Cc}]/u.test(database) || Buffer.byteLength(roles.service) > longestNameBytes) {
    throw new DatabaseStartError(
      'The name of the database must have at most 55 bytes and no quotes, backslashes or dollar signs: its roles are named after it.',
    );
  }
  return roles;
}

/** The text of a migration or function for this database, whose roles already exist. */
export function forDatabase(text: string, { service }: DatabaseRoles): string {
  return text.replaceAll(placeholder, () => pg.escapeIdentifier(service));
}

/** Throws DatabaseStartError if a role is missing and this login may not create it. */
export async function createMissingRoles(client: pg.Client, roles: DatabaseRoles): Promise<void> {
  const { rows } = await client.query<{ statement: string }>(
    `select format('create role %I nologin', name) as statement from unnest($1::text[]) name
     where to_regrole(quote_ident(name)) is null`,
    [Object.values(roles)],
  );
  const statements = rows.map((row) => row.statement);
  for (const statement of statements) {
    await client.query(statement).catch((cause) => {
      if (sqlStateOf(cause) === sqlState.duplicateObject) return;
      if (sqlStateOf(cause) !== sqlState.insufficientPrivilege) throw cause;
      throw new DatabaseStartError(
        `This login may not create roles. Let an administrator run: ${statements.join('; ')}`,
        cause,
      );
    });
  }
}

/**
 * The statements that are missing until both roles have their rights and PUBLIC has none. A database that was migrated by an
 * older program, renamed, or restored under another name gave the rights to a role of another name: they move. New tables
 * get the policy by which a backup reads them.
 */
const missingRights = `
  with role as (
    select service.oid as service, backup.oid as backup, quote_ident($1) as service_name, quote_ident($2) as backup_name
    from pg_roles service, pg_roles backup where service.rolname = $1 and backup.rolname = $2
  ),
  object as (
    select format('%s %I.%I', case c.relkind when 'S' then 'sequence' else 'table' end, n.nspname, c.relname) as name,
           '' as columns, c.relacl as acl, c.relkind in ('r', 'p', 'S') as is_dumped
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = 'public' and c.relkind in ('r', 'p', 'S', 'v')
    union all
    select format('table %I.%I', n.nspname, c.relname), format(' (%I)', a.attname), a.attacl, false
    from pg_attribute a join pg_class c on c.oid = a.attrelid join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = 'public' and a.attacl is not null and not a.attisdropped
    union all
    select format('function %s', p.oid::regprocedure), '', p.proacl, false
    from pg_proc p where p.pronamespace = 'public'::regnamespace and p.proacl is not null
  ),
  granted as (
    select a.grantee from object o cross join lateral aclexplode(o.acl) a
    union select a.grantee from pg_database d cross join lateral aclexplode(d.datacl) a
    where d.datname = current_database()
  ),
  former as (
    select r.oid, r.rolname, right(r.rolname, 8) = '_service' as served
    from granted g join pg_roles r on r.oid = g.grantee, role
    where r.oid not in (role.service, role.backup)
      and (right(r.rolname, 8) = '_service' or right(r.rolname, 7) = '_backup')
  )
  select statement from (
    select 1 as step, format('grant %s%s on %s to %s', a.privilege_type, o.columns, o.name, role.service_name) as statement
    from role, object o cross join lateral aclexplode(o.acl) a join former f on f.oid = a.grantee and f.served
    union all
    select 2, format('revoke all%s on %s from %I', o.columns, o.name, f.rolname)
    from object o cross join lateral aclexplode(o.acl) a join former f on f.oid = a.grantee
    union all
    select 2, format('revoke all on database %I from %I', d.datname, f.rolname)
    from pg_database d cross join lateral aclexplode(d.datacl) a join former f on f.oid = a.grantee
    where d.datname = current_database()
    union all
    select 3, format('grant select on %s to %s', o.name, role.backup_name)
    from role, object o
    where o.is_dumped and not exists (
      select from aclexplode(o.acl) a where a.grantee = role.backup and a.privilege_type = 'SELECT')
    union all
    select 4, case when p.oid is null
                   then format('create policy backup on %I.%I for select to %s using (true)', 'public', c.relname, role.backup_name)
                   else format('alter policy backup on %I.%I to %s', 'public', c.relname, role.backup_name) end
    from role, pg_class c left join pg_policy p on p.polrelid = c.oid and p.polname = 'backup'
    where c.relnamespace = 'public'::regnamespace and c.relrowsecurity and p.polroles is distinct from array[role.backup]
    union all
    select 5, format('revoke connect, temporary on database %I from public', current_database())
    where has_database_privilege('public', current_database(), 'connect')
       or has_database_privilege('public', current_database(), 'temporary')
    union all
    select 6, format('grant connect on database %I to %I', current_database(), r.rolname)
    from role, pg_roles r join pg_database d on d.datname = current_database()
    where r.oid in (role.service, role.backup)
      and not exists (select from aclexplode(d.datacl) a where a.grantee = r.oid and a.privilege_type = 'CONNECT')
    union all
    select 7, 'revoke create on schema public from public' where has_schema_privilege('public', 'public', 'create')
    union all
    -- Large objects are outside of tables, and so of row-level security. Only a superuser may revoke this.
    select 8, format('revoke execute on function %s from public', p.oid::regprocedure)
    from pg_proc p
    where p.pronamespace = 'pg_catalog'::regnamespace and p.proname ~ '^lo(_|read|write)'
      and has_function_privilege('public', p.oid, 'execute')
      and (select rolsuper from pg_roles where rolname = current_user)
  ) missing
  group by step, statement order by step, statement`;

/**
 * Runs in one transaction. Throws DatabaseStartError if the database came from a dump without the service role: it may not insert into
 * the table then.
 */
export async function grantMissingRights(
  client: pg.Client,
  roles: DatabaseRoles,
  table: string,
): Promise<void> {
  const { rows } = await client.query<{ statement: string }>(missingRights, [roles.service, roles.backup]);
  if (rows.length > 0) {
    await client
      .query(['begin', ...rows.map((row) => row.statement), 'commit'].join(';\n'))
      .catch(async (error) => {
        await client.query('rollback');
        throw error;
      });
  }
  const { rows: rights } = await client.query<{ granted: boolean }>(
    `select has_table_privilege($1, 'public.' || $2, 'insert') as granted`,
    [roles.service, table],
  );
  if (rights[0]?.granted !== true) {
    const service = pg.escapeIdentifier(roles.service);
    throw new DatabaseStartError(
      `The role ${service} has no rights in this database: roles belong to a cluster and are in no dump of a database. Create it before (create role ${service} nologin) and restore anew.`,
    );
  }
}

/** Creates the login if it is missing, and makes it a member of the role. */
export async function createLogin(
  client: pg.Client,
  login: string,
  { service }: DatabaseRoles,
): Promise<void> {
  const [name, role] = [pg.escapeIdentifier(login), pg.escapeIdentifier(service)];
  const { rows } = await client.query<{ exists: boolean; member: boolean }>(
    `select r.oid is not null as exists, pg_has_role(r.oid, $2, 'usage') as member
     from (select to_regrole(quote_ident($1))::oid) r (oid)`,
    [login, service],
  );
  if (rows[0]?.exists !== true) {
    await client.query(`create role ${name} login`).catch((error) => {
      // Another database of the cluster has the same login.
      if (sqlStateOf(error) !== sqlState.duplicateObject) throw error;
    });
  }
  if (rows[0]?.member !== true) await client.query(`grant ${role} to ${name}`);
}
