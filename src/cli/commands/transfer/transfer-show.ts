import { Command } from 'commander';
import { type ReadTransfer, readTransfer, transferDocument } from '../../../operators/index.ts';
import { formatMinor } from '../../../transfers/index.ts';
import { CommandError, type InstitutionOptions, onInstitution, say } from '../../command.ts';
import { aligned } from '../../output.ts';

interface Options extends InstitutionOptions {
  readonly timing?: true;
  readonly json?: true;
}

export function transferShow(): Command {
  return onInstitution(
    new Command('show')
      .description('show a transfer with its decision and its entries')
      .argument('<id>', 'the transfer’s id')
      .option('--timing', 'add the steps of its life, with the time between them')
      .option('--json', 'one JSON document, for programs'),
    async ({ context, institutionId, origin }, { json, timing }: Options, id: string) => {
      const shown = await readTransfer(context, institutionId, { transferId: id, origin });
      if (shown === undefined) throw new CommandError('The transfer does not exist in this institution.');
      say(json ? JSON.stringify(transferDocument(shown), null, 2) : tableOf(shown, timing === true));
    },
  );
}

function tableOf(shown: ReadTransfer, withSteps: boolean): string {
  const { transfer, entries, pending, approvals, screening, core, events } = shown;
  const amount = (minor: bigint) => `${formatMinor(minor, transfer.currencyCode)} ${transfer.currencyCode}`;
  const orderedBy = [shown.clientId, shown.userId && `user ${shown.userId}`, shown.operator]
    .filter((one) => one !== null && one !== '')
    .join(', ');
  const rows: (readonly [string, string | null | undefined])[] = [
    ['transfer', transfer.id],
    [
      'status',
      transfer.failureCode === null ? transfer.status : `${transfer.status}, ${transfer.failureCode}`,
    ],
    ['reason', transfer.failureDetail],
    ['type', transfer.transferType],
    ['from, to', `${transfer.fromAccountId} -> ${transfer.toAccountId}`],
    ['amount', amount(transfer.amountMinor)],
    ['memo', transfer.memo],
    ['reverses', transfer.reverses],
    ['reversed by', transfer.reversedBy],
    ['ordered by', orderedBy],
    ['request', shown.requestId],
    ['created', transfer.createdAt.toISOString()],
    ['settled', shown.settledAt?.toISOString()],
    [
      'held for',
      pending &&
        `${pending.heldFor}, ${pending.whenDue === 'POST' ? 'posts' : 'expires'} ${pending.dueAt.toISOString()}` +
          (pending.isOrdererShutOut ? ', ordered by a member who is locked: it does not post by itself' : ''),
    ],
    ['screening', screening && describeScreening(screening)],
    ['core', core && describeCore(core)],
    ['receipt of the core', core?.coreReference],
    [
      'approvals',
      pending === undefined && approvals.length === 0
        ? null
        : `${approvals.map(({ operator }) => operator).join(', ') || 'none'}${pending ? ` (of ${pending.approvalsNeeded})` : ''}`,
    ],
  ];
  const facts = rows.flatMap(([name, value]) => (value == null || value === '' ? [] : [[name, value]]));
  const parts = [aligned(facts), '', aligned(checksOf(shown)), ''];
  if (entries.length === 0) parts.push('No entry: no money moved.');
  else
    parts.push(
      aligned([
        ['account', 'entry', 'kind', 'amount', 'balance after', 'held out', 'held in', 'recorded'],
        ...entries.map((entry) => [
          entry.accountId,
          String(entry.seq),
          entry.kind,
          amount(entry.amountMinor),
          amount(entry.postedAfterMinor),
          amount(entry.debitsPendingAfterMinor),
          amount(entry.creditsPendingAfterMinor),
          entry.recordedAt.toISOString(),
        ]),
      ]),
    );
  parts.push('', ...deliveriesOf(events));
  if (withSteps) {
    const steps = shown.steps.map(({ at, step, afterMillis }) => [
      at.toISOString(),
      afterMillis === null ? '' : `+${afterMillis} ms`,
      step,
    ]);
    parts.push('', aligned(steps));
    if (shown.requestId !== null) {
      parts.push(
        '',
        `The time before the decision is in the log: search for "transactionId":"${shown.requestId}".`,
      );
    }
  }
  return parts.join('\n');
}

/** One line for each check of the decision. */
function checksOf({ checks, transfer: { currencyCode } }: ReadTransfer): string[][] {
  const amount = (minor: bigint) => `${formatMinor(minor, currencyCode)} ${currencyCode}`;
  const lines = checks.map(({ check, outcome, source, limit, figures, headroomMinor }) => [
    limit === null ? check : `${check} ${limit.subject} ${limit.period}`,
    outcome,
    figures
      .map((figure) => `${figure.name} ${'count' in figure ? figure.count : amount(figure.amountMinor)}`)
      .join(', '),
    headroomMinor === null ? '' : amount(headroomMinor),
    source ?? '',
  ]);
  return [['check', 'outcome', 'figures', 'headroom', 'source'], ...lines];
}

function describeScreening(screening: NonNullable<ReadTransfer['screening']>): string {
  const { verdict, answer, reference, askedMillis } = screening;
  const source = { ANSWERED: 'answered', SILENT: 'no answer', NOT_ASKED: 'not asked' }[answer];
  const parts = [source, reference, askedMillis === null ? null : `${askedMillis} ms`].filter(
    (part) => part !== null,
  );
  return `${verdict.toLowerCase()} (${parts.join(', ')})`;
}

function describeCore({
  state,
  mode,
  refusalCode,
  refusalReason,
  ...core
}: NonNullable<ReadTransfer['core']>): string {
  const reporter = core.decidedBy ?? core.decidedOperator;
  const parts = [mode, refusalCode, refusalReason, reporter && `reported by ${reporter}`].filter(
    (part) => part !== null,
  );
  return `${state.toLowerCase()} (${parts.join(', ')})`;
}

/** One line for each event and webhook. */
function deliveriesOf(events: ReadTransfer['events']): string[] {
  if (events.length === 0) return ['No event: the events of the transfer are in the archive.'];
  const lines = events.flatMap(({ eventType, sequence, deliveries }) =>
    deliveries.map(({ url, endpointId, state, behind, attempts, lastAttempt, nextAttemptAt }) => [
      eventType,
      String(sequence),
      url || endpointId,
      behind === null ? state : `${state} by ${behind}`,
      String(attempts),
      lastAttempt === null ? '' : `${lastAttempt.status ?? ''} ${lastAttempt.error ?? ''}`.trim(),
      lastAttempt?.attemptedAt.toISOString() ?? '',
      nextAttemptAt?.toISOString() ?? '',
    ]),
  );
  if (lines.length === 0) return ['No webhook: the institution has none.'];
  const head = [
    'event',
    'sequence',
    'webhook',
    'delivery',
    'attempts',
    'last answer',
    'last attempt',
    'next attempt',
  ];
  return [aligned([head, ...lines])];
}
