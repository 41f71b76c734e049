import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const program = fileURLToPath(new URL('../../src/main.ts', import.meta.url));
/** A first start makes a database and loads the demo, beside other work for minutes. */
const patienceMillis = 300_000;

export interface DemoService extends AsyncDisposable {
  readonly url: string;
  /** Runs a command of the program beside the service, and returns its output. Its exit status does not count: findings have one too. */
  run(...words: readonly string[]): Promise<string>;
  /** The same with a clock that stands at a moment. */
  runAt(moment: Date, ...words: readonly string[]): Promise<string>;
}

/** The demo in a process and a folder of its own. The folder is removed at the end. */
export async function startDemo(environment: Readonly<Record<string, string>> = {}): Promise<DemoService> {
  const folder = await mkdtemp(path.join(tmpdir(), 'sharedraft-browser-'));
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const env = { ...process.env, ...environment, PORT: String(port), DATA_DIR: folder, LOG_LEVEL: 'error' };
  const start = async (words: readonly string[], more: Readonly<Record<string, string>>) => {
    const command = spawn(process.execPath, [program, ...words], {
      env: { ...env, ...more },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    return Buffer.concat(await Array.fromAsync(command.stdout)).toString();
  };
  const run = (...words: readonly string[]) => start(words, {});
  const clock = { NODE_OPTIONS: `--import=${new URL('fixed-clock.mjs', import.meta.url)}` };
  const runAt = (moment: Date, ...words: readonly string[]) =>
    start(words, { ...clock, FIXED_TIME: moment.toISOString() });
  const child = spawn(process.execPath, [program, 'serve'], {
    env,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const tell = (code: number | null, signal: string | null) =>
    process.stderr.write(`the service at ${url} has ended by itself: ${signal ?? code}\n`);
  child.once('exit', tell);
  const end = async () => {
    child.off('exit', tell);
    const ended = once(child, 'exit');
    if (child.exitCode === null && child.kill('SIGTERM')) await ended;
    await rm(folder, { recursive: true, force: true });
  };
  const deadline = Date.now() + patienceMillis;
  while (!(await isReady(url))) {
    if (child.exitCode !== null || Date.now() > deadline) {
      await end();
      throw new Error('the service did not start');
    }
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  return { url, run, runAt, [Symbol.asyncDispose]: end };
}

async function isReady(url: string): Promise<boolean> {
  return fetch(`${url}/readyz`).then(
    ({ ok }) => ok,
    () => false,
  );
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}
