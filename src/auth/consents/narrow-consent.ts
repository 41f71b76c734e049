import { appendAudit, type Origin } from '../../events/index.ts';
import { coveredKeys, type InstitutionId, type MemberActor } from '../../institutions/index.ts';
import { Problem } from '../../shared/problem.ts';
import type { Transaction } from '../../storage/index.ts';
import type { AuthDeps } from '../deps.ts';
import { accountText, asksForAccounts, asksToPay } from './account-choice.ts';
import {
  type ConsentableAccount,
  insertConsented,
  removeConsented,
  selectConsentable,
  selectConsented,
} from './consent-account-queries.ts';
import { appendConsentEvent } from './consent-event.ts';
import { type ConsentRow, lockConsent, updateConsent } from './consent-queries.ts';
import { type Consent, shownConsent } from './consents.ts';

/** The parts that a consent loses. Parts that it does not have are ignored. */
export interface Narrowing {
  readonly scopes: readonly string[];
  readonly accountIds: readonly string[];
  /** Accounts that the app goes on seeing, and no longer pays from. */
  readonly payingAccountIds: readonly string[];
}

/**
 * Takes scopes and accounts out of a consent of the member. The next request of the app in any process is without them. A consent for all
 * accounts that loses one names the others from then on, so that later accounts are not in it.
 *
 * Problems: `not_found` for another member's consent and for one that has ended; `invalid_request` if no scope or no account would be left.
 */
export async function narrowConsent(
  deps: AuthDeps,
  actor: MemberActor,
  { consentId, narrowing, origin }: ConsentChange,
): Promise<Consent> {
  const { institutionId, userKey } = actor;
  const covered = coveredKeys(actor);
  const isSeen = ({ accountKey }: ConsentableAccount) => covered?.includes(accountKey) ?? true;
  const narrowed = await narrowOwn(
    deps,
    { institutionId, userKey },
    { consentId, narrowing, origin, isSeen },
  );
  switch (narrowed) {
    case 'unknown':
      throw new Problem('not_found', 'There is no such consent.');
    case 'nothing_left': {
      const detail = 'Withdraw the consent instead: no scope or no account would be left.';
      throw new Problem('invalid_request', detail, { errors: [{ pointer: '', detail }] });
    }
    default:
      return shownConsent(narrowed.consent, narrowed.accounts.filter(isSeen));
  }
}

interface ConsentChange {
  readonly consentId: string;
  readonly narrowing: Narrowing;
  readonly origin: Origin;
}

type Narrowed =
  | 'unknown'
  | 'nothing_left'
  | {
      readonly consent: ConsentRow;
      readonly accounts: readonly ConsentableAccount[];
      readonly isChanged: boolean;
    };

/** The same for the page of security. */
export function narrowOwn(
  { database, clock }: AuthDeps,
  { institutionId, userKey }: { readonly institutionId: InstitutionId; readonly userKey: bigint },
  { isSeen = () => true, ...change }: ConsentChange & { isSeen?: (account: ConsentableAccount) => boolean },
): Promise<Narrowed> {
  const at = clock();
  return database.transaction(institutionId, async (tx) => {
    const consent = await lockConsent(tx, change.consentId);
    if (consent?.userKey !== userKey || consent.endedAt !== null || consent.expiresAt <= at) return 'unknown';
    return narrow(tx, consent, { ...change, isSeen, at });
  });
}

async function narrow(
  tx: Transaction,
  consent: ConsentRow,
  {
    narrowing,
    origin,
    isSeen,
    at,
  }: ConsentChange & { readonly isSeen: (account: ConsentableAccount) => boolean; readonly at: Date },
): Promise<Narrowed> {
  const { consentId, userKey, clientId, userId, allAccounts } = consent;
  const scopes = consent.scopes.filter((scope) => !narrowing.scopes.includes(scope));
  const before = allAccounts ? await selectConsentable(tx, userKey) : await selectConsented(tx, [consentId]);
  const isNamed = (ids: readonly string[]) => (one: ConsentableAccount) =>
    isSeen(one) && ids.includes(one.accountId);
  const removed = before.filter(isNamed(narrowing.accountIds));
  const mayPay = asksToPay(consent.scopes);
  const unpaid = before.filter((one) => mayPay && one.mayPay && isNamed(narrowing.payingAccountIds)(one));
  const accounts = before
    .filter((one) => !removed.includes(one))
    .map((one) => ({ ...one, mayPay: one.mayPay && asksToPay(scopes) && !unpaid.includes(one) }));
  const isOfAccounts = removed.length > 0 || unpaid.length > 0;
  const staysAll = allAccounts && !isOfAccounts;
  const isEmpty = !staysAll && isOfAccounts && accounts.length === 0;
  if (scopes.length === 0 || (isEmpty && asksForAccounts(scopes))) return 'nothing_left';
  const now = { ...consent, scopes, allAccounts: staysAll };
  const named = staysAll ? [] : accounts;
  if (!isOfAccounts && scopes.length === consent.scopes.length) {
    return { consent, accounts: allAccounts ? [] : before, isChanged: false };
  }
  if (allAccounts && !staysAll) await insertConsented(tx, consentId, accounts);
  if (!allAccounts) {
    const keys = (some: readonly ConsentableAccount[]) => some.map(({ accountKey }) => accountKey);
    await removeConsented(tx, consentId, { removed: keys(removed), unpaid: keys(unpaid) });
  }
  await updateConsent(tx, consentId, now);
  await appendConsentEvent(tx, { kind: 'consent.narrowed', consent: now, accounts: named, at });
  const facts = { origin, clientId, userId, subject: consentId };
  const [was, is] = [
    { scopes: consent.scopes, accounts: allAccounts ? 'all' : before.map(accountText) },
    { scopes, accounts: staysAll ? 'all' : named.map(accountText) },
  ];
  await appendAudit(
    tx,
    { action: 'consent.narrowed', outcome: 'succeeded', ...facts, before: was, after: is },
    at,
  );
  return { consent: now, accounts: named, isChanged: true };
}
