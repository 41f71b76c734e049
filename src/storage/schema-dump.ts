import type pg from 'pg';

/**
 * The schema as the database has it after all migrations, for people to read and reviews to diff. Ordered by name, so
 * that the same schema always gives the same text. (The embedded package has no pg_dump.)
 */
export async function dumpSchema(client: pg.Client): Promise<string> {
  const sections: string[] = [];
  for (const [title, text] of Object.entries(catalogQueries)) {
    const { rows } = await client.query<{ line: string }>(text);
    sections.push(`-- ${title}\n\n${rows.map((row) => row.line).join('\n')}\n`);
  }
  return `${heading}\n${sections.join('\n')}`;
}

const heading = `-- Generated from the migrated database by "npm run generate"; not to be edited.
--
-- Two roles are named after the database: <database>_service, which may do what the last section lists, and <database>_backup,
-- which may read all of it. The policy "backup" of each table with row-level security lets the second one see every row.
`;

const catalogQueries: Readonly<Record<string, string>> = {
  Sequences: `
    select format('create sequence %s as %s increment by %s;', sequencename, data_type, increment_by) as line
    from pg_sequences s where schemaname = 'public'
      and not exists (select from pg_depend d where d.deptype = 'i'
                      and d.objid = format('%I.%I', s.schemaname, s.sequencename)::regclass)
    order by sequencename`,
  Types: `
    select format(E'create type %s as (\\n%s\\n);\\n', c.relname, string_agg(
             format('  %s %s', a.attname, format_type(a.atttypid, a.atttypmod)), E',\\n' order by a.attnum)) as line
    from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    where c.relnamespace = 'public'::regnamespace and c.relkind = 'c'
    group by c.relname order by c.relname`,
  Tables: `
    select format(E'create %s %s (\\n%s\\n)%s;\\n', case c.relpersistence when 'u' then 'unlogged table' else 'table' end, c.relname,
      (select string_agg(x.line, E',\\n' order by x.part, x.place, x.line) from (
         select 1 as part, a.attnum::integer as place, format('  %s %s%s%s%s', a.attname, format_type(a.atttypid, a.atttypmod),
           case when a.attcollation <> t.typcollation then format(' collate %I', co.collname) else '' end,
           case when a.attnotnull then ' not null' else '' end,
           case when a.attidentity = 'a' then ' generated always as identity'
                when a.attgenerated = 's'
                then format(' generated always as (%s) stored', pg_get_expr(d.adbin, d.adrelid))
                when d.adbin is not null then ' default ' || pg_get_expr(d.adbin, d.adrelid) else '' end) as line
         from pg_attribute a
         join pg_type t on t.oid = a.atttypid
         left join pg_collation co on co.oid = a.attcollation
         left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
         where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
         union all
         select 2, 0, format('  constraint %s %s', conname, pg_get_constraintdef(oid, true))
         from pg_constraint where conrelid = c.oid and contype <> 'n') x),
      case when c.reloptions is null then '' else format(' with (%s)', array_to_string(c.reloptions, ', ')) end) as line
    from pg_class c where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' order by c.relname`,
  Indexes: `
    select pg_get_indexdef(i.indexrelid) || ';' as line
    from pg_index i join pg_class c on c.oid = i.indexrelid
    where c.relnamespace = 'public'::regnamespace
      and not exists (select from pg_constraint k where k.conindid = i.indexrelid)
    order by c.relname`,
  Functions: `
    select rtrim(pg_get_functiondef(p.oid), E'\\n') || E';\\n' as line
    from pg_proc p where p.pronamespace = 'public'::regnamespace order by p.proname`,
  Triggers: `
    select pg_get_triggerdef(t.oid, true) || ';' as line
    from pg_trigger t join pg_class c on c.oid = t.tgrelid
    where c.relnamespace = 'public'::regnamespace and not t.tgisinternal order by t.tgname`,
  'Row-level security': `
    select format('%s%s: %s using %s', c.relname, case when c.relforcerowsecurity then ' (forced)' else '' end,
                  p.polname, pg_get_expr(p.polqual, p.polrelid)) as line
    from pg_class c left join pg_policy p on p.polrelid = c.oid
    where c.relnamespace = 'public'::regnamespace and c.relrowsecurity and p.polname is distinct from 'backup'
    order by c.relname, p.polname`,
  'What the service may': `
    select format('%s: %s', what, string_agg(privilege, ', ' order by privilege)) as line from (
      select table_name as what, lower(privilege_type) as privilege
      from information_schema.role_table_grants
      where grantee = current_database() || '_service' and table_schema = 'public'
      union all
      select table_name, format('update (%s)', string_agg(column_name, ', ' order by column_name))
      from information_schema.role_column_grants g
      where grantee = current_database() || '_service' and table_schema = 'public' and privilege_type = 'UPDATE'
        and not exists (select from information_schema.role_table_grants t
                        where t.grantee = g.grantee and t.table_name = g.table_name and t.privilege_type = 'UPDATE')
      group by table_name) granted
    group by what order by what`,
};
