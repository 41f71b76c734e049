import { formatMinor } from '../../transfers/index.ts';
import type { ReadTransfer } from '../transfers/read-transfer.ts';
import { type Decider, decisionsFor } from './waiting-acts.ts';

/**
 * A transfer with its decision and its entries, as operators see it. Amounts are decimal text. With a decider a pending one has the decisions
 * that this person may take now.
 */
export function transferDocument(shown: ReadTransfer, decider?: Decider | null) {
  const { transferKey: _, transfer, entries, steps, pending, events, checks, ...more } = shown;
  const { currencyCode } = transfer;
  const isWithCore = shown.core?.state === 'OPEN' && shown.core.deliveredAt !== null;
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
    checks: checks.map(({ figures, headroomMinor, ...check }) => ({
      ...check,
      figures: figures.map((figure) =>
        'count' in figure ? figure : { name: figure.name, amount: amount(figure.amountMinor) },
      ),
      headroom: headroomMinor === null ? null : amount(headroomMinor),
    })),
    pending: pending && {
      heldFor: pending.heldFor,
      dueAt: pending.dueAt,
      whenDue: pending.whenDue,
      approvalsNeeded: pending.approvalsNeeded,
      notBefore: pending.notBefore,
      isOrdererShutOut: pending.isOrdererShutOut,
      isWithCore,
      ...decisionsFor(decider, { ...pending, isWithCore }),
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
    events: events.map(({ sequence, deliveries, ...event }) => ({
      ...event,
      sequence: Number(sequence),
      deliveries: deliveries.map(({ behind, ...delivery }) => ({
        ...delivery,
        behind: behind === null ? null : Number(behind),
      })),
    })),
  };
}
