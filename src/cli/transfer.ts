import { randomUUID } from 'node:crypto';
import { Command, InvalidArgumentError } from 'commander';
import { type AppContext, openDesk } from '../app/context.ts';
import { hasTransferRules, readTransferRules } from '../app/transfer-rules.ts';
import { type CommandOrigin, nameOf } from '../events/index.ts';
import type { Institution } from '../institutions/index.ts';
import { isPublicId } from '../shared/public-id.ts';
import {
  formatMinor,
  LimitKeyTakenError,
  listPending,
  listProposals,
  reverseTransfer,
  reviewTransfer,
  saveTransferRules,
  type Transfer,
  type TransferDesk,
} from '../transfers/index.ts';
import { actingAs, asOption, CommandFailed, chooseInstitution, say, withStores } from './command.ts';

interface Options {
  readonly institution?: string;
}
interface Signed extends Options {
  readonly as?: string;
}

const institutionOption = ['--institution <code>', 'whose transfer it is'] as const;

export function transferCommands(): Command[] {
  return [pending(), approve(), decline(), reverse(), rules()];
}

function pending(): Command {
  return new Command('pending')
    .description('list the transfers that wait, the first due first')
    .option(...institutionOption)
    .action((options: Options) =>
      withStores(async (context) => {
        const { institutionId } = await chooseInstitution(context, options.institution);
        let found = false;
        for await (const row of listPending(context.database, institutionId)) {
          found = true;
          const amount = `${formatMinor(row.amountMinor, row.currencyCode)} ${row.currencyCode}`;
          const approvals =
            row.approvalsNeeded === 0
              ? ''
              : `, approved by ${row.approvedBy.length} of ${row.approvalsNeeded}${row.approvedBy.length > 0 ? ` (${row.approvedBy.join(', ')})` : ''}`;
          say(
            `${row.transferId}  ${row.transferType}  ${row.fromAccountId} -> ${row.toAccountId}  ${amount}  ` +
              `${row.heldFor}, ${row.whenDue === 'POST' ? 'posts' : 'expires'} ${row.dueAt.toISOString()}${approvals}` +
              (row.isOrdererShutOut ? ', ordered by a member who is locked: it does not post by itself' : ''),
          );
        }
        for (const one of await listProposals(context.database, institutionId, context.clock())) {
          found = true;
          const what = one.kind === 'RULES' ? 'a change of the rules' : `the reversal of ${one.subject}`;
          say(
            `${what}  proposed by ${one.proposedBy[0]} at ${one.proposedAt.toISOString()}, ` +
              `waits for another system user until ${one.expiresAt.toISOString()}`,
          );
        }
        if (!found) say('Nothing is pending.');
      }),
    );
}

function approve(): Command {
  return signed(
    new Command('approve').description(
      'approve a transfer that is held for review; where two persons are needed, each does this once',
    ),
  ).action((id: string, options: Signed) => review(id, options, 'approve'));
}

function decline(): Command {
  return signed(
    new Command('decline').description('decline a pending transfer: it fails, and its hold is released'),
  ).action((id: string, options: Signed) => review(id, options, 'decline'));
}

function reverse(): Command {
  return signed(
    new Command('reverse').description(
      'take a completed transfer back by a new one in the other direction; once at most',
    ),
  )
    .option('--id <id>', 'the new transfer’s id; with it the command can be repeated safely', readId)
    .action((originalId: string, options: Signed & { id?: string }) =>
      withDesk(options, async (desk, context, { institutionId }, origin) => {
        const transferId = options.id ?? randomUUID();
        const reversal = { originalId, transferId, origin };
        const outcome = await reverseTransfer(desk, context.database, institutionId, reversal);
        switch (outcome.kind) {
          case 'new':
          case 'replayed':
            if (outcome.transfer.status === 'FAILED') {
              throw new CommandFailed(`It could not be taken back: ${outcome.transfer.failureDetail}`);
            }
            return say(`${outcome.transfer.id} is COMPLETED and takes ${originalId} back.`);
          case 'proposed':
            return say(proposed(`Taking ${originalId} back`, outcome));
          case 'unchanged':
            throw new CommandFailed(
              `Only a completed transfer that is no reversal, and has none, can be reversed: ${tell(outcome.transfer)}.`,
            );
          case 'id_reused':
            throw new CommandFailed(`The id ${transferId} belongs to another transfer.`);
          default:
            throw noSuchTransfer();
        }
      }),
    );
}

function proposed(
  act: string,
  { proposedBy, expiresAt }: { readonly proposedBy: string; readonly expiresAt: Date },
): string {
  return (
    `${act} is proposed by ${proposedBy}, and nothing is done yet. ` +
    `Another system user must run the same command before ${expiresAt.toISOString()}.`
  );
}

function readId(text: string): string {
  if (isPublicId(text) && !['options', 'dry-run'].includes(text)) return text;
  throw new InvalidArgumentError(
    'An id has 1 to 64 letters, digits and . _ : - and is not "options" or "dry-run".',
  );
}

function rules(): Command {
  return new Command('rules')
    .description(
      'put the rules of a folder (policies, limits, business days, contribution limits) in the place of those before',
    )
    .argument(
      '<folder>',
      'with transfer-policies.csv and the other files that docs/transfer-rules.md describes',
    )
    .option('--institution <code>', 'whose rules they are')
    .addOption(asOption())
    .action((folder: string, options: Signed) =>
      withStores(async (context, command) => {
        const institution = await chooseInstitution(context, options.institution);
        const { institutionId, name } = institution;
        const origin = actingAs(command, institution, options.as);
        if (!hasTransferRules(folder)) {
          throw new CommandFailed('There is none of the files in this folder that hold transfer rules.');
        }
        const read = await readTransferRules(folder);
        const saved = await saveTransferRules(context, institutionId, read, origin).catch((error) => {
          throw error instanceof LimitKeyTakenError ? new CommandFailed(error.message) : error;
        });
        if (saved.kind === 'proposed') {
          return say(proposed(`${name}: the change of its rules`, saved));
        }
        say(
          `${name}: ${read.policies.length} policies, ${read.limits.length} limits, ${read.businessDays.length} business days, ` +
            `${read.contributionLimits.length} contribution limits.`,
        );
      }),
    );
}

function signed(command: Command): Command {
  return command
    .argument('<id>', 'the transfer’s id')
    .addOption(asOption())
    .option(...institutionOption);
}

function review(transferId: string, options: Signed, kind: 'approve' | 'decline'): Promise<void> {
  return withDesk(options, async (desk, context, { institutionId }, origin) => {
    const act = { kind, origin };
    const outcome = await reviewTransfer(desk, context.database, institutionId, transferId, act);
    if (outcome.kind === 'unknown') throw noSuchTransfer();
    if (outcome.kind === 'changed') {
      if (kind === 'approve' && outcome.transfer.status === 'FAILED') {
        throw new CommandFailed(`It cannot be posted any more: ${tell(outcome.transfer)}.`);
      }
      return say(`${transferId} is ${tell(outcome.transfer)}.`);
    }
    switch (outcome.why) {
      case 'waits':
        return say(`${transferId} waits on: for a second person, or for its processing time.`);
      case 'approved_before':
        throw new CommandFailed(
          `${nameOf(origin.operator)} has approved it already: another system user must.`,
        );
      default:
        throw new CommandFailed(`It is not pending: ${tell(outcome.transfer)}.`);
    }
  });
}

function tell({ status, failureCode }: Transfer): string {
  return failureCode === null ? status : `${status} (${failureCode})`;
}

async function withDesk(
  options: Signed,
  work: (
    desk: TransferDesk,
    context: AppContext,
    institution: Institution,
    origin: CommandOrigin,
  ) => Promise<void>,
): Promise<void> {
  await withStores(async (context, command) => {
    const institution = await chooseInstitution(context, options.institution);
    const origin = actingAs(command, institution, options.as);
    const { desk, close } = openDesk(context);
    try {
      await work(desk, context, institution, origin);
    } finally {
      await close();
    }
  });
}

function noSuchTransfer(): CommandFailed {
  return new CommandFailed('There is no such transfer in this institution.');
}
