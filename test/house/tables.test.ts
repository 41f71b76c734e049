import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { readsEverything, tableOwners } from './table-owners.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** A table that a file of a module reads or writes. */
interface Use {
  readonly file: string;
  readonly module: string;
  readonly table: string;
  readonly writes: boolean;
}

/** Folders of database functions that belong to a module of another name. */
const moduleOfFunctions: Readonly<Record<string, string>> = { 'transfer-rules': 'transfers' };

const uses: readonly Use[] = [
  // The edge has no SQL; its descriptions would read like it.
  ...globSync('src/**/*.ts', { cwd: root, exclude: ['src/http/**', '**/*.test.ts'] }).flatMap((file) =>
    usesOf(file, file.split(path.sep)[1] ?? ''),
  ),
  // A trigger that needs a table of a higher module belongs to that module, for any table.
  ...globSync('sql/functions/*/*.sql', { cwd: root }).flatMap((file) => {
    const [, , folder = ''] = file.split(path.sep);
    return usesOf(file, moduleOfFunctions[folder] ?? folder);
  }),
];

/** Found by the words before a table's name, or by its quoted name in a file of queries, where a template inserts it. Comments are left out. */
function usesOf(file: string, module: string): Use[] {
  const text = readFileSync(path.join(root, file), 'utf8').replace(/^\s*(?:\/\/|\/?\*|--).*$/gm, '');
  const found = text.matchAll(
    /\b(insert into|delete from|update|merge into|truncate|from|join|using)\s+(?:only\s+)?(?:public\.)?(\w+)|'(\w+)'/gi,
  );
  return [...found].flatMap(([, word = '', named, quoted]) => {
    const table = named ?? (file.endsWith('queries.ts') ? quoted : undefined) ?? '';
    const writes = /^(?:insert|delete|update|merge|truncate)/i.test(word);
    return Object.hasOwn(tableOwners, table) ? [{ file, module, table, writes }] : [];
  });
}

function breachOf({ file, module, table, writes }: Use): string | undefined {
  const { owner = '', readers = [] } = tableOwners[table] ?? {};
  if (module === owner) return undefined;
  if (writes) return `${file} writes ${table}, which ${owner} owns`;
  if (readers.includes(module) || readsEverything.includes(module)) return undefined;
  return `${file} reads ${table}, which ${owner} owns`;
}

test('the test sees the tables that the sources read and write', () => {
  assert.ok(uses.some(({ module, table, writes }) => module === 'ledger' && table === 'entries' && writes));
  assert.ok(uses.some(({ module, table, writes }) => module === 'feed' && table === 'outbox' && !writes));
});

test('every table of the schema has an owner', () => {
  const schema = readFileSync(path.join(root, 'schema.sql'), 'utf8');
  const tables = [...schema.matchAll(/^CREATE (?:UNLOGGED )?TABLE (?:public\.)?(\w+) \(/gim)].map(
    ([, name]) => name,
  );
  assert.ok(tables.length > 40);
  const directory = globSync('sql/directory/migrations/*.sql', { cwd: root }).flatMap((file) =>
    [...readFileSync(path.join(root, file), 'utf8').matchAll(/^create table (\w+) \(/gm)].map(
      ([, name]) => name,
    ),
  );
  assert.ok(directory.length > 5);
  assert.deepEqual([...tables, ...directory].toSorted(), Object.keys(tableOwners).toSorted());
});

test('a module writes only the tables that it owns, and reads only those that it may', () => {
  assert.deepEqual([...new Set(uses.flatMap((use) => breachOf(use) ?? []))], []);
});
