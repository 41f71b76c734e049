import { type ChildProcess, spawn } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { getCompileCacheDir } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { readPublicKey } from '../../auth/index.ts';
import type { Config } from '../config.ts';
import type { AppContext } from '../context.ts';
import type { Log } from '../service-log.ts';
import { loadMeadow, meadowCoreClient } from './demo.ts';

const program = fileURLToPath(new URL('../../../dev/demo-core/main.ts', import.meta.url));
/** A core that ended is started again after this pause. */
const pauseMillis = 3_000;
/** A core that does not end in this time is killed. It loses nothing. */
const patienceMillis = 2_000;
/** Characters of the core's last output that the log keeps. */
const longestWords = 2_000;

export interface DemoCore {
  close(): Promise<void>;
}

/** True if a simulated core may run: for the demo, which the embedded database alone serves without being asked. */
export function mayRunDemoCore({ demoCore, databaseUrl }: Pick<Config, 'demoCore' | 'databaseUrl'>): boolean {
  return demoCore && databaseUrl === undefined;
}

/** Loads meadow and makes the key of its core. Returns the folder of the core; undefined in a database without the demo. */
export async function prepareDemoCore(context: AppContext, config: Config): Promise<string | undefined> {
  const folder = path.join(config.dataDir, 'demo-core');
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const key = await readPublicKey(await publicKeyIn(folder));
  return (await loadMeadow(context, key)) ? folder : undefined;
}

/**
 * Runs the simulated core as a child, and starts it again when it ends. The child's standard input is a pipe of this process. The kernel
 * closes it when this process ends, even by kill -9, and the child ends with it.
 */
export function runDemoCore(folder: string, url: string, log: Log): DemoCore {
  let isClosing = false;
  let child: ChildProcess;
  let restart: NodeJS.Timeout | undefined;
  const start = () => {
    const words = ['--url', url, '--folder', folder, '--client', meadowCoreClient, '--ends-with-stdin'];
    child = spawn(process.execPath, [program, ...words], {
      stdio: ['pipe', 'ignore', 'pipe'],
      env: { NODE_COMPILE_CACHE: getCompileCacheDir() ?? '' },
    });
    let lastWords = '';
    child.stderr?.on('data', (chunk) => {
      lastWords = `${lastWords}${chunk}`.slice(-longestWords);
    });
    child.stdin?.on('error', () => {});
    child.on('error', (error) => log('demo_core_failed', { error }));
    child.once('close', (status, signal) => {
      if (isClosing) return;
      log('demo_core_ended', { status, signal, lastWords });
      restart = setTimeout(start, pauseMillis);
      restart.unref();
    });
    log('demo_core_started', { folder });
  };
  start();
  return {
    close: async () => {
      isClosing = true;
      clearTimeout(restart);
      if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      const patience = setTimeout(() => child.kill('SIGKILL'), patienceMillis);
      await ended;
      clearTimeout(patience);
    },
  };
}

/** In PEM. The private key beside it is made once. */
async function publicKeyIn(folder: string): Promise<string> {
  const file = path.join(folder, 'key.public.pem');
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const publicPem = publicKey.export({ type: 'spki', format: 'pem' }) as string;
  await writeFile(path.join(folder, 'key.pem'), privateKey.export({ type: 'pkcs8', format: 'pem' }), {
    mode: 0o600,
  });
  await writeFile(file, publicPem);
  return publicPem;
}
