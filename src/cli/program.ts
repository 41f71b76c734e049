import { Command } from 'commander';
import { programVersion } from '../shared/process/program-version.ts';
import { offerBreakGlass } from './acts.ts';
import { accountCommands } from './commands/account/index.ts';
import { alertCommands } from './commands/alerts.ts';
import { auditCommand } from './commands/audit/index.ts';
import { backupCommand } from './commands/backup.ts';
import { cellCommands } from './commands/cell/index.ts';
import { clientCommands } from './commands/client.ts';
import { coreCommands } from './commands/core/index.ts';
import { demoCommands } from './commands/demo/demo.ts';
import { demoCoreCommand } from './commands/demo/demo-core.ts';
import { doctorCommand } from './commands/doctor.ts';
import { eventCommands } from './commands/events.ts';
import { importCommand } from './commands/import/import.ts';
import { institutionCommands } from './commands/institution/index.ts';
import { keyCommands } from './commands/keys.ts';
import { limitCommands } from './commands/limits.ts';
import { memberCommands } from './commands/member/index.ts';
import { migrateCommand } from './commands/migrate.ts';
import { loginCommands } from './commands/operator/login.ts';
import { operatorCommands } from './commands/operator/operators.ts';
import { providerCommands } from './commands/provider.ts';
import { reconcileCommand } from './commands/reconcile/index.ts';
import { restoreCommand } from './commands/restore.ts';
import { restoredCommand } from './commands/restored.ts';
import { screeningCommands } from './commands/screening.ts';
import { serveCommand } from './commands/serve/serve.ts';
import { transferCommands } from './commands/transfer/transfer.ts';
import { webhookCommands } from './commands/webhook.ts';

/** Every command. test/cli/audited-acts.test.ts has a line for each. */
export function sharedraft(): Command {
  const program = new Command('sharedraft')
    .description('The member-facing banking service: tokens, registration, profiles, accounts, transfers.')
    .version(programVersion)
    .addHelpText(
      'after',
      `
Settings come from the environment, or from a file .env in the working folder; docs/configuration.md lists them.
Exit codes: 0 done, 1 failed, 2 wrong usage, 3 reconcile or audit verify found rows that are off, or import rejected rows.`,
    );

  const groups: readonly (readonly [name: string, description: string, commands: readonly Command[]])[] = [
    ['institution', 'Institutions, their settings and business days', institutionCommands()],
    ['operator', 'Operators: persons with roles who sign in', operatorCommands()],
    ['cell', 'This cell: its name and the numbers of its institutions', cellCommands()],
    ['client', 'OAuth clients', clientCommands()],
    ['keys', 'the keys that sign tokens', keyCommands()],
    ['member', 'Members: persons, accounts, logins and sessions', memberCommands()],
    ['account', 'Accounts: balances, restrictions, closing', accountCommands()],
    ['limits', 'Limits of transfers and their use', limitCommands()],
    ['events', 'The feed of events', eventCommands()],
    ['transfer', 'Transfers: review, reversal, rules', transferCommands()],
    ['screening', 'The screening of orders for fraud, before they are decided', screeningCommands()],
    ['core', 'The connection to the core that keeps the books', coreCommands()],
    ['webhook', 'Webhooks of clients', webhookCommands()],
    ['alerts', 'Alerts to members, and their e-mail', alertCommands()],
    ['demo', 'The demo institutions', demoCommands()],
    ['provider', 'Identity providers, which may assert members', providerCommands()],
  ];
  program.addCommand(serveCommand(), { isDefault: true });
  program.addCommand(migrateCommand());
  program.addCommand(importCommand());
  for (const [name, description, commands] of groups) {
    const group = new Command(name).description(description);
    for (const command of commands) group.addCommand(command);
    program.addCommand(group);
  }
  for (const command of loginCommands()) program.addCommand(command);
  program.addCommand(demoCoreCommand());
  program.addCommand(doctorCommand());
  program.addCommand(auditCommand());
  program.addCommand(reconcileCommand());
  program.addCommand(backupCommand());
  program.addCommand(restoreCommand());
  program.addCommand(restoredCommand());
  offerBreakGlass(program);
  return program;
}
