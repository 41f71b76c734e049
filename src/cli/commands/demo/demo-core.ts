import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Command } from 'commander';

const program = fileURLToPath(new URL('../../../../dev/demo-core/main.ts', import.meta.url));

/** The simulated core is a program of its own, which shares nothing with the service. */
export function demoCoreCommand(): Command {
  return new Command('demo-core')
    .description('run a simulated core system beside a service; demo-core --help lists its options')
    .helpOption(false)
    .allowUnknownOption()
    .allowExcessArguments()
    .action(async (_options: object, command: Command) => {
      // Ctrl-C reaches both; this process ends after the core.
      for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
        process.on(signal, () => child.kill(signal));
      }
      const child = spawn(process.execPath, [program, ...command.args], { stdio: 'inherit' });
      const [status] = await once(child, 'exit');
      process.exitCode = status ?? 1;
    });
}
