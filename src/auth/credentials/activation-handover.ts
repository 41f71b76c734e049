import type { ClientActor } from '../../institutions/index.ts';
import type { AuthDeps } from '../deps.ts';
import { activationPurpose, findActivation } from './activation.ts';
import { acknowledgeCode, type CodeKind, type HandoverRequest, handOverCode } from './code-handover.ts';

export interface HandedOverCode {
  readonly activationCode: string;
  readonly userId: string;
  readonly expiresAt: Date;
}

const activationCode: CodeKind = {
  event: 'member.registered',
  purpose: activationPurpose,
  readAs: 'user.activation_code_read',
  deliveredAs: 'user.activation_code_delivered',
  userOf: async (deps, institutionId, code) => {
    const found = await findActivation(deps, institutionId, code);
    return found?.matches ? found.activation : undefined;
  },
};

/** Problem `not_found`. */
export async function getActivationCode(
  deps: AuthDeps,
  actor: ClientActor,
  request: HandoverRequest,
): Promise<HandedOverCode> {
  const { code, ...rest } = await handOverCode(deps, activationCode, { actor, ...request });
  return { activationCode: code, ...rest };
}

/** Wipes the delivered code. Problem `not_found`. */
export function acknowledgeActivationCode(
  deps: AuthDeps,
  actor: ClientActor,
  request: HandoverRequest,
): Promise<void> {
  return acknowledgeCode(deps, activationCode, { actor, ...request });
}
