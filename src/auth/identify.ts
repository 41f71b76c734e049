import type { Actor } from '../institutions/index.ts';
import { findUser } from '../members/index.ts';
import { invalidToken, type VerifiedToken } from './access-tokens.ts';
import type { AuthDeps } from './deps.ts';
import { livingToken } from './living-token.ts';
import { issuerOf } from './providers/jwt.ts';
import { NotBelieved } from './providers/not-believed.ts';
import type { Scope } from './scopes.ts';

export interface Caller {
  readonly actor: Actor;
  readonly scopes: ReadonlySet<Scope>;
}

/**
 * Who bears this token, of ours or of a registered provider, if it lives. `admit` hears whose it is once that is
 * proven and before the database is asked, and may throw. Problem `invalid_token`.
 */
export async function identify(
  deps: AuthDeps,
  token: string,
  admit: (client: string) => void = () => {},
): Promise<Caller> {
  const issuer = issuerOf(token);
  if (issuer !== undefined && issuer !== deps.issuer) return identifyAsserted(deps, token, admit);
  const verified = await deps.tokens.verify(token);
  admit(nameOfClient(verified));
  const living = await livingToken(deps, verified);
  if (living === undefined) throw invalidToken();
  const { institutionId, clientId, userId } = living.token;
  const scopes: ReadonlySet<Scope> = new Set(living.token.scopes);
  if (living.user === undefined || userId === undefined) {
    return { actor: { kind: 'client', institutionId, clientId }, scopes };
  }
  const { userKey, personKey } = living.user;
  return { actor: { kind: 'member', institutionId, clientId, userId, userKey, personKey }, scopes };
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
 * deactivating end it at once. Its client is the provider: the provider's own clients are none of ours.
 */
async function identifyAsserted(
  deps: AuthDeps,
  token: string,
  admit: (client: string) => void,
): Promise<Caller> {
  const { provider, subject, scopes } = await deps.resourceTokens.verify(token).catch((error) => {
    throw error instanceof NotBelieved ? invalidToken(error) : error;
  });
  const { institutionId, providerId, userIdType } = provider;
  const clientId = `provider:${providerId}`;
  admit(nameOfClient({ institutionId, clientId }));
  const user = await deps.database.read(institutionId, (db) =>
    findUser(db, institutionId, subject, userIdType),
  );
  if (user?.mayAct !== true) throw invalidToken();
  const { userId, userKey, personKey } = user;
  return {
    actor: { kind: 'member', institutionId, clientId, userId, userKey, personKey },
    scopes: new Set(scopes),
  };
}
