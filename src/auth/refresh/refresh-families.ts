import { randomUUID, timingSafeEqual } from 'node:crypto';
import { appendAudit, type Origin } from '../../events/index.ts';
import type { InstitutionId } from '../../storage/index.ts';
import type { AuthenticatedClient } from '../clients/client-authentication.ts';
import type { AuthDeps } from '../deps.ts';
import { clockSkewMillis, longestTokenSeconds } from '../keys/key-states.ts';
import type { Scope } from '../tokens/scopes.ts';
import { decideRefresh } from './decide-refresh.ts';
import {
  insertRefreshFamily,
  type RefreshFamilyRow,
  revokeRefreshFamily,
  rotateRefreshFamily,
  selectRefreshFamily,
} from './refresh-queries.ts';
import {
  firstRefreshToken,
  nextRefreshToken,
  type RefreshToken,
  readRefreshToken,
  refreshTokenHash,
} from './refresh-token.ts';

/** A login that may be renewed: answers its id, which its access tokens carry as `sid`, and its first refresh token. */
export async function beginRefreshFamily(
  deps: AuthDeps,
  client: AuthenticatedClient,
  user: { readonly userKey: bigint; readonly userEpoch: number },
  scopes: readonly Scope[],
): Promise<{ readonly familyId: string; readonly refreshToken: string }> {
  const { institutionId, clientId } = client;
  const familyId = randomUUID();
  const token = firstRefreshToken(deps.vault, familyId);
  const createdAt = deps.clock();
  const expiresAt = new Date(createdAt.getTime() + deps.refreshTokens.lifetimeMillis);
  await deps.database.write(institutionId, (db) =>
    insertRefreshFamily(db, institutionId, {
      familyId,
      clientId,
      ...user,
      scopes,
      clientEpoch: client.tokenEpoch,
      tokenHash: refreshTokenHash(deps.vault, token),
      createdAt,
      expiresAt,
      idleUntil: earlier(expiresAt, new Date(createdAt.getTime() + deps.refreshTokens.idleMillis)),
    }),
  );
  return { familyId, refreshToken: token.text };
}

/** The family of a token that we made; undefined for anything else. */
export async function findRefreshFamily(
  deps: AuthDeps,
  institutionId: InstitutionId,
  text: string,
): Promise<{ readonly token: RefreshToken; readonly family: RefreshFamilyRow } | undefined> {
  const token = readRefreshToken(deps.vault, text);
  if (token === undefined) return undefined;
  const family = await deps.database.read(institutionId, (db) =>
    selectRefreshFamily(db, institutionId, token.familyId),
  );
  return family && { token, family };
}

/** What becomes of it right now. */
export function standingOf(
  deps: AuthDeps,
  { token, family }: { readonly token: RefreshToken; readonly family: RefreshFamilyRow },
): ReturnType<typeof decideRefresh> {
  const { vault } = deps;
  const now = deps.clock();
  const { user, client } = family;
  const bothStand =
    user.active &&
    !user.lockedByOperator &&
    user.tokenEpoch === family.userEpoch &&
    client.active &&
    client.tokenEpoch === family.clientEpoch;
  const isHashed = (one: RefreshToken) => timingSafeEqual(refreshTokenHash(vault, one), family.tokenHash);
  const presented = {
    generation: token.generation,
    isNewest: token.generation === family.generation && isHashed(token),
    precedesNewest: token.generation + 1 === family.generation && isHashed(nextRefreshToken(vault, token)),
  };
  return decideRefresh({ ...family, bothStand }, presented, now);
}

/** Makes the next token the newest; undefined when another request was faster. */
export async function renewRefreshFamily(
  deps: AuthDeps,
  institutionId: InstitutionId,
  token: RefreshToken,
): Promise<RefreshToken | undefined> {
  const next = nextRefreshToken(deps.vault, token);
  const now = deps.clock();
  const rotated = await deps.database.write(institutionId, (db) =>
    rotateRefreshFamily(db, institutionId, token.familyId, {
      generation: token.generation,
      nextHash: refreshTokenHash(deps.vault, next),
      now,
      idleUntil: new Date(now.getTime() + deps.refreshTokens.idleMillis),
    }),
  );
  return rotated ? next : undefined;
}

/** Ends the family and the access tokens that came from it, because the client asked or a spent token came back. */
export async function endRefreshFamily(
  deps: AuthDeps,
  institutionId: InstitutionId,
  { familyId, clientId, user }: RefreshFamilyRow,
  reason: 'refresh_token' | 'refresh_token_reused',
  origin: Origin,
): Promise<void> {
  const now = deps.clock();
  const until = new Date(now.getTime() + longestTokenSeconds * 1000 + clockSkewMillis);
  await deps.database.transaction(institutionId, async (tx) => {
    if (!(await revokeRefreshFamily(tx, institutionId, familyId, now, until))) return;
    const { userId } = user;
    const entry = { reason, origin, clientId, userId, subject: familyId };
    await appendAudit(tx, { action: 'token.revoked', outcome: 'succeeded', ...entry }, now);
  });
}

function earlier(one: Date, other: Date): Date {
  return one < other ? one : other;
}
