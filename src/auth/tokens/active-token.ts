import type { PresentedToken } from '../../institutions/index.ts';
import { Problem } from '../../shared/problem.ts';
import type { Transaction } from '../../storage/index.ts';
import type { AuthDeps } from '../deps.ts';
import type { VerifiedToken } from './access-tokens.ts';
import { type TokenStatus, tokenStatuses } from './token-status.ts';

/**
 * The status of an active token. Undefined if the token was revoked, or its client, its user or its provider was shut out since it was
 * issued. The status is read at each use, so that an end takes effect at once in all processes. A lock by wrong passwords
 * ends no token; otherwise anyone could end a member's sessions with five guesses.
 */
export async function findActiveToken(
  { database, providers }: AuthDeps,
  token: VerifiedToken,
): Promise<TokenStatus | undefined> {
  const status = await database.readBatched(token.institutionId, tokenStatuses, token);
  return (await isActive({ providers }, token, status)) ? status : undefined;
}

/** The tokens that are no longer active, read in the transaction that acts for their callers. */
export async function inactiveTokens(
  deps: Pick<AuthDeps, 'providers'>,
  tx: Transaction,
  tokens: readonly PresentedToken[],
): Promise<ReadonlySet<PresentedToken>> {
  const found = await tokenStatuses.run(tx, tokens);
  const active = await Promise.all(tokens.map((token, index) => isActive(deps, token, found[index])));
  return new Set(tokens.filter((_token, index) => !active[index]));
}

async function isActive(
  { providers }: Pick<AuthDeps, 'providers'>,
  token: PresentedToken,
  status: TokenStatus | undefined,
): Promise<boolean> {
  const { institutionId, provider } = token;
  const asserter = provider && (await providers.find(institutionId, provider.providerId));
  const active = asserter?.generation === provider?.generation && fits(token, status);
  token.isRefused = !active;
  return active;
}

function fits({ clientEpoch, userId, userEpoch }: PresentedToken, status: TokenStatus | undefined): boolean {
  if (status === undefined || status.isRevoked) return false;
  if (!status.clientActive || status.clientEpoch !== clientEpoch) return false;
  return userId === undefined || (status.userActive && status.userEpoch === userEpoch);
}

/** Undefined for a text that is not an unexpired access token of ours. */
export async function verifyOwnToken(deps: AuthDeps, text: string): Promise<VerifiedToken | undefined> {
  try {
    return await deps.tokens.verify(text);
  } catch (error) {
    if (error instanceof Problem && error.code === 'invalid_token') return undefined;
    throw error;
  }
}
