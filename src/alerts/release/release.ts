import { appendEvents, type NewEvent } from '../../events/index.ts';
import { formatMinor } from '../../ledger/index.ts';
import type { Clock, Database, InstitutionId } from '../../storage/index.ts';
import { alertEventKind } from '../alert.ts';
import { messageOf } from '../texts/message.ts';
import { type DueAlert, deleteDropped, lockDueAlerts, markReleased } from './release-queries.ts';

const alertsAtOnce = 200;

/**
 * Writes the events of alerts whose time has come. Event and mark commit together: each alert has one event, whichever process ends
 * when. An alert that waited for the end of quiet hours, about an account that its member no longer holds, is deleted.
 */
export async function releaseAlerts(
  { database, clock }: { readonly database: Database; readonly clock: Clock },
  institutionId: InstitutionId,
  isStopping: () => boolean,
): Promise<void> {
  let found = alertsAtOnce;
  while (found === alertsAtOnce && !isStopping()) {
    const now = clock();
    found = await database.transaction(institutionId, async (tx) => {
      const { due, dropped } = await lockDueAlerts(tx, { now, most: alertsAtOnce });
      await deleteDropped(tx, dropped, now);
      if (due.length > 0) {
        await markReleased(tx, due, now);
        await appendEvents(tx, due.map(toEvent), now);
      }
      return due.length + dropped.length;
    });
  }
}

/** With all that a gateway for SMS or push needs, so that its adapter asks nothing back. */
function toEvent({ userKey, alert, language, phoneNumber, emailAddress }: DueAlert): NewEvent {
  const { alertId, alertType, eventId, occurredAt, account, transferId, channels } = alert;
  const { amountMinor, balanceMinor, thresholdMinor } = alert;
  const money = (minor: bigint | null) =>
    minor === null || account === null ? undefined : formatMinor(minor, account.currency);
  const data = {
    alertId,
    alertType,
    channels,
    message: messageOf(alert, language),
    language,
    causedBy: eventId,
    occurredAt: occurredAt.toISOString(),
    accountId: account?.accountId,
    currencyCode: account?.currency,
    amount: money(amountMinor),
    balance: money(balanceMinor),
    threshold: money(thresholdMinor),
    transferId: transferId ?? undefined,
    phoneNumber: channels.includes('SMS') ? (phoneNumber ?? undefined) : undefined,
    emailAddress: channels.includes('EMAIL') ? (emailAddress ?? undefined) : undefined,
  };
  return { kind: alertEventKind, subjectKey: userKey, data };
}
