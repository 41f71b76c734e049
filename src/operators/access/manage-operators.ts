import { appendAudit, type CommandOrigin, whatChanged } from '../../events/index.ts';
import { Problem } from '../../shared/problem.ts';
import type { InstitutionId } from '../../storage/index.ts';
import { deletePasskeys } from '../passkeys/passkey-queries.ts';
import { dropInvitation } from './invitation-queries.ts';
import { lockOperator, type OperatorRow, selectOperators, updateOperator } from './operator-queries.ts';
import type { OperatorRole } from './rights.ts';
import { endSessionsOf } from './session-queries.ts';
import type { AccessDeps } from './sessions.ts';

export function listOperators(
  { database }: Pick<AccessDeps, 'database'>,
  institutionId: InstitutionId,
): Promise<OperatorRow[]> {
  return database.read(institutionId, selectOperators);
}

interface Change {
  readonly operatorId: string;
  readonly roles?: readonly OperatorRole[] | undefined;
  /** ENDED is final. */
  readonly status?: 'ACTIVE' | 'SUSPENDED' | 'ENDED' | undefined;
  readonly statedReason: string;
  readonly origin: CommandOrigin;
}

/**
 * Changes the roles of an operator, suspends, resumes or ends one. The sessions and the invitation of an operator who is suspended end, and the
 * passkeys of one who has ended. Roles apply from the next request on. Nobody changes their own: problem `act_refused`, also for an operator who has ended. Problem `not_found`.
 */
export async function changeOperator(
  { database, clock }: AccessDeps,
  institutionId: InstitutionId,
  { operatorId, roles, status, statedReason, origin }: Change,
): Promise<OperatorRow> {
  if (origin.operator.operatorId === operatorId) {
    throw new Problem('act_refused', 'Nobody changes their own roles or status. Ask another administrator.');
  }
  return database.transaction(institutionId, async (tx) => {
    const before = await lockOperator(tx, operatorId);
    if (before === undefined) throw new Problem('not_found', 'There is no such operator.');
    if (before.status === 'ENDED')
      throw new Problem('act_refused', 'This operator has ended, which is final.');
    if (status === 'ACTIVE' && before.status === 'INVITED') {
      throw new Problem('act_refused', 'An invited operator becomes active by signing in.');
    }
    if (status === 'SUSPENDED' && before.status === 'INVITED') {
      throw new Problem(
        'act_refused',
        'An invited operator has nothing to suspend. End the invitation instead.',
      );
    }
    if (roles !== undefined && before.source === 'PROVIDER') {
      throw new Problem(
        'act_refused',
        'The groups at the provider give this operator roles, at each sign-in. Change them there.',
      );
    }
    const after = { ...before, roles: roles ?? before.roles, status: status ?? before.status };
    const { before: old, after: now } = whatChanged<object>(
      { roles: before.roles, status: before.status },
      { roles: after.roles, status: after.status },
    );
    if (Object.keys(now ?? {}).length === 0) return before;
    const at = clock();
    await updateOperator(tx, after);
    if (after.status === 'SUSPENDED' || after.status === 'ENDED') {
      await endSessionsOf(tx, operatorId, at);
      await dropInvitation(tx, operatorId);
    }
    if (after.status === 'ENDED') await deletePasskeys(tx, operatorId);
    const entry = { action: 'operator.changed', outcome: 'succeeded', subject: operatorId } as const;
    await appendAudit(tx, { ...entry, statedReason, origin, before: old, after: now }, at);
    return after;
  });
}
