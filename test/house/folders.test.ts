import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const composition = ['service', 'service-log', 'stores', 'config', 'demo', 'transfer-rules', 'cli'];
const modules = [
  'http',
  'transfers',
  'auth',
  'members',
  'core',
  'accounts',
  'ledger',
  'events',
  'institutions',
  'storage',
];
const leaves = [
  'database-urls',
  'describe-error',
  'fair-share',
  'helper-threads',
  'page',
  'problem',
  'public-id',
  'readable-text',
  'trusted-users',
  'uuid',
  'within',
];

/** The table of ARCHITECTURE.md. What is not named may not be imported. */
const mayImport: Readonly<Record<string, readonly string[]>> = {
  main: [...composition, ...modules],
  cli: [...composition, ...modules],
  demo: ['stores', 'transfer-rules', ...modules],
  'transfer-rules': ['core', 'institutions', 'transfers'],
  service: ['service-log', 'stores', 'config', ...modules],
  'service-log': [],
  stores: ['service-log', 'config', ...modules],
  config: [],
  http: ['auth', 'members', 'accounts', 'transfers', 'events', 'institutions'],
  transfers: ['members', 'accounts', 'ledger', 'institutions', 'events', 'storage'],
  auth: ['members', 'institutions', 'events', 'storage'],
  members: ['core', 'ledger', 'institutions', 'events', 'storage'],
  core: ['accounts', 'ledger', 'institutions', 'events', 'storage'],
  accounts: ['ledger', 'institutions', 'storage'],
  ledger: ['storage'],
  events: ['storage'],
  institutions: ['storage'],
  storage: [],
  page: [],
  'database-urls': [],
  'describe-error': [],
  problem: [],
  'public-id': [],
  'readable-text': [],
  'fair-share': [],
  'helper-threads': [],
  'trusted-users': [],
  uuid: [],
  within: [],
};

/** Who alone may know a package. */
const onlyIn: Readonly<Record<string, string>> = {
  pg: 'storage',
  fastify: 'http',
  commander: 'cli main',
  jose: 'auth',
  'xml-crypto': 'auth',
  '@xmldom/xmldom': 'auth',
  '@node-rs/argon2': 'auth',
};

interface Import {
  readonly file: string;
  readonly from: string;
  readonly target: string;
}

const files = globSync('src/**/*.ts', { cwd: root }).filter((file) => !file.endsWith('.test.ts'));
const imports: Import[] = files.flatMap((file) => {
  const text = readFileSync(path.join(root, file), 'utf8');
  const targets = [...text.matchAll(/^(?:import|export)\b[^;]*?\bfrom '([^']+)'|\bimport\('([^']+)'\)/gm)];
  return targets.map((match) => ({ file, from: placeOf(file), target: match[1] ?? match[2] ?? '' }));
});

/** The module a file belongs to, or its own name when it stands in src itself. */
function placeOf(file: string): string {
  const [, first = '', second] = file.split(path.sep);
  return second === undefined ? first.replace(/\.ts$/, '') : first;
}

function breaches(test: (one: Import) => string | undefined): string[] {
  return imports.flatMap((one) => {
    const breach = test(one);
    return breach === undefined ? [] : [`${one.file}: ${breach}`];
  });
}

function ours(one: Import): { readonly place: string; readonly file: string } | undefined {
  if (!one.target.startsWith('.')) return undefined;
  const file = path.relative(root, path.resolve(root, path.dirname(one.file), one.target));
  return { place: placeOf(file), file };
}

test('the imports of the sources are seen at all', () => {
  assert.ok(files.length > 80);
  assert.ok(imports.some((one) => one.file.endsWith('settle.ts') && one.target === '../ledger/index.ts'));
});

test('every folder of src has its row in the import table', () => {
  assert.deepEqual(
    [...new Set(files.map(placeOf))].filter((place) => !(place in mayImport)),
    [],
  );
});

test('arrows point downward only', () => {
  const found = breaches((one) => {
    const target = ours(one);
    if (target === undefined || target.place === one.from || leaves.includes(target.place)) return undefined;
    return mayImport[one.from]?.includes(target.place) ? undefined : `may not know ${target.place}`;
  });
  assert.deepEqual(found, []);
});

test('a module is entered through its index', () => {
  const found = breaches((one) => {
    const target = ours(one);
    const inside = target !== undefined && modules.includes(target.place) && target.place !== one.from;
    return inside && path.basename(target.file) !== 'index.ts' ? `reaches into ${target.file}` : undefined;
  });
  assert.deepEqual(found, []);
});

test('a package with a home is known to nobody else', () => {
  const found = breaches((one) => {
    const home = onlyIn[one.target];
    return home === undefined || home.split(' ').includes(one.from)
      ? undefined
      : `may not know ${one.target}`;
  });
  assert.deepEqual(found, []);
});

test('only the configuration reads the environment', () => {
  // The server's own start-up needs the PATH, and hands nothing else on.
  const readers = files.filter((file) => /process\.env\b/.test(readFileSync(path.join(root, file), 'utf8')));
  assert.deepEqual(readers.toSorted(), ['src/config.ts', 'src/storage/embedded-postgres.ts']);
});

test('every module says what it owns', () => {
  for (const module of modules) {
    const index = readFileSync(path.join(root, 'src', module, 'index.ts'), 'utf8');
    assert.match(index, /^\/\*\*\n \* [\s\S]{80,}?\*\//, `src/${module}/index.ts`);
  }
});
