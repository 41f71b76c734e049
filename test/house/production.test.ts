import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { blocksOf } from '../../scripts/production/blocks.ts';

/* The page on production, as far as a machine without root can check it; scripts/production.ts runs it. */

const file = (name: string) => fileURLToPath(new URL(`../../${name}`, import.meta.url));
const blocks = blocksOf(readFileSync(file('docs/production.md'), 'utf8'));

test('the page on production has a walk from the database to the upgrade, and each block is a valid shell script', () => {
  assert.ok(blocks.length >= 15);
  for (const { heading, text } of blocks) {
    const { status, stderr } = spawnSync('bash', ['-n'], { input: text, encoding: 'utf8' });
    assert.equal(status, 0, `${heading}: ${stderr}`);
    assert.doesNotMatch(text, /git\.example|scp |…/, `${heading} has a word that no stand-in replaces`);
  }
});

test('every file that the page on production installs exists', () => {
  const text = blocks.map((block) => block.text).join('\n');
  const files = [...text.matchAll(/\/opt\/sharedraft\/((?:ops|bin)\/[\w./-]*\w)/g)].map(
    ([, name = '']) => name,
  );
  assert.ok(files.length >= 5);
  for (const name of files) assert.ok(existsSync(file(name)), name);
});

test('the page on production is followed without its sections that replace others', () => {
  const headings = new Set(blocks.map(({ heading }) => heading));
  assert.equal(headings.has('Containers'), false);
  assert.equal(headings.has('10. Upgrades'), true);
});
