import type { Actor } from '../institutions/index.ts';
import { toTransfer } from './desk/batch.ts';
import { suppose } from './desk/suppose.ts';
import type { TransferDesk } from './desk/transfer-desk.ts';
import { maySee, mayUseId } from './rules/accounts/authority.ts';
import { type PendingTerms, termsForMember } from './rules/controls/policies.ts';
import type { Failure } from './rules/failure.ts';
import { repeated, reservedId } from './rules/repeated.ts';
import type { RepeatedOutcome, Transfer, TransferOrder } from './rules/transfer.ts';

/** Why an order would fail or be held. */
interface Reason {
  readonly code: Failure['code'] | 'review' | 'cut_off' | 'core';
  readonly detail: string;
  readonly limit?: Failure['limit'];
}

/** The decision on an order now: the transfer that it would become, and the reasons why it would not post at once. */
export interface Decision {
  readonly kind: 'decision';
  readonly transfer: Transfer;
  readonly reasons: readonly Reason[];
}

/**
 * Decides an order by the reads and rules of the real one, and moves, stores and uses up nothing. The decision hides reviews
 * from members, who could otherwise order just below the threshold. An order under the id of a transfer that the caller may
 * see returns that transfer; an order under another's id is decided as if the id were free. Screening is not asked.
 */
export async function explainTransfer(
  desk: TransferDesk,
  actor: Actor,
  order: TransferOrder,
): Promise<Decision | RepeatedOutcome> {
  const { submitted, settings, existing, judgement, at } = await suppose(desk, actor, order);
  if (existing !== undefined && maySee(actor, existing)) return repeated(submitted, existing);
  if (!mayUseId(submitted, settings.idPrefixes)) return reservedId;
  if ('malformed' in judgement) {
    return { kind: 'malformed', pointer: judgement.pointer, detail: judgement.detail };
  }
  const { failure } = judgement;
  const pending = actor.kind === 'member' ? termsForMember(judgement) : judgement.pending;
  return {
    kind: 'decision',
    transfer: toTransfer(submitted, { ...judgement, pending }, { transferKey: 0n, at }),
    reasons: failure !== null ? [failure] : pending !== null ? whyHeld(pending) : [],
  };
}

function whyHeld({ heldFor, dueAt, whenDue, approvalsNeeded, notBefore }: PendingTerms): Reason[] {
  const reasons: Reason[] = [];
  if (heldFor === 'REVIEW') {
    const becomes = whenDue === 'POST' ? 'it posts by itself' : 'it expires';
    const persons = approvalsNeeded === 2 ? 'Two persons' : 'A person';
    reasons.push({
      code: 'review',
      detail: `${persons} at the institution must review it; without that ${becomes} at ${dueAt.toISOString()}.`,
    });
  }
  if (notBefore !== null) {
    reasons.push({
      code: 'cut_off',
      detail: `It is processed on the next business day, not before ${notBefore.toISOString()}.`,
    });
  }
  if (heldFor === 'CORE') {
    reasons.push({ code: 'core', detail: "It completes when the institution's core system accepts it." });
  }
  return reasons;
}
