import { type Command, InvalidArgumentError } from 'commander';
import { ConfigError } from './app/config.ts';
import { ServiceStartError } from './app/start-checks.ts';
import { InvalidPublicKeyError, ProviderRejectedError } from './auth/index.ts';
import { CommandError } from './cli/command.ts';
import { sharedraft } from './cli/program.ts';
import { ExtractRejectedError } from './core-system/index.ts';
import { Problem } from './shared/problem.ts';
import { DatabaseStartError } from './storage/index.ts';

const program = sharedraft();
for (const command of withSubcommands(program)) {
  command.exitOverride(exitWithUsage).showHelpAfterError('(see --help)');
}

try {
  await program.parseAsync();
} catch (error) {
  process.stderr.write(`${explain(error)}\n`);
  process.exitCode = error instanceof InvalidArgumentError ? 2 : 1;
}

function exitWithUsage(error: { readonly exitCode: number }): never {
  process.exit(error.exitCode === 0 ? 0 : 2);
}

function withSubcommands(command: Command): Command[] {
  return [command, ...command.commands.flatMap((child) => withSubcommands(child as Command))];
}

/** One sentence for an expected error; the stack for any other. */
function explain(error: unknown): string {
  if (error instanceof ConfigError) return `The configuration is wrong:\n${error.message}`;
  if (error instanceof Problem) {
    // An operator may see the cause, which callers of the service do not.
    return error.cause instanceof Error ? `${error.detail} (${error.cause.message})` : error.detail;
  }
  const expected = [
    DatabaseStartError,
    ServiceStartError,
    ExtractRejectedError,
    InvalidPublicKeyError,
    ProviderRejectedError,
    CommandError,
  ];
  if (expected.some((kind) => error instanceof kind)) return (error as Error).message;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
