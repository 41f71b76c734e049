import { appendEvents, type NewEvent } from '../../events/index.ts';
import { formatMinor } from '../../ledger/index.ts';
import type { Clock, Database, InstitutionId } from '../../storage/index.ts';
import { alertEventKind, digestType } from '../alert.ts';
import { digestIdOf } from '../derivation/derive-alerts.ts';
import { messageOf } from '../texts/message.ts';
import {
  type DueAlert,
  deleteDropped,
  lockDueAlerts,
  lockDueDigests,
  markReleased,
} from './release-queries.ts';

const alertsAtOnce = 200;
const digestsAtOnce = 20;
/** A member with more alerts in a day gets a second digest. */
const alertsInDigest = 100;

/**
 * Writes the events of alerts whose time has come. Event and mark commit together: each alert has one event, whichever process ends
 * when. An alert that waited, about an account that its member no longer holds, is deleted.
 */
export async function releaseAlerts(
  { database, clock }: { readonly database: Database; readonly clock: Clock },
  institutionId: InstitutionId,
  isStopping: () => boolean,
): Promise<void> {
  for (let mayBeMore = true; mayBeMore && !isStopping(); ) {
    const now = clock();
    mayBeMore = await database.transaction(institutionId, async (tx) => {
      const alone = await lockDueAlerts(tx, { now, most: alertsAtOnce });
      const together = await lockDueDigests(tx, { now, mostMembers: digestsAtOnce });
      const dropped = [...alone.dropped, ...together.dropped];
      await deleteDropped(tx, dropped, now);
      const due = [...alone.due, ...together.due];
      if (due.length > 0) {
        await markReleased(tx, due, now);
        const events = [...alone.due.map(toEvent), ...digestsOf(together.due).map(toDigest)];
        await appendEvents(tx, events, now);
      }
      return alone.due.length + alone.dropped.length === alertsAtOnce || together.members === digestsAtOnce;
    });
  }
}

/** With all that a gateway for SMS or push needs, so that its adapter asks nothing back. */
function toEvent(due: DueAlert): NewEvent {
  return eventOf(due, factsOf(due));
}

/** Of one member, for the same channels. */
type Digest = readonly [DueAlert, ...DueAlert[]];

/** One message for alerts of a member that go the same ways. */
function digestsOf(due: readonly DueAlert[]): Digest[] {
  const byWay = Map.groupBy(due, ({ userKey, alert }) => `${userKey} ${[...alert.channels].sort().join()}`);
  return [...byWay.values()].flatMap((alerts) => {
    const digests: Digest[] = [];
    for (let from = 0; from < alerts.length; from += alertsInDigest) {
      digests.push(alerts.slice(from, from + alertsInDigest) as unknown as Digest);
    }
    return digests;
  });
}

/** Shaped as a single alert, so that an adapter sends it without knowing digests. */
function toDigest(digest: Digest): NewEvent {
  const [first] = digest;
  const alerts = digest.map(factsOf);
  return eventOf(first, {
    alertId: digestIdOf(alerts.map(({ alertId }) => alertId)),
    alertType: digestType,
    message: alerts.map(({ message }) => message).join('\n'),
    language: first.language,
    alerts,
  });
}

function factsOf({ alert, language }: DueAlert) {
  const { alertId, alertType, eventId, occurredAt, account, transferId, dueOn } = alert;
  const { amountMinor, balanceMinor, thresholdMinor } = alert;
  const money = (minor: bigint | null) =>
    minor === null || account === null ? undefined : formatMinor(minor, account.currency);
  return {
    alertId,
    alertType,
    message: messageOf(alert, language),
    language,
    causedBy: eventId ?? undefined,
    occurredAt: occurredAt.toISOString(),
    accountId: account?.accountId,
    currencyCode: account?.currency,
    amount: money(amountMinor),
    balance: money(balanceMinor),
    threshold: money(thresholdMinor),
    transferId: transferId ?? undefined,
    dueOn: dueOn ?? undefined,
  };
}

function eventOf(
  { userKey, phoneNumber, emailAddress, alert: { channels } }: DueAlert,
  facts: object,
): NewEvent {
  const data = {
    ...facts,
    channels,
    phoneNumber: channels.includes('SMS') ? (phoneNumber ?? undefined) : undefined,
    emailAddress: channels.includes('EMAIL') ? (emailAddress ?? undefined) : undefined,
  };
  return { kind: alertEventKind, subjectKey: userKey, data };
}
