import { randomUUID } from 'node:crypto';
import { Command, InvalidArgumentError } from 'commander';
import { openDesk } from '../app/context.ts';
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
import { actingAs, asOption, CommandError, chooseInstitution, say, withContext } from './command.ts';

interface Options {
  readonly institution?: string;
}
interface Signed extends Options {
  readonly as?: string;
}

const institutionOption = ['--institution <code>', 'code of the institution'] as const;

export function transferCommands(): Command[] {
  return [pending(), approve(), decline(), reverse(), rules()];
}

function pending(): Command {
  return new Command('pending')
    .description('list pending transfers, the first due first')
    .option(...institutionOption)
    .action((options: Options) =>
      withContext(async (context) => {
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
      'approve a transfer that is held for review; under dual control, two system users do this once each',
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
      'reverse a completed transfer by a new one in the other direction; at most once',
    ),
  )
    .option('--id <id>', 'the new transfer’s id; with it the command can be repeated safely', readId)
    .action((originalId: string, options: Signed & { id?: string }) =>
      withDesk(options, async (desk, { institutionId }, origin) => {
        const transferId = options.id ?? randomUUID();
        const reversal = { originalId, transferId, origin };
        const outcome = await reverseTransfer(desk, institutionId, reversal);
        switch (outcome.kind) {
          case 'new':
          case 'replayed':
            if (outcome.transfer.status === 'FAILED') {
              throw new CommandError(`It cannot be reversed: ${outcome.transfer.failureDetail}`);
            }
            return say(`${outcome.transfer.id} is COMPLETED and reverses ${originalId}.`);
          case 'proposed':
            return say(proposed(`The reversal of ${originalId}`, outcome));
          case 'unchanged':
            throw new CommandError(
              `Only a completed transfer that is not a reversal, and has none, can be reversed: ${tell(outcome.transfer)}.`,
            );
          case 'id_reused':
            throw new CommandError(`The id ${transferId} belongs to another transfer.`);
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
    `${act} is proposed by ${proposedBy}. Nothing has changed yet. ` +
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
      'replace the rules by those of a folder (policies, limits, business days, contribution limits)',
    )
    .argument('<folder>', 'folder with transfer-policies.csv and the other files of docs/transfer-rules.md')
    .option('--institution <code>', 'code of the institution')
    .addOption(asOption())
    .action((folder: string, options: Signed) =>
      withContext(async (context, command) => {
        const institution = await chooseInstitution(context, options.institution);
        const { institutionId, name } = institution;
        const origin = actingAs(command, institution, options.as);
        if (!hasTransferRules(folder)) {
          throw new CommandError('The folder has no file with transfer rules.');
        }
        const read = await readTransferRules(folder);
        const saved = await saveTransferRules(context, institutionId, { rules: read, origin }).catch(
          (error) => {
            throw error instanceof LimitKeyTakenError ? new CommandError(error.message) : error;
          },
        );
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
  return withDesk(options, async (desk, { institutionId }, origin) => {
    const act = { kind, origin };
    const outcome = await reviewTransfer(desk, institutionId, { transferId, act });
    if (outcome.kind === 'unknown') throw noSuchTransfer();
    if (outcome.kind === 'changed') {
      if (kind === 'approve' && outcome.transfer.status === 'FAILED') {
        throw new CommandError(`It can no longer be posted: ${tell(outcome.transfer)}.`);
      }
      return say(`${transferId} is ${tell(outcome.transfer)}.`);
    }
    switch (outcome.why) {
      case 'waits':
        return say(`${transferId} still waits, for a second approval or for its processing time.`);
      case 'approved_before':
        throw new CommandError(
          `${nameOf(origin.operator)} has approved it already. Another system user must approve it.`,
        );
      default:
        throw new CommandError(`It is not pending: ${tell(outcome.transfer)}.`);
    }
  });
}

function tell({ status, failureCode }: Transfer): string {
  return failureCode === null ? status : `${status} (${failureCode})`;
}

async function withDesk(
  options: Signed,
  work: (desk: TransferDesk, institution: Institution, origin: CommandOrigin) => Promise<void>,
): Promise<void> {
  await withContext(async (context, command) => {
    const institution = await chooseInstitution(context, options.institution);
    const origin = actingAs(command, institution, options.as);
    const { desk, close } = openDesk(context);
    try {
      await work(desk, institution, origin);
    } finally {
      await close();
    }
  });
}

function noSuchTransfer(): CommandError {
  return new CommandError('The transfer does not exist in this institution.');
}
