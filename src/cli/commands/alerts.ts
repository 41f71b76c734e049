import { randomUUID } from 'node:crypto';
import { Command } from 'commander';
import {
  configureMail,
  findMailSender,
  isMailAddress,
  liftSuppression,
  listSuppressions,
  type Suppression,
  stopMail,
  suppressAddress,
} from '../../mail/index.ts';
import { type RuleCount, showAlertState } from '../../operators/index.ts';
import { Problem } from '../../shared/problem.ts';
import { accepting, readNameForPeople } from '../arguments.ts';
import { CommandError, type InstitutionRun, institutionOption, say, withInstitution } from '../command.ts';
import { type ConfirmOptions, confirm, yesOption } from '../confirm.ts';
import { jsonOption, type OutputOptions, sayEach, sayList } from '../output.ts';

export function alertCommands(): Command[] {
  return [status(), rules(), mail(), mailOff(), mailTest(), suppressed(), suppress(), lift()];
}

interface Options {
  readonly institution?: string;
}

/** CommandError for a problem. */
async function onAlerts(command: Command, act: (run: InstitutionRun) => Promise<void>): Promise<void> {
  await withInstitution(command, async (run) => {
    try {
      await act(run);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      const [part] = error.errors ?? [];
      throw new CommandError(part === undefined ? error.detail : `${part.pointer.slice(1)}: ${part.detail}`);
    }
  });
}

function status(): Command {
  return new Command('status')
    .description('show how far the alerts of an institution are, and its mail')
    .option(...institutionOption)
    .addOption(jsonOption())
    .action((options: Options & OutputOptions, command: Command) =>
      onAlerts(command, async ({ context, institutionId }) => {
        const { alerts, mail: sent } = await showAlertState(context, institutionId);
        const { lagSeconds, position, members, rules: count, due, held } = alerts;
        const lag =
          lagSeconds === null ? 'nothing is left' : `${Math.max(0, lagSeconds).toFixed(1)} s behind`;
        const lines = [
          `derived   up to event ${position}, ${lag}`,
          `rules     ${count} of ${members} members`,
          `alerts    ${due} due, ${held} held for quiet hours`,
          sent === undefined
            ? 'mail      off'
            : `mail      ${sent.status.toLowerCase()}, ${sent.failures} failures in a row, ${sent.waiting} waiting, ${sent.parked} parked, ${sent.suppressed} addresses suppressed`,
        ];
        const text = () => lines.join('\n');
        await sayEach(
          [alerts],
          { text, document: () => ({ ...alerts, mail: sent ?? null }), none: '' },
          options,
        );
      }),
    );
}

function rules(): Command {
  const count = (name: Exclude<keyof RuleCount, 'alertType'>) => (row: RuleCount) => row[name];
  return new Command('rules')
    .description('count the alerts that members chose, by type and channel')
    .option(...institutionOption)
    .addOption(jsonOption())
    .action((options: Options & OutputOptions, command: Command) =>
      onAlerts(command, async ({ context, institutionId }) => {
        const { rules: counts } = await showAlertState(context, institutionId);
        const columns = {
          type: ({ alertType }: RuleCount) => alertType,
          rules: count('rules'),
          members: count('members'),
          EMAIL: count('email'),
          SMS: count('sms'),
          PUSH: count('push'),
          INBOX: count('inbox'),
        };
        const none = 'No member chose an alert.';
        await sayList(counts, { columns, document: (row) => ({ ...row }), none }, options);
      }),
    );
}

interface SenderOptions extends Options {
  readonly name?: string;
  readonly from?: string;
  readonly replyTo?: string;
}

function mail(): Command {
  return new Command('mail')
    .description('send alerts by e-mail under a name and an address; without options show them')
    .option('--name <name>', 'the name that members see', readNameForPeople)
    .option('--from <address>', 'the address that members see', readAddress)
    .option('--reply-to <address>', 'where the responses of members go', readAddress)
    .option(...institutionOption)
    .action(({ name, from, replyTo }: SenderOptions, command: Command) =>
      onAlerts(command, async ({ context, institutionId, origin }) => {
        const before = await findMailSender(context, institutionId);
        if (name === undefined && from === undefined && replyTo === undefined) {
          if (before === undefined) return say('The institution sends no mail.');
          const reply = before.replyTo === null ? '' : `, responses to ${before.replyTo}`;
          return say(`${before.fromName} <${before.fromAddress}>${reply}`);
        }
        const fromName = name ?? before?.fromName;
        const fromAddress = from ?? before?.fromAddress;
        if (fromName === undefined || fromAddress === undefined) {
          return command.error('error: name --name and --from');
        }
        const sender = { fromName, fromAddress, replyTo: replyTo ?? before?.replyTo ?? null };
        await configureMail(context, institutionId, { sender, origin });
      }),
    );
}

function mailOff(): Command {
  return new Command('mail-off')
    .description('send no e-mail; messages that wait are given up')
    .addOption(yesOption())
    .option(...institutionOption)
    .action(async (options: Options & ConfirmOptions, command: Command) => {
      await confirm('Members get no further alerts by e-mail, security alerts included.', options);
      await onAlerts(command, async ({ context, institutionId, origin }) => {
        if (!(await stopMail(context, institutionId, origin))) say('The institution sent no mail.');
      });
    });
}

function mailTest(): Command {
  return onAddress('mail-test', 'send a test message at once and show the outcome', async (at, address) => {
    const { context, institutionId } = at;
    const sender = await findMailSender(context, institutionId);
    if (sender === undefined)
      throw new CommandError('The institution sends no mail: `sharedraft alerts mail`.');
    const [, domain] = sender.fromAddress.split('@');
    const { error, status: code } = await context.mail.test(
      sender,
      address,
      `<test-${randomUUID()}@${domain}>`,
    );
    say(
      error === undefined
        ? 'The mail server took the message.'
        : `not sent: ${error}${code ? ` (${code})` : ''}`,
    );
    if (error !== undefined) process.exitCode = 1;
  });
}

function suppressed(): Command {
  return new Command('suppressed')
    .description('list the addresses that get no mail')
    .option(...institutionOption)
    .addOption(jsonOption())
    .action((options: Options & OutputOptions, command: Command) =>
      onAlerts(command, async ({ context, institutionId }) => {
        const columns = {
          address: ({ address }: Suppression) => address,
          reason: ({ reason }: Suppression) => reason.toLowerCase(),
          since: ({ suppressedAt }: Suppression) => suppressedAt,
        };
        const none = 'No address is suppressed.';
        const list = listSuppressions(context, institutionId);
        await sayList(list, { columns, document: (row) => ({ ...row }), none }, options);
      }),
    );
}

function suppress(): Command {
  return onAddress('suppress', 'send no mail to an address', ({ context, institutionId, origin }, address) =>
    suppressAddress(context, institutionId, { address, reason: 'OPERATOR', origin }),
  );
}

function lift(): Command {
  return onAddress(
    'lift',
    'send mail to a suppressed address again',
    async ({ context, institutionId, origin }, address) => {
      if (!(await liftSuppression(context, institutionId, { address, origin }))) {
        throw new CommandError('The address is not suppressed.');
      }
    },
  );
}

function onAddress(
  name: string,
  description: string,
  act: (run: InstitutionRun, address: string) => Promise<void>,
): Command {
  return new Command(name)
    .description(description)
    .argument('<address>', 'an e-mail address', readAddress)
    .option(...institutionOption)
    .action((address: string, _options: Options, command: Command) =>
      onAlerts(command, (run) => act(run, address)),
    );
}

const readAddress = accepting(isMailAddress, 'An e-mail address, like alerts@bank.example.');
