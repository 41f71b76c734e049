import { type Queryable, sql } from '../../storage/index.ts';

export interface AlertFacts {
  /** Number of the last event that was evaluated. */
  readonly position: bigint;
  /** Age of the first event that was not; null if all are. */
  readonly lagSeconds: number | null;
  /** Alerts whose time has come and that are not out. */
  readonly due: bigint;
  /** Alerts that wait for the end of quiet hours. */
  readonly held: bigint;
  readonly members: bigint;
  readonly rules: bigint;
}

const facts = sql(
  'operators_alert_facts',
  `select coalesce(p.number, 0) as position, extract(epoch from $2::timestamptz - ahead.recorded_at)::float8 as lag_seconds,
          (select count(*) from alerts a where a.institution_id = $1 and a.released_at is null and a.due_at <= $2) as due,
          (select count(*) from alerts a where a.institution_id = $1 and a.released_at is null and a.due_at > $2) as held,
          (select count(distinct r.user_key) from alert_rules r where r.institution_id = $1) as members,
          (select count(*) from alert_rules r where r.institution_id = $1) as rules
   from (select) one
   left join alert_positions p on p.institution_id = $1
   left join lateral (
     select o.recorded_at from outbox o
     where o.institution_id = $1
       and (o.epoch, o.xid, o.event_key) > (coalesce(p.epoch, 0), coalesce(p.xid, '0'), coalesce(p.event_key, 0))
     order by o.epoch, o.xid, o.event_key limit 1
   ) ahead on true`,
);

export async function selectAlertFacts(db: Queryable, now: Date): Promise<AlertFacts> {
  const { rows } = await db.query<AlertFacts>(facts, [db.institutionId, now]);
  return rows[0] as AlertFacts;
}

export interface RuleCount {
  readonly alertType: string;
  readonly rules: bigint;
  readonly members: bigint;
  readonly email: bigint;
  readonly sms: bigint;
  readonly push: bigint;
  readonly inbox: bigint;
}

const rules = sql(
  'operators_alert_rules',
  `select r.alert_type, count(*) as rules, count(distinct r.user_key) as members,
          count(*) filter (where r.channels @> array['EMAIL']) as email, count(*) filter (where r.channels @> array['SMS']) as sms,
          count(*) filter (where r.channels @> array['PUSH']) as push, count(*) filter (where r.channels @> array['INBOX']) as inbox
   from alert_rules r where r.institution_id = $1 group by r.alert_type order by r.alert_type`,
);

export async function selectRuleCounts(db: Queryable): Promise<RuleCount[]> {
  return (await db.query<RuleCount>(rules, [db.institutionId])).rows;
}

export interface MailFacts {
  readonly status: string;
  readonly failures: number;
  readonly waiting: bigint;
  readonly parked: bigint;
  readonly suppressed: bigint;
}

const mail = sql(
  'operators_mail_facts',
  `select e.status, e.failures,
          (select count(*) from webhook_deliveries d
           where d.institution_id = $1 and d.endpoint_id = e.endpoint_id and d.state = 'WAITING') as waiting,
          (select count(*) from webhook_deliveries d
           where d.institution_id = $1 and d.endpoint_id = e.endpoint_id and d.state = 'PARKED') as parked,
          (select count(*) from mail_suppressions s where s.institution_id = $1) as suppressed
   from webhook_endpoints e where e.institution_id = $1 and e.transport = 'SMTP'`,
);

/** Undefined for an institution that sends no mail. */
export async function selectMailFacts(db: Queryable): Promise<MailFacts | undefined> {
  return (await db.query<MailFacts>(mail, [db.institutionId])).rows[0];
}
