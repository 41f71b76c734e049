import type { Actor } from '../institutions/index.ts';
import { invalidToken } from './access-tokens.ts';
import type { AuthDeps } from './deps.ts';
import { selectStanding } from './queries.ts';
import type { Scope } from './scopes.ts';

export interface Caller {
  readonly actor: Actor;
  readonly scopes: ReadonlySet<Scope>;
}

/**
 * Who bears this token, and whether they still may: client and user are read from the database each time, so that
 * switching off, deactivating and an operator's lock end live tokens at once. (A lock by wrong passwords does not:
 * else anyone could log members out with five guesses.) Problem `invalid_token`.
 */
export async function identify(deps: AuthDeps, token: string): Promise<Caller> {
  const { institutionId, clientId, use, userId, scopes, provider } = await deps.tokens.verify(token);
  if (provider !== undefined) {
    const asserter = await deps.providers.find(institutionId, provider.providerId);
    if (asserter?.generation !== provider.generation) throw invalidToken();
  }
  const standing = await deps.database.read(institutionId, (db) =>
    selectStanding(db, institutionId, clientId, userId ?? null),
  );
  if (standing?.clientActive !== true) throw invalidToken();
  const granted: ReadonlySet<Scope> = new Set(scopes);
  if (use === 'client') return { actor: { kind: 'client', institutionId, clientId }, scopes: granted };
  const { user } = standing;
  if (userId === undefined || user === undefined || !user.active) throw invalidToken();
  const { userKey, personKey } = user;
  return { actor: { kind: 'member', institutionId, clientId, userId, userKey, personKey }, scopes: granted };
}
