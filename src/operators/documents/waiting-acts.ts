import type { Database, InstitutionId } from '../../storage/index.ts';
import { formatMinor, listPending, listProposals, type PendingFilter } from '../../transfers/index.ts';

/**
 * Pending transfers, the first due first, then proposals of acts that wait for a second person. With a filter, transfers alone: a proposal has
 * neither a reason to wait nor an age of an order.
 */
export async function* waitingActs(
  database: Database,
  institutionId: InstitutionId,
  { now, filter }: { readonly now: Date; readonly filter?: PendingFilter | undefined },
) {
  for await (const row of listPending(database, institutionId, filter)) {
    const { transferId: id, transferType: type, amountMinor, currencyCode } = row;
    const { fromAccountId, toAccountId, heldFor, whenDue, dueAt, createdAt } = row;
    const { approvalsNeeded, approvedBy, isOrdererShutOut } = row;
    yield {
      kind: 'transfer' as const,
      ...{
        id,
        type,
        fromAccountId,
        toAccountId,
        amount: formatMinor(amountMinor, currencyCode),
        currencyCode,
      },
      ...{ heldFor, whenDue, dueAt, createdAt, approvalsNeeded, approvedBy, isOrdererShutOut },
    };
  }
  if (filter !== undefined) return;
  for (const { kind, subject, proposedBy, proposedAt, expiresAt } of await listProposals(
    database,
    institutionId,
    now,
  ))
    yield {
      kind: 'proposal' as const,
      id: subject,
      type: kind,
      proposedBy: proposedBy[0] ?? '',
      proposedAt,
      expiresAt,
    };
}

export type WaitingAct = ReturnType<typeof waitingActs> extends AsyncIterable<infer Row> ? Row : never;
