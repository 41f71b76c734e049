import { addDays, instantOf, localDate } from '../../institutions/index.ts';
import type { Clock, Database, InstitutionId } from '../../storage/index.ts';
import { dueAlertIdOf } from './derive-alerts.ts';
import { releaseTime } from './due-times.ts';
import { insertAlerts, type NewAlert } from './evaluate-queries.ts';
import {
  type DuePayment,
  markDuesSeen,
  selectDuePayments,
  selectDuesSeenOn,
} from './payments-due-queries.ts';

/** The alert about a payment comes this many days before. */
const daysBefore = 3;
/** A payment that is made in the night is not due in the morning. alerts_to_derive has the same time. */
const lookAt = '09:00';
const paymentsAtOnce = 500;

/**
 * Raises the alerts about payments of loans that are due within three days, once a day of the institution. An alert's id is made of
 * the payment, so a payment that is found on several days raises one. The caller has the lease.
 */
export async function raiseDueAlerts(
  deps: {
    readonly database: Database;
    readonly clock: Clock;
    readonly timeZoneOf: (institutionId: InstitutionId) => Promise<string>;
    /** Of the lease. */
    readonly processId: string;
  },
  institutionId: InstitutionId,
): Promise<void> {
  const { database, clock, processId: leasedBy } = deps;
  const now = clock();
  const timeZone = await deps.timeZoneOf(institutionId);
  const today = localDate(now, timeZone);
  if (now < instantOf(today, lookAt, timeZone)) return;
  const seenOn = await database.read(institutionId, selectDuesSeenOn);
  if (seenOn !== null && seenOn >= today) return;
  const days = { from: today, until: addDays(today, daysBefore) };
  for (let after: DuePayment | undefined; ; ) {
    const payments = await database.read(institutionId, (db) =>
      selectDuePayments(db, { ...days, after, most: paymentsAtOnce }),
    );
    const alerts = payments.map((payment) => alertAbout(payment, { timeZone, now }));
    await database.write(institutionId, (db) => insertAlerts(db, alerts, now));
    after = payments.at(-1);
    if (payments.length < paymentsAtOnce) break;
  }
  await database.write(institutionId, (db) => markDuesSeen(db, { leasedBy, on: today }));
}

function alertAbout(
  payment: DuePayment,
  { timeZone, now }: { readonly timeZone: string; readonly now: Date },
): NewAlert {
  const { accountKey, userKey, amountDue, dueOn, channels } = payment;
  return {
    alertId: dueAlertIdOf(payment),
    userKey,
    alertType: 'PAYMENT_DUE',
    eventId: null,
    accountKey,
    transferId: null,
    amount: amountDue,
    balance: null,
    threshold: null,
    occurredAt: now,
    channels,
    ...releaseTime(payment, { timeZone: payment.timeZone ?? timeZone, now }),
    dueOn,
  };
}
