import type { Actor } from '../../institutions/index.ts';
import { findUser } from '../../members/index.ts';
import type { AuthDeps } from '../deps.ts';
import { InvalidAssertionError } from '../providers/invalid-assertion-error.ts';
import { issuerOf } from '../providers/jwt.ts';
import { invalidToken, type VerifiedToken } from './access-tokens.ts';
import { findActiveToken } from './active-token.ts';
import type { Scope } from './scopes.ts';

export interface Caller {
  readonly actor: Actor;
  readonly scopes: readonly Scope[];
}

export interface Identified {
  /**
   * Caller from the token cache; the token may have ended since. Reads may start; await `verify()` before responding or
   * committing. Undefined if the token is new to this process, or was inactive when last checked.
   */
  readonly cached?: Caller;
  /** Reads whether the token is active, once. Problem `invalid_token`. */
  readonly verify: () => Promise<Caller>;
}

/**
 * The caller by an access token of ours or of a registered provider. `admit` receives the client's name once it is proven
 * and before the database is read, and may throw.
 */
export function identify(
  deps: AuthDeps,
  token: string,
  admit: (client: string) => void = () => {},
): Identified {
  const known = deps.tokens.findCached(token);
  if (known !== undefined) admit(nameOfClient(known));
  let caller: Promise<Caller> | undefined;
  const verify = () => {
    caller ??= known === undefined ? identifyAnew(deps, token, admit) : callerWith(deps, known);
    return caller;
  };
  const cached = known === undefined || known.isRefused ? undefined : asCaller(known);
  return cached === undefined ? { verify } : { cached, verify };
}

async function identifyAnew(deps: AuthDeps, token: string, admit: (client: string) => void): Promise<Caller> {
  const issuer = issuerOf(token);
  if (issuer !== undefined && issuer !== deps.issuer) return identifyAsserted(deps, token, admit);
  const verified = await deps.tokens.verify(token);
  admit(nameOfClient(verified));
  return callerWith(deps, verified);
}

/** Problem `invalid_token` if the token is no longer active. */
async function callerWith(deps: AuthDeps, token: VerifiedToken): Promise<Caller> {
  const status = await findActiveToken(deps, token);
  if (status === undefined) {
    throw invalidToken(
      `it, its client ${token.clientId} or its user ${token.userId ?? '(none)'} is no longer active`,
    );
  }
  const { userKey, personKey } = status;
  if (userKey !== null && personKey !== null) token.user ??= { userKey, personKey };
  return asCaller(token) ?? fail();
}

/** Undefined for a member's token whose user has not been read yet. */
function asCaller(token: VerifiedToken): Caller | undefined {
  const { institutionId, clientId, scopes, use, userId, user, authTime } = token;
  if (use === 'client') return { actor: { kind: 'client', institutionId, clientId, token }, scopes };
  if (userId === undefined || user === undefined) return undefined;
  const { userKey, personKey } = user;
  const member = { kind: 'member', institutionId, clientId, userId, userKey, personKey, token } as const;
  return { actor: { ...member, ...authenticatedAt(authTime) }, scopes };
}

function authenticatedAt(authTime: number | undefined): { readonly authenticatedAt?: Date } {
  return authTime === undefined ? {} : { authenticatedAt: new Date(authTime * 1000) };
}

function fail(): never {
  throw new Error('auth: an active token of a member names no user');
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
