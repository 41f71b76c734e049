import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { folders, packageHomes } from './import-table.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
/** Folders without an index: each of their files may be imported by itself. */
const withoutIndex = ['main', 'cli', 'app', 'shared'];
const modules = Object.keys(folders).filter((folder) => !withoutIndex.includes(folder));

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

test('finds imports in the sources', () => {
  assert.ok(files.length > 80);
  assert.ok(imports.some((one) => one.file.endsWith('settle.ts') && one.target === '../../ledger/index.ts'));
});

test('every folder of src has a row in the import table', () => {
  assert.deepEqual(
    [...new Set(files.map(placeOf))].filter((place) => !(place in folders)),
    [],
  );
});

test('every folder of src holds at most fifteen files', () => {
  // Tests beside the code count too: a reader of the folder sees them in the same list.
  const held = Map.groupBy(globSync('src/**/*.ts', { cwd: root }), (file) => path.dirname(file));
  const full = [...held].filter(([, inside]) => inside.length > 15);
  assert.deepEqual(
    full.map(([folder, inside]) => `${folder}: ${inside.length}`),
    [],
  );
});

test('imports point downward only', () => {
  const found = breaches((one) => {
    const target = ours(one);
    if (target === undefined || target.place === one.from) return undefined;
    return folders[one.from]?.imports.includes(target.place) ? undefined : `may not know ${target.place}`;
  });
  assert.deepEqual(found, []);
});

test('modules are entered through their index only', () => {
  const found = breaches((one) => {
    const target = ours(one);
    const inside = target !== undefined && modules.includes(target.place) && target.place !== one.from;
    return inside && path.basename(target.file) !== 'index.ts' ? `reaches into ${target.file}` : undefined;
  });
  assert.deepEqual(found, []);
});

test('each package with a home folder is imported only there', () => {
  const found = breaches((one) => {
    const home = packageHomes[one.target];
    return home === undefined || home.split(' ').includes(one.from)
      ? undefined
      : `may not know ${one.target}`;
  });
  assert.deepEqual(found, []);
});

test('only the configuration reads the environment', () => {
  // The server's own start-up needs the PATH, and passes nothing else on.
  const readers = files.filter((file) => /process\.env\b/.test(readFileSync(path.join(root, file), 'utf8')));
  assert.deepEqual(readers.toSorted(), ['src/app/config.ts', 'src/embedded-postgres/server-process.ts']);
});

test('every module names the tables that it owns', () => {
  for (const module of modules) {
    const index = readFileSync(path.join(root, 'src', module, 'index.ts'), 'utf8');
    assert.match(index, /^\/\*\*\n \* [\s\S]{80,}?\*\//, `src/${module}/index.ts`);
  }
});
