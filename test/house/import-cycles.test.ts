import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const files = globSync('src/**/*.ts', { cwd: root });
const importsOf = new Map(files.map((file) => [file, importedBy(file)]));

function importedBy(file: string): string[] {
  const text = readFileSync(path.join(root, file), 'utf8');
  return [...text.matchAll(/^(?:import|export)\b[^;]*?\bfrom '(\.[^']+)'|\bimport\('(\.[^']+)'\)/gm)].map(
    (match) => path.join(path.dirname(file), match[1] ?? match[2] ?? ''),
  );
}

test('no two files of src import each other, types included', () => {
  assert.ok(importsOf.get('src/storage/index.ts')?.includes('src/storage/database.ts'), 'imports are found');
  const pairs = files.flatMap((file) =>
    (importsOf.get(file) ?? [])
      .filter((target) => file < target && importsOf.get(target)?.includes(file))
      .map((target) => `${file} and ${target}`),
  );
  assert.deepEqual(pairs, []);
});
