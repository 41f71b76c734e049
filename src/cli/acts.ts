import { type Command, Option } from 'commander';
import { freshSeconds, type Right, rights } from '../operators/index.ts';
import { readReason } from './arguments.ts';

/** A command that only shows something unless one of the options `if` is given. */
type Act = Right | { readonly right: Right; readonly if: readonly string[] };

/**
 * The commands that ask who acts in an institution that has operators, each with the right that the person needs: whatever changes a member, an
 * account, money, a rule or an operator of one institution. Every other command reads, or is work on the machine (ADR 59).
 */
export const acts: Readonly<Record<string, Act>> = {
  'member lock': 'members:serve',
  'member unlock': 'members:serve',
  'member deactivate': 'members:serve',
  'member activate': 'members:serve',
  'member end-sessions': 'members:serve',
  'member end-consent': 'members:serve',
  'member remove-second-factor': 'members:recover',
  'member set-password': 'members:recover',
  'member activation-code': 'members:recover',
  'member email-code': 'members:recover',
  'member erase': 'members:erase',
  'account freeze': 'members:serve',
  'account restrict': 'members:serve',
  'account unfreeze': 'members:serve',
  'account close': 'members:erase',
  'transfer approve': 'transfers:decide',
  'transfer decline': 'transfers:decide',
  'transfer reverse': 'transfers:decide',
  'transfer rules': 'institution:change',
  'core note': 'breaks:work',
  'core adjust': 'transfers:decide',
  'institution settings': 'institution:change',
  'institution calendar add': 'institution:change',
  'institution calendar remove': 'institution:change',
  'audit retention': { right: 'institution:change', if: ['accessDays', 'changesDays'] },
  'client create': 'clients:empower',
  'client set': 'clients:empower',
  'client rotate-secret': 'clients:empower',
  'client retire-secret': 'institution:change',
  'client add-key': 'clients:empower',
  'client remove-key': 'institution:change',
  'client add-certificate': 'clients:empower',
  'client remove-certificate': 'institution:change',
  'provider add': 'providers:manage',
  'provider set': 'providers:manage',
  'provider on': 'institution:change',
  'provider off': 'institution:change',
  'provider remove': 'providers:manage',
  'screening set': 'institution:change',
  'screening rotate': 'institution:change',
  'screening off': 'institution:change',
  'screening test': 'institution:change',
  'webhook create': 'institution:change',
  'webhook set': 'institution:change',
  'webhook pause': 'institution:change',
  'webhook enable': 'institution:change',
  'webhook rotate': 'institution:change',
  'webhook ping': 'institution:change',
  'webhook replay': 'institution:change',
  'webhook delete': 'institution:change',
  'alerts mail': { right: 'institution:change', if: ['name', 'from', 'replyTo'] },
  'alerts mail-off': 'institution:change',
  'alerts suppress': 'institution:change',
  'alerts lift': 'institution:change',
  'operator invite': 'operators:manage',
  'operator invite-again': 'operators:manage',
  'operator roles': 'operators:manage',
  'operator suspend': 'operators:manage',
  'operator resume': 'operators:manage',
  'operator end': 'operators:manage',
  'institution operators-provider set': 'operators:manage',
  'institution operators-provider off': 'operators:manage',
};

/** The words of a command below the program, like `member lock`. */
function nameOf(command: Command): string {
  const { parent } = command;
  return parent === null || parent.parent === null ? command.name() : `${nameOf(parent)} ${command.name()}`;
}

/** The right that a command needs as it was given; undefined if it asks nobody. */
export function rightOf(command: Command): Right | undefined {
  const act = acts[nameOf(command)];
  if (act === undefined || typeof act === 'string') return act;
  return act.if.some((option) => command.getOptionValue(option) !== undefined) ? act.right : undefined;
}

export interface ActOptions {
  readonly breakGlass?: string;
}

/** Gives every act of the table the option --break-glass. */
export function offerBreakGlass(command: Command): void {
  for (const child of command.commands) offerBreakGlass(child);
  if (acts[nameOf(command)] === undefined) return;
  command.addOption(
    new Option(
      '--break-glass <reason>',
      'act as the system user in an institution that has operators; the audit marks it',
    )
      .argParser(readReason)
      .conflicts('reason'),
  );
  // The reason is given once. As a default it conflicts with no option, and it satisfies a mandatory one.
  command.on('option:break-glass', () => {
    if (command.getOptionValueSource('reason') === undefined)
      command.setOptionValueWithSource('reason', command.getOptionValue('breakGlass'), 'default');
  });
}

/** The table of docs/operators.md: the roles that may, and their acts by the first words of the commands. */
export function actsTable(): string {
  const byRight = Map.groupBy(Object.entries(acts), ([, act]) => (typeof act === 'string' ? act : act.right));
  const rows = [...byRight].map(([right, ofRight]) => {
    const byGroup = Map.groupBy(ofRight, ([name]) => name.slice(0, name.lastIndexOf(' ')));
    const lists = [...byGroup].map(([group, ofGroup]) => {
      const verbs = ofGroup.map(([name]) => `\`${name.slice(group.length + 1)}\``);
      return `**${group}** ${verbs.join(', ')}`;
    });
    const fresh = freshSeconds[right] === undefined ? '' : ', with a sign-in of the last five minutes';
    return `| ${rights[right].join(', ')}${fresh} | ${lists.join('; ')} |`;
  });
  return ['| roles | commands |', '|---|---|', ...rows].join('\n');
}
