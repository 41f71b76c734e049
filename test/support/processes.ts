import assert from 'node:assert/strict';
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/* The service as processes of their own, from a command line in the repository, with the embedded database. */

const root = fileURLToPath(new URL('../..', import.meta.url));

export interface Launched {
  readonly child: ChildProcess;
  /** The output so far, standard output and error. */
  output(): string;
}

/** In its own process group; `environment` overrides the test's. */
export function launch(
  [command, ...parameters]: readonly [string, ...string[]],
  environment: Readonly<Record<string, string>>,
): Launched {
  const child = spawn(command, parameters, {
    cwd: root,
    env: {
      ...process.env,
      PORT: '0',
      PUBLIC_URL: 'http://sharedraft.test',
      LOG_LEVEL: 'info',
      DEMO_CORE: 'false',
      ...environment,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk) => {
      output += chunk;
    });
  }
  return { child, output: () => output };
}

/** Resolves with the service's address once it serves. */
export async function addressOf({ child, output }: Launched): Promise<string> {
  await eventually('ready', async () => {
    assert.ok(isRunning(child), output());
    return output().includes('"event":"serving"');
  });
  const address = /"event":"serving","address":"([^"]+)"/.exec(output())?.[1];
  assert.ok(address, output());
  return address;
}

export function isRunning(child: ChildProcess): boolean {
  return child.exitCode === null && child.signalCode === null;
}

export async function exitOf(child: ChildProcess): Promise<number | null> {
  if (isRunning(child)) await new Promise((resolve) => child.once('exit', resolve));
  return child.exitCode;
}

/** The process number of the database server of this folder. */
export async function postmasterOf(dataDir: string): Promise<number> {
  const text = await readFile(path.join(dataDir, 'postgres', 'postmaster.pid'), 'utf8');
  return Number(text.split('\n')[0]);
}

/** Numbers of the running processes that this one has started. */
export async function childrenOf(parent: number): Promise<number[]> {
  const all = process.platform === 'linux' ? await fromProc() : await fromPs();
  return all.flatMap(([pid, state, ppid]) => (Number(ppid) === parent && state !== 'Z' ? [Number(pid)] : []));
}

/** Number, state and parent of each process; small systems have no `ps`. */
async function fromProc(): Promise<string[][]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  return Promise.all(
    pids.map(async (pid) => {
      const stat = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => '');
      return [pid, ...stat.slice(stat.lastIndexOf(')') + 2).split(' ', 2)];
    }),
  );
}

async function fromPs(): Promise<string[][]> {
  const { stdout } = await promisify(execFile)('ps', ['-A', '-o', 'pid=,stat=,ppid=']);
  return stdout.split('\n').map((line) => {
    const [pid = '', state = '', ppid = ''] = line.trim().split(/\s+/);
    return [pid, state.slice(0, 1), ppid];
  });
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  try {
    // An exited process that no parent has waited for does not count.
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'latin1'));
  } catch {
    return process.platform !== 'linux';
  }
}

export async function freePort(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return String(port);
}

const patienceMillis = 60_000;

/** Repeats the check; it must become true within a minute, on any slow machine. */
export async function eventually(
  what: string,
  test: () => Promise<boolean>,
  millis = patienceMillis,
): Promise<void> {
  const deadline = Date.now() + millis;
  for (;;) {
    const failure = await test().then(
      (met) => (met ? undefined : 'not so'),
      (error: unknown) => error,
    );
    if (failure === undefined) return;
    if (failure instanceof assert.AssertionError) throw failure;
    assert.ok(Date.now() < deadline, `in time: ${what} (${failure})`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
