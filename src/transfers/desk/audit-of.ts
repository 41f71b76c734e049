import type { AuditAction, AuditEntry } from '../../events/index.ts';
import type { ActOutcome, DeskOrder, Outcome, Transfer } from '../rules/transfer.ts';

type Change = Extract<DeskOrder, { kind: 'transition' | 'reverse' }>;

/** The approvals of a transfer before the act and after it. */
export interface Approvals {
  readonly before: readonly (readonly string[])[];
  readonly after: readonly (readonly string[])[];
}

const actionOf = {
  approve: 'transfer.approved',
  decline: 'transfer.declined',
  cancel: 'transfer.cancelled',
} as const satisfies Record<string, AuditAction>;

/**
 * The audit entry of an act on an earlier transfer; undefined if the act has none. An operator's act has one even if it is
 * refused. An act of the clock has none, nor has an order or an
 * acceptance by the core: their own rows have the caller and the request.
 */
export function auditOf(
  order: Change,
  outcome: Outcome | ActOutcome,
  approvals: Approvals | undefined,
): AuditEntry | undefined {
  return order.kind === 'reverse' ? auditOfReversal(order, outcome) : auditOfAct(order, outcome, approvals);
}

function auditOfAct(
  { act, transferId: subject }: Extract<Change, { kind: 'transition' }>,
  outcome: Outcome | ActOutcome,
  approvals: Approvals | undefined,
): AuditEntry | undefined {
  if (act.kind === 'due' || act.kind === 'core_accepted' || outcome.kind === 'unknown') return undefined;
  if (act.kind === 'core_rejected') {
    if (outcome.kind !== 'changed') return undefined;
    const { status, reversedBy } = outcome.transfer;
    return {
      action: 'transfer.core_rejected',
      outcome: 'succeeded',
      subject,
      origin: act.origin,
      clientId: act.clientId ?? undefined,
      after: { refusalCode: act.code, status, reversedBy: reversedBy ?? undefined },
    };
  }
  const entry = { action: actionOf[act.kind], subject, origin: act.origin } as const;
  if (act.kind === 'cancel') {
    if (outcome.kind !== 'changed') return undefined;
    const { clientId } = act.actor;
    const userId = act.actor.kind === 'member' ? act.actor.userId : undefined;
    return { ...entry, ...changed(outcome.transfer, undefined), outcome: 'succeeded', clientId, userId };
  }
  const stated = { ...entry, statedReason: act.statedReason };
  const counted = act.kind === 'decline' || approvals?.before.length !== approvals?.after.length;
  if (outcome.kind === 'changed') {
    return counted
      ? { ...stated, ...changed(outcome.transfer, approvals), outcome: 'succeeded' }
      : { ...stated, outcome: 'refused', reason: 'too_late' };
  }
  if (outcome.kind !== 'unchanged') return undefined;
  return counted && outcome.why.startsWith('waits_')
    ? { ...stated, ...changed(outcome.transfer, approvals), outcome: 'succeeded', reason: outcome.why }
    : { ...stated, outcome: 'refused', reason: outcome.why };
}

function changed({ status, failureCode }: Transfer, approvals: Approvals | undefined) {
  return {
    before: { status: 'PENDING', approvedBy: approvals?.before },
    after: { status, failureCode: failureCode ?? undefined, approvedBy: approvals?.after },
  };
}

function auditOfReversal(
  { originalId: subject, transferId, statedReason, origin }: Extract<Change, { kind: 'reverse' }>,
  outcome: Outcome | ActOutcome,
): AuditEntry | undefined {
  const entry = { action: 'transfer.reversed', subject, statedReason, origin } as const;
  if (outcome.kind === 'new') {
    const { status } = outcome.transfer;
    const failureCode = outcome.transfer.failureCode ?? undefined;
    const after = { reversedBy: transferId, status, failureCode };
    return failureCode === undefined
      ? { ...entry, outcome: 'succeeded', before: {}, after }
      : { ...entry, outcome: 'refused', reason: failureCode, after };
  }
  if (outcome.kind === 'unchanged') return { ...entry, outcome: 'refused', reason: outcome.why };
  return outcome.kind === 'id_reused' ? { ...entry, outcome: 'refused', reason: outcome.kind } : undefined;
}
