import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const root = fileURLToPath(new URL('../..', import.meta.url));

test('the notes of a release are the part of CHANGELOG.md below the heading of its version', async () => {
  const changelog = readFileSync(`${root}CHANGELOG.md`, 'utf8');
  const { version } = JSON.parse(readFileSync(`${root}package.json`, 'utf8')) as { version: string };
  const { stdout } = await promisify(execFile)(process.execPath, ['scripts/release.mjs', '--notes'], {
    cwd: root,
  });
  assert.ok(changelog.includes(`## ${version}\n\n${stdout.trim()}\n`));
  assert.doesNotMatch(stdout, /^## /m);
});
