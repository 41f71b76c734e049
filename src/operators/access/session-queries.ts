import { type Queryable, sql } from '../../storage/index.ts';
import type { OperatorRole } from './rights.ts';

export type SessionKind = 'BROWSER' | 'COMMAND_LINE';
export type SignInMethod = 'provider' | 'passkey' | 'demo';

export interface SessionRow {
  readonly sessionId: string;
  readonly operatorId: string;
  readonly name: string;
  readonly roles: readonly OperatorRole[];
  readonly kind: SessionKind;
  readonly method: SignInMethod;
  readonly authenticatedAt: Date;
  readonly lastUsedAt: Date;
  readonly expiresAt: Date;
}

export interface NewSession
  extends Pick<SessionRow, 'sessionId' | 'operatorId' | 'kind' | 'method' | 'authenticatedAt' | 'expiresAt'> {
  readonly secretHash: Buffer;
  readonly createdAt: Date;
  readonly address: string | null;
  readonly userAgent: string | null;
}

const insert = sql(
  'access_insert_session',
  `insert into operator_sessions (institution_id, session_id, secret_hash, operator_id, kind, method, authenticated_at,
                                  created_at, last_used_at, expires_at, address, user_agent)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $8, $9, $10, $11)`,
);

export async function insertSession(tx: Queryable, row: NewSession): Promise<void> {
  const { sessionId, secretHash, operatorId, kind, method, authenticatedAt, createdAt, expiresAt } = row;
  await tx.query(insert, [
    ...[tx.institutionId, sessionId, secretHash, operatorId, kind, method, authenticatedAt],
    ...[createdAt, expiresAt, row.address, row.userAgent],
  ]);
}

const active = sql(
  'access_session',
  `select s.session_id, s.operator_id, o.name, o.roles, s.kind, s.method, s.authenticated_at, s.last_used_at, s.expires_at
   from operator_sessions s
   join operators o on o.institution_id = s.institution_id and o.operator_id = s.operator_id
   where s.institution_id = $1 and s.secret_hash = $2 and s.ended_at is null and s.expires_at > $3
     and s.last_used_at > $4 and o.status = 'ACTIVE'`,
);

/** The session with the roles that its operator has now; undefined once either has ended. */
export async function selectSession(
  db: Queryable,
  secretHash: Buffer,
  { now, idleSince }: { readonly now: Date; readonly idleSince: Date },
): Promise<SessionRow | undefined> {
  return (await db.query<SessionRow>(active, [db.institutionId, secretHash, now, idleSince])).rows[0];
}

const several = sql(
  'access_sessions',
  `select s.session_id, s.kind, s.last_used_at, o.roles
   from operator_sessions s
   join operators o on o.institution_id = s.institution_id and o.operator_id = s.operator_id
   where s.institution_id = $1 and s.session_id = any($2::text[]) and s.ended_at is null and s.expires_at > $3
     and o.status = 'ACTIVE'`,
);

/** A session that stands, with the roles that its operator has now. */
type StandingSession = Pick<SessionRow, 'sessionId' | 'kind' | 'lastUsedAt' | 'roles'>;

/** Those of the sessions that have not ended. */
export async function selectSessions(
  db: Queryable,
  sessionIds: readonly string[],
  now: Date,
): Promise<StandingSession[]> {
  return (await db.query<StandingSession>(several, [db.institutionId, sessionIds, now])).rows;
}

const used = sql(
  'access_use_session',
  'update operator_sessions set last_used_at = greatest(last_used_at, $3) where institution_id = $1 and session_id = $2',
);

export async function noteUse(db: Queryable, sessionId: string, now: Date): Promise<void> {
  await db.query(used, [db.institutionId, sessionId, now]);
}

const end = sql(
  'access_end_session',
  'update operator_sessions set ended_at = $3 where institution_id = $1 and session_id = $2 and ended_at is null',
);

/** False if it had ended before. */
export async function endSession(tx: Queryable, sessionId: string, at: Date): Promise<boolean> {
  return (await tx.query(end, [tx.institutionId, sessionId, at])).rowCount === 1;
}

const endAll = sql(
  'access_end_sessions',
  'update operator_sessions set ended_at = $3 where institution_id = $1 and operator_id = $2 and ended_at is null',
);

export async function endSessionsOf(tx: Queryable, operatorId: string, at: Date): Promise<void> {
  await tx.query(endAll, [tx.institutionId, operatorId, at]);
}

const endOthers = sql(
  'access_end_other_sessions',
  `update operator_sessions set ended_at = $4
   where institution_id = $1 and operator_id = $2 and session_id <> $3 and ended_at is null`,
);

export async function endOtherSessionsOf(
  tx: Queryable,
  { operatorId, sessionId }: Pick<SessionRow, 'operatorId' | 'sessionId'>,
  at: Date,
): Promise<void> {
  await tx.query(endOthers, [tx.institutionId, operatorId, sessionId, at]);
}

const expire = sql(
  'access_delete_expired_sessions',
  'delete from operator_sessions where institution_id = $1 and expires_at <= $2',
);

export async function deleteExpiredSessions(db: Queryable, now: Date): Promise<void> {
  await db.query(expire, [db.institutionId, now]);
}
