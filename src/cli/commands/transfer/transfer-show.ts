import { Command } from 'commander';
import { formatMinor, type ShownTransfer, showTransfer } from '../../../transfers/index.ts';
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
    async ({ context, institutionId }, { json, timing }: Options, id: string) => {
      const shown = await showTransfer(context.database, institutionId, id);
      if (shown === undefined) throw new CommandError('The transfer does not exist in this institution.');
      say(json ? JSON.stringify(documentOf(shown), null, 2) : tableOf(shown, timing === true));
    },
  );
}

function documentOf(shown: ShownTransfer): object {
  const { transfer, entries, steps, pending, ...more } = shown;
  const { currencyCode } = transfer;
  const amount = (minor: bigint) => formatMinor(minor, currencyCode);
  return {
    id: transfer.id,
    status: transfer.status,
    transferType: transfer.transferType,
    fromAccountId: transfer.fromAccountId,
    toAccountId: transfer.toAccountId,
    amount: amount(transfer.amountMinor),
    currencyCode,
    memo: transfer.memo,
    failureCode: transfer.failureCode,
    failureDetail: transfer.failureDetail,
    exceededLimit: transfer.exceededLimit && {
      ...transfer.exceededLimit,
      remainingMinor: transfer.exceededLimit.remainingMinor?.toString() ?? null,
    },
    reverses: transfer.reverses ?? null,
    reversedBy: transfer.reversedBy ?? null,
    createdAt: transfer.createdAt,
    ...more,
    pending: pending && {
      heldFor: pending.heldFor,
      dueAt: pending.dueAt,
      whenDue: pending.whenDue,
      approvalsNeeded: pending.approvalsNeeded,
      notBefore: pending.notBefore,
      isOrdererShutOut: pending.isOrdererShutOut,
    },
    entries: entries.map((entry) => ({
      accountId: entry.accountId,
      entry: Number(entry.seq),
      kind: entry.kind,
      amount: amount(entry.amountMinor),
      balanceAfter: amount(entry.postedAfterMinor),
      debitsPendingAfter: amount(entry.debitsPendingAfterMinor),
      creditsPendingAfter: amount(entry.creditsPendingAfterMinor),
      recordedAt: entry.recordedAt,
    })),
    steps,
  };
}

function tableOf(shown: ShownTransfer, withSteps: boolean): string {
  const { transfer, entries, pending, approvals } = shown;
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
    [
      'approvals',
      pending === undefined && approvals.length === 0
        ? null
        : `${approvals.map(({ operator }) => operator).join(', ') || 'none'}${pending ? ` (of ${pending.approvalsNeeded})` : ''}`,
    ],
  ];
  const facts = rows.flatMap(([name, value]) => (value == null || value === '' ? [] : [[name, value]]));
  const parts = [aligned(facts), ''];
  if (entries.length === 0) parts.push('No entry: no money moved.');
  else
    parts.push(
      aligned([
        ['account', 'entry', 'kind', 'amount', 'balance after', 'recorded'],
        ...entries.map((entry) => [
          entry.accountId,
          String(entry.seq),
          entry.kind,
          amount(entry.amountMinor),
          amount(entry.postedAfterMinor),
          entry.recordedAt.toISOString(),
        ]),
      ]),
    );
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
