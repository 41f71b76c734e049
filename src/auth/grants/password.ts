import { appendAudit } from '../../events/index.ts';
import { admitLogin, type LoginRow, selectLogin } from '../../members/index.ts';
import { auditedNameHash } from '../clients/audited-name.ts';
import type { AuthenticatedClient } from '../clients/client-authentication.ts';
import type { AuthDeps } from '../deps.ts';
import { networkOf } from '../sign-in/network.ts';
import { backoffKeyOf, countWrongPassword, signInRefusal } from '../sign-in/wrong-passwords.ts';
import { OAuthError, type RefusalFacts } from '../tokens/oauth-error.ts';
import type { TokenRequest } from '../tokens/token-request.ts';
import type { Grant, TokenHolder } from './grant.ts';

/**
 * RFC 6749 section 4.3. Each wrong password delays the next try of that username, known or not. Every fifth in a row locks
 * the user for a growing time. A client or a member's address whose sign-ins mostly fail is slowed.
 *
 * An unknown user, a wrong password, and a locked and an inactive user get the same response after the same work: one read, one
 * hash, one statement with a durable commit. Only the audit has the reason; it is written after the response.
 */
export const password: Grant = {
  grantType: 'password',
  authorize: async (deps, client, request) => {
    const username = request.require('username');
    const given = request.require('password');
    const backoffKey = backoffKeyOf(deps, client.institutionId, username);
    const sources = sourcesOf(client, request);
    await deps.sprays.wait(sources);
    await deps.loginBackoff.wait(backoffKey, client.clientId);
    return deps.logins.run(client.clientId, () =>
      logIn(deps, client, { username, given, backoffKey, sources, origin: request.origin }),
    );
  },
};

/** A member's own address counts only if a trusted proxy states it; otherwise the address is a server of the client. */
function sourcesOf({ institutionId, clientId }: AuthenticatedClient, { origin }: TokenRequest): string[] {
  const client = `client ${institutionId} ${clientId}`;
  return origin.isForwarded
    ? [client, `address ${institutionId} ${networkOf(origin.address ?? '')}`]
    : [client];
}

interface Attempt {
  readonly username: string;
  readonly given: string;
  readonly backoffKey: string;
  readonly sources: readonly string[];
  readonly origin: TokenRequest['origin'];
}

async function logIn(deps: AuthDeps, client: AuthenticatedClient, attempt: Attempt): Promise<TokenHolder> {
  const { origin } = attempt;
  const { institutionId, clientId } = client;
  const user = await deps.database.read(institutionId, (db) => selectLogin(db, attempt.username));
  const isRight = await deps.passwords.verify(user?.passwordHash ?? null, attempt.given);
  const now = deps.clock();
  const reason = signInRefusal(user, isRight, deps.businessTime(institutionId, now));
  if (user !== undefined && reason === undefined) {
    const passwordHash = await deps.passwords.upgrade(user.passwordHash, attempt.given);
    if (!(await admit(deps, user, { client, origin, passwordHash, now }))) {
      throw wrongCredentials({ reason: 'changed_meanwhile', userId: user.userId });
    }
    deps.loginBackoff.succeeded(attempt.backoffKey);
    deps.sprays.succeeded(attempt.sources, user.userKey);
    const { userId, userKey, tokenEpoch: userEpoch, customerIds } = user;
    const authTime = Math.floor(now.getTime() / 1000);
    return { use: 'member', userId, userKey, userEpoch, customerIds, authTime };
  }

  deps.loginBackoff.failed(attempt.backoffKey);
  deps.sprays.failed(attempt.sources);
  const counted = reason === 'wrong_password' ? user : undefined;
  await countWrongPassword(deps, { institutionId, clientId, origin }, counted);
  throw wrongCredentials(
    user === undefined
      ? { reason: 'unknown_user', nameHash: auditedNameHash(deps.vault, attempt.username) }
      : { reason: reason ?? 'wrong_password', userId: user.userId },
  );
}

/** False if the user was locked, deactivated or given another password during the hash. */
function admit(
  { database, businessTime }: AuthDeps,
  user: LoginRow,
  facts: {
    readonly client: AuthenticatedClient;
    readonly origin: TokenRequest['origin'];
    readonly passwordHash: string | null;
    readonly now: Date;
  },
): Promise<boolean> {
  const { client, origin, passwordHash, now } = facts;
  const { institutionId, clientId } = client;
  return database.transaction(institutionId, async (tx) => {
    if (!(await admitLogin(tx, user, { now: businessTime(institutionId, now), passwordHash }))) return false;
    const entry = { action: 'login', outcome: 'succeeded', reason: 'password' } as const;
    await appendAudit(tx, { ...entry, origin, clientId, userId: user.userId }, now);
    return true;
  });
}

function wrongCredentials(facts: RefusalFacts): OAuthError {
  return new OAuthError('invalid_grant', 'The username or the password is wrong.', facts);
}
