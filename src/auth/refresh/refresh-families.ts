import { randomUUID, timingSafeEqual } from 'node:crypto';
import { appendAudit, type Origin } from '../../events/index.ts';
import type { InstitutionId, Transaction } from '../../storage/index.ts';
import { type Confirmation, certificateThumbprintOf, keyThumbprintOf } from '../binding/confirmation.ts';
import type { AuthenticatedClient } from '../clients/client-authentication.ts';
import type { AuthDeps } from '../deps.ts';
import { clockSkewMillis, longestTokenSeconds } from '../keys/key-states.ts';
import { acrOf } from '../tokens/id-token.ts';
import type { Scope } from '../tokens/scopes.ts';
import { decideRefresh } from './decide-refresh.ts';
import {
  extendRefreshFamily,
  insertRefreshFamily,
  type RefreshFamilyRow,
  revokeRefreshFamilies,
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

interface NewFamily extends Pick<RefreshFamilyRow, 'userKey' | 'userEpoch'> {
  readonly scopes: readonly Scope[];
  readonly confirmation: Confirmation | undefined;
  /** Default: a new one. */
  readonly familyId?: string;
  /** Default: now. */
  readonly authenticatedAt?: Date;
  readonly methods: readonly string[];
  /** The family ends at the latest then. */
  readonly endsAt?: Date;
}

interface PreparedFamily {
  readonly row: Parameters<typeof insertRefreshFamily>[1];
  /** The claim `sid` of its access tokens. */
  readonly familyId: string;
  readonly refreshToken: string;
}

/** A login that can be renewed, with its first refresh token; `row` is to be inserted. */
export function prepareRefreshFamily(
  deps: AuthDeps,
  client: AuthenticatedClient,
  { familyId = randomUUID(), endsAt, confirmation, ...family }: NewFamily,
): PreparedFamily {
  const { clientId, tokenEpoch: clientEpoch } = client;
  const { lifetimeMillis, idleMillis } = deps.refreshTokens;
  const token = firstRefreshToken(deps, familyId);
  const createdAt = deps.clock();
  const longest = after(createdAt, lifetimeMillis);
  const expiresAt = endsAt !== undefined && endsAt < longest ? endsAt : longest;
  const idle = after(createdAt, idleMillis);
  const idleUntil = idle < expiresAt ? idle : expiresAt;
  const authenticatedAt = family.authenticatedAt ?? createdAt;
  const tokenHash = refreshTokenHash(deps, token);
  const facts = {
    familyId,
    keyThumbprint: keyThumbprintOf(confirmation) ?? null,
    certificateThumbprint: certificateThumbprintOf(confirmation) ?? null,
    clientId,
    clientEpoch,
    tokenHash,
    createdAt,
    expiresAt,
    idleUntil,
  };
  return {
    row: { ...family, ...facts, authenticatedAt, acr: acrOf(family.methods) ?? null },
    familyId,
    refreshToken: token.text,
  };
}

/** Begins a login that can be renewed. */
export async function beginRefreshFamily(
  deps: AuthDeps,
  client: AuthenticatedClient,
  family: NewFamily,
): Promise<Omit<PreparedFamily, 'row'>> {
  const { row, ...begun } = prepareRefreshFamily(deps, client, family);
  await deps.database.write(client.institutionId, (db) => insertRefreshFamily(db, row));
  return begun;
}

export interface FoundRefreshToken {
  readonly token: RefreshToken;
  readonly family: RefreshFamilyRow;
}

/** Undefined for a text that is no refresh token of ours. */
export async function findRefreshFamily(
  deps: AuthDeps,
  institutionId: InstitutionId,
  text: string,
): Promise<FoundRefreshToken | undefined> {
  const token = readRefreshToken(deps, text);
  if (token === undefined) return undefined;
  const family = await deps.database.read(institutionId, (db) => selectRefreshFamily(db, token.familyId));
  return family && { token, family };
}

export function refreshDecision(
  deps: AuthDeps,
  { token, family }: FoundRefreshToken,
): ReturnType<typeof decideRefresh> {
  const isHashed = (one: RefreshToken) => timingSafeEqual(refreshTokenHash(deps, one), family.tokenHash);
  const presented = {
    generation: token.generation,
    isNewest: token.generation === family.generation && isHashed(token),
    precedesNewest: token.generation + 1 === family.generation && isHashed(nextRefreshToken(deps, token)),
  };
  return decideRefresh(family, presented, deps.clock());
}

/** Makes the next token the newest. Undefined if another request was faster. */
export async function rotateRefreshToken(
  deps: AuthDeps,
  institutionId: InstitutionId,
  token: RefreshToken,
): Promise<RefreshToken | undefined> {
  const next = nextRefreshToken(deps, token);
  const nextHash = refreshTokenHash(deps, next);
  const now = deps.clock();
  const { generation } = token;
  const change = { generation, nextHash, now, idleUntil: after(now, deps.refreshTokens.idleMillis) };
  const isRotated = await deps.database.write(institutionId, (db) =>
    rotateRefreshFamily(db, token.familyId, change),
  );
  return isRotated ? next : undefined;
}

/** Moves the end of the login, and leaves its token. Undefined if another request rotated or revoked it. */
export async function keepRefreshToken(
  deps: AuthDeps,
  institutionId: InstitutionId,
  token: RefreshToken,
): Promise<RefreshToken | undefined> {
  const now = deps.clock();
  const idleUntil = after(now, deps.refreshTokens.idleMillis);
  const { familyId, generation } = token;
  const isKept = await deps.database.write(institutionId, (db) =>
    extendRefreshFamily(db, familyId, { generation, now, idleUntil }),
  );
  return isKept ? token : undefined;
}

interface RefreshFamilyEnd {
  readonly family: RefreshFamilyRow;
  readonly reason: 'refresh_token' | 'refresh_token_reused' | 'member';
  readonly origin: Origin;
}

/**
 * Ends the family and its access tokens: on the client's or the member's request, or because an exchanged token came back. False if it
 * had ended before.
 */
export async function endRefreshFamily(
  { database, clock }: AuthDeps,
  institutionId: InstitutionId,
  { family: { familyId, clientId, userId }, reason, origin }: RefreshFamilyEnd,
): Promise<boolean> {
  const at = clock();
  const expiresAt = after(at, longestTokenSeconds * 1000 + clockSkewMillis);
  return database.transaction(institutionId, async (tx) => {
    if (!(await revokeRefreshFamily(tx, familyId, { at, expiresAt }))) return false;
    const entry = { reason, origin, clientId, userId, subject: familyId };
    await appendAudit(tx, { action: 'token.revoked', outcome: 'succeeded', ...entry }, at);
    return true;
  });
}

/** Ends all families of the member, in the caller's transaction. Returns how many there were. */
export async function endRefreshFamilies(
  tx: Transaction,
  { userKey, userId }: Pick<RefreshFamilyRow, 'userKey' | 'userId'>,
  { at, origin }: { readonly at: Date; readonly origin: Origin },
): Promise<number> {
  const expiresAt = after(at, longestTokenSeconds * 1000 + clockSkewMillis);
  const ended = await revokeRefreshFamilies(tx, userKey, { at, expiresAt });
  for (const { familyId: subject, clientId } of ended) {
    const entry = { reason: 'member', origin, clientId, userId, subject };
    await appendAudit(tx, { action: 'token.revoked', outcome: 'succeeded', ...entry }, at);
  }
  return ended.length;
}

function after(at: Date, millis: number): Date {
  return new Date(at.getTime() + millis);
}
