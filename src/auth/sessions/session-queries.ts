import { type Queryable, sql } from '../../storage/index.ts';

/** A member who signed in at our pages in one browser. */
export interface SessionRow {
  readonly sessionId: string;
  readonly userKey: bigint;
  readonly userId: string;
  readonly username: string | null;
  readonly userEpoch: number;
  readonly methods: readonly string[];
  readonly authenticatedAt: Date;
}

const newSession = sql(
  'auth_insert_session',
  `insert into member_sessions (institution_id, session_id, secret_hash, user_key, user_epoch, methods, authenticated_at,
                                created_at, last_used_at, expires_at, address, user_agent, host)
   values ($1, $2, $3, $4, $5, $6, $7, $7, $7, $8, $9, $10, $11)`,
);

export interface NewSession extends Pick<SessionRow, 'sessionId' | 'userKey' | 'userEpoch' | 'methods'> {
  readonly secretHash: Buffer;
  /** The institution's host name at which it began; null: PUBLIC_URL. */
  readonly host: string | null;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  readonly address: string | null;
  readonly userAgent: string | null;
}

export async function insertSession(db: Queryable, row: NewSession): Promise<void> {
  const { sessionId, secretHash, userKey, userEpoch, methods, createdAt, expiresAt } = row;
  await db.query(newSession, [
    ...[db.institutionId, sessionId, secretHash, userKey, userEpoch, methods],
    ...[createdAt, expiresAt, row.address, row.userAgent, row.host],
  ]);
}

const session = sql(
  'auth_use_session',
  `update member_sessions s set last_used_at = greatest(s.last_used_at, $3)
   from users u
   where s.institution_id = $1 and s.secret_hash = $2 and s.ended_at is null and s.expires_at > $3
     and s.last_used_at > $4 and s.host is not distinct from $5
     and u.institution_id = s.institution_id and u.user_key = s.user_key and u.token_epoch = s.user_epoch
     and u.active and not u.locked_by_operator
   returning s.session_id, s.user_key, u.user_id, u.username, s.user_epoch, s.methods, s.authenticated_at`,
);

/**
 * The session of the cookie, if it goes on: used after `idleSince`, and its user may still sign in. Notes the use. `host`: the session began
 * there; a cookie that was carried to another host names none.
 */
export async function useSession(
  db: Queryable,
  secretHash: Buffer,
  { host, now, idleSince }: { readonly host: string | null; readonly now: Date; readonly idleSince: Date },
): Promise<SessionRow | undefined> {
  const values = [db.institutionId, secretHash, now, idleSince, host];
  return (await db.query<SessionRow>(session, values)).rows[0];
}

const toLeave = sql(
  'auth_session_to_leave',
  `select s.session_id, u.user_id
   from member_sessions s
   join users u on u.institution_id = $1 and u.user_key = s.user_key and u.token_epoch = s.user_epoch
   where s.institution_id = $1 and s.secret_hash = $2 and s.ended_at is null and s.host is not distinct from $3`,
);

/** The session of the cookie, also if it ran out: the apps that were signed in to by it are to hear that the member leaves. */
export async function selectSessionToLeave(
  db: Queryable,
  secretHash: Buffer,
  host: string | null,
): Promise<Pick<SessionRow, 'sessionId' | 'userId'> | undefined> {
  const values = [db.institutionId, secretHash, host];
  return (await db.query<Pick<SessionRow, 'sessionId' | 'userId'>>(toLeave, values)).rows[0];
}

const lock = sql(
  'auth_lock_session',
  `select session_id from member_sessions
   where institution_id = $1 and session_id = $2 and ended_at is null for share`,
);

/** Holds up the end of the session until the transaction ends. False if it had ended. */
export async function lockOpenSession(db: Queryable, sessionId: string): Promise<boolean> {
  return (await db.query(lock, [db.institutionId, sessionId])).rows.length === 1;
}

const end = sql(
  'auth_end_session',
  `update member_sessions set ended_at = $3
   where institution_id = $1 and session_id = $2 and ended_at is null`,
);

/** False if it had ended before. */
export async function endSession(db: Queryable, sessionId: string, at: Date): Promise<boolean> {
  return (await db.query(end, [db.institutionId, sessionId, at])).rowCount === 1;
}

const endOthers = sql(
  'auth_end_other_sessions',
  `update member_sessions set ended_at = $4
   where institution_id = $1 and user_key = $2 and session_id <> $3 and ended_at is null
   returning session_id`,
);

/** Ends the user's sessions in all browsers except one. Returns their ids. */
export async function endOtherSessions(
  db: Queryable,
  { userKey, sessionId }: Pick<SessionRow, 'userKey' | 'sessionId'>,
  at: Date,
): Promise<string[]> {
  const values = [db.institutionId, userKey, sessionId, at];
  const { rows } = await db.query<{ sessionId: string }>(endOthers, values);
  return rows.map((row) => row.sessionId);
}

const deleteExpired = sql(
  'auth_delete_expired_sessions',
  'delete from member_sessions where institution_id = $1 and expires_at <= $2',
);

export async function deleteExpiredSessions(db: Queryable, now: Date): Promise<void> {
  await db.query(deleteExpired, [db.institutionId, now]);
}
