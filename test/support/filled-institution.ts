import type { TestCell } from './cells.ts';

/*
 * An institution with one row in every table that has institutions, and a value in every column. The rows mean nothing: they show that a
 * move brings each column of each table, and deletes each row that it should. No check and no trigger stands in their way.
 */

interface Column {
  readonly table: string;
  readonly name: string;
  readonly type: string;
}

/** Values that a copy by way of text, JSON or floating-point numbers would change. */
const values: Readonly<Record<string, string>> = {
  bigint: '9007199254740993',
  boolean: 'true',
  bytea: '\\x00ff5c27',
  cidr: '10.0.0.0/8',
  date: '2024-02-29',
  'double precision': '0.1',
  inet: '10.0.0.7',
  integer: '7',
  interval: '1 day 02:03:04.000005',
  jsonb: '{"a": [1, "ä\\u2028", null, 9007199254740993]}',
  numeric: '12345678901234567890.12',
  smallint: '7',
  text: `ä'"\\ 	x`,
  'timestamp with time zone': '2026-03-08 06:59:59.999999+00',
  'time without time zone': '23:59:59.999999',
  uuid: '0b6f2bd4-4f5b-4f0e-9a5e-0d8d6d0f0a01',
  xid8: '18446744073709551000',
};

function literalOf({ table, name, type }: Column, institutionId: number): string {
  if (name === 'institution_id') return String(institutionId);
  const element = type.replace(/\[\]$/, '');
  const value = values[element];
  if (value === undefined) throw new Error(`${table}.${name}: the type ${type} needs a value`);
  const text = `'${value.replaceAll("'", "''")}'::${element}`;
  return type === element ? text : `array[${text}, ${text}]`;
}

/** The checks of both cells end with it. So it is for the last test of a file, and services must have stopped. */
export async function fillInstitution(
  cells: readonly TestCell[],
  home: TestCell,
  { institutionId, tables }: { readonly institutionId: number; readonly tables: readonly string[] },
): Promise<void> {
  for (const cell of cells) {
    const checks = await cell.rows<{ statement: string }>(
      `select format('alter table %s drop constraint %I', c.conrelid::regclass, c.conname) as statement
       from pg_constraint c join pg_class t on t.oid = c.conrelid
       where c.contype = 'c' and c.coninhcount = 0 and t.relnamespace = 'public'::regnamespace`,
    );
    await cell.rows(checks.map(({ statement }) => statement).join('; '));
  }
  const columns = await home.rows<Column>(
    `select c.relname::text as table, quote_ident(a.attname) as name, format_type(a.atttypid, null) as type
     from pg_class c join pg_attribute a on a.attrelid = c.oid
     where c.relnamespace = 'public'::regnamespace and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
       and c.relname = any ('{${tables.join()}}') order by 1, a.attnum`,
  );
  const inserts = [...Map.groupBy(columns, ({ table }) => table)].map(([table, ofOne]) => {
    const names = ofOne.map(({ name }) => name).join(', ');
    const row = ofOne.map((column) => literalOf(column, institutionId)).join(', ');
    return `insert into public."${table}" (${names}) overriding system value values (${row})`;
  });
  await home.rows(`set session_replication_role = 'replica'; ${inserts.join('; ')}`);
}
