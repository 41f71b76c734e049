import type { Actor } from '../institutions/index.ts';
import { findUser } from '../members/index.ts';
import { invalidToken } from './access-tokens.ts';
import type { AuthDeps } from './deps.ts';
import { livingToken } from './living-token.ts';
import { issuerOf } from './providers/jwt.ts';
import { NotBelieved } from './providers/not-believed.ts';
import type { Scope } from './scopes.ts';

export interface Caller {
  readonly actor: Actor;
  readonly scopes: ReadonlySet<Scope>;
}

/** Who bears this token, of ours or of a registered provider, if it lives. Problem `invalid_token`. */
export async function identify(deps: AuthDeps, token: string): Promise<Caller> {
  const issuer = issuerOf(token);
  if (issuer !== undefined && issuer !== deps.issuer) return identifyAsserted(deps, token);
  const living = await livingToken(deps, await deps.tokens.verify(token));
  if (living === undefined) throw invalidToken();
  const { institutionId, clientId, userId } = living.token;
  const scopes: ReadonlySet<Scope> = new Set(living.token.scopes);
  if (living.user === undefined || userId === undefined) {
    return { actor: { kind: 'client', institutionId, clientId }, scopes };
  }
  const { userKey, personKey } = living.user;
  return { actor: { kind: 'member', institutionId, clientId, userId, userKey, personKey }, scopes };
}

/**
 * Always a member, within the scopes that the provider may give; the user is looked up at each use, so that locking and
 * deactivating end it at once. Its client is the provider: the provider's own clients are none of ours.
 */
async function identifyAsserted(deps: AuthDeps, token: string): Promise<Caller> {
  const { provider, subject, scopes } = await deps.resourceTokens.verify(token).catch((error) => {
    throw error instanceof NotBelieved ? invalidToken(error) : error;
  });
  const { institutionId, providerId, userIdType } = provider;
  const user = await deps.database.read(institutionId, (db) =>
    findUser(db, institutionId, subject, userIdType),
  );
  if (user?.mayAct !== true) throw invalidToken();
  const { userId, userKey, personKey } = user;
  const clientId = `provider:${providerId}`;
  return {
    actor: { kind: 'member', institutionId, clientId, userId, userKey, personKey },
    scopes: new Set(scopes),
  };
}
