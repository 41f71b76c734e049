import {
  credentialIdOf,
  relyingPartyOf,
  requestOptions,
  userHandleIn,
  verifyAssertion,
} from '../../auth/index.ts';
import { wholeService } from '../../events/index.ts';
import type { InstitutionId } from '../../storage/index.ts';
import { lockOperator } from '../access/operator-queries.ts';
import { beginSession, type SignInFrom } from '../access/sessions.ts';
import { handleOf, institutionIn, openPage, type PasskeyDeps, sealPage, spend } from './ceremony.ts';
import { selectPasskey, usePasskey } from './passkey-queries.ts';

/** The challenge of a page of sign-in. It names no operator and no institution. */
export function startPasskeySignIn(deps: PasskeyDeps): {
  readonly request: string;
  readonly options: object;
} {
  const { request, challenge } = sealPage(deps, { kind: 'sign_in' });
  return { request, options: requestOptions(relyingPartyOf(deps.auth.issuer), challenge) };
}

interface Attempt {
  readonly request: string;
  readonly credential: string;
}

/**
 * Signs an operator in with a passkey (WebAuthn level 3, section 7.2), also for an act that needs a recent sign-in. Returns the secret of the
 * session; undefined if refused, with the reason in the audit. Problem `overloaded`.
 */
export async function signInWithPasskey(
  deps: PasskeyDeps,
  attempt: Attempt,
  from: SignInFrom,
): Promise<string | undefined> {
  const result = await deps.auth.logins.run('operators', () => prove(deps, attempt, from));
  if ('secret' in result) return result.secret;
  const { institutionId = wholeService, reason, subject } = result;
  const { origin } = from;
  const entry = { action: 'operator.refused', outcome: 'refused', reason, subject, origin } as const;
  deps.auth.audit.note(institutionId, entry);
  return undefined;
}

type Result =
  | { readonly secret: string }
  | { readonly reason: string; readonly institutionId?: InstitutionId; readonly subject?: string };

async function prove(deps: PasskeyDeps, { request, credential }: Attempt, from: SignInFrom): Promise<Result> {
  const page = openPage(deps, 'sign_in', request);
  if (page === undefined) return { reason: 'expired_page' };
  const credentialId = credentialIdOf(credential);
  const handle = userHandleIn(credential);
  const institutionId = institutionIn(handle);
  if (credentialId === undefined || institutionId === undefined) return { reason: 'unknown_passkey' };
  const passkey = await deps.database.read(institutionId, (db) => selectPasskey(db, credentialId));
  // An institution that does not exist has no audit.
  if (passkey === undefined) return { reason: 'unknown_passkey' };
  const { operatorId } = passkey;
  const refused = (reason: string): Result => ({ reason, institutionId, subject: operatorId });
  const relyingParty = relyingPartyOf(deps.auth.issuer);
  const newCount = await verifyAssertion({ credential, challenge: page.challenge, relyingParty }, passkey);
  if (newCount === undefined || handle !== handleOf(institutionId, operatorId))
    return refused('wrong_passkey');
  const at = deps.clock();
  return deps.database.transaction(institutionId, async (tx) => {
    const operator = await lockOperator(tx, operatorId);
    if (operator?.status !== 'ACTIVE') return refused('not_active');
    if (!(await spend(tx, page))) return refused('replayed');
    if (!(await usePasskey(tx, passkey, { newCount, at }))) return refused('changed_meanwhile');
    return { secret: await beginSession(tx, deps, { operator, kind: 'BROWSER', method: 'passkey', from }) };
  });
}
