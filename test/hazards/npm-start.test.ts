import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { after, afterEach, before, test } from 'node:test';
import { promisify, stripVTControlCharacters } from 'node:util';
import { welcome } from '../../src/cli/commands/serve/serve.ts';
import { paths, send } from '../support/demo.ts';
import {
  addressOf,
  eventually,
  exitOf,
  freePort,
  isAlive,
  type Launched,
  launch,
  postmasterOf,
} from '../support/processes.ts';

/* Commands that people type. */

let parent: string;
let dataDir: string;
before(async () => {
  parent = await mkdtemp(path.join(os.tmpdir(), 'sharedraft-npm-'));
  await chmod(parent, 0o755);
  dataDir = path.join(parent, 'data');
});
after(() => rm(parent, { recursive: true, force: true }));

/** Resolves when it has exited and no writer of its output is left: npm and the service that npm started. */
const allEnded = new Map<Launched, Promise<unknown>>();

function npmStart(
  environment: Record<string, string> = {},
  command: readonly [string, ...string[]] = ['npm', 'start'],
): Launched {
  const launched = launch(command, { DATA_DIR: dataDir, ...environment });
  allEnded.set(launched, new Promise((resolve) => launched.child.once('close', resolve)));
  return launched;
}

afterEach(async () => {
  for (const [{ child }, ended] of allEnded) {
    try {
      process.kill(-(child.pid as number), 'SIGTERM');
    } catch {
      // The whole group has ended.
    }
    await ended;
  }
  allEnded.clear();
});

const ends: readonly (readonly [signal: NodeJS.Signals, times: number, to: 'npm' | 'its group'])[] = [
  ['SIGINT', 1, 'npm'],
  ['SIGINT', 2, 'its group'],
  ['SIGTERM', 2, 'npm'],
  ['SIGTERM', 1, 'its group'],
  ['SIGHUP', 1, 'npm'],
  ['SIGHUP', 2, 'its group'],
  ['SIGKILL', 1, 'npm'],
];

for (const [signal, times, to] of ends) {
  test(`npm, the service and its database all exit after ${signal} to ${to}, ${times === 1 ? 'once' : 'twice'}`, async () => {
    const running = npmStart();
    await addressOf(running);
    const database = await postmasterOf(dataDir);
    const pid = running.child.pid as number;
    for (let sent = 0; sent < times; sent++) process.kill(to === 'npm' ? pid : -pid, signal);
    await allEnded.get(running);
    assert.equal(isAlive(database), false, 'the database has stopped before the service ended');
  });
}

test('npm and the service both exit with one sentence if a folder is in use or a setting is wrong', async () => {
  await addressOf(npmStart());
  for (const [environment, sentence] of [
    [{}, /Another service is running on/],
    [{ PORT: 'x' }, /PORT: expected a whole number/],
  ] as const) {
    const second = npmStart(environment);
    await allEnded.get(second);
    assert.notEqual(second.child.exitCode, 0);
    assert.match(second.output(), sentence);
  }
});

test('prints no page without a terminal, fits the page into 24 lines by 80, and its calls work when pasted', async (context) => {
  const running = npmStart({ PUBLIC_URL: '' });
  const address = await addressOf(running);
  assert.doesNotMatch(running.output(), /Three calls to paste/);
  const text = stripVTControlCharacters(
    welcome(address, { databaseUrl: undefined, dataDir, demoCore: true }, true),
  );
  const page = text.trim().split('\n');
  assert.ok(page.length <= 23, `${page.length} lines`);
  assert.deepEqual(
    page.filter((line) => line.length > 80),
    [],
  );

  const calls = page.slice(page.indexOf('Three calls to paste') + 1, page.indexOf('Ctrl-C stops it.'));
  try {
    await promisify(execFile)('curl', ['--version']);
  } catch {
    context.skip('there is no curl here');
    return;
  }
  const { stdout } = await promisify(execFile)('sh', ['-c', calls.join('\n')]);
  assert.match(stdout, /^\[\{"accountId":"a-1001-.*\}\]\{"id":".*"status":"COMPLETED"/s);
});

test('serves with a full disk behind its log, and stops on request', {
  skip: !existsSync('/dev/full'),
}, async () => {
  const port = await freePort();
  const address = `http://127.0.0.1:${port}`;
  const running = npmStart({ LOG_LEVEL: 'trace', PORT: port }, [
    'sh',
    '-c',
    'exec "$0" src/main.ts serve >/dev/full 2>&1',
    process.execPath,
  ]);
  await eventually('ready', async () => (await send(address, 'GET', '/readyz')).status === 200);
  const database = await postmasterOf(dataDir);
  for (let asked = 0; asked < 20; asked += 1) {
    assert.equal((await send(address, 'GET', paths.accounts)).status, 401);
  }
  process.kill(running.child.pid as number, 'SIGTERM');
  await eventually('the database has stopped', async () => !isAlive(database));
  assert.equal(await exitOf(running.child), 0);
});
