import { Command } from 'commander';
import { eraseMember } from '../../../operators/index.ts';
import { readReason } from '../../arguments.ts';
import { CommandError, type InstitutionOptions, onInstitution, say } from '../../command.ts';
import { type ConfirmOptions, confirm, yesOption } from '../../confirm.ts';

interface Options extends InstitutionOptions, ConfirmOptions {
  readonly reason: string;
}

export function erase(): Command {
  return onInstitution(
    new Command('erase')
      .description(
        'erase the personal data of a person whose accounts are closed and whose records were kept long enough',
      )
      .argument('<person>', 'the id of the person in the core; `member show` has it')
      .requiredOption('--reason <text>', 'the reason, for the audit, without personal data', readReason)
      .addOption(yesOption()),
    async ({ context, institutionId, origin }, { reason, ...options }: Options, personId: string) => {
      await confirm(
        `The personal data of ${personId} is erased for good, login and contact included.`,
        options,
      );
      const erased = await eraseMember(context, institutionId, { personId, statedReason: reason, origin });
      switch (erased.kind) {
        case 'unknown':
          throw new CommandError(`No person has the id "${personId}". \`sharedraft member find\` searches.`);
        case 'open_accounts':
          throw new CommandError(
            `Nothing was erased: these accounts are open: ${erased.accountIds.join(', ')}. Close them first.`,
          );
        case 'kept':
          throw new CommandError(
            `Nothing was erased: the records are kept until ${erased.until.toISOString().slice(0, 10)} (\`sharedraft audit retention\`).`,
          );
        case 'unchanged':
          say(`${personId} is erased already. Nothing was changed.`);
          return;
        case 'erased':
          say(
            `${personId} is erased, with ${erased.events} events and ${erased.auditEntries} audit entries.`,
          );
      }
    },
  );
}
