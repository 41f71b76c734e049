import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createServer } from 'node:net';
import { Writable } from 'node:stream';
import { after, before, test } from 'node:test';
import { openServiceLog } from '../../src/app/service-log.ts';
import { cuttingProxy } from '../support/cutting-proxy.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { send } from '../support/demo.ts';
import { addressOf, eventually, exitOf, freePort, isRunning, launch } from '../support/processes.ts';
import { testSecretKey } from '../support/secret-key.ts';

/* A log reader or a database that stalls delays neither requests nor the exit of the process. */

let db: TestDatabase;
before(async () => {
  db = await testDatabase();
});
after(() => db.close());

const settings = () => ({
  DATABASE_URL: db.url,
  SECRET_KEY: testSecretKey,
  ALLOW_DEMO_ANYWHERE: 'true',
  SHUTDOWN_GRACE_SECONDS: '1',
});

test('continues to serve, and stops on request, while no one reads its log', {
  timeout: 120_000,
}, async () => {
  const port = await freePort();
  const child = spawn(process.execPath, ['src/main.ts', 'serve'], {
    stdio: ['ignore', 'pipe', 'ignore'],
    env: { ...process.env, ...settings(), LOG_LEVEL: 'trace', PORT: port },
  });
  child.stdout.pause();
  const address = `http://127.0.0.1:${port}`;
  try {
    await eventually('ready', async () => (await send(address, 'GET', '/readyz')).status === 200);
    // Each logs a line of about 250 bytes, several times a pipe's capacity in total.
    for (let round = 0; round < 15; round += 1) {
      const answers = Array.from({ length: 100 }, () =>
        fetch(`${address}/livez`).then((answer) => answer.text()),
      );
      assert.deepEqual(new Set(await Promise.all(answers)), new Set(['{"status":"live"}']));
    }
    child.kill('SIGTERM');
    assert.equal(await exitOf(child), 0);
  } finally {
    if (isRunning(child)) child.kill('SIGKILL');
  }
});

test('drops unread log lines beyond a bound, and counts them', () => {
  const written: string[] = [];
  let isStalled = true;
  const reader = new Writable({
    write(chunk, _encoding, done) {
      written.push(String(chunk));
      if (!isStalled) done();
      else resume = done;
    },
  });
  let resume = () => {};
  const { stream } = openServiceLog('info', reader);
  for (let line = 0; line < 3_000; line += 1) stream.write(`${'x'.repeat(999)}\n`);
  assert.ok(reader.writableLength < 2 ** 20 + 2_000, `${reader.writableLength} bytes are kept`);
  isStalled = false;
  resume();
  return new Promise<void>((resolve) => {
    setImmediate(() => {
      stream.write('the next\n');
      assert.equal(written.at(-1), 'the next\n');
      const { event, lines } = JSON.parse(written.at(-2) ?? '{}');
      assert.equal(event, 'log_lines_dropped');
      assert.equal(lines + written.length - 2, 3_000);
      resolve();
    });
  });
});

test('logs a background failure as one JSON line a minute with its cause', () => {
  const lines: string[] = [];
  const output = new Writable({
    write(chunk, _encoding, done) {
      lines.push(String(chunk));
      done();
    },
  });
  const { log } = openServiceLog('info', output);
  const error = new Error('it failed', { cause: new Error('for this reason') });
  for (let time = 0; time < 5; time += 1) log('sweep_failed', { error });
  log('housekeeping_failed', { error });
  const logged = lines.map((line) => JSON.parse(line));
  assert.deepEqual(
    logged.map(({ event, level }) => [event, level]),
    [
      ['sweep_failed', 50],
      ['housekeeping_failed', 50],
    ],
  );
  assert.match(logged[0].error.cause.stack, /for this reason/);
});

test('exits after SIGTERM while the database is silent', { timeout: 120_000 }, async () => {
  await using proxy = await cuttingProxy(db.connection.host);
  const through = (url: string) => url.replace(/host=[^&]*/, `host=${encodeURIComponent(proxy.host)}`);
  const { DATABASE_URL, ...others } = settings();
  const running = launch([process.execPath, 'src/main.ts', 'serve'], {
    ...others,
    DATABASE_URL: through(DATABASE_URL),
  });
  try {
    const address = await addressOf(running);
    proxy.freezeForGood();
    const asked = send(address, 'GET', '/readyz').then(
      ({ status }) => status,
      () => 'ended',
    );
    running.child.kill('SIGTERM');
    assert.notEqual(await exitOf(running.child), null, 'it ended by itself');
    assert.ok([503, 'ended'].includes(await asked));
  } finally {
    if (isRunning(running.child)) running.child.kill('SIGKILL');
  }
});

test('a command exits with one sentence if the database accepts connections and does not respond', {
  timeout: 120_000,
}, async () => {
  const silent = createServer(() => {}).listen(0, '127.0.0.1');
  await new Promise((resolve) => silent.once('listening', resolve));
  const { port } = silent.address() as { port: number };
  const url = `postgresql://nobody@127.0.0.1:${port}/bank?sslmode=disable`;
  const { child, output } = launch([process.execPath, 'src/main.ts', 'client', 'list'], {
    ...settings(),
    DATABASE_URL: url,
  });
  try {
    assert.equal(await exitOf(child), 1);
    assert.match(output(), /^The database cannot be reached: /m);
    assert.doesNotMatch(output(), /\n\s+at /, 'no stack');
  } finally {
    silent.close();
    if (isRunning(child)) child.kill('SIGKILL');
  }
});
