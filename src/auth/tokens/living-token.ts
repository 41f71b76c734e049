import { Problem } from '../../shared/problem.ts';
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
  const standing = await deps.database.readJoined(token.institutionId, standings, askedOf(token));
  return stillLiving(deps, token, standing);
}

/** By what is asked how a token stands. */
export function askedOf(token: VerifiedToken): AskedToken {
  const { clientId, userId = null, tokenId, familyId = null } = token;
  return { clientId, userId, tokenId, familyId };
}

/** `livingToken` of what was read already. */
export async function stillLiving(
  deps: AuthDeps,
  token: VerifiedToken,
  standing: Standing | undefined,
): Promise<LivingToken | undefined> {
  const { institutionId, provider } = token;
  if (provider !== undefined) {
    const asserter = await deps.providers.find(institutionId, provider.providerId);
    if (asserter?.generation !== provider.generation) return undefined;
  }
  if (standing === undefined || standing.revoked) return undefined;
  if (!standing.clientActive || standing.clientEpoch !== token.clientEpoch) return undefined;
  if (token.use === 'client') return { token, user: undefined };
  const { user } = standing;
  return user?.active && user.tokenEpoch === token.userEpoch ? { token, user } : undefined;
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
