import { type PresentedToken, refusalOf } from '../../institutions/index.ts';
import { Problem } from '../../shared/problem.ts';
import type { Transaction } from '../../storage/index.ts';
import type { AuthDeps } from '../deps.ts';
import type { VerifiedToken } from './access-tokens.ts';
import { findRemembered } from './remembered-caller.ts';
import type { Scope } from './scopes.ts';
import { selectTokenStatuses, type TokenStatus } from './token-status.ts';

/**
 * The status of an active token. Undefined if the token was revoked, or its client, its user or its provider was shut out since it was
 * issued. The status is read at each use, so that an end takes effect at once in all processes. A lock by wrong passwords
 * ends no token; otherwise anyone could end a member's sessions with five guesses. Problem `institution_moving`,
 * `institution_elsewhere`.
 */
export async function findActiveToken(
  { database, clock }: Pick<AuthDeps, 'database' | 'clock'>,
  token: VerifiedToken,
): Promise<TokenStatus | undefined> {
  const [status] = await database.read(token.institutionId, (db) => selectTokenStatuses(db, [token]));
  const refusal = refusalOf(status?.served);
  if (refusal !== undefined) throw refusal;
  if (!isActive(token, status)) return undefined;
  const until = status?.consentUntil ?? null;
  return until === null || until > clock() ? status : undefined;
}

/** The scopes of an active token that its consent has now. */
export function scopesNow(
  { scopes }: Pick<VerifiedToken, 'scopes'>,
  { consentScopes }: Pick<TokenStatus, 'consentScopes'>,
): readonly Scope[] {
  return consentScopes === null ? scopes : scopes.filter((scope) => consentScopes.includes(scope));
}

/** The tokens that are no longer active, read in the transaction that acts for their callers. */
export async function inactiveTokens(
  tx: Transaction,
  tokens: readonly PresentedToken[],
): Promise<ReadonlySet<PresentedToken>> {
  const found = await selectTokenStatuses(tx, tokens);
  return new Set(tokens.filter((token, index) => !isActive(token, found[index])));
}

function isActive(token: PresentedToken, status: TokenStatus | undefined): boolean {
  const active = fits(token, status);
  token.isRefused = !active;
  return active;
}

function fits(
  { clientEpoch, userId, userEpoch, provider, consentId }: PresentedToken,
  status: TokenStatus | undefined,
): boolean {
  if (status === undefined || status.isRevoked) return false;
  if (!status.clientActive || status.clientEpoch !== clientEpoch) return false;
  if (consentId !== undefined && status.consentVersion === null) return false;
  if (provider !== undefined && status.providerGeneration !== provider.generation) return false;
  return userId === undefined || (status.userActive && status.userEpoch === userEpoch);
}

/** Undefined for a text that is not an unexpired access token of ours. */
export async function verifyOwnToken(deps: AuthDeps, text: string): Promise<VerifiedToken | undefined> {
  try {
    return findRemembered(deps, text)?.value.token ?? (await deps.tokens.verify(text));
  } catch (error) {
    if (error instanceof Problem && error.code === 'invalid_token') return undefined;
    throw error;
  }
}
