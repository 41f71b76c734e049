import { randomUUID } from 'node:crypto';
import { appendAudit } from '../../events/index.ts';
import type { InstitutionId } from '../../storage/index.ts';
import type { AuthDeps } from '../deps.ts';
import type { ProvenMember } from '../sign-in/prove-password.ts';
import { type Browser, newSecret, sessionHash } from './browser.ts';
import {
  endSession,
  insertSession,
  type SessionRow,
  selectSessionToLeave,
  useSession,
} from './session-queries.ts';

const lifetimeMillis = 12 * 60 * 60_000;
/** A session that is not used for this time ends (OWASP Session Management Cheat Sheet). */
const idleMillis = 30 * 60_000;
const longestUserAgent = 256;

/** A session that was last used before this time has ended. */
export function idleSinceOf(now: Date): Date {
  return new Date(now.getTime() - idleMillis);
}

/** The browser's session at the institution, if it goes on. */
export async function findSession(
  { database, vault, clock, host }: AuthDeps,
  institutionId: InstitutionId,
  browser: Browser,
): Promise<SessionRow | undefined> {
  const secret = browser.sessionSecret(institutionId);
  if (secret === undefined) return undefined;
  const now = clock();
  const idleSince = idleSinceOf(now);
  const session = await database.write(institutionId, (db) =>
    useSession(db, sessionHash(vault, secret), { host: host?.name ?? null, now, idleSince }),
  );
  if (session !== undefined) browser.recognize?.({ institutionId, userKey: String(session.userKey) });
  return session;
}

/** A session of a member who has just signed in. Its secret is new at each sign-in, so no one can have planted it. */
export async function beginSession(
  { database, vault, host }: AuthDeps,
  institutionId: InstitutionId,
  { member, browser }: { readonly member: ProvenMember; readonly browser: Browser },
): Promise<{ readonly session: SessionRow; readonly secret: string }> {
  const { userKey, userId, userEpoch, methods, provenAt: authenticatedAt } = member;
  const secret = newSecret();
  const session = { sessionId: randomUUID(), userKey, userEpoch, methods };
  await database.write(institutionId, (db) =>
    insertSession(db, {
      ...session,
      secretHash: sessionHash(vault, secret),
      host: host?.name ?? null,
      createdAt: authenticatedAt,
      expiresAt: new Date(authenticatedAt.getTime() + lifetimeMillis),
      address: browser.origin.address ?? null,
      userAgent: browser.userAgent?.slice(0, longestUserAgent) ?? null,
    }),
  );
  browser.recognize?.({ institutionId, userKey: String(userKey) });
  return { session: { ...session, userId, username: null, authenticatedAt }, secret };
}

/** The browser's session that a logout ends. Unlike `findSession` it returns one that ran out, too. */
export async function findSessionToLeave(
  { database, vault, host }: AuthDeps,
  institutionId: InstitutionId,
  browser: Browser,
): Promise<Pick<SessionRow, 'sessionId' | 'userId'> | undefined> {
  const secret = browser.sessionSecret(institutionId);
  if (secret === undefined) return undefined;
  return database.read(institutionId, (db) =>
    selectSessionToLeave(db, sessionHash(vault, secret), host?.name ?? null),
  );
}

/** The member leaves. */
export async function leaveSession(
  { database, clock }: AuthDeps,
  institutionId: InstitutionId,
  {
    session: { sessionId, userId },
    browser,
  }: { readonly session: Pick<SessionRow, 'sessionId' | 'userId'>; readonly browser: Browser },
): Promise<void> {
  const at = clock();
  await database.transaction(institutionId, async (tx) => {
    if (!(await endSession(tx, sessionId, at))) return;
    const entry = { action: 'session.ended', outcome: 'succeeded', reason: 'member' } as const;
    await appendAudit(tx, { ...entry, origin: browser.origin, userId, subject: sessionId }, at);
  });
}
