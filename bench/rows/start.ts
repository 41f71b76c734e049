import { spawn } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { median, type Row } from '../measure.ts';
import { freePort } from '../stage.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

export const start: Row = {
  name: 'start',
  title: 'From the command to readiness, with the embedded database',
  async measure({ stage }) {
    const dataDir = path.join(stage.folder, 'started');
    await mkdir(dataDir, { mode: 0o755 });
    const first = await startAndStop(dataDir);
    const later: number[] = [];
    for (let round = 0; round < 3; round++) later.push(await startAndStop(dataDir));
    stage.say(
      `  first ${first.toFixed(2)} s, later ${later.map((seconds) => seconds.toFixed(2)).join(', ')} s`,
    );
    return [
      { name: 'first start, demo loaded', ours: first, unit: 's' },
      { name: 'later starts', ours: median(later), unit: 's', target: { atMost: 1.5 }, rounds: { later } },
    ];
  },
};

async function startAndStop(dataDir: string): Promise<number> {
  const port = await freePort();
  const started = performance.now();
  const child = spawn(path.join(root, 'bin/sharedraft'), ['serve'], {
    env: { PATH: process.env.PATH, DATA_DIR: dataDir, PORT: String(port), LOG_LEVEL: 'silent' },
    stdio: 'ignore',
  });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  const ready = () =>
    fetch(`http://127.0.0.1:${port}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    );
  while (!(await ready())) {
    if (child.exitCode !== null) throw new Error('the service did not start');
    await sleep(5);
  }
  const seconds = (performance.now() - started) / 1000;
  child.kill('SIGTERM');
  await ended;
  return seconds;
}
