import { type Queryable, sql, type Transaction } from '../../storage/index.ts';
import type { Alert, Language } from '../alert.ts';
import { type AlertRow, alertColumns, toAlert, withAccount } from '../alert-row.ts';

/** An alert with the member's addresses. */
export interface DueAlert {
  readonly alertKey: bigint;
  readonly userKey: bigint;
  readonly language: Language;
  /** Of SMS: the member's mobile number. */
  readonly phoneNumber: string | null;
  /** Verified; alerts go to no other address. */
  readonly emailAddress: string | null;
  readonly alert: Alert;
}

interface DueRow extends AlertRow {
  readonly userKey: bigint;
  readonly language: Language | null;
  readonly phoneNumber: string | null;
  readonly verifiedEmail: string | null;
  readonly isHeld: boolean;
}

const dueRows = `select ${alertColumns}, n.user_key, f.language, p.phone_number, u.verified_email,
          n.account_key is null or exists (
            select from holders h
            where h.institution_id = $1 and h.account_key = n.account_key and h.person_key = u.person_key) as is_held
   from alerts n
   join users u on u.institution_id = $1 and u.user_key = n.user_key
   ${withAccount}
   left join alert_preferences f on f.institution_id = $1 and f.user_key = n.user_key
   left join user_phones p on p.institution_id = $1 and p.user_key = n.user_key and p.phone_type = 'MOBILE'
   where n.institution_id = $1 and n.released_at is null and n.due_at <= $2`;

// Locked, so that two processes release different ones. The members too: the erasure of one finds each event that has an address.
const due = sql(
  'alerts_due',
  `${dueRows} and not n.in_digest
   order by n.due_at, n.alert_key limit $3
   for update of n skip locked for share of u skip locked`,
);

/** Alerts whose time has come. `dropped`: about accounts that the member no longer holds. */
export interface DueAlerts {
  readonly due: DueAlert[];
  readonly dropped: bigint[];
}

/** Those that go out alone, the oldest first. */
export async function lockDueAlerts(
  tx: Transaction,
  { now, most }: { readonly now: Date; readonly most: number },
): Promise<DueAlerts> {
  return toDue((await tx.query<DueRow>(due, [tx.institutionId, now, most])).rows);
}

// The members are locked, so that one process writes the whole digest of each.
const digestMembers = sql(
  'alerts_lock_digests',
  `with waiting as materialized (
     select distinct n.user_key from alerts n
     where n.institution_id = $1 and n.released_at is null and n.due_at <= $2 and n.in_digest
     order by n.user_key limit $3
   )
   select f.user_key from waiting w
   join alert_preferences f on f.institution_id = $1 and f.user_key = w.user_key
   for update of f skip locked`,
);
const digests = sql(
  'alerts_due_digests',
  `${dueRows} and n.in_digest and n.user_key = any ($3::bigint[])
   order by n.user_key, n.alert_key
   for update of n for share of u skip locked`,
);

/** Those of digests, of at most so many members, each member's together and the oldest first. */
export async function lockDueDigests(
  tx: Transaction,
  { now, mostMembers }: { readonly now: Date; readonly mostMembers: number },
): Promise<DueAlerts & { readonly members: number }> {
  const members = await tx.query<{ userKey: bigint }>(digestMembers, [tx.institutionId, now, mostMembers]);
  const userKeys = members.rows.map(({ userKey }) => userKey);
  if (userKeys.length === 0) return { due: [], dropped: [], members: 0 };
  const { rows } = await tx.query<DueRow>(digests, [tx.institutionId, now, userKeys]);
  return { ...toDue(rows), members: userKeys.length };
}

function toDue(rows: readonly DueRow[]): DueAlerts {
  return {
    due: rows
      .filter(({ isHeld }) => isHeld)
      .map((row) => ({
        alertKey: row.alertKey,
        userKey: row.userKey,
        language: row.language ?? 'en',
        phoneNumber: row.phoneNumber,
        emailAddress: row.verifiedEmail,
        alert: toAlert(row),
      })),
    dropped: rows.filter(({ isHeld }) => !isHeld).map(({ alertKey }) => alertKey),
  };
}

const release = sql(
  'alerts_release',
  `update alerts set released_at = $3
   where institution_id = $1 and alert_key = any ($2::bigint[]) and user_key = any ($4::bigint[])`,
);

export async function markReleased(tx: Transaction, alerts: readonly DueAlert[], at: Date): Promise<void> {
  const keys = alerts.map(({ alertKey }) => alertKey);
  await tx.query(release, [tx.institutionId, keys, at, alerts.map(({ userKey }) => userKey)]);
}

const drop = sql(
  'alerts_drop',
  'delete from alerts where institution_id = $1 and released_at is null and due_at <= $3 and alert_key = any ($2::bigint[])',
);

export async function deleteDropped(tx: Transaction, alertKeys: readonly bigint[], now: Date): Promise<void> {
  if (alertKeys.length > 0) await tx.query(drop, [tx.institutionId, alertKeys, now]);
}

const expire = sql('alerts_expire', 'delete from alerts where institution_id = $1 and recorded_at < $2');

export async function deleteAlertsBefore(db: Queryable, before: Date): Promise<void> {
  await db.query(expire, [db.institutionId, before]);
}
