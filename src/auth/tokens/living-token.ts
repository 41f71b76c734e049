import type { PresentedToken } from '../../institutions/index.ts';
import { Problem } from '../../shared/problem.ts';
import type { Transaction } from '../../storage/index.ts';
import type { AuthDeps } from '../deps.ts';
import type { VerifiedToken } from './access-tokens.ts';
import { type AskedToken, type Standing, standings } from './token-status.ts';

export interface LivingToken {
  readonly token: VerifiedToken;
  /** With a member's token. */
  readonly user: Standing['user'];
}

/**
 * The token, if it still lives; undefined when it was revoked, or its client, its user or who asserted them was shut
 * out since it was issued. That is read from the database at each use, so that it holds at once for all processes. (A
 * lock by wrong passwords is no such reason: else anyone could log members out with five guesses.)
 */
export async function livingToken(deps: AuthDeps, token: VerifiedToken): Promise<LivingToken | undefined> {
  const standing = await deps.database.readBatched(token.institutionId, standings, askedOf(token));
  return (await isActive(deps, token, standing)) ? { token, user: standing?.user } : undefined;
}

/** Those of the tokens that are no longer active, read in the transaction that acts for their callers. */
export async function inactiveTokens(
  deps: Pick<AuthDeps, 'providers'>,
  tx: Transaction,
  tokens: readonly PresentedToken[],
): Promise<ReadonlySet<PresentedToken>> {
  const found = await standings.run(tx, tokens.map(askedOf));
  const active = await Promise.all(tokens.map((token, index) => isActive(deps, token, found[index])));
  return new Set(tokens.filter((_token, index) => !active[index]));
}

function askedOf(token: PresentedToken): AskedToken {
  const { clientId, userId = null, tokenId, familyId = null } = token;
  return { clientId, userId, tokenId, familyId };
}

async function isActive(
  { providers }: Pick<AuthDeps, 'providers'>,
  token: PresentedToken,
  standing: Standing | undefined,
): Promise<boolean> {
  const { institutionId, provider } = token;
  const asserter = provider && (await providers.find(institutionId, provider.providerId));
  const active = asserter?.generation === provider?.generation && fits(token, standing);
  token.isRefused = !active;
  return active;
}

function fits({ clientEpoch, userId, userEpoch }: PresentedToken, standing: Standing | undefined): boolean {
  if (standing === undefined || standing.revoked) return false;
  if (!standing.clientActive || standing.clientEpoch !== clientEpoch) return false;
  return userId === undefined || (standing.user?.active === true && standing.user.tokenEpoch === userEpoch);
}

/** The token, if it is one of ours by its signature and time; undefined for anything else. */
export async function verifiedToken(deps: AuthDeps, text: string): Promise<VerifiedToken | undefined> {
  try {
    return await deps.tokens.verify(text);
  } catch (error) {
    if (error instanceof Problem && error.code === 'invalid_token') return undefined;
    throw error;
  }
}
