import { Command, InvalidArgumentError } from 'commander';
import { ProviderRejected } from './auth/index.ts';
import { auditCommand } from './cli/audit.ts';
import { clientCommands } from './cli/client.ts';
import { CommandFailed } from './cli/command.ts';
import { importCommand } from './cli/import.ts';
import { keyCommands } from './cli/keys.ts';
import { memberCommands } from './cli/member.ts';
import { migrateCommand } from './cli/migrate.ts';
import { providerCommands } from './cli/provider.ts';
import { reconcileCommand } from './cli/reconcile.ts';
import { restoredCommand } from './cli/restored.ts';
import { serveCommand } from './cli/serve.ts';
import { transferCommands } from './cli/transfer.ts';
import { ConfigError } from './config.ts';
import { ExtractRejected } from './core/index.ts';
import { programVersion } from './http/index.ts';
import { Problem } from './problem.ts';
import { ServiceStartError } from './service.ts';
import { DatabaseStartError } from './storage/index.ts';

const program = new Command('sharedraft')
  .description('The member-facing banking service: tokens, registration, profiles, accounts, transfers.')
  .version(programVersion)
  .addHelpText(
    'after',
    `
Settings come from the environment, or from a file .env in the working folder; docs/configuration.md lists them.
Exit codes: 0 done, 1 failed, 2 wrong usage, 3 reconcile found rows that are off.`,
  );

const groups: readonly (readonly [name: string, description: string, commands: readonly Command[]])[] = [
  ['client', 'OAuth clients', clientCommands()],
  ['keys', 'the keys that sign tokens', keyCommands()],
  ['member', "Members' logins", memberCommands()],
  ['transfer', 'Transfers: review, reversal, rules', transferCommands()],
  ['provider', 'Identity providers: who may assert members', providerCommands()],
];
program.addCommand(serveCommand(), { isDefault: true });
program.addCommand(migrateCommand());
program.addCommand(importCommand());
for (const [name, description, commands] of groups) {
  const group = new Command(name).description(description);
  for (const command of commands) group.addCommand(command);
  program.addCommand(group);
}
program.addCommand(auditCommand());
program.addCommand(reconcileCommand());
program.addCommand(restoredCommand());
for (const command of withSubcommands(program)) {
  command.exitOverride(exitWithUsage).showHelpAfterError('(--help says what there is)');
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

/** A sentence for what people meet; the stack only for what nobody should. */
function explain(error: unknown): string {
  if (error instanceof ConfigError) return `The configuration is wrong:\n${error.message}`;
  if (error instanceof Problem) {
    // Here reads the operator, who may know what the callers of the service are not told.
    return error.cause instanceof Error ? `${error.detail} (${error.cause.message})` : error.detail;
  }
  const expected = [DatabaseStartError, ServiceStartError, ExtractRejected, ProviderRejected, CommandFailed];
  if (expected.some((kind) => error instanceof kind)) return (error as Error).message;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
