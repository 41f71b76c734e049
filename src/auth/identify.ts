import type { Actor } from '../institutions/index.ts';
import { invalidToken } from './access-tokens.ts';
import type { AuthDeps } from './deps.ts';
import { livingToken } from './living-token.ts';
import type { Scope } from './scopes.ts';

export interface Caller {
  readonly actor: Actor;
  readonly scopes: ReadonlySet<Scope>;
}

/** Who bears this token, if it lives. Problem `invalid_token`. */
export async function identify(deps: AuthDeps, token: string): Promise<Caller> {
  const living = await livingToken(deps, token);
  if (living === undefined) throw invalidToken();
  const { institutionId, clientId, userId } = living.token;
  const scopes: ReadonlySet<Scope> = new Set(living.token.scopes);
  if (living.user === undefined || userId === undefined) {
    return { actor: { kind: 'client', institutionId, clientId }, scopes };
  }
  const { userKey, personKey } = living.user;
  return { actor: { kind: 'member', institutionId, clientId, userId, userKey, personKey }, scopes };
}
