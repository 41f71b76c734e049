import { appendAudit, type Origin, type RecentSignIn, selectRecentSignIns } from '../../events/index.ts';
import { isUuid } from '../../shared/uuid.ts';
import type { InstitutionId, Queryable } from '../../storage/index.ts';
import { asksForAccounts, asksToPay } from '../consents/account-choice.ts';
import { selectConsentable, selectConsented } from '../consents/consent-account-queries.ts';
import { type ConsentRow, selectConsents } from '../consents/consent-queries.ts';
import { type Consent, endOwnConsent, shownConsent } from '../consents/consents.ts';
import type { AuthDeps } from '../deps.ts';
import { endRefreshFamilies, endRefreshFamily } from '../refresh/refresh-families.ts';
import { selectRefreshFamily } from '../refresh/refresh-queries.ts';
import { endOtherSessions, type SessionRow } from '../sessions/session-queries.ts';
import { idleSinceOf } from '../sessions/sessions.ts';
import {
  type AppAccess,
  type BrowserAccess,
  endSessionOf,
  selectApps,
  selectBrowsers,
  selectClientNames,
} from './access-queries.ts';

/** All that may act for a member, and the member's last sign-ins. */
export interface Accesses {
  readonly browsers: readonly (BrowserAccess & { readonly isThis: boolean })[];
  readonly apps: readonly AppAccess[];
  /** A consent for all accounts has those that the member holds now. */
  readonly consents: readonly Consent[];
  readonly signIns: readonly RecentSignIn[];
}

/** Of the member of the session. */
export async function readAccesses(
  { database, clock }: AuthDeps,
  institutionId: InstitutionId,
  { sessionId, userKey, userId }: SessionRow,
): Promise<Accesses> {
  const now = clock();
  return database.read(institutionId, async (db) => {
    const [browsers, apps, consents, rows] = await Promise.all([
      selectBrowsers(db, userKey, { now, idleSince: idleSinceOf(now) }),
      selectApps(db, userKey, now),
      selectConsents(db, userKey, now),
      selectRecentSignIns(db, userId),
    ]);
    const clientIds = rows.flatMap(({ clientId }) => clientId ?? []);
    const names = clientIds.length > 0 ? await selectClientNames(db, clientIds) : new Map<string, string>();
    return {
      browsers: browsers.map((one) => ({ ...one, isThis: one.sessionId === sessionId })),
      apps,
      consents: await withAccounts(db, userKey, consents),
      signIns: rows.map(({ clientId, ...row }) => ({
        ...row,
        clientName: names.get(clientId ?? '') ?? null,
      })),
    };
  });
}

async function withAccounts(
  db: Queryable,
  userKey: bigint,
  consents: readonly ConsentRow[],
): Promise<Consent[]> {
  const ids = consents.map(({ consentId }) => consentId);
  const named = await selectConsented(db, ids);
  const held = consents.some(({ allAccounts }) => allAccounts) ? await selectConsentable(db, userKey) : [];
  return consents.map((consent) => {
    const { consentId, allAccounts, scopes } = consent;
    if (!asksForAccounts(scopes)) return shownConsent(consent, []);
    const accounts = allAccounts ? held : named.filter((one) => one.consentId === consentId);
    const mayPay = asksToPay(scopes);
    return shownConsent(
      consent,
      accounts.map((one) => ({ ...one, mayPay: one.mayPay && mayPay })),
    );
  });
}

/** An access that a member ends. `others`: every other browser and every app's sign-in; consents stay. */
export type Access =
  | { readonly kind: 'browser' | 'app' | 'consent'; readonly id: string }
  | { readonly kind: 'others' };

/** Undefined for a text that names none. */
export function readAccess(text: string): Access | undefined {
  const [kind, id = '', ...more] = text.split(' ');
  if (kind === 'others' && text === kind) return { kind };
  const isKind = kind === 'browser' || kind === 'app' || kind === 'consent';
  return isKind && isUuid(id) && more.length === 0 ? { kind, id } : undefined;
}

interface Ender {
  readonly institutionId: InstitutionId;
  readonly session: SessionRow;
  readonly origin: Origin;
}

/** Ends an access of the session's member at once. False if the member has none of this id, or it had ended. */
export async function endAccess(deps: AuthDeps, ender: Ender, access: Access): Promise<boolean> {
  switch (access.kind) {
    case 'browser':
      return endBrowser(deps, ender, access.id);
    case 'app':
      return endApp(deps, ender, access.id);
    case 'consent': {
      const { institutionId, session, origin } = ender;
      const member = { institutionId, userKey: session.userKey };
      return endOwnConsent(deps, member, { consentId: access.id, origin });
    }
    case 'others':
      return endOthers(deps, ender);
  }
}

function endBrowser(
  { database, clock }: AuthDeps,
  { institutionId, session, origin }: Ender,
  sessionId: string,
): Promise<boolean> {
  const at = clock();
  const { userKey, userId } = session;
  return database.transaction(institutionId, async (tx) => {
    if (!(await endSessionOf(tx, { userKey, sessionId }, at))) return false;
    const entry = { action: 'session.ended', outcome: 'succeeded', reason: 'member' } as const;
    await appendAudit(tx, { ...entry, origin, userId, subject: sessionId }, at);
    return true;
  });
}

async function endApp(
  deps: AuthDeps,
  { institutionId, session, origin }: Ender,
  familyId: string,
): Promise<boolean> {
  const family = await deps.database.read(institutionId, (db) => selectRefreshFamily(db, familyId));
  if (family?.userKey !== session.userKey) return false;
  return endRefreshFamily(deps, institutionId, { family, reason: 'member', origin });
}

/** All or nothing, so that no app stays when the browsers are gone. */
function endOthers(
  { database, clock }: AuthDeps,
  { institutionId, session, origin }: Ender,
): Promise<boolean> {
  const { userId } = session;
  const at = clock();
  return database.transaction(institutionId, async (tx) => {
    const entry = {
      action: 'session.ended',
      outcome: 'succeeded',
      reason: 'member',
      origin,
      userId,
    } as const;
    const browsers = await endOtherSessions(tx, session, at);
    for (const subject of browsers) await appendAudit(tx, { ...entry, subject }, at);
    const apps = await endRefreshFamilies(tx, session, { at, origin });
    return browsers.length + apps > 0;
  });
}
