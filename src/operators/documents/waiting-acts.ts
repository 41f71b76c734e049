import type { AuditTrail, CommandOrigin } from '../../events/index.ts';
import type { Database, InstitutionId } from '../../storage/index.ts';
import {
  decisionsOn,
  formatMinor,
  listPending,
  type PendingFilter,
  type WaitingReason,
} from '../../transfers/index.ts';
import { type Confirmer, proposalDocuments } from './waiting-proposals.ts';

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
 * neither a reason to wait nor an age of an order. With a decider each transfer has the decisions that this person may take now,
 * and with a confirmer each proposal says whether this person may confirm it. The audit notes the read.
 */
export async function* waitingActs(
  {
    database,
    auth: { audit },
  }: { readonly database: Database; readonly auth: { readonly audit: AuditTrail } },
  institutionId: InstitutionId,
  {
    now,
    filter,
    origin,
    decider,
    confirmer,
  }: {
    readonly now: Date;
    readonly filter?: PendingFilter | undefined;
    readonly origin: CommandOrigin;
    readonly decider?: Decider | null;
    readonly confirmer?: Confirmer | undefined;
  },
) {
  const read = { action: 'transfer.read', outcome: 'succeeded', reason: 'pending', origin } as const;
  await audit.noteRead(institutionId, read);
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
  yield* await proposalDocuments(database, institutionId, { now, confirmer });
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
