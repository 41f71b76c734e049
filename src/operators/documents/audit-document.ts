import type { RecordedAuditEntry } from '../../events/index.ts';

/** An entry of the audit as operators see it: docs/audit.md. */
export function auditDocument(entry: RecordedAuditEntry) {
  const {
    auditKey,
    at,
    action,
    outcome,
    reason,
    statedReason,
    clientId,
    userId,
    subject,
    nameHash,
    origin,
    times,
  } = entry;
  const { address, operator, transactionId } = origin;
  const { user, operatorId, isBreakGlass: breakGlass, host, sudoUser, as } = operator ?? {};
  return {
    ...{ key: Number(auditKey), at, action, outcome, reason, statedReason, clientId, userId, subject },
    nameHash: nameHash && Buffer.from(nameHash).toString('hex'),
    ...{ address: address ?? undefined, operator: user, operatorId, breakGlass, host, sudoUser, as },
    ...(as !== undefined && { demo: true }),
    ...{ transactionId, times, before: entry.before, after: entry.after, personal: entry.personal },
  };
}
