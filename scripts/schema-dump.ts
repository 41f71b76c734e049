import { readdir, readFile } from 'node:fs/promises';
import type pg from 'pg';

const root = new URL('../', import.meta.url);

/** Names of the roles that the rights in this database belong to. */
export interface RoleNames {
  readonly service: string;
  readonly backup: string;
}

interface Part {
  /** The table, or the function's name. */
  readonly of: string;
  readonly text: string;
}

/**
 * The schema of a migrated database as statements that psql loads, by module. The embedded PostgreSQL has no pg_dump. Roles
 * have the names of a database called sharedraft.
 */
export async function dumpSchema(client: pg.Client, roles: RoleNames): Promise<string> {
  const parts = async (text: string, values: unknown[] = []) => (await client.query<Part>(text, values)).rows;
  const [tables, functions, lateConstraints, triggers, policies, rights] = [
    await parts(tablesQuery),
    await parts(functionsQuery, [roles.service]),
    await parts(lateConstraintsQuery),
    await parts(triggersQuery),
    await parts(policiesQuery),
    await parts(rightsQuery, [roles.service]),
  ];
  const modules = await modulesByFile();
  const byModule = (title: string, from: readonly Part[]) =>
    modules.flatMap((module) => {
      const mine = from.filter((part) => module.objects.has(part.of)).map((part) => part.text);
      return mine.length === 0
        ? []
        : [section(title === '' ? module.title : `${title}: ${module.title}`), ...mine];
    });
  return [
    heading,
    ...byModule('', tables),
    section('Functions, from sql/functions'),
    ...functions.map((part) => part.text),
    section('Constraints and indexes that call functions'),
    ...lateConstraints.map((part) => part.text),
    ...byModule('Triggers', triggers),
    section('Row-level security'),
    ...policies.map((part) => part.text),
    section('Rights'),
    backupRights,
    ...rights.map((part) => part.text),
    '',
  ]
    .join('\n')
    .replaceAll(roles.service, 'sharedraft_service')
    .replaceAll(roles.backup, 'sharedraft_backup');
}

/** Each migration is a module; its tables, types and sequences are those that it creates. */
async function modulesByFile(): Promise<{ title: string; objects: ReadonlySet<string> }[]> {
  const files = (await readdir(new URL('migrations/', root))).sort();
  const own = { title: 'storage', objects: new Set(['schema_migrations', 'schema_functions']) };
  const texts = await Promise.all(files.map((file) => readFile(new URL(`migrations/${file}`, root), 'utf8')));
  // A table that a later migration creates anew stays where it was: others refer to it.
  const known = new Set<string>();
  const modules = files.map((file, index) => {
    const created = (texts[index] ?? '').matchAll(/^create (?:unlogged )?(?:table|type|sequence) (\w+)/gm);
    const names = [...created].map(([, name = '']) => name).filter((name) => !known.has(name));
    for (const name of names) known.add(name);
    return {
      title: file.slice('0000_'.length, -'.sql'.length).replaceAll('_', ' '),
      objects: new Set(names),
    };
  });
  return [own, ...modules];
}

function section(title: string): string {
  return `-- ${'-'.repeat(105)}\n-- ${title}\n`;
}

const heading = `-- Generated from the migrated database by "npm run generate"; not to be edited.
--
-- psql -f schema.sql loads it into an empty database. The service does not serve such a database, since it has no record of
-- its migrations; it creates its own schema. A comment of a table or column follows its table.
--
-- Two roles are named after the database (ADR 18); here it is called sharedraft. sharedraft_service has the rights at the
-- end of this file, sharedraft_backup reads every row.

set check_function_bodies = off;

do $$
begin
  create role sharedraft_service nologin;
exception when duplicate_object then null;
end
$$;

do $$
begin
  create role sharedraft_backup nologin;
exception when duplicate_object then null;
end
$$;
`;

const backupRights = `grant select on all tables in schema public to sharedraft_backup;
grant select on all sequences in schema public to sharedraft_backup;
`;

/** Of an index i: on the result of a function of sql/functions. */
const indexCallsFunction = `exists (
  select from pg_depend d join pg_proc f on f.oid = d.refobjid and f.pronamespace = 'public'::regnamespace
  where d.classid = 'pg_class'::regclass and d.objid = i.indexrelid and d.refclassid = 'pg_proc'::regclass)`;

const callsFunction = `exists (
  select from pg_depend d join pg_proc p on p.oid = d.refobjid and p.pronamespace = 'public'::regnamespace
  where d.classid = 'pg_constraint'::regclass and d.objid = k.oid and d.refclassid = 'pg_proc'::regclass)`;

/** Types, sequences and tables, each table with its constraints, indexes and comments, in the order of their creation. */
const tablesQuery = `
  with cell as (
    select a.attrelid, a.attnum, a.attname::text as name,
      concat(
        format_type(a.atttypid, a.atttypmod),
        case when a.attcollation <> t.typcollation then format(' collate %I', co.collname) end,
        case when a.attnotnull and c.relkind in ('r', 'p') then ' not null' end,
        case when a.attidentity = 'a' then ' generated always as identity'
             when a.attgenerated = 's' then format(' generated always as (%s) stored', pg_get_expr(d.adbin, d.adrelid))
             when d.adbin is not null then ' default ' || pg_get_expr(d.adbin, d.adrelid) end) as rest,
      max(length(a.attname::text)) over (partition by a.attrelid) as width
    from pg_attribute a
    join pg_class c on c.oid = a.attrelid and c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p', 'c')
    join pg_type t on t.oid = a.atttypid
    left join pg_collation co on co.oid = a.attcollation
    left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
    where a.attnum > 0 and not a.attisdropped
  ),
  cells as (
    select attrelid, string_agg(format('  %s  %s', rpad(name, width), rest), E',\\n' order by attnum) as text
    from cell group by attrelid
  ),
  -- A constraint of a new table is valid, also one that a migration added to existing rows without a check.
  constraints as (
    select k.conrelid, string_agg(format(E',\\n  constraint %s %s', k.conname, replace(pg_get_constraintdef(k.oid, true), ' NOT VALID', '')), ''
      order by array_position('{p,u,f,c}'::"char"[], k.contype), k.conname collate "C") as text
    from pg_constraint k where k.contype in ('p', 'u', 'f', 'c') and k.conparentid = 0 and not ${callsFunction}
    group by k.conrelid
  ),
  indexes as (
    select i.indrelid, string_agg(E'\\n' || regexp_replace(pg_get_indexdef(i.indexrelid), ' ON (ONLY )?public\\.', ' ON ') || ';', ''
      order by c.relname collate "C") as text
    from pg_index i join pg_class c on c.oid = i.indexrelid
    where not exists (select from pg_constraint k where k.conindid = i.indexrelid and k.contype in ('p', 'u'))
      and not ${indexCallsFunction}
    group by i.indrelid
  ),
  comments as (
    select d.objoid, string_agg(
      case when d.objsubid = 0 then format(E'\\ncomment on table %s is %L;', c.relname, d.description)
           else format(E'\\ncomment on column %s.%s is %L;', c.relname, a.attname, d.description) end, '' order by d.objsubid) as text,
      string_agg(format(E'\\ncomment on table %s is %L;', c.relname, d.description), '') filter (where d.objsubid = 0) as whole
    from pg_description d join pg_class c on c.oid = d.objoid
    left join pg_attribute a on a.attrelid = d.objoid and a.attnum = d.objsubid
    where d.classoid = 'pg_class'::regclass group by d.objoid
  )
  select coalesce(parent.relname, c.relname)::text as of, case
      when c.relispartition then format(E'create table %s partition of %s %s;%s\\n', c.relname, parent.relname,
        lower(pg_get_expr(c.relpartbound, c.oid)), comments.whole)
      when c.relkind = 'S' then format(E'create sequence %s as %s increment by %s;\\n', c.relname, s.data_type, s.increment_by)
      when c.relkind = 'c' then format(E'create type %s as (\\n%s\\n);\\n', c.relname, cells.text)
      else format(E'create %stable %s (\\n%s%s\\n)%s%s;%s%s\\n', case c.relpersistence when 'u' then 'unlogged ' end, c.relname,
        cells.text, constraints.text, case c.relkind when 'p' then ' partition by ' || pg_get_partkeydef(c.oid) end, ' with (' || array_to_string(c.reloptions, ', ') || ')', indexes.text, comments.text) end as text
  from pg_class c
  left join pg_inherits i on i.inhrelid = c.oid and c.relispartition
  left join pg_class parent on parent.oid = i.inhparent
  left join cells on cells.attrelid = c.oid
  left join constraints on constraints.conrelid = c.oid
  left join indexes on indexes.indrelid = c.oid
  left join comments on comments.objoid = c.oid
  left join pg_sequences s on c.relkind = 'S' and s.schemaname = 'public' and s.sequencename = c.relname
  where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p', 'c', 'S')
    and not exists (select from pg_depend d where d.objid = c.oid and d.deptype = 'i' and c.relkind = 'S')
  order by coalesce(parent.oid, c.oid), c.relispartition, c.oid`;

const functionsQuery = `
  select p.proname::text as of, concat(
    rtrim(replace(pg_get_functiondef(p.oid), 'FUNCTION public.', 'FUNCTION '), E'\\n'), E';\\n',
    case when not exists (select from aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a where a.grantee = 0)
         then format(E'revoke execute on function %s from public;\\n', p.oid::regprocedure) end,
    case when exists (select from aclexplode(p.proacl) a where a.grantee = to_regrole(quote_ident($1))::oid)
         then format(E'grant execute on function %s to %I;\\n', p.oid::regprocedure, $1) end) as text
  from pg_proc p where p.pronamespace = 'public'::regnamespace order by p.proname collate "C"`;

const lateConstraintsQuery = `
  select * from (
    select k.conrelid::regclass::text as of,
      format(E'alter table %s add constraint %s %s;\\n', k.conrelid::regclass, k.conname, pg_get_constraintdef(k.oid, true)) as text
    from pg_constraint k where k.contype = 'c' and k.connamespace = 'public'::regnamespace and ${callsFunction}
    union all
    select i.indrelid::regclass::text, replace(pg_get_indexdef(i.indexrelid), ' ON public.', ' ON ') || E';\\n'
    from pg_index i join pg_class c on c.oid = i.indexrelid
    where c.relnamespace = 'public'::regnamespace and ${indexCallsFunction}
  ) late
  order by text collate "C"`;

const triggersQuery = `
  select c.relname::text as of, string_agg(pg_get_triggerdef(t.oid, true) || E';\\n'
           || case t.tgenabled when 'A' then format(E'ALTER TABLE %s ENABLE ALWAYS TRIGGER %s;\\n', c.relname, t.tgname) else '' end,
           '' order by t.tgname collate "C") as text
  from pg_trigger t join pg_class c on c.oid = t.tgrelid
  where c.relnamespace = 'public'::regnamespace and not t.tgisinternal and t.tgparentid = 0 group by c.oid order by c.oid`;

const policiesQuery = `
  select c.relname::text as of, concat(
    format('alter table %s enable row level security', c.relname),
    case when c.relforcerowsecurity then ', force row level security' end, E';\\n',
    (select string_agg(format('create policy %I on %s%s%s using (%s);', p.polname, c.relname,
        case p.polcmd when 'r' then ' for select' else '' end,
        ' to ' || (select string_agg(r.oid::regrole::text, ', ') from pg_roles r where r.oid = any (p.polroles)),
        pg_get_expr(p.polqual, p.polrelid)), E'\\n' order by p.polname desc)
     from pg_policy p where p.polrelid = c.oid), E'\\n') as text
  from pg_class c where c.relnamespace = 'public'::regnamespace and c.relrowsecurity order by c.relname collate "C"`;

const rightsQuery = `
  with granted as (
    select c.oid, c.relkind, c.relname, string_agg(lower(a.privilege_type), ', ' order by a.privilege_type) as rights
    from pg_class c cross join lateral aclexplode(c.relacl) a
    where c.relnamespace = 'public'::regnamespace and a.grantee = to_regrole(quote_ident($1))::oid
    group by c.oid
    union all
    select c.oid, c.relkind, c.relname, format('%s (%s)', lower(a.privilege_type), string_agg(t.attname, ', ' order by t.attnum))
    from pg_class c join pg_attribute t on t.attrelid = c.oid cross join lateral aclexplode(t.attacl) a
    where c.relnamespace = 'public'::regnamespace and a.grantee = to_regrole(quote_ident($1))::oid
    group by c.oid, a.privilege_type
  )
  select relname::text as of, format('grant %s on %s%s to %I;', string_agg(rights, ', ' order by rights),
    case relkind when 'S' then 'sequence ' else '' end, relname, $1) as text
  from granted group by oid, relkind, relname order by relkind, relname collate "C"`;
