import { appendAudit } from '../../events/index.ts';
import { auditedNameHash } from '../clients/audited-name.ts';
import type { AuthenticatedClient } from '../clients/client-authentication.ts';
import type { AuthDeps } from '../deps.ts';
import { admitLogin, selectLogin } from '../sign-in/login-queries.ts';
import { networkOf } from '../sign-in/spray-brake.ts';
import { backoffKeyOf, countWrongPassword, signInRefusal } from '../sign-in/wrong-passwords.ts';
import { OAuthError, type RefusalFacts } from '../tokens/oauth-error.ts';
import type { TokenRequest } from '../tokens/token-request.ts';
import type { Bearer, Grant } from './grant.ts';

/**
 * RFC 6749 section 4.3. Each wrong password makes the next try wait longer, by name, whether anybody has it or not; every
 * fifth in a row locks the user for a time that grows. A client, or a member's address, whose logins mostly fail is slowed.
 *
 * Unknown user, wrong password, locked and inactive get the same answer after the same work: one look-up, one hash, one
 * statement with a durable commit. The audit knows the reason, and is written behind the request.
 */
export const password: Grant = {
  grantType: 'password',
  authorize: async (deps, client, request) => {
    const username = request.require('username');
    const given = request.require('password');
    const { institutionId } = client;
    const pausedFor = backoffKeyOf(deps, institutionId, username);
    const sources = sourcesOf(client, request);
    await deps.sprays.wait(sources);
    await deps.loginBackoff.wait(pausedFor, client.clientId);
    return deps.logins.take(client.clientId, () =>
      logIn(deps, client, request, { username, given, pausedFor, sources }),
    );
  },
};

/**
 * Whose failures count together. An address counts where it is the member's own, on a trusted proxy's word; else it is that
 * of a client's server, which all of its members share.
 */
function sourcesOf({ institutionId, clientId }: AuthenticatedClient, { origin }: TokenRequest): string[] {
  const client = `client ${institutionId} ${clientId}`;
  return origin.isForwarded
    ? [client, `address ${institutionId} ${networkOf(origin.address ?? '')}`]
    : [client];
}

async function logIn(
  deps: AuthDeps,
  { institutionId, clientId }: AuthenticatedClient,
  request: TokenRequest,
  {
    username,
    given,
    pausedFor,
    sources,
  }: {
    readonly username: string;
    readonly given: string;
    readonly pausedFor: string;
    readonly sources: readonly string[];
  },
): Promise<Bearer> {
  const user = await deps.database.read(institutionId, (db) => selectLogin(db, institutionId, username));
  const matches = await deps.passwords.verify(user?.passwordHash ?? null, given);
  const now = deps.clock();

  const businessNow = deps.businessTime(institutionId, now);
  const reason = signInRefusal(user, matches, businessNow);
  if (user !== undefined && reason === undefined) {
    const passwordHash = await deps.passwords.upgrade(user.passwordHash, given);
    const entry = { action: 'login', outcome: 'succeeded', reason: 'password' } as const;
    const admitted = await deps.database.transaction(institutionId, async (tx) => {
      // Hashing took its time: who was locked, deactivated or given another password meanwhile stays outside.
      if (!(await admitLogin(tx, institutionId, user, { now: businessNow, passwordHash }))) return false;
      const { origin } = request;
      await appendAudit(tx, { ...entry, origin, clientId, userId: user.userId }, now);
      return true;
    });
    if (!admitted) throw wrongCredentials({ reason: 'changed_meanwhile', userId: user.userId });
    deps.loginBackoff.succeeded(pausedFor);
    deps.sprays.succeeded(sources, user.userKey);
    const { userId, userKey, tokenEpoch: userEpoch, customerIds } = user;
    const authTime = Math.floor(now.getTime() / 1000);
    return { use: 'member', userId, userKey, userEpoch, customerIds, authTime };
  }

  deps.loginBackoff.failed(pausedFor);
  deps.sprays.failed(sources);
  const counted = reason === 'wrong_password' ? user : undefined;
  await countWrongPassword(deps, { institutionId, clientId, origin: request.origin }, counted);
  throw wrongCredentials(
    user === undefined
      ? { reason: 'unknown_user', nameHash: auditedNameHash(deps.vault, username) }
      : { reason: reason ?? 'wrong_password', userId: user.userId },
  );
}

function wrongCredentials(facts: RefusalFacts): OAuthError {
  return new OAuthError('invalid_grant', 'The username or the password is wrong.', facts);
}
