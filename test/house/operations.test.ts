import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { browserRoutes } from '../../src/http/sign-in/browser-routes.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const read = (file: string) => readFileSync(path.join(root, file), 'utf8');
const paths = Object.keys(JSON.parse(read('openapi.json')).paths);
const literals = (one: string) => one.split('/').filter((part) => part !== '' && !part.startsWith('{'));

test('README names each operation of openapi.json and no other', () => {
  const table = /^## Operations\n\n(.*?)\n\n/ms.exec(read('README.md'))?.[1] ?? '';
  const quoted = [...table.matchAll(/`([^`]+)`/g)].flatMap(([, one = '']) => one.split('/'));
  const named = new Set(quoted.filter((part) => part !== '' && part !== '…' && !part.startsWith('{')));
  assert.ok(named.size > 20);
  const lasts = paths.map((one) => literals(one).at(-1) ?? '');
  const missing = lasts.filter((last) => !named.has(last));
  assert.deepEqual(missing, []);
  const known = new Set(paths.flatMap(literals));
  assert.deepEqual(
    [...named].filter((part) => !known.has(part)),
    [],
  );
});

test('openapi.json or a page has every path of the API that a document names', () => {
  const documents = ['README.md', ...globSync('docs/**/*.md', { cwd: root }), 'examples/README.md'];
  const pages = browserRoutes.map((route) => route.path);
  const templates = [...paths, ...pages].map((one) => one.split('/'));
  const isKnown = (named: string) => {
    const parts = named.split('/');
    return templates.some((template) =>
      parts.every((part, place) => {
        const expected = template[place];
        const isAny = part === '…' || part === '' || expected?.startsWith('{');
        return expected !== undefined && (isAny || part === expected);
      }),
    );
  };
  let count = 0;
  for (const document of documents) {
    for (const [named] of read(document).matchAll(/\/(?:digitalbanking|auth\/v2)\/[\w/{}.$…-]*/g)) {
      count += 1;
      const isExample = named.endsWith('/nothing');
      assert.ok(isExample || isKnown(named.replace(/[./]+$/, '')), `${document}: ${named}`);
    }
  }
  assert.ok(count > 20);
});
