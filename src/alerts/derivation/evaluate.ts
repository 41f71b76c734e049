import { type FeedEvent, readEventsBehind } from '../../feed/index.ts';
import type { Clock, Database, InstitutionId, Queryable } from '../../storage/index.ts';
import { type SecurityAlertType, securityChannels } from '../alert.ts';
import { alertIdOf, raisedBy } from './derive-alerts.ts';
import { releaseTime } from './due-times.ts';
import {
  type AccountOfEvent,
  advancePosition,
  type FeedPlace,
  insertAlerts,
  leasePosition,
  type MatchedRule,
  type NewAlert,
  releasePosition,
  selectRulesOfEvents,
  selectSecurityRecipients,
} from './evaluate-queries.ts';
import { raiseDueAlerts } from './payments-due.ts';

export interface EvaluateDeps {
  readonly database: Database;
  readonly clock: Clock;
  /** Of the institution, for members who named none. */
  readonly timeZoneOf: (institutionId: InstitutionId) => Promise<string>;
  /** This process. */
  readonly processId: string;
}

const leaseMillis = 30_000;
const eventsAtOnce = 200;

const securityEvents: Readonly<Record<string, SecurityAlertType>> = {
  'member.contact_changed': 'CONTACT_CHANGED',
  'member.password_changed': 'PASSWORD_CHANGED',
  'member.password_ended': 'PASSWORD_CHANGED',
  'member.new_device': 'NEW_DEVICE',
  'member.second_factor_added': 'SECOND_FACTOR_CHANGED',
  'member.second_factor_removed': 'SECOND_FACTOR_CHANGED',
  'member.recovery_code_used': 'RECOVERY_CODE_USED',
};

/**
 * Derives the alerts of new events until none is left or another process has the lease. The alerts of a batch and the position behind
 * it commit together, so a process that dies leaves both or neither. Facts are read before that transaction begins: it delays the feed
 * for its own time only.
 */
export async function evaluate(
  deps: EvaluateDeps,
  institutionId: InstitutionId,
  isStopping: () => boolean,
): Promise<void> {
  const { database, clock, processId: leasedBy } = deps;
  while (!isStopping()) {
    const now = clock();
    const until = new Date(now.getTime() + leaseMillis);
    const from = await database.write(institutionId, (db) => leasePosition(db, { leasedBy, until, now }));
    if (from === undefined) return;
    const batch = await database.read(institutionId, (db) => readBatch(db, from));
    const last = batch.events.at(-1);
    if (last === undefined) break;
    const timeZone = await deps.timeZoneOf(institutionId);
    const alerts = [...accountAlerts(batch, { timeZone, now }), ...securityAlerts(batch, now)];
    const isKept = await database.transaction(institutionId, async (tx) => {
      const to = { position: last.position, number: last.sequence };
      if (!(await advancePosition(tx, leasedBy, { from, to }))) return false;
      await insertAlerts(tx, alerts, now);
      return true;
    });
    if (!isKept) return;
  }
  if (!isStopping()) await raiseDueAlerts(deps, institutionId);
  await database.write(institutionId, (db) => releasePosition(db, leasedBy));
}

interface Batch {
  readonly events: readonly FeedEvent[];
  readonly rules: readonly MatchedRule[];
  readonly recipients: Awaited<ReturnType<typeof selectSecurityRecipients>>;
}

async function readBatch(db: Queryable, { position, number }: FeedPlace): Promise<Batch> {
  const events = await readEventsBehind(db, { position, number, limit: eventsAtOnce });
  const userIds = events.flatMap(({ kind, userId }) =>
    userId !== null && securityEvents[kind] !== undefined ? [userId] : [],
  );
  const [rules, recipients] = await Promise.all([
    selectRulesOfEvents(db, events.flatMap(accountsOf)),
    selectSecurityRecipients(db, userIds),
  ]);
  return { events, rules, recipients };
}

/** The accounts that changed. A transfer that failed at once changed none; its source still wants to hear of it. */
function accountsOf({ accounts, transfer, kind }: FeedEvent, place: number): AccountOfEvent[] {
  if (accounts.length > 0)
    return accounts.map(({ accountId, sequence }) => ({ place, accountId, seq: sequence }));
  return transfer !== null && kind === 'transfer.failed'
    ? [{ place, accountId: transfer.fromAccountId, seq: null }]
    : [];
}

function accountAlerts(
  { events, rules }: Batch,
  { timeZone, now }: { readonly timeZone: string; readonly now: Date },
): NewAlert[] {
  return rules.flatMap((rule): NewAlert[] => {
    const event = events[rule.place];
    if (event === undefined) return [];
    const { transfer, kind, eventId } = event;
    const isSource = transfer?.fromAccountId === rule.accountId;
    // A transfer that was never pending is visible to the member who ordered it, and to no other holder.
    if (event.accounts.length === 0 && event.userId !== rule.userId) return [];
    const { entryKind, amount, availableBefore, availableAfter } = rule;
    const entry =
      entryKind === null || amount === null || availableAfter === null
        ? null
        : { kind: entryKind, amountMinor: amount, availableBefore, availableAfter };
    const transferAmountMinor = transfer?.amountMinor ?? null;
    const raised = raisedBy(rule.alertType, rule.threshold, { kind, entry, isSource, transferAmountMinor });
    if (raised === undefined) return [];
    const { alertType, accountKey, userKey, threshold, channels } = rule;
    return [
      {
        alertId: alertIdOf({ eventId, alertType, accountKey, userKey }),
        userKey,
        alertType,
        eventId,
        accountKey,
        // The other end of a transfer is not shown to the holders of this one.
        transferId: isSource ? (transfer?.id ?? null) : null,
        amount: raised.amountMinor,
        balance: raised.balanceMinor,
        threshold,
        occurredAt: event.at,
        channels,
        ...releaseTime(rule, { timeZone: rule.timeZone ?? timeZone, now }),
        dueOn: null,
      },
    ];
  });
}

function securityAlerts({ events, recipients }: Batch, now: Date): NewAlert[] {
  return events.flatMap(({ kind, userId, eventId, at }): NewAlert[] => {
    const alertType = securityEvents[kind];
    const recipient = recipients.find((one) => one.userId === userId);
    if (alertType === undefined || recipient === undefined) return [];
    const { userKey } = recipient;
    return [
      {
        alertId: alertIdOf({ eventId, alertType, accountKey: null, userKey }),
        userKey,
        alertType,
        eventId,
        accountKey: null,
        transferId: null,
        amount: null,
        balance: null,
        threshold: null,
        occurredAt: at,
        channels: recipient.securityChannels ?? securityChannels,
        dueAt: now,
        inDigest: false,
        dueOn: null,
      },
    ];
  });
}
