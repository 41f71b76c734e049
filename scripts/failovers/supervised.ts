import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { exitOf, isRunning } from '../../test/support/processes.ts';

const restartMillis = 1_000;
const patienceMillis = 30_000;

export interface Program {
  readonly command: string;
  readonly parameters: readonly string[];
  readonly log: string;
  readonly options: SpawnOptions;
}

/** A program that starts again a second after it has ended, as under systemd, except after `kill` and `stop`. */
export class Supervised {
  readonly #program: Program;
  #child: ChildProcess | undefined;
  #isWanted = false;

  constructor(program: Program) {
    this.#program = program;
  }

  get pid(): number {
    const { pid } = this.#child ?? {};
    if (pid === undefined) throw new Error(`${this.#program.command} does not run.`);
    return pid;
  }

  start(): void {
    this.#isWanted = true;
    const { command, parameters, log, options } = this.#program;
    const file = openSync(log, 'a');
    const child = spawn(command, parameters, { ...options, stdio: ['ignore', file, file] });
    closeSync(file);
    this.#child = child;
    child.once('exit', async () => {
      await sleep(restartMillis);
      if (this.#isWanted && this.#child === child) this.start();
    });
  }

  async kill(): Promise<void> {
    this.#isWanted = false;
    if (this.#child === undefined || !isRunning(this.#child)) return;
    this.#child.kill('SIGKILL');
    await exitOf(this.#child);
  }

  /** Ends it in an orderly way, even if it stands still. */
  async stop(): Promise<void> {
    this.#isWanted = false;
    const child = this.#child;
    if (child === undefined || !isRunning(child)) return;
    child.kill('SIGCONT');
    child.kill('SIGTERM');
    const patience = setTimeout(() => child.kill('SIGKILL'), patienceMillis);
    await exitOf(child);
    clearTimeout(patience);
  }
}
