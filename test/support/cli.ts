import { type ChildProcessByStdio, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import type { TestDatabase } from './database.ts';
import { testSecretKey } from './secret-key.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

export interface CliResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** An operator's command in a process of its own, on a test's database; `input` is its standard input. */
export async function runCli(
  db: TestDatabase,
  parameters: readonly string[],
  input = '',
): Promise<CliResult> {
  const child = startCli(db, parameters);
  child.stdin.end(input);
  const exited = new Promise<number | null>((resolve) => child.once('close', resolve));
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return { code: await exited, stdout, stderr };
}

/** The same, for a test that handles the process itself. */
export function startCli(
  db: TestDatabase,
  parameters: readonly string[],
): ChildProcessByStdio<Writable, Readable, Readable> {
  const child = spawn(process.execPath, ['src/main.ts', ...parameters], {
    cwd: root,
    env: {
      PATH: process.env.PATH,
      PUBLIC_URL: 'http://sharedraft.test',
      DATABASE_URL: db.url,
      SECRET_KEY: testSecretKey,
    },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  child.stdin.on('error', () => {});
  return child;
}
