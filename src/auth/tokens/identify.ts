import type { Actor } from '../../institutions/index.ts';
import { findUser } from '../../members/index.ts';
import { type Condition, condition } from '../../storage/index.ts';
import type { AuthDeps } from '../deps.ts';
import { InvalidAssertionError } from '../providers/invalid-assertion-error.ts';
import { issuerOf } from '../providers/jwt.ts';
import { invalidToken, type VerifiedToken } from './access-tokens.ts';
import { askedOf, type LivingToken, livingToken, stillLiving } from './living-token.ts';
import type { Scope } from './scopes.ts';
import { standings } from './token-status.ts';

export interface Caller {
  readonly actor: Actor;
  readonly scopes: readonly Scope[];
}

export interface Identified {
  /**
   * Whose token it is, if it lives: known at once of a token that was seen before, and not refused since. Nothing may be
   * answered, and nothing done that cannot be undone, before `known` has said so too; but what is only read, or can be
   * taken back, can be done meanwhile.
   */
  readonly presumed?: Presumed;
  /** Asks the database, unless it was asked already, by this or by the condition. Problem `invalid_token`. */
  readonly known: () => Promise<Caller>;
}

export interface Presumed {
  readonly caller: Caller;
  /** The question that `known` asks, for who reads it in a transaction of their own. */
  readonly condition: Condition;
}

/**
 * Who bears this token, of ours or of a registered provider, if it lives. `admit` hears whose it is once that is
 * proven and before the database is asked, and may throw.
 */
export function identify(
  deps: AuthDeps,
  token: string,
  admit: (client: string) => void = () => {},
): Identified {
  const recalled = deps.tokens.recall(token);
  if (recalled !== undefined) admit(nameOfClient(recalled));
  let caller: Promise<Caller> | undefined;
  const known = () => {
    caller ??= recalled === undefined ? identifyAnew(deps, token, admit) : callerWith(deps, recalled);
    return caller;
  };
  if (recalled === undefined) return { known };
  const presumed = recalled.refused ? undefined : asCaller(recalled);
  if (presumed === undefined) return { known };
  const lives = condition(standings, askedOf(recalled), (standing) => {
    caller = stillLiving(deps, recalled, standing).then((living) => callerOf(recalled, living));
    return caller;
  });
  return { presumed: { caller: presumed, condition: lives }, known };
}

async function identifyAnew(deps: AuthDeps, token: string, admit: (client: string) => void): Promise<Caller> {
  const issuer = issuerOf(token);
  if (issuer !== undefined && issuer !== deps.issuer) return identifyAsserted(deps, token, admit);
  const verified = await deps.tokens.verify(token);
  admit(nameOfClient(verified));
  return callerWith(deps, verified);
}

/** Problem `invalid_token` where the token does not live any more. */
async function callerWith(deps: AuthDeps, token: VerifiedToken): Promise<Caller> {
  return callerOf(token, await livingToken(deps, token));
}

function callerOf(token: VerifiedToken, living: LivingToken | undefined): Caller {
  token.refused = living === undefined;
  if (living === undefined) throw invalidToken();
  if (living.user !== undefined) token.user ??= living.user;
  return asCaller(token) ?? fail();
}

/** Undefined for a member's token whose user was not looked up yet. */
function asCaller(token: VerifiedToken): Caller | undefined {
  const { institutionId, clientId, scopes, use, userId, user, authTime } = token;
  if (use === 'client') return { actor: { kind: 'client', institutionId, clientId }, scopes };
  if (userId === undefined || user === undefined) return undefined;
  const { userKey, personKey } = user;
  const member = { kind: 'member', institutionId, clientId, userId, userKey, personKey } as const;
  return { actor: { ...member, ...authenticatedAt(authTime) }, scopes };
}

function authenticatedAt(authTime: number | undefined): { readonly authenticatedAt?: Date } {
  return authTime === undefined ? {} : { authenticatedAt: new Date(authTime * 1000) };
}

function fail(): never {
  throw new Error('auth: a living token of a member names no user');
}

/** One name per client of one institution, for who counts them. */
function nameOfClient({
  institutionId,
  clientId,
}: Pick<VerifiedToken, 'institutionId' | 'clientId'>): string {
  return `${institutionId} ${clientId}`;
}

/**
 * Always a member, within the scopes that the provider may give; the user is looked up at each use, so that locking and
 * deactivating end it at once, for good: it must have been issued after the last change of the user's standing. Its client is the provider: the provider's own clients are none of ours.
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
  const user = await deps.database.read(institutionId, (db) =>
    findUser(db, institutionId, subject, userIdType),
  );
  if (user?.mayAct !== true || issuedAtMillis <= (user.tokensEndedAt?.getTime() ?? 0)) throw invalidToken();
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
