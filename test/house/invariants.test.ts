import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const read = (file: string) => readFileSync(path.join(root, file), 'utf8');
const quoted = (cell: string) => [...cell.matchAll(/`([^`]+)`/g)].map(([, one = '']) => one);

interface Line {
  readonly rule: string;
  readonly code: readonly string[];
  readonly database: readonly string[];
  readonly checks: readonly string[];
  readonly tests: readonly string[];
}

const lines: readonly Line[] = [...read('docs/invariants.md').matchAll(/^\| ([A-Z].*) \|$/gm)].map(
  ([, row = '']) => {
    const [rule = '', code = '', database = '', checks = '', tests = ''] = row.split(' | ');
    return { rule, ...mapped({ code, database, checks, tests }) };
  },
);

/** Checks of form that the patterns below do not recognize. */
const ofForm = new Set([
  'audit_anchors_institution_id_check',
  'audit_anchors_jws_check',
  'audit_chains_institution_id_check',
  'audit_entries_institution_id_check',
  'audit_entries_times_check',
  'audit_retention_institution_id_check',
  'cell_first_number_check',
  'cell_last_number_check',
  'cell_only_row_check',
  'changes_kept_only_row_check',
  'changes_subject_check',
  'event_epochs_epoch_check',
  'event_partitions_first_key_check',
  'event_partitions_last_key_check',
  'event_timeline_only_row_check',
  'hashing_key_only_row_check',
  'hashing_key_sealed_key_check',
  'import_runs_institution_id_key',
  'limit_keys_limit_key_check',
  'operator_providers_sealed_secret_check',
  'outbox_epoch_check',
  'reconcile_runs_findings_check',
  'signing_keys_algorithm_check',
  'transfer_policies_payment_options_check',
  'transfers_transfer_id_check',
  'users_username_check',
]);

test('each line of the invariants has a rule, a place in the code, a name in the database and a test', () => {
  assert.ok(lines.length > 70);
  for (const { rule, code, database, tests } of lines) {
    assert.match(rule, /\.$/);
    assert.ok(code.length > 0 && database.length > 0 && tests.length > 0, rule);
  }
});

test('code, reconcile checks and tests named by the invariants exist', () => {
  const checks = new Set(matches(read('docs/reconcile.md'), /`([a-z-]+)`/g));
  const reconciliation = globSync('src/reconciliation/*.ts', { cwd: root }).map(read).join('');
  for (const line of lines) {
    for (const place of line.code) {
      const [file = '', symbol] = place.split(':');
      assert.ok(existsSync(path.join(root, file)), place);
      if (symbol !== undefined)
        assert.match(read(file), new RegExp(`(function|class|const) ${symbol}\\b`), place);
    }
    for (const check of line.checks) {
      assert.ok(checks.has(check), check);
      assert.ok(reconciliation.includes(`'${check}'`), check);
    }
    for (const file of line.tests) assert.ok(existsSync(path.join(root, file)), file);
  }
});

test('each error code, unique key, check and foreign key of the database is an invariant or a rule of form', () => {
  const schema = read('schema.sql');
  const names = new Set(lines.flatMap((line) => line.database));
  const globs = [...names].filter((name) => name.includes('*')).map(patternOf);
  const isListed = (name: string) => names.has(name) || globs.some((glob) => glob.test(name));
  const found = rulesOf(schema);
  assert.ok(found.size > 150);
  assert.deepEqual(
    [...found].filter((name) => !isListed(name) && !ofForm.has(name)),
    [],
  );
  // The directory of the cells has a database of its own, and its schema is its migrations.
  const directory = globSync('sql/directory/**/*.sql', { cwd: root }).map(read).join('');
  const ofDirectory = [
    ...matches(directory, /errcode = '(SD\d{3})'/g),
    ...matches(directory, /constraint (\w+) /g),
    ...matches(directory, /create table (\w+) /g).map((table) => `${table}_pkey`),
  ];
  assert.ok(ofDirectory.length > 8);
  const all = new Set([...found, ...matches(schema, /constraint (\w+) /g), ...ofDirectory]);
  assert.deepEqual(
    [...names, ...ofForm].filter((name) => !name.includes('*') && !all.has(name)),
    [],
  );
});

test('a test provokes each error code of the database and compares it', () => {
  const tests = globSync('test/**/*.test.ts', { cwd: root }).map(read).join('');
  const schemas = ['schema.sql', ...globSync('sql/directory/**/*.sql', { cwd: root })].map(read).join('');
  const codes = new Set(matches(schemas, /errcode = '(SD\d{3})'/g));
  assert.ok(codes.size > 30);
  assert.deepEqual(
    [...codes].filter((code) => !tests.includes(`'${code}'`)),
    [],
  );
});

/** Names of all rules of the dumped schema except primary keys and checks of one column's form. */
function rulesOf(schema: string): Set<string> {
  const constraints = schema.matchAll(
    /constraint (\w+) (CHECK|UNIQUE|FOREIGN KEY|EXCLUDE)([^;]*?)(?:,?\n(?= {2}c|\))|;)/g,
  );
  const isOfForm = /^ \((?:length\()?\w+\)? (?:~|= ANY|= \d|<> ''|>= 1 AND length)/;
  return new Set([
    ...[...constraints].flatMap(([, name = '', kind, definition = '']) =>
      name.startsWith('staged_') || (kind === 'CHECK' && name.endsWith('_check') && isOfForm.test(definition))
        ? []
        : [name],
    ),
    ...matches(schema, /CREATE UNIQUE INDEX (\w+) /g),
    ...matches(schema, /errcode = '(SD\d{3})'/g),
    ...matches(schema, /errcode = 'check_violation', constraint = '(\w+)'/g),
  ]);
}

function matches(text: string, pattern: RegExp): string[] {
  return [...text.matchAll(pattern)].map(([, one = '']) => one);
}

function patternOf(glob: string): RegExp {
  return new RegExp(`^${glob.replaceAll('*', '\\w+')}$`);
}

function mapped<Name extends string>(cells: Readonly<Record<Name, string>>): Record<Name, readonly string[]> {
  const entries = Object.entries<string>(cells).map(([name, cell]) => [name, quoted(cell)]);
  return Object.fromEntries(entries);
}
