import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/* Messages of the command line for wrong arguments. None of these needs a database. */

const main = fileURLToPath(new URL('../../src/main.ts', import.meta.url));

function run(...words: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [main, ...words], (_, stdout, stderr) => {
      resolve({ code: child.exitCode ?? -1, stdout, stderr });
    });
  });
}

const wrong: readonly (readonly [words: string, message: RegExp])[] = [
  ['nonsense', /unknown command 'nonsense'/],
  ['client nonsense', /unknown command 'nonsense'/],
  ['client create app', /name the --scopes of the client.*account:read, .*events:read/],
  ['client create app --token-lifetime 5', /From 60 to 86400/],
  ['client create a+b --scopes account:read', /letters, digits/],
  ['client create app:1 --scopes account:read', /letters, digits/],
  ['client set app --assertion-audience anything', /issuer, token-endpoint/],
  ['client set app --introspection any', /Allowed choices are own, all/],
  ['client set app --registration-refusals vague', /Allowed choices are uniform, distinct/],
  ['client set app --id-prefix=key:mine', /A prefix has 2 to 32/],
  ['client set app', /name at least one option to change/],
  ['audit --action nope', /login, client_token, .*provider\.removed/],
  ['audit --since 5', /an ISO date or time/],
  ['audit --since 2026-02-31', /an ISO date or time/],
  ['audit --until 2026-02-28T25:00Z', /an ISO date or time/],
  ['audit --since 1h --until 2h', /--since is later than --until/],
  ['audit --address 192.0.2.0/', /an address, or a network/],
  ['audit --address 192.0.2.0/-1', /an address, or a network/],
  ['transfer approve some-id --operator Ann', /unknown option '--operator'/],
  ['transfer decline some-id --as=', /Must have 1 to 128 characters/],
  ['transfer decline some-id --as=Ann\n2026-01-01', /in one line/],
  ['client create app --name=App\u2028x', /in one line/],
  ['client create app --name=App\u202Ex', /all of them visible/],
  [`client set app --name=${'x'.repeat(129)}`, /Must have 1 to 128 characters/],
];

for (const [words, message] of wrong) {
  test(`sharedraft ${JSON.stringify(words)} exits with code 2 and one sentence, and points to help if there is some`, async () => {
    const { code, stdout, stderr } = await run(...words.split(' '));
    assert.equal(code, 2, stderr);
    assert.match(stderr, message);
    assert.match(stderr, /see --help/);
    assert.equal(stdout, '');
  });
}

test('asking for help exits with code 0', async () => {
  for (const words of ['--help', 'help client']) {
    const { code, stdout, stderr } = await run(...words.split(' '));
    assert.equal(code, 0, stderr);
    assert.notEqual(stdout, '');
  }
});

test('keeps the compile cache for the next start, and runs silently without one', async () => {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'sharedraft-compiled-'));
  const command = fileURLToPath(new URL('../../bin/sharedraft', import.meta.url));
  try {
    for (const kept of [path.join(folder, 'kept'), '/dev/null/nowhere']) {
      const env = { ...process.env, NODE_COMPILE_CACHE: kept };
      const { stdout, stderr } = await promisify(execFile)(command, ['--version'], { env });
      assert.match(stdout, /^\d+\.\d+\.\d+\n$/);
      assert.equal(stderr, '');
    }
    const [version = ''] = await readdir(path.join(folder, 'kept'));
    assert.notDeepEqual(await readdir(path.join(folder, 'kept', version)), []);
  } finally {
    await rm(folder, { recursive: true });
  }
});
