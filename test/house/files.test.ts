import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const read = (file: string) => readFileSync(path.join(root, file), 'utf8');

/** Files that other programs wrote, kept as they came. */
const asTheyCame = /^(test\/fixtures|bench\/results|docs\/pictures|package-lock\.json)/;

test('every text file keeps to .editorconfig', (context) => {
  if (!existsSync(path.join(root, '.git'))) return context.skip('not a git checkout');
  const files = execFileSync('git', ['ls-files', '-z'], { cwd: root, encoding: 'utf8' }).split('\0');
  const faults = files
    .filter((file) => file !== '' && !asTheyCame.test(file) && existsSync(path.join(root, file)))
    .flatMap((file) => faultsOf(file, read(file)).map((fault) => `${file}: ${fault}`));
  assert.deepEqual(faults, []);
});

function faultsOf(file: string, text: string): string[] {
  const faults: [boolean, string][] = [
    [text.includes('\uFFFD'), 'is not UTF-8'],
    [text.includes('\r'), 'has a carriage return'],
    [/(^|\n)\t/.test(text) && !file.endsWith('.go'), 'is indented by a tab'],
    [text !== '' && !text.endsWith('\n'), 'has no newline at its end'],
    [/[ \t]\n/.test(text) && !file.endsWith('.md'), 'has trailing spaces'],
  ];
  return faults.filter(([isFault]) => isFault).map(([, fault]) => fault);
}

test('package.json, .nvmrc and the Node in the packages name one version', () => {
  const { engines, optionalDependencies } = JSON.parse(read('package.json')) as {
    engines: { node: string };
    optionalDependencies: Record<string, string>;
  };
  const packaged = Object.entries(optionalDependencies).filter(([name]) => name.startsWith('node-'));
  const versions = [...new Set(packaged.map(([, version]) => version))];
  assert.deepEqual(versions, [read('.nvmrc').trim()]);
  assert.equal(engines.node, `>=${versions[0]?.split('.')[0]}`);
});

/** Reports of their time name the files of their time. */
const history = /^(CHANGELOG\.md|bench\/NOTES\.md|docs\/adr\/|bench\/results|package-lock\.json)/;

test('texts and scripts name only files that exist', (context) => {
  if (!existsSync(path.join(root, '.git'))) return context.skip('not a git checkout');
  const files = execFileSync('git', ['ls-files', '-z'], { cwd: root, encoding: 'utf8' }).split('\0');
  const missing = files
    .filter((file) => file !== '' && !history.test(file) && existsSync(path.join(root, file)))
    .flatMap((file) => {
      // The client is a package of its own, whose paths begin in its folder.
      const from = path.join(root, file.startsWith('client/') ? 'client' : '');
      const named = read(file).matchAll(
        /(?<![\w./-])(?:src|test|scripts|dev|sql|migrations)\/[\w./-]+\.(?:ts|mjs|sql)\b/g,
      );
      return [...named].flatMap(([name]) =>
        existsSync(path.join(root, name)) || existsSync(path.join(from, name)) ? [] : [`${file}: ${name}`],
      );
    });
  assert.deepEqual(missing, []);
});
