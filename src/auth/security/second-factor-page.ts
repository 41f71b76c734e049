import { randomBytes, randomUUID } from 'node:crypto';
import { appendAudit, appendEvents } from '../../events/index.ts';
import { findBrand } from '../../institutions/index.ts';
import type { InstitutionId } from '../../storage/index.ts';
import type { Step } from '../authorization/authorize.ts';
import { type SecurityPage, sealRequest } from '../authorization/sealed-request.ts';
import type { AuthDeps } from '../deps.ts';
import { spendChallenge } from '../passkeys/passkey-queries.ts';
import {
  deleteAuthenticator,
  hasAuthenticator,
  insertAuthenticator,
  replaceRecoveryCodes,
} from '../second-factor/authenticator-queries.ts';
import { newRecoveryCodes, recoveryCodeHash } from '../second-factor/recovery-codes.ts';
import { sealSecret } from '../second-factor/sealed-secret.ts';
import { keyUri, secretBytes, stepOfCode, typedSecret } from '../second-factor/totp.ts';
import { type Browser, newSecret } from '../sessions/browser.ts';
import { endOtherSessions, type SessionRow } from '../sessions/session-queries.ts';
import { change, onPage, pageMillis, securityPage } from './security-page.ts';

/** Shows the secret for an authenticator app, sealed in the page: nothing is stored before a code of the app confirms it. */
export async function beginAuthenticator(
  deps: AuthDeps,
  sent: { readonly request: string },
  browser: Browser,
): Promise<Step> {
  return onPage(deps, { kind: 'security', text: sent.request, browser }, async ({ page, session }) => {
    const { institutionId } = page;
    const has = await deps.database.read(institutionId, (db) => hasAuthenticator(db, session.userKey));
    if (has) return securityPage(deps, page, { session, outcome: 'refused' });
    return setUpPage(deps, session, { page, secret: randomBytes(secretBytes) });
  });
}

/** Stores the authenticator app after its first code, and shows its recovery codes. A wrong code shows the page again. */
export async function confirmAuthenticator(
  deps: AuthDeps,
  sent: { readonly request: string; readonly code: string; readonly name: string },
  browser: Browser,
): Promise<Step> {
  const opened = { kind: 'authenticator', text: sent.request, browser } as const;
  return onPage(deps, opened, async ({ page, session }) => {
    const { institutionId, clientId } = page;
    const secret = Buffer.from(page.secret, 'base64url');
    const name = sent.name.trim();
    const at = deps.clock();
    const step = stepOfCode(secret, sent.code, { now: at, lastStep: 0 });
    if (step === undefined || !/^[^\p{Cc}]{1,64}$/u.test(name)) {
      return setUpPage(deps, session, { page, secret, refusedName: name });
    }
    const { userKey, userId } = session;
    const authenticatorId = randomUUID();
    const row = { authenticatorId, userKey, name, lastStep: BigInt(step), createdAt: at };
    const sealedSecret = sealSecret(deps.vault, authenticatorId, secret);
    const codes = newRecoveryCodes();
    const { origin } = browser;
    const isStored = await deps.database.transaction(institutionId, async (tx) => {
      // The page sets up one authenticator, also after that one was removed.
      if (!(await spendChallenge(tx, challengeOf(page), new Date(page.expiresAtMillis)))) return false;
      if (!(await insertAuthenticator(tx, { ...row, sealedSecret }))) return false;
      const hashes = hashesOf(deps, { institutionId, userKey }, codes);
      await replaceRecoveryCodes(tx, userKey, { hashes, at });
      await appendEvents(tx, [{ kind: 'member.second_factor_added', subjectKey: userKey }], at);
      const entry = { action: 'authenticator.added', outcome: 'succeeded', origin, clientId } as const;
      await appendAudit(tx, { ...entry, userId, subject: authenticatorId }, at);
      return true;
    });
    if (!isStored) return securityPage(deps, page, { session, outcome: 'refused' });
    return codesPage(deps, page, { codes, isFirst: true });
  });
}

/** Removes the authenticator app with its recovery codes, and ends the member's sessions in other browsers. */
export async function removeAuthenticator(
  deps: AuthDeps,
  sent: { readonly request: string },
  browser: Browser,
): Promise<Step> {
  return change(deps, sent.request, browser, async ({ page: { institutionId, clientId }, session }) => {
    const { userKey, userId } = session;
    const { origin } = browser;
    const at = deps.clock();
    return deps.database.transaction(institutionId, async (tx) => {
      const subject = await deleteAuthenticator(tx, userKey);
      if (subject === undefined) return 'refused';
      await appendEvents(tx, [{ kind: 'member.second_factor_removed', subjectKey: userKey }], at);
      const facts = { outcome: 'succeeded', origin, clientId, userId } as const;
      await appendAudit(tx, { ...facts, action: 'authenticator.removed', subject }, at);
      for (const sessionId of await endOtherSessions(tx, session, at)) {
        const entry = { action: 'session.ended', reason: 'authenticator_removed' } as const;
        await appendAudit(tx, { ...facts, ...entry, subject: sessionId }, at);
      }
      return 'authenticator_removed';
    });
  });
}

/** Makes ten new recovery codes in place of the earlier ones, and shows them. */
export async function renewRecoveryCodes(
  deps: AuthDeps,
  sent: { readonly request: string },
  browser: Browser,
): Promise<Step> {
  return onPage(deps, { kind: 'security', text: sent.request, browser }, async ({ page, session }) => {
    const { institutionId, clientId } = page;
    const { userKey, userId } = session;
    const codes = newRecoveryCodes();
    const { origin } = browser;
    const at = deps.clock();
    const isDone = await deps.database.transaction(institutionId, async (tx) => {
      // Of two clicks one counts, so that the codes on the screen are those that are stored.
      if (!(await spendChallenge(tx, challengeOf(page), new Date(page.expiresAtMillis)))) return false;
      const hashes = hashesOf(deps, { institutionId, userKey }, codes);
      const subject = await replaceRecoveryCodes(tx, userKey, { hashes, at });
      if (subject === undefined) return false;
      const entry = { action: 'recovery_codes.created', outcome: 'succeeded', origin, clientId } as const;
      await appendAudit(tx, { ...entry, userId, subject }, at);
      return true;
    });
    if (!isDone) return securityPage(deps, page, { session, outcome: 'refused' });
    return codesPage(deps, page, { codes, isFirst: false });
  });
}

function challengeOf({ challenge }: SecurityPage): Buffer {
  return Buffer.from(challenge, 'base64url');
}

function hashesOf(
  { vault }: AuthDeps,
  owner: { readonly institutionId: InstitutionId; readonly userKey: bigint },
  codes: readonly string[],
): Buffer[] {
  return codes.map((code) => recoveryCodeHash(vault, owner, code));
}

async function setUpPage(
  deps: AuthDeps,
  { sessionId, username, userId }: SessionRow,
  {
    page: { institutionId, clientId },
    secret,
    refusedName,
  }: { readonly page: SecurityPage; readonly secret: Buffer; readonly refusedName?: string },
): Promise<Step> {
  const brand = await deps.database.directory((db) => findBrand(db, { institutionId, clientId }));
  const request = sealRequest(deps, {
    kind: 'authenticator',
    expiresAtMillis: deps.clock().getTime() + pageMillis,
    ...{ institutionId, clientId, sessionId, challenge: newSecret(), secret: secret.toString('base64url') },
  });
  return {
    kind: 'authenticator',
    ...{ brand, request, secret: typedSecret(secret) },
    keyUri: keyUri(secret, { issuer: brand.name, account: username ?? userId }),
    name: refusedName,
    isRefused: refusedName !== undefined,
  };
}

async function codesPage(
  deps: AuthDeps,
  { institutionId, clientId }: SecurityPage,
  shown: { readonly codes: readonly string[]; readonly isFirst: boolean },
): Promise<Step> {
  const brand = await deps.database.directory((db) => findBrand(db, { institutionId, clientId }));
  return { kind: 'recovery_codes', brand, clientId, ...shown };
}
