import { appendEvents } from '../../events/index.ts';
import type { Transaction } from '../../storage/index.ts';
import type { ConsentRow } from './consent-queries.ts';

interface NamedAccount {
  readonly accountId: string;
  readonly mayPay: boolean;
}

/** An event for the institution: a consent as it is now, or the reason of its end. */
export async function appendConsentEvent(
  tx: Transaction,
  {
    kind,
    consent,
    at,
    ...facts
  }: {
    readonly kind: 'consent.granted' | 'consent.narrowed' | 'consent.ended';
    readonly consent: Pick<
      ConsentRow,
      'consentId' | 'clientId' | 'userKey' | 'scopes' | 'expiresAt' | 'allAccounts'
    >;
    readonly accounts?: readonly NamedAccount[];
    readonly endedBy?: ConsentRow['endedBy'];
    readonly at: Date;
  },
): Promise<void> {
  const { consentId, clientId, userKey, scopes, expiresAt, allAccounts } = consent;
  const accounts = facts.accounts?.map(({ accountId, mayPay }) => ({ accountId, mayPay }));
  const data =
    kind === 'consent.ended'
      ? { consentId, clientId, endedBy: facts.endedBy }
      : { consentId, clientId, scopes, allAccounts, accounts: accounts ?? [], expiresAt };
  await appendEvents(tx, [{ kind, subjectKey: userKey, data }], at);
}
