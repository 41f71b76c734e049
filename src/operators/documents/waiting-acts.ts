import type { CommandOrigin } from '../../events/index.ts';
import type { Database, InstitutionId } from '../../storage/index.ts';
import {
  decisionsOn,
  formatMinor,
  listPending,
  listProposals,
  type PendingFilter,
  type Proposal,
  type WaitingReason,
} from '../../transfers/index.ts';
import { selectStandingDifferences } from './difference-queries.ts';

/** The operator who may decide on transfers, at the time of the institution. */
export interface Decider {
  readonly origin: CommandOrigin;
  readonly at: Date;
}

/** Null: an operator who may decide on none. Undefined: a reader without a name. */
export function decisionsFor(
  decider: Decider | null | undefined,
  pending: Parameters<typeof decisionsOn>[0],
) {
  if (decider === undefined) return {};
  return { decisions: decider === null ? [] : decisionsOn(pending, decider) };
}

/**
 * Pending transfers, the first due first, then proposals of acts that wait for a second person. With a filter, transfers alone: a proposal has
 * neither a reason to wait nor an age of an order. With a decider each transfer has the decisions that this person may take now.
 */
export async function* waitingActs(
  database: Database,
  institutionId: InstitutionId,
  {
    now,
    filter,
    decider,
  }: {
    readonly now: Date;
    readonly filter?: PendingFilter | undefined;
    readonly decider?: Decider | null;
  },
) {
  for await (const row of listPending(database, institutionId, { now, filter })) {
    const { transferId: id, transferType: type, amountMinor, currencyCode } = row;
    const { fromAccountId, toAccountId, heldFor, whenDue, dueAt, createdAt } = row;
    const { approvalsNeeded, isOrdererShutOut, isWithCore } = row;
    const approvedBy = row.approvedBy.map(([name = '']) => name);
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
      reasons: row.reasons.map((reason) => reasonDocument(reason, currencyCode)),
      isWithCore,
      ...decisionsFor(decider, row),
    };
  }
  if (filter !== undefined) return;
  const proposals = await listProposals(database, institutionId, now);
  for (const proposal of await confirmable(database, institutionId, proposals)) {
    const { kind, subject, accountId, currency, amountMinor, proposedBy, proposedAt, expiresAt } = proposal;
    yield {
      kind: 'proposal' as const,
      id: subject,
      type: kind,
      ...(accountId !== null &&
        currency !== null &&
        amountMinor !== null && {
          accountId,
          amount: formatMinor(amountMinor, currency),
          currencyCode: currency,
        }),
      proposedBy: proposedBy[0] ?? '',
      proposedAt,
      expiresAt,
    };
  }
}

/** Without the adjustments of a difference that the break no longer has: nobody can confirm them. */
async function confirmable(
  database: Database,
  institutionId: InstitutionId,
  proposals: readonly Proposal[],
): Promise<readonly Proposal[]> {
  const breakKeys = proposals.flatMap(({ kind, subject }) =>
    kind === 'ADJUSTMENT' ? [BigInt(subject)] : [],
  );
  if (breakKeys.length === 0) return proposals;
  const standing = await database.read(institutionId, (db) => selectStandingDifferences(db, breakKeys));
  return proposals.filter(
    ({ kind, subject, amountMinor }) =>
      kind !== 'ADJUSTMENT' || (amountMinor !== null && standing.get(BigInt(subject)) === amountMinor),
  );
}

/** Amounts are decimal text. */
function reasonDocument(reason: WaitingReason, currencyCode: string) {
  const text = (minor: bigint) => formatMinor(minor, currencyCode);
  switch (reason.kind) {
    case 'AMOUNT':
      return { kind: reason.kind, threshold: text(reason.thresholdMinor) };
    case 'TOTAL': {
      const { kind, limit, thresholdMinor, usedMinor } = reason;
      return { kind, limit, threshold: text(thresholdMinor), used: text(usedMinor) };
    }
    default:
      return reason;
  }
}

export type WaitingAct = ReturnType<typeof waitingActs> extends AsyncIterable<infer Row> ? Row : never;
