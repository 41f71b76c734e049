import type { Actor } from '../../institutions/index.ts';
import { findUser } from '../../members/index.ts';
import type { Remembered } from '../../memory/index.ts';
import { checkBinding, type Presented } from '../binding/check-binding.ts';
import { coveredOf } from '../consents/covered-accounts.ts';
import type { AuthDeps } from '../deps.ts';
import { requireProof } from '../dpop/check-proof.ts';
import { InvalidAssertionError } from '../providers/invalid-assertion-error.ts';
import { issuerOf } from '../providers/jwt.ts';
import { invalidToken, type VerifiedToken } from './access-tokens.ts';
import { findActiveToken, scopesNow } from './active-token.ts';
import { type Caller, findRemembered, rememberCaller } from './remembered-caller.ts';
import type { TokenStatus } from './token-status.ts';

export interface Identified {
  /** The caller as last read; it may have lost its rights since. The memory checks it, or `verify` reads it again. */
  readonly remembered?: Remembered<Caller>;
  /** Of a remembered caller whose token is bound to a key: rejects if the proof was used before. Awaited before anything is done. */
  readonly proven?: Promise<void> | undefined;
  /** Reads whether the token is active, once, and whether its proof is new. Problem `invalid_token`, `invalid_dpop_proof`. */
  readonly verify: () => Promise<Caller>;
}

/**
 * The caller by an access token of ours or of a registered provider. `admit` receives the client's name once it is proven
 * and before the database is read, and may throw. Throws Problem `invalid_token`,
 * `invalid_dpop_proof`, `use_dpop_nonce`.
 */
export function identify(
  deps: AuthDeps,
  text: string,
  admit: (client: string) => void = () => {},
  presented: Presented = {},
): Identified {
  if (presented.proof !== undefined) requireProof(presented.proof);
  const remembered = findRemembered(deps, text);
  if (remembered !== undefined) admit(nameOfClient(remembered.value.token));
  const proven = remembered && checkBinding(deps, remembered.value.token, { text, ...presented });
  let caller: Promise<Caller> | undefined;
  const verify = () => {
    caller ??=
      remembered === undefined
        ? identifyAnew(deps, { text, ...presented }, admit)
        : readProven(deps, text, { token: remembered.value.token, proven });
    return caller;
  };
  return remembered === undefined ? { verify } : { remembered, proven, verify };
}

async function identifyAnew(
  deps: AuthDeps,
  presented: Presented & { readonly text: string },
  admit: (client: string) => void,
): Promise<Caller> {
  const { text, proof } = presented;
  const issuer = issuerOf(text);
  if (issuer !== undefined && issuer !== deps.issuer) {
    if (proof !== undefined) throw invalidToken('it is of a provider, and came as DPoP');
    return identifyAsserted(deps, text, admit);
  }
  const token = await deps.tokens.verify(text);
  admit(nameOfClient(token));
  return readProven(deps, text, { token, proven: checkBinding(deps, token, presented) });
}

/** An inactive token takes precedence over a proof that was used before. */
async function readProven(
  deps: AuthDeps,
  text: string,
  { token, proven }: { readonly token: VerifiedToken; readonly proven: Promise<void> | undefined },
): Promise<Caller> {
  const caller = await readCaller(deps, text, token);
  await proven;
  return caller;
}

/** Problem `invalid_token` if the token is no longer active. */
async function readCaller(deps: AuthDeps, text: string, token: VerifiedToken): Promise<Caller> {
  const basis = deps.memory.begin(token.institutionId);
  basis.endAt(token.expiresAt * 1000);
  basis.addRevocation(token.tokenId);
  if (token.familyId !== undefined) basis.addRevocation(token.familyId);
  const status = await findActiveToken(deps, token);
  if (status === undefined) {
    throw invalidToken(
      `it, its client ${token.clientId} or its user ${token.userId ?? '(none)'} is no longer active`,
    );
  }
  if (status.userKey !== null) basis.add('user', status.userKey);
  if (status.consentUntil !== null) {
    basis.endAt(status.consentUntil.getTime());
    // The consent itself is noted with the user.
    if (status.personKey !== null) basis.add('person', status.personKey);
  }
  const caller = { actor: actorOf(token, status), scopes: scopesNow(token, status), token };
  rememberCaller(deps, text, caller, basis);
  return caller;
}

function actorOf(token: VerifiedToken, status: TokenStatus): Actor {
  const { userKey, personKey, consentVersion: version } = status;
  const { institutionId, clientId, use, userId, authTime, acr, consentId } = token;
  if (use === 'client') return { kind: 'client', institutionId, clientId, token };
  if (userId === undefined || userKey === null || personKey === null) {
    throw new Error('auth: an active token of a member names no user');
  }
  const member = { kind: 'member', institutionId, clientId, userId, userKey, personKey, token } as const;
  const consent = consentId !== undefined &&
    version !== null && { consent: { consentId, version, ...coveredOf(status) } };
  return { ...member, ...consent, ...authenticatedAt(authTime), ...(acr && { acr }) };
}

function authenticatedAt(authTime: number | undefined): { readonly authenticatedAt?: Date } {
  return authTime === undefined ? {} : { authenticatedAt: new Date(authTime * 1000) };
}

/** Unique across institutions. */
function nameOfClient({
  institutionId,
  clientId,
}: Pick<VerifiedToken, 'institutionId' | 'clientId'>): string {
  return `${institutionId} ${clientId}`;
}

/**
 * A provider's access token identifies a member, within the provider's scopes. The user is read at each use, and the token must be newer
 * than the last change of the user's standing. The client id is made from the provider's, since its clients are not ours.
 */
async function identifyAsserted(
  deps: AuthDeps,
  token: string,
  admit: (client: string) => void,
): Promise<Caller> {
  const asserted = await deps.resourceTokens.verify(token).catch((error) => {
    throw error instanceof InvalidAssertionError ? invalidToken(error) : error;
  });
  if (deps.host !== undefined && asserted.provider.institutionId !== deps.host.institutionId)
    throw invalidToken('it is of a provider of another institution');
  const { provider, subject, scopes, issuedAtMillis, authTime } = asserted;
  const { institutionId, providerId, userIdType } = provider;
  const clientId = `provider:${providerId}`;
  admit(nameOfClient({ institutionId, clientId }));
  const user = await deps.database.read(institutionId, (db) => findUser(db, subject, userIdType));
  if (user?.mayAct !== true || issuedAtMillis <= (user.tokensEndedAt?.getTime() ?? 0)) {
    throw invalidToken('its user is unknown or not active, or it was issued before its user last changed');
  }
  const { userId, userKey, personKey } = user;
  return {
    actor: {
      kind: 'member',
      institutionId,
      clientId,
      userId,
      userKey,
      personKey,
      ...authenticatedAt(authTime),
    },
    scopes,
  };
}
