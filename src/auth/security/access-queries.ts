import { type Queryable, sql } from '../../storage/index.ts';

/** A browser in which the member is signed in on our pages. */
export interface BrowserAccess {
  readonly sessionId: string;
  readonly startedAt: Date;
  readonly usedAt: Date;
  readonly address: string | null;
  readonly userAgent: string | null;
}

const browsers = sql(
  'auth_browsers_of_user',
  `select s.session_id, s.authenticated_at as started_at, s.last_used_at as used_at, host(s.address) as address, s.user_agent
   from member_sessions s
   join users u on u.institution_id = $1 and u.user_key = s.user_key and u.token_epoch = s.user_epoch
   where s.institution_id = $1 and s.user_key = $2 and s.ended_at is null and s.expires_at > $3 and s.last_used_at > $4
   order by s.last_used_at desc, s.session_id limit 100`,
);

/** Those whose sessions go on: used after `idleSince`. The last used first. */
export async function selectBrowsers(
  db: Queryable,
  userKey: bigint,
  { now, idleSince }: { readonly now: Date; readonly idleSince: Date },
): Promise<BrowserAccess[]> {
  return (await db.query<BrowserAccess>(browsers, [db.institutionId, userKey, now, idleSince])).rows;
}

/** An app that renews its tokens for the member. */
export interface AppAccess {
  readonly familyId: string;
  readonly clientName: string;
  readonly startedAt: Date;
  readonly usedAt: Date;
}

const apps = sql(
  'auth_apps_of_user',
  `select f.family_id, c.name as client_name, coalesce(f.authenticated_at, f.created_at) as started_at,
          coalesce(f.used_at, f.rotated_at) as used_at
   from refresh_families f
   join users u on u.institution_id = $1 and u.user_key = f.user_key and u.token_epoch = f.user_epoch
   join clients c on c.institution_id = $1 and c.client_id = f.client_id and c.token_epoch = f.client_epoch and c.active
   where f.institution_id = $1 and f.user_key = $2 and f.revoked_at is null and f.idle_until > $3
   order by coalesce(f.used_at, f.rotated_at) desc, f.family_id limit 100`,
);

/** Those whose refresh token is still good, the last used first. */
export async function selectApps(db: Queryable, userKey: bigint, now: Date): Promise<AppAccess[]> {
  return (await db.query<AppAccess>(apps, [db.institutionId, userKey, now])).rows;
}

const endBrowser = sql(
  'auth_end_browser',
  `update member_sessions set ended_at = $4
   where institution_id = $1 and user_key = $2 and session_id = $3 and ended_at is null`,
);

/** False if the member has no such session, or it had ended. */
export async function endSessionOf(
  db: Queryable,
  { userKey, sessionId }: { readonly userKey: bigint; readonly sessionId: string },
  at: Date,
): Promise<boolean> {
  return (await db.query(endBrowser, [db.institutionId, userKey, sessionId, at])).rowCount === 1;
}

const names = sql(
  'auth_names_of_clients',
  'select client_id, name from clients where institution_id = $1 and client_id = any ($2::text[])',
);

export async function selectClientNames(
  db: Queryable,
  clientIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const { rows } = await db.query<{ clientId: string; name: string }>(names, [db.institutionId, clientIds]);
  return new Map(rows.map(({ clientId, name }) => [clientId, name]));
}
