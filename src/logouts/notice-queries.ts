import { type Directory, type InstitutionId, type Queryable, sql } from '../storage/index.ts';
import { retryDelaysSeconds } from './schedule.ts';

const work = sql('logouts_work', 'select institution from logouts_due($1)');

/** Institutions that have something to send. */
export async function selectInstitutionsToNotify(db: Directory, now: Date): Promise<InstitutionId[]> {
  const { rows } = await db.query<{ institution: InstitutionId }>(work, [now]);
  return rows.map(({ institution }) => institution);
}

/** The end of a session that an app has yet to hear of. */
export interface Notice {
  readonly sessionId: string;
  readonly clientId: string;
  readonly userId: string;
  /** With the one that begins now. */
  readonly attempts: number;
  /** The institution's host name at which the session began; null: PUBLIC_URL. */
  readonly host: string | null;
  /** Null: the app is switched off, or has lost its address. */
  readonly uri: string | null;
}

const begin = sql(
  'logouts_begin_attempts',
  `with due as (
     select n.session_id, c.client_id
     from clients c
     left join unnest($3::text[], $4::int[]) as line (client_id, room) on line.client_id = c.client_id
     cross join lateral (
       select session_id, due_at from logout_notices
       where institution_id = $1 and client_id = c.client_id and due_at <= $2
       order by due_at limit coalesce(line.room, $5) for update skip locked) n
     where c.institution_id = $1
     order by n.due_at limit $6)
   update logout_notices n
   set attempts = n.attempts + 1,
       due_at = $2 + make_interval(secs => ($7::float8[])[least(n.attempts + 1, cardinality($7::float8[]))] * (0.9 + random() / 5))
   from due, users u, clients c
   where n.institution_id = $1 and n.session_id = due.session_id and n.client_id = due.client_id
     and u.institution_id = $1 and u.user_key = n.user_key
     and c.institution_id = $1 and c.client_id = n.client_id
   returning n.session_id, n.client_id, u.user_id, n.attempts, n.host,
             case when c.active then c.backchannel_logout_uri end as uri`,
);

interface Beginning {
  readonly now: Date;
  /** How many more may begin to each app, if fewer than `mostToClient`. */
  readonly rooms: ReadonlyMap<string, number>;
  readonly mostToClient: number;
  /** To all apps together. */
  readonly most: number;
}

/** Begins an attempt of each notice returned. None of them is due again, in any process, before the delay of its attempt. */
export async function beginAttempts(
  db: Queryable,
  { now, rooms, mostToClient, most }: Beginning,
): Promise<Notice[]> {
  const values = [
    ...[db.institutionId, now, [...rooms.keys()], [...rooms.values()], mostToClient, most],
    retryDelaysSeconds,
  ];
  return (await db.query<Notice>(begin, values)).rows;
}

const remove = sql(
  'logouts_delete_notice',
  'delete from logout_notices where institution_id = $1 and session_id = $2 and client_id = $3',
);

/** False if another attempt had ended it. */
export async function deleteNotice(
  db: Queryable,
  { sessionId, clientId }: Pick<Notice, 'sessionId' | 'clientId'>,
): Promise<boolean> {
  return (await db.query(remove, [db.institutionId, sessionId, clientId])).rowCount === 1;
}
