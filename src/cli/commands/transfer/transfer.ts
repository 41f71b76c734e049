import { randomUUID } from 'node:crypto';
import { Command } from 'commander';
import { openDesk } from '../../../app/context.ts';
import { hasTransferRules, readTransferRules } from '../../../app/transfer-rules.ts';
import { type CommandOrigin, nameOf } from '../../../events/index.ts';
import { isPublicId } from '../../../shared/public-id.ts';
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
} from '../../../transfers/index.ts';
import { accepting } from '../../arguments.ts';
import {
  actingAs,
  asOption,
  CommandError,
  type InstitutionOptions,
  type InstitutionRun,
  onInstitution,
  say,
} from '../../command.ts';
import { proposed } from '../../proposed.ts';
import { transferShow } from './transfer-show.ts';

interface Signed extends InstitutionOptions {
  readonly as?: string;
}

export function transferCommands(): Command[] {
  return [transferShow(), pending(), review('approve'), review('decline'), reverse(), rules()];
}

function pending(): Command {
  return onInstitution(
    new Command('pending').description('list pending transfers, the first due first'),
    async ({ context: { database, clock }, institutionId }) => {
      let found = false;
      for await (const row of listPending(database, institutionId)) {
        found = true;
        say(describePending(row));
      }
      for (const one of await listProposals(database, institutionId, clock())) {
        found = true;
        const what = one.kind === 'RULES' ? 'a change of the rules' : `the reversal of ${one.subject}`;
        say(
          `${what}  proposed by ${one.proposedBy[0]} at ${one.proposedAt.toISOString()}, ` +
            `waits for another system user until ${one.expiresAt.toISOString()}`,
        );
      }
      if (!found) say('Nothing is pending.');
    },
  );
}

type PendingRow = ReturnType<typeof listPending> extends AsyncIterable<infer Row> ? Row : never;

function describePending(row: PendingRow): string {
  const amount = `${formatMinor(row.amountMinor, row.currencyCode)} ${row.currencyCode}`;
  const approvals =
    row.approvalsNeeded === 0
      ? ''
      : `, approved by ${row.approvedBy.length} of ${row.approvalsNeeded}${row.approvedBy.length > 0 ? ` (${row.approvedBy.join(', ')})` : ''}`;
  return (
    `${row.transferId}  ${row.transferType}  ${row.fromAccountId} -> ${row.toAccountId}  ${amount}  ` +
    `${row.heldFor}, ${row.whenDue === 'POST' ? 'posts' : 'expires'} ${row.dueAt.toISOString()}${approvals}` +
    (row.isOrdererShutOut ? ', ordered by a member who is locked: it does not post by itself' : '')
  );
}

const idRule = 'An id has 1 to 64 letters, digits and . _ : - and is not "options" or "dry-run".';
const readId = accepting((text) => isPublicId(text) && !['options', 'dry-run'].includes(text), idRule);

function reverse(): Command {
  return onDesk(
    new Command('reverse')
      .description('reverse a completed transfer by a new one in the other direction; at most once')
      .option('--id <id>', 'the new transfer’s id; with it the command can be repeated safely', readId),
    async ({ desk, institutionId, origin }, originalId, { id }: Signed & { id?: string }) => {
      const transferId = id ?? randomUUID();
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
  const command = new Command(kind).description(reviews[kind]);
  return onDesk(command, async ({ desk, institutionId, origin }, transferId) => {
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
    run: InstitutionRun & { readonly desk: TransferDesk; readonly origin: CommandOrigin },
    transferId: string,
    options: Options,
  ) => Promise<void>,
): Command {
  command.argument('<id>', 'the transfer’s id').addOption(asOption());
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
