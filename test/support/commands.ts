import { type Command, CommanderError } from 'commander';
import { sharedraft } from '../../src/cli/program.ts';
import type { CliResult } from './cli.ts';
import type { TestDatabase } from './database.ts';
import { testSecretKey } from './secret-key.ts';

/**
 * Runs operators' commands on a test's database in this process, which is many times faster than a process for each. Commands run one
 * after another. An unexpected error has its stack in `stderr`.
 */
export function commandsOn(db: Pick<TestDatabase, 'url'>): (...words: string[]) => Promise<CliResult> {
  Object.assign(process.env, {
    PUBLIC_URL: 'http://sharedraft.test',
    DATABASE_URL: db.url,
    SECRET_KEY: testSecretKey,
  });
  process.stdout.setMaxListeners(0);
  process.stderr.setMaxListeners(0);
  return async (...words) => {
    const written = { stdout: '', stderr: '' };
    const before = { stdout: process.stdout.write, stderr: process.stderr.write, exitCode: process.exitCode };
    for (const name of ['stdout', 'stderr'] as const) {
      // The test runner reports over the same stream, in bytes.
      process[name].write = (text: string | Uint8Array, ...more: unknown[]) => {
        if (typeof text !== 'string') return before[name].call(process[name], text);
        written[name] += text;
        const onWritten = more.at(-1);
        if (typeof onWritten === 'function') onWritten();
        return true;
      };
    }
    process.exitCode = 0;
    try {
      await withoutExit(sharedraft()).parseAsync(words, { from: 'user' });
    } catch (error) {
      process.exitCode = 1;
      if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : 2;
      else written.stderr += `${isExpected(error) ? error.message : (error as Error).stack}\n`;
    } finally {
      process.stdout.write = before.stdout;
      process.stderr.write = before.stderr;
    }
    const code = Number(process.exitCode);
    process.exitCode = before.exitCode;
    return { code, ...written };
  };
}

function isExpected(error: unknown): error is Error {
  return (
    error instanceof Error && /^(Command|ExtractRejected|ImportRefused)Error$|^Problem$/.test(error.name)
  );
}

function withoutExit(command: Command): Command {
  command.exitOverride();
  for (const child of command.commands) withoutExit(child as Command);
  return command;
}
