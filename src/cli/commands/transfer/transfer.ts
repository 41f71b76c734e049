import { randomUUID } from 'node:crypto';
import { Command } from 'commander';
import { openDesk } from '../../../app/context.ts';
import { hasTransferRules, readTransferRules } from '../../../app/transfer-rules.ts';
import { nameOf } from '../../../events/index.ts';
import { type WaitingAct, waitingActs } from '../../../operators/index.ts';
import { isPublicId } from '../../../shared/public-id.ts';
import {
  LimitKeyTakenError,
  reverseTransfer,
  reviewTransfer,
  saveTransferRules,
  type Transfer,
  type TransferDesk,
} from '../../../transfers/index.ts';
import { accepting, readReason } from '../../arguments.ts';
import {
  actingAs,
  asOption,
  CommandError,
  type InstitutionOptions,
  type InstitutionRun,
  onInstitution,
  say,
} from '../../command.ts';
import { type ConfirmOptions, confirm, yesOption } from '../../confirm.ts';
import { jsonOption, type OutputOptions, sayList } from '../../output.ts';
import { proposed } from '../../proposed.ts';
import { transferShow } from './transfer-show.ts';

interface Signed extends InstitutionOptions, ConfirmOptions {
  readonly as?: string;
  readonly reason?: string;
}

export function transferCommands(): Command[] {
  return [transferShow(), pending(), review('approve'), review('decline'), reverse(), rules()];
}

function pending(): Command {
  return onInstitution(
    new Command('pending')
      .description('list pending transfers, the first due first, and acts that wait for a second person')
      .addOption(jsonOption()),
    async ({ context, institutionId, origin }, options: InstitutionOptions & OutputOptions) => {
      await sayList(
        waitingActs(context, institutionId, { now: context.clock(), origin }),
        {
          columns: {
            id: ({ id }) => id,
            type: ({ type }) => type,
            accounts: accountsOf,
            amount: ({ amount, currencyCode }) => (amount === undefined ? '' : `${amount} ${currencyCode}`),
            'waits for': waitsFor,
          },
          document: ({ kind, ...row }) => ({ kind, ...row }),
          none: 'Nothing is pending.',
        },
        options,
      );
    },
  );
}

/** A reversal moves the money the other way. */
function accountsOf(row: WaitingAct): string {
  if (row.kind === 'transfer') return `${row.fromAccountId} -> ${row.toAccountId}`;
  if ('accountId' in row) return row.accountId ?? '';
  return 'fromAccountId' in row ? `${row.toAccountId} -> ${row.fromAccountId}` : '';
}

function waitsFor(row: WaitingAct): string {
  if (row.kind === 'proposal') {
    return `another system user until ${row.expiresAt.toISOString()}, proposed by ${row.proposedBy} at ${row.proposedAt.toISOString()}`;
  }
  const { heldFor, whenDue, dueAt, approvalsNeeded, approvedBy, isOrdererShutOut } = row;
  const names = approvedBy.length === 0 ? '' : ` (${approvedBy.join(', ')})`;
  return [
    `${heldFor}, ${whenDue === 'POST' ? 'posts' : 'expires'} ${dueAt.toISOString()}`,
    ...(approvalsNeeded === 0 ? [] : [`approved by ${approvedBy.length} of ${approvalsNeeded}${names}`]),
    ...(isOrdererShutOut ? ['ordered by a member who is locked: it does not post by itself'] : []),
  ].join(', ');
}

const idRule = 'An id has 1 to 64 letters, digits and . _ : - and is not "options" or "dry-run".';
const readId = accepting((text) => isPublicId(text) && !['options', 'dry-run'].includes(text), idRule);

function reverse(): Command {
  return onDesk(
    new Command('reverse')
      .description('reverse a completed transfer by a new one in the other direction; at most once')
      .option('--id <id>', 'the new transfer’s id; with it the command can be repeated safely', readId)
      .addOption(yesOption()),
    async (
      { desk, institutionId, origin },
      originalId,
      { id, reason, ...options }: Signed & { id?: string },
    ) => {
      await confirm(`The whole amount of ${originalId} goes back to its source.`, options);
      const transferId = id ?? randomUUID();
      const reversal = { originalId, transferId, statedReason: reason, origin };
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
    },
  );
}

function rules(): Command {
  return onInstitution(
    new Command('rules')
      .description(
        'replace the rules by those of a folder (policies, limits, business days, contribution limits)',
      )
      .argument('<folder>', 'folder with transfer-policies.csv and the other files of docs/transfer-rules.md')
      .addOption(asOption()),
    async (run, { as }: Signed, folder: string) => {
      const { context, institutionId, institution } = run;
      const origin = actingAs(run.origin, institution, as);
      if (!hasTransferRules(folder)) throw new CommandError('The folder has no file with transfer rules.');
      const read = await readTransferRules(folder);
      const saved = await saveTransferRules(context, institutionId, { rules: read, origin }).catch(
        (error) => {
          throw error instanceof LimitKeyTakenError ? new CommandError(error.message) : error;
        },
      );
      const { name } = institution;
      if (saved.kind === 'proposed') return say(proposed(`${name}: the change of its rules`, saved));
      say(
        `${name}: ${read.policies.length} policies, ${read.limits.length} limits, ${read.businessDays.length} business days, ` +
          `${read.contributionLimits.length} contribution limits.`,
      );
    },
  );
}

const reviews = {
  approve:
    'approve a transfer that is held for review; under dual control, two system users do this once each',
  decline: 'decline a pending transfer: it fails, and its hold is released',
};

function review(kind: keyof typeof reviews): Command {
  const isHarmful = kind === 'decline';
  const command = new Command(kind).description(reviews[kind]);
  if (isHarmful) command.addOption(yesOption());
  return onDesk(command, async ({ desk, institutionId, origin }, transferId, { reason, ...options }) => {
    if (isHarmful) await confirm(`${transferId} fails for good, and the held money is free again.`, options);
    const act = { kind, statedReason: reason, origin };
    const outcome = await reviewTransfer(desk, institutionId, { transferId, act });
    if (outcome.kind === 'unknown') throw noSuchTransfer();
    if (outcome.kind === 'changed') {
      if (kind === 'approve' && outcome.transfer.status === 'FAILED') {
        throw new CommandError(`It can no longer be posted: ${tell(outcome.transfer)}.`);
      }
      return say(`${transferId} is ${tell(outcome.transfer)}.`);
    }
    switch (outcome.why) {
      case 'waits_for_approval':
        return say(`${transferId} still waits: another person must approve it too.`);
      case 'waits_for_time':
        return say(`${transferId} is approved, and posts at its processing time.`);
      case 'waits_for_core':
        return say(`${transferId} has gone to the core, and completes when the core accepts it.`);
      case 'not_in_review':
        throw new CommandError('It needs no approval: it waits for its processing time or for the core.');
      case 'approved_before':
        throw new CommandError(
          `${nameOf(origin.operator)} has approved it already. Another person must approve it.`,
        );
      case 'with_core':
        throw new CommandError(
          'The core has the transfer, and may have carried it out. Only its outcome ends it.',
        );
      default:
        throw new CommandError(`It is not pending: ${tell(outcome.transfer)}.`);
    }
  });
}

function tell({ status, failureCode }: Transfer): string {
  return failureCode === null ? status : `${status} (${failureCode})`;
}

/** Gives a command on one transfer its argument, the options of an act under dual control, and its work at the desk. */
function onDesk<Options extends Signed>(
  command: Command,
  work: (
    run: InstitutionRun & { readonly desk: TransferDesk },
    transferId: string,
    options: Options,
  ) => Promise<void>,
): Command {
  command
    .argument('<id>', 'the transfer’s id')
    .option('--reason <text>', 'why, for the audit', readReason)
    .addOption(asOption());
  return onInstitution(command, async (run, options: Options, transferId: string) => {
    const origin = actingAs(run.origin, run.institution, options.as);
    const { desk, close } = openDesk(run.context);
    try {
      await work({ ...run, origin, desk }, transferId, options);
    } finally {
      await close();
    }
  });
}

function noSuchTransfer(): CommandError {
  return new CommandError('The transfer does not exist in this institution.');
}
