import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const support = fileURLToPath(new URL('../support/postgres.ts', import.meta.url));

test('a killed test run leaves neither its PostgreSQL nor the folder behind', async () => {
  const program = `
    const { startCluster } = await import(${JSON.stringify(support)});
    const { connection } = await startCluster();
    console.log(connection.host);
    setInterval(() => {}, 1_000);`;
  const run = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [host] = await once(run.stdout, 'data');
  const folder = path.dirname(String(host).trim());
  const server = Number(readFileSync(path.join(folder, 'postgres/postmaster.pid'), 'utf8').split('\n')[0]);
  assert.ok(isRunning(server));

  run.kill('SIGKILL');
  await once(run, 'exit');
  const deadline = Date.now() + 20_000;
  while (Date.now() < deadline && (isRunning(server) || existsSync(folder))) await sleep(50);
  assert.equal(isRunning(server), false);
  assert.equal(existsSync(folder), false);
});

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
