import assert from 'node:assert/strict';
import { globSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { declaredStatements, type SocketConnection } from '../../src/storage/index.ts';
import { inCamelCase } from '../../src/storage/pipelined-query.ts';
import { type TestDatabase, testDatabase, testDirectory } from '../support/database.ts';
import { asSuperuser } from '../support/postgres.ts';
import { type Member, type QueryCall, readQueryCalls } from '../support/row-types.ts';

/* Compares the columns that the migrated database describes for each statement with the row type of the calls that send it. */

const root = fileURLToPath(new URL('../..', import.meta.url));

/** The kind of a value in a row, by its database type; a type that is not listed is not compared. */
const kindOfType: Readonly<Record<string, string>> = {
  bool: 'boolean',
  int2: 'number',
  int4: 'number',
  oid: 'number',
  float4: 'number',
  float8: 'number',
  int8: 'bigint',
  numeric: 'string',
  text: 'string',
  varchar: 'string',
  bpchar: 'string',
  name: 'string',
  uuid: 'string',
  date: 'string',
  timestamptz: 'Date',
  bytea: 'Uint8Array',
  _bool: 'boolean[]',
  _int4: 'number[]',
  _int8: 'string[]',
  _text: 'string[]',
  _timestamptz: 'Date[]',
};

/**
 * A call whose statement only its callers know, or that the service may not send: those of the archive of events. Each names a row type
 * that this test cannot match.
 */
const mostUnmatchedCalls = 4;

/** Columns that may be null in their table or behind an outer join, and never are in this statement, for a reason that its text does not show. */
const neverNull: ReadonlySet<string> = new Set([
  // Only a failed transfer has no type, and a failed transfer is not pending.
  'transfers_pending_page.transfer_type',
  // The table that is inserted into stands in an outer join of the source, too.
  ...['account_key', 'account_id', 'currency'].map((column) => `accounts_merge_accounts.${column}`),
  // The code drops a row without a holder.
  'transfers_account_facts.may_pay',
  // The code drops a row without a person, or without an event.
  ...['role', 'first_name', 'last_name'].map((column) => `core_membership.${column}`),
  ...['epoch', 'kind', 'at'].map((column) => `events_feed.${column}`),
  // The statement asks for an epoch, and the parts of a checkpoint stand together.
  ...['at', 'epoch'].map((column) => `reconciliation_checkpoint.${column}`),
]);

interface Column {
  readonly name: string;
  readonly type: string;
  /** A column of a table that may be null there, and that the statement does not ask to be present. */
  readonly mayBeNull: boolean;
}

let db: TestDatabase;
let calls: QueryCall[];
let described: Map<string, Column[]>;
before(async () => {
  db = await testDatabase();
  const files = globSync('src/**/*.ts', { cwd: root });
  for (const file of files) {
    if (!/\.(test|d)\.ts$|^src\/main\.ts$/.test(file)) await import(`../../${file}`);
  }
  calls = readQueryCalls();
  described = await describeAll();
});
after(() => db.close());

async function describeAll(): Promise<Map<string, Column[]>> {
  await using directory = await testDirectory();
  const isOfDirectory = (name: string) => name.startsWith('directory_');
  const ofDirectory = await describe(directory.owner, isOfDirectory);
  return new Map([...(await describe(db.connection, (name) => !isOfDirectory(name))), ...ofDirectory]);
}

async function describe(
  connection: SocketConnection,
  isMeant: (name: string) => boolean,
): Promise<Map<string, Column[]>> {
  return asSuperuser(connection, async (client) => {
    const { rows: types } = await client.query(`select oid, typname from pg_type`);
    const { rows: nullable } = await client.query(
      `select attrelid || '.' || attnum as place from pg_attribute where not attnotnull and attnum > 0`,
    );
    const { rows: tables } = await client.query(
      `select oid, relname from pg_class where relkind in ('r', 'p', 'v')`,
    );
    const tableNames = new Map(tables.map(({ oid, relname }) => [Number(oid), String(relname)]));
    const typeNames = new Map(types.map(({ oid, typname }) => [Number(oid), String(typname)]));
    const mayBeNull = new Set(nullable.map(({ place }) => place));
    const all = new Map<string, Column[]>();
    for (const { name, text } of declaredStatements.values()) {
      if (!isMeant(name)) continue;
      const fields = await fieldsOf(client, text);
      const columns = fields.map((field) => ({
        name: field.name,
        type: typeNames.get(field.dataTypeID) ?? String(field.dataTypeID),
        mayBeNull:
          (mayBeNull.has(`${field.tableID}.${field.columnID}`) ||
            outerTables(text).has(tableNames.get(field.tableID) ?? '')) &&
          !text.includes(`${field.name} is not null`) &&
          !neverNull.has(`${name}.${field.name}`),
      }));
      all.set(name, columns);
    }
    return all;
  });
}

/** The tables that an outer join may leave without a row. */
function outerTables(text: string): Set<string> {
  const tables = new Set<string>();
  for (const match of text.matchAll(/\bleft join (?:lateral )?(\w+|\()/g)) {
    const [whole, name = ''] = match;
    if (name !== '(') tables.add(name);
    else {
      const inside = parenthesized(text, match.index + whole.length);
      for (const [, table = ''] of inside.matchAll(/\b(?:from|join) (\w+)/g)) tables.add(table);
    }
  }
  return tables;
}

function parenthesized(text: string, start: number): string {
  let depth = 1;
  let at = start;
  while (depth > 0 && at < text.length) {
    if (text[at] === '(') depth += 1;
    if (text[at] === ')') depth -= 1;
    at += 1;
  }
  return text.slice(start, at);
}

interface Wire {
  parse(message: { name: string; text: string }): void;
  describe(message: { type: 'S'; name: string }): void;
  sync(): void;
}

/** Prepares without running; pg has no call of its own for this. */
function fieldsOf(client: pg.Client, text: string): Promise<pg.FieldDef[]> {
  const { promise, resolve, reject } = Promise.withResolvers<pg.FieldDef[]>();
  let fields: pg.FieldDef[] = [];
  let failure: Error | undefined;
  const { Query } = pg as unknown as { readonly Query: new (config: { text: string }) => object };
  class Description extends Query {
    submit(wire: Wire): null {
      wire.parse({ name: '', text });
      wire.describe({ type: 'S', name: '' });
      wire.sync();
      return null;
    }
    handleRowDescription(message: { readonly fields: pg.FieldDef[] }): void {
      fields = message.fields;
    }
    handleError(error: Error): void {
      failure = error;
    }
    handleReadyForQuery(): void {
      if (failure === undefined) resolve(fields);
      else reject(failure);
    }
  }
  client.query(new Description({ text: '' }) as never);
  return promise;
}

function statementsOf(call: QueryCall): string[] {
  const patterns = call.statements ?? [];
  return [...described.keys()].filter((name) => patterns.some((pattern) => pattern.test(name)));
}

function faultsOf(call: QueryCall): string[] {
  return statementsOf(call).flatMap((statement) => {
    const columns = new Map<string, Column>();
    for (const column of described.get(statement) ?? []) columns.set(inCamelCase(column.name), column);
    return (call.members ?? []).flatMap((member) =>
      faultsOfMember(member, columns.get(member.name)).map(
        (fault) => `${call.place}: ${statement}: ${member.name} ${fault}`,
      ),
    );
  });
}

function faultsOfMember({ kinds, isOptional }: Member, column: Column | undefined): string[] {
  if (column === undefined) return isOptional ? [] : ['is no column'];
  const kind = kindOfType[column.type];
  if (kinds === undefined || kind === undefined) return [];
  const isKnown = kinds.has(kind) || (kind === 'Uint8Array' && kinds.has('Buffer'));
  return [
    ...(isKnown ? [] : [`is ${[...kinds].join(' | ')}, and the column is ${column.type}`]),
    ...(column.mayBeNull && !kinds.has('null') ? ['may be null'] : []),
  ];
}

test('the columns of every statement have the names and kinds of the row type of the calls that send it', (context) => {
  // A call that passes on its caller's statement and row type, or whose rows no code reads, has nothing to compare.
  const unmatched = calls.filter(({ statements, members }) =>
    statements === undefined ? members !== undefined && members.length > 0 : members === undefined,
  );
  assert.deepEqual(calls.flatMap(faultsOf), []);
  const compared = calls.length - unmatched.length;
  context.diagnostic(
    `${compared} calls compared, ${unmatched.length} not: ${unmatched.map(({ place }) => place)}`,
  );
  assert.ok(compared > 150, `${compared} calls`);
  assert.ok(unmatched.length <= mostUnmatchedCalls, unmatched.map(({ place }) => place).join(', '));
});

test('a misnamed column, a wrong kind and a forgotten null are faults', () => {
  const member = (kinds: readonly string[]): Member => ({
    name: 'amount',
    isOptional: false,
    kinds: new Set(kinds),
  });
  const column = (type: string, mayBeNull: boolean): Column => ({ name: 'amount', type, mayBeNull });
  assert.deepEqual(faultsOfMember(member(['bigint']), undefined), ['is no column']);
  assert.deepEqual(faultsOfMember(member(['number']), column('int8', false)), [
    'is number, and the column is int8',
  ]);
  assert.deepEqual(faultsOfMember(member(['bigint']), column('int8', true)), ['may be null']);
  assert.deepEqual(faultsOfMember(member(['bigint', 'null']), column('int8', true)), []);
});
