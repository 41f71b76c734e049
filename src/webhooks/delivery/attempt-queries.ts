import { columnsOf, type Queryable, sql } from '../../storage/index.ts';

/** One try to deliver an event. */
export interface Attempt {
  /** Number of the event in the feed; null for a ping. */
  readonly number: bigint | null;
  readonly eventId: string;
  readonly eventType: string;
  readonly attemptedAt: Date;
  readonly durationMs: number;
  readonly delivered: boolean;
  readonly status: number | null;
  /** A word: timeout, connection, tls, name_not_found, address_not_allowed, status_503. */
  readonly error: string | null;
  readonly response: string | null;
}

export interface LoggedAttempt extends Attempt {
  readonly attemptKey: bigint;
}

/** The log shows so many of the last successes of an endpoint. */
export const keptSuccesses = 100;
const keptDays = 30;

export interface AttemptOfEndpoint extends Attempt {
  readonly endpointId: string;
}

// Without those to an endpoint that was deleted meanwhile.
const insert = sql(
  'webhooks_insert_attempts',
  `insert into webhook_attempts (institution_id, endpoint_id, number, event_id, event_type, attempted_at, duration_ms,
                                 delivered, status, error, response)
   select $1, e.endpoint_id, a.number, a.event_id, a.event_type, a.attempted_at, a.duration_ms, a.delivered, a.status, a.error,
          a.response
   from unnest($2::uuid[], $3::bigint[], $4::text[], $5::text[], $6::timestamptz[], $7::integer[], $8::boolean[],
               $9::smallint[], $10::text[], $11::text[])
        with ordinality as a (endpoint_id, number, event_id, event_type, attempted_at, duration_ms, delivered, status, error,
                              response, place)
   join webhook_endpoints e on e.institution_id = $1 and e.endpoint_id = a.endpoint_id
   order by a.place`,
);
const trim = sql(
  'webhooks_trim_successes',
  `delete from webhook_attempts a
   using unnest($2::uuid[]) as e (endpoint_id)
   cross join lateral (
     select s.attempt_key from webhook_attempts s
     where s.institution_id = $1 and s.endpoint_id = e.endpoint_id and s.delivered
     order by s.attempt_key desc offset $3 limit 1) as last
   where a.institution_id = $1 and a.endpoint_id = e.endpoint_id and a.delivered and a.attempt_key <= last.attempt_key`,
);

/** Appends the attempts, and keeps the last hundred successes of each endpoint. */
export async function insertAttempts(db: Queryable, attempts: readonly AttemptOfEndpoint[]): Promise<void> {
  if (attempts.length === 0) return;
  const columns = columnsOf(
    attempts,
    'endpointId',
    'number',
    'eventId',
    'eventType',
    'attemptedAt',
    'durationMs',
    'delivered',
    'status',
    'error',
    'response',
  );
  await db.query(insert, [db.institutionId, ...columns]);
  const endpointIds = [...new Set(attempts.map(({ endpointId }) => endpointId))];
  await db.query(trim, [db.institutionId, endpointIds, keptSuccesses]);
}

const expire = sql(
  'webhooks_expire_attempts',
  'delete from webhook_attempts where institution_id = $1 and attempted_at < $2',
);

/** Deletes attempts that are older than thirty days. */
export async function expireAttempts(db: Queryable, now: Date): Promise<void> {
  await db.query(expire, [db.institutionId, new Date(now.getTime() - keptDays * 86_400_000)]);
}

const page = sql(
  'webhooks_attempts_page',
  `select attempt_key, number, event_id, event_type, attempted_at, duration_ms, delivered, status, error, response
   from webhook_attempts
   where institution_id = $1 and endpoint_id = $2 and attempt_key < $3 order by attempt_key desc limit $4`,
);

/** The newest first. */
export async function selectAttempts(
  db: Queryable,
  { endpointId, below, most }: { readonly endpointId: string; readonly below: bigint; readonly most: number },
): Promise<LoggedAttempt[]> {
  return (await db.query<LoggedAttempt>(page, [db.institutionId, endpointId, below, most])).rows;
}
