import { type Queryable, sql } from '../../storage/index.ts';
import type { AlertChannel } from '../alert.ts';

/** A payment of a loan, beside the rule of a member who may see the account. */
export interface DuePayment {
  readonly accountKey: bigint;
  readonly userKey: bigint;
  readonly amountDue: bigint;
  /** YYYY-MM-DD. */
  readonly dueOn: string;
  readonly channels: AlertChannel[];
  /** Null: the institution's. */
  readonly timeZone: string | null;
  readonly quietFrom: string | null;
  readonly quietTo: string | null;
  readonly digestAt: string | null;
}

const payments = sql(
  'alerts_payments_due',
  `select r.account_key, r.user_key, l.amount_due, l.next_due_on::text as due_on, r.channels, f.time_zone,
          to_char(f.quiet_from, 'HH24:MI') as quiet_from, to_char(f.quiet_to, 'HH24:MI') as quiet_to,
          to_char(f.digest_at, 'HH24:MI') as digest_at
   from alert_rules r
   join loans l on l.institution_id = $1 and l.account_key = r.account_key
   join accounts a on a.institution_id = $1 and a.account_key = r.account_key and not a.closed
   join users u on u.institution_id = $1 and u.user_key = r.user_key and u.active
   join holders h on h.institution_id = $1 and h.account_key = r.account_key and h.person_key = u.person_key
   left join alert_preferences f on f.institution_id = $1 and f.user_key = r.user_key
   where r.institution_id = $1 and r.alert_type = 'PAYMENT_DUE' and (r.account_key, r.user_key) > ($4, $5)
     and l.amount_due > 0 and l.next_due_on between $2 and $3
   order by r.account_key, r.user_key limit $6`,
);

/** Payments that are due in these days and not made yet, behind `after` in the order of their keys. */
export async function selectDuePayments(
  db: Queryable,
  wanted: {
    readonly from: string;
    readonly until: string;
    readonly after: DuePayment | undefined;
    readonly most: number;
  },
): Promise<DuePayment[]> {
  const { from, until, after, most } = wanted;
  const behind = [after?.accountKey ?? 0n, after?.userKey ?? 0n];
  return (await db.query<DuePayment>(payments, [db.institutionId, from, until, ...behind, most])).rows;
}

const seen = sql(
  'alerts_dues_seen_on',
  'select dues_seen_on::text from alert_positions where institution_id = $1',
);

/** YYYY-MM-DD; null if payments due were never looked up. */
export async function selectDuesSeenOn(db: Queryable): Promise<string | null> {
  const { rows } = await db.query<{ duesSeenOn: string | null }>(seen, [db.institutionId]);
  return rows[0]?.duesSeenOn ?? null;
}

const mark = sql(
  'alerts_mark_dues_seen',
  `update alert_positions set dues_seen_on = $3
   where institution_id = $1 and leased_by = $2 and (dues_seen_on is null or dues_seen_on < $3)`,
);

/** Nothing happens if another process has the lease by now: it looks the day up again. */
export async function markDuesSeen(
  db: Queryable,
  { leasedBy, on }: { readonly leasedBy: string; readonly on: string },
): Promise<void> {
  await db.query(mark, [db.institutionId, leasedBy, on]);
}
