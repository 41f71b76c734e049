import type { Position } from '../../shared/page.ts';
import {
  columnsOf,
  type Directory,
  type InstitutionId,
  type Queryable,
  sql,
  type Transaction,
} from '../../storage/index.ts';
import type { AccountAlertType, AlertChannel, AlertType, SecurityAlertType } from '../alert.ts';

const work = sql('alerts_work', 'select institution from alerts_to_derive($1, $2)');

/** Institutions whose alerts have something to do. */
export async function selectInstitutionsToDerive(
  db: Directory,
  { now, processId }: { readonly now: Date; readonly processId: string },
): Promise<InstitutionId[]> {
  const { rows } = await db.query<{ institution: InstitutionId }>(work, [now, processId]);
  return rows.map(({ institution }) => institution);
}

export interface Lease {
  readonly leasedBy: string;
  readonly until: Date;
  readonly now: Date;
}

export interface FeedPlace {
  readonly position: Position;
  /** Number of the event at the position. */
  readonly number: bigint;
}

const lease = sql(
  'alerts_lease',
  `insert into alert_positions as p (institution_id, epoch, xid, event_key, number, leased_by, lease_until)
   values ($1, 0, '0', 0, 0, $2, $3)
   on conflict (institution_id) do update set leased_by = $2, lease_until = $3
   where p.lease_until is null or p.lease_until <= $4 or p.leased_by = $2
   returning epoch, xid::text as xid, event_key, number`,
);

/** Undefined if another process derives the institution's alerts. */
export async function leasePosition(
  db: Queryable,
  { leasedBy, until, now }: Lease,
): Promise<FeedPlace | undefined> {
  const { rows } = await db.query<{ epoch: bigint; xid: string; eventKey: bigint; number: bigint }>(lease, [
    db.institutionId,
    leasedBy,
    until,
    now,
  ]);
  return rows.map(({ epoch, xid, eventKey, number }) => ({
    position: [epoch, BigInt(xid), eventKey],
    number,
  }))[0];
}

const release = sql(
  'alerts_release_lease',
  `update alert_positions set leased_by = null, lease_until = null where institution_id = $1 and leased_by = $2`,
);

export async function releasePosition(db: Queryable, leasedBy: string): Promise<void> {
  await db.query(release, [db.institutionId, leasedBy]);
}

const advance = sql(
  'alerts_advance',
  `update alert_positions set epoch = $3, xid = $4::xid8, event_key = $5, number = $6
   where institution_id = $1 and leased_by = $2 and number = $7`,
);

/** False if another process has the lease by now: then nothing may be written. */
export async function advancePosition(
  tx: Transaction,
  leasedBy: string,
  { from, to }: { readonly from: FeedPlace; readonly to: FeedPlace },
): Promise<boolean> {
  const [epoch, xid, key] = to.position;
  const values = [tx.institutionId, leasedBy, epoch, String(xid), key, to.number, from.number];
  return (await tx.query(advance, values)).rowCount === 1;
}

/** An account that an event of the batch is about; `place` is the event's. */
export interface AccountOfEvent {
  readonly place: number;
  readonly accountId: string;
  /** Number of its entry; null without one. */
  readonly seq: bigint | null;
}

/** A rule of a member who may see the account, beside the entry of an event. */
export interface MatchedRule extends RecipientRow {
  readonly place: number;
  readonly accountId: string;
  readonly accountKey: bigint;
  readonly alertType: AccountAlertType;
  readonly threshold: bigint | null;
  readonly channels: AlertChannel[];
  readonly entryKind: string | null;
  readonly amount: bigint | null;
  readonly availableBefore: bigint;
  readonly availableAfter: bigint | null;
}

interface RecipientRow {
  readonly userKey: bigint;
  readonly userId: string;
  /** Null: the institution's. */
  readonly timeZone: string | null;
  readonly quietFrom: string | null;
  readonly quietTo: string | null;
  readonly digestAt: string | null;
}

// A holder record lets a member see an account. The journal is read by key: the entry, and the one before.
const rules = sql(
  'alerts_rules_of_events',
  `select c.place, a.account_id, a.account_key, r.alert_type, r.threshold, r.channels, u.user_key, u.user_id,
          f.time_zone, to_char(f.quiet_from, 'HH24:MI') as quiet_from, to_char(f.quiet_to, 'HH24:MI') as quiet_to,
          to_char(f.digest_at, 'HH24:MI') as digest_at, e.kind as entry_kind, e.amount, coalesce(b.posted_after - b.debits_pending_after, 0) as available_before,
          e.posted_after - e.debits_pending_after as available_after
   from unnest($2::integer[], $3::text[], $4::bigint[]) as c (place, account_id, seq)
   join accounts a on a.institution_id = $1 and a.account_id = c.account_id and a.account_id = any ($3::text[])
   join alert_rules r on r.institution_id = $1 and r.account_key = a.account_key
   join users u on u.institution_id = $1 and u.user_key = r.user_key and u.active
   join holders h on h.institution_id = $1 and h.account_key = a.account_key and h.person_key = u.person_key
   left join entries e on e.institution_id = $1 and e.account_key = a.account_key and e.seq = c.seq
   left join entries b on b.institution_id = $1 and b.account_key = a.account_key and b.seq = c.seq - 1
   left join alert_preferences f on f.institution_id = $1 and f.user_key = u.user_key
   order by c.place, u.user_key, r.alert_type`,
);

export async function selectRulesOfEvents(
  db: Queryable,
  accounts: readonly AccountOfEvent[],
): Promise<MatchedRule[]> {
  if (accounts.length === 0) return [];
  const columns = columnsOf(accounts, 'place', 'accountId', 'seq');
  return (await db.query<MatchedRule>(rules, [db.institutionId, ...columns])).rows;
}

const members = sql(
  'alerts_members',
  `select u.user_key, u.user_id, f.security_channels
   from users u
   left join alert_preferences f on f.institution_id = u.institution_id and f.user_key = u.user_key
   where u.institution_id = $1 and u.user_id = any ($2::text[])`,
);

export interface SecurityRecipient {
  readonly userKey: bigint;
  readonly userId: string;
  /** Null: the defaults. */
  readonly securityChannels: AlertChannel[] | null;
}

/** Also inactive ones: a security alert reaches a member who was shut out. */
export async function selectSecurityRecipients(
  db: Queryable,
  userIds: readonly string[],
): Promise<SecurityRecipient[]> {
  if (userIds.length === 0) return [];
  return (await db.query<SecurityRecipient>(members, [db.institutionId, userIds])).rows;
}

export interface NewAlert {
  readonly alertId: string;
  readonly userKey: bigint;
  readonly alertType: AlertType | SecurityAlertType;
  readonly eventId: string | null;
  readonly accountKey: bigint | null;
  readonly transferId: string | null;
  readonly amount: bigint | null;
  readonly balance: bigint | null;
  readonly threshold: bigint | null;
  readonly occurredAt: Date;
  readonly channels: readonly AlertChannel[];
  readonly dueAt: Date;
  readonly inDigest: boolean;
  /** YYYY-MM-DD, of a payment that is due. */
  readonly dueOn: string | null;
}

const insert = sql(
  'alerts_insert',
  `insert into alerts (institution_id, recorded_at, alert_id, user_key, alert_type, event_id, account_key, transfer_id, amount,
                       balance, threshold, occurred_at, channels, due_at, in_digest, due_on)
   select $1, $2, v.alert_id, v.user_key, v.alert_type, v.event_id, v.account_key, v.transfer_id, v.amount, v.balance,
          v.threshold, v.occurred_at, array(select jsonb_array_elements_text(v.channels)), v.due_at, v.in_digest, v.due_on
   from unnest($3::uuid[], $4::bigint[], $5::text[], $6::text[], $7::bigint[], $8::text[], $9::bigint[], $10::bigint[],
               $11::bigint[], $12::timestamptz[], $13::jsonb[], $14::timestamptz[], $15::boolean[], $16::date[])
        with ordinality as v (alert_id, user_key, alert_type, event_id, account_key, transfer_id, amount, balance, threshold,
                              occurred_at, channels, due_at, in_digest, due_on, place)
   order by v.place
   on conflict (institution_id, alert_id) do nothing`,
);

/** An alert that is there already is left as it is. */
export async function insertAlerts(db: Queryable, alerts: readonly NewAlert[], at: Date): Promise<void> {
  if (alerts.length === 0) return;
  const texts = alerts.map((alert) => ({ ...alert, channels: JSON.stringify(alert.channels) }));
  const columns = columnsOf(
    texts,
    'alertId',
    'userKey',
    'alertType',
    'eventId',
    'accountKey',
    'transferId',
    'amount',
    'balance',
    'threshold',
    'occurredAt',
    'channels',
    'dueAt',
    'inDigest',
    'dueOn',
  );
  await db.query(insert, [db.institutionId, at, ...columns]);
}
