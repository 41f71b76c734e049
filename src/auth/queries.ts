import {
  byPlace,
  type Directory,
  type InstitutionId,
  type JoinedRead,
  type Placed,
  type Queryable,
  sql,
} from '../storage/index.ts';
import type { ClientKey } from './clients/client-keys.ts';

// ----- the global directory -----

const institutionOfClient = sql(
  'auth_institution_of_client',
  'select institution_id from client_directory where client_id = $1',
);

export async function selectInstitutionOfClient(
  db: Directory,
  clientId: string,
): Promise<InstitutionId | undefined> {
  const { rows } = await db.query<{ institution_id: InstitutionId }>(institutionOfClient, [clientId]);
  return rows[0]?.institution_id;
}

// ----- clients -----

export interface ClientRow {
  readonly clientId: string;
  readonly scopes: readonly string[];
  readonly grants: readonly string[];
  readonly tokenLifetimeSeconds: number | null;
  readonly active: boolean;
  /** It may introspect the tokens of every client of its institution. */
  readonly introspectsAll: boolean;
  readonly tokenEpoch: number;
  /** It calls from where it may. */
  readonly fromItsNetworks: boolean;
  readonly secretHashes: readonly Buffer[];
  readonly keys: readonly ClientKey[];
  /** Its assertions may name the token endpoint as their audience. */
  readonly allowsTokenEndpointAudience: boolean;
}

const client = sql(
  'auth_client',
  `select asked.place::integer, c.client_id, c.scopes, c.grants, c.token_lifetime_seconds, c.active, c.token_epoch,
          c.introspects_all, c.allows_token_endpoint_audience, coalesce(c.networks is null or asked.address <<= any (c.networks), false) as from_its_networks,
          array(select s.secret_hash from client_secrets s
                where s.institution_id = c.institution_id and s.client_id = c.client_id
                  and (s.expires_at is null or s.expires_at > $4)) as secret_hashes,
          array(select jsonb_build_object('kid', k.kid, 'algorithm', k.algorithm, 'publicJwk', k.public_jwk)
                from client_keys k
                where k.institution_id = c.institution_id and k.client_id = c.client_id) as keys
   from unnest($2::text[], $3::inet[]) with ordinality as asked (client_id, address, place)
   join clients c on c.institution_id = $1 and c.client_id = asked.client_id and c.client_id = any ($2::text[])`,
);

interface ClientTableRow extends Placed {
  readonly client_id: string;
  readonly scopes: string[];
  readonly grants: string[];
  readonly token_lifetime_seconds: number | null;
  readonly active: boolean;
  readonly token_epoch: number;
  readonly introspects_all: boolean;
  readonly allows_token_endpoint_audience: boolean;
  readonly from_its_networks: boolean;
  readonly secret_hashes: Buffer[];
  readonly keys: ClientKey[];
}

interface AskedClient {
  readonly clientId: string;
  /** From where it calls. */
  readonly address: string | null;
  readonly now: Date;
}

/** A client as it stands right now: one statement, and one row, for however many of its requests come at once. */
export const clients: JoinedRead<AskedClient, ClientRow> = {
  nameOf: ({ clientId, address }) => `${clientId} ${address}`,
  run: async (db, institutionId, asked) => {
    const latest = Math.max(...asked.map(({ now }) => now.getTime()));
    const values = [
      institutionId,
      asked.map(({ clientId }) => clientId),
      asked.map(({ address }) => address),
      new Date(latest),
    ];
    return byPlace((await db.query<ClientTableRow>(client, values)).rows, (row) => ({
      clientId: row.client_id,
      scopes: row.scopes,
      grants: row.grants,
      tokenLifetimeSeconds: row.token_lifetime_seconds,
      active: row.active,
      tokenEpoch: row.token_epoch,
      introspectsAll: row.introspects_all,
      fromItsNetworks: row.from_its_networks,
      secretHashes: row.secret_hashes,
      keys: row.keys,
      allowsTokenEndpointAudience: row.allows_token_endpoint_audience,
    }));
  },
};

// ----- who bears a token -----

const standing = sql(
  'auth_standing',
  `select asked.place::integer, c.active as client_active, c.token_epoch as client_epoch, u.user_key, u.person_key,
          coalesce(u.active and not u.locked_by_operator, false) as user_active, u.token_epoch as user_epoch,
          exists (select from revocations r
                  where r.institution_id = $1 and r.revoked_id in (asked.token_id, asked.family_id)) as revoked
   from unnest($2::text[], $3::text[], $4::uuid[], $5::uuid[]) with ordinality
        as asked (client_id, user_id, token_id, family_id, place)
   join clients c on c.institution_id = $1 and c.client_id = asked.client_id and c.client_id = any ($2::text[])
   left join lateral (
     select * from users u where u.institution_id = $1 and u.user_id = asked.user_id
     -- Planned by itself, and so by its key: joined, all users of an institution may look cheaper.
     offset 0) u on true`,
);

export interface Standing {
  readonly clientActive: boolean;
  readonly clientEpoch: number;
  /** The token itself, or the refresh family that it came from. */
  readonly revoked: boolean;
  readonly user:
    | {
        readonly userKey: bigint;
        readonly personKey: bigint;
        readonly active: boolean;
        readonly tokenEpoch: number;
      }
    | undefined;
}

/** Whose token it is, and by which names it may have been revoked. */
export interface AskedToken {
  readonly clientId: string;
  readonly userId: string | null;
  readonly tokenId: string;
  readonly familyId: string | null;
}

interface StandingRow extends Placed {
  readonly client_active: boolean;
  readonly client_epoch: number;
  readonly revoked: boolean;
  readonly user_key: bigint | null;
  readonly person_key: bigint | null;
  readonly user_active: boolean;
  readonly user_epoch: number | null;
}

function toStanding(row: StandingRow): Standing {
  const { user_key: userKey, person_key: personKey, user_epoch: tokenEpoch } = row;
  const user =
    userKey === null || personKey === null || tokenEpoch === null
      ? undefined
      : { userKey, personKey, active: row.user_active, tokenEpoch };
  return { clientActive: row.client_active, clientEpoch: row.client_epoch, revoked: row.revoked, user };
}

/** How the client, the user where there is one, and the token of these ids (`jti`, `sid`) stand right now. */
export const standings: JoinedRead<AskedToken, Standing> = {
  // All else that is asked stands in the token, and there is one of this id.
  nameOf: ({ tokenId }) => tokenId,
  run: async (db, institutionId, asked) => {
    const values = [
      institutionId,
      asked.map(({ clientId }) => clientId),
      asked.map(({ userId }) => userId),
      asked.map(({ tokenId }) => tokenId),
      asked.map(({ familyId }) => familyId),
    ];
    return byPlace((await db.query<StandingRow>(standing, values)).rows, toStanding);
  },
};

// ----- users and their credentials -----

export interface LoginRow {
  readonly userKey: bigint;
  readonly userId: string;
  readonly username: string | null;
  readonly passwordHash: string | null;
  readonly active: boolean;
  readonly lockedByOperator: boolean;
  readonly lockedUntil: Date | null;
  /** Wrong passwords in a row. */
  readonly failedLogins: number;
  readonly tokenEpoch: number;
  readonly customerIds: readonly string[];
}

/** So many wrong passwords in a row end a password. The database keeps it so. */
export const mostFailures = 100;

const logins = `
   select u.user_key, u.user_id, u.username, u.password_hash, u.active, u.locked_by_operator, u.locked_until,
          u.failed_logins, u.token_epoch,
          array(select c.customer_id from customer_persons cp
                join customers c on c.institution_id = cp.institution_id and c.customer_key = cp.customer_key
                where cp.institution_id = u.institution_id and cp.person_key = u.person_key
                order by c.member_number) as customer_ids
   from users u`;

// By the index, and then in ASCII alone: for some of the database's locales more letters are alike.
const login = sql(
  'auth_login',
  `${logins} where u.institution_id = $1 and u.username_lower = lower($2)
     and lower(u.username collate "C") = lower($2 collate "C")`,
);
const loginOf = sql('auth_login_of', `${logins} where u.institution_id = $1 and u.user_key = $2`);

interface LoginTableRow {
  readonly user_key: bigint;
  readonly user_id: string;
  readonly username: string | null;
  readonly password_hash: string | null;
  readonly active: boolean;
  readonly locked_by_operator: boolean;
  readonly locked_until: Date | null;
  readonly failed_logins: number;
  readonly token_epoch: number;
  readonly customer_ids: string[];
}

export async function selectLogin(
  db: Queryable,
  institutionId: InstitutionId,
  username: string,
): Promise<LoginRow | undefined> {
  return (await db.query<LoginTableRow>(login, [institutionId, username])).rows.map(toLogin)[0];
}

export async function selectLoginOf(
  db: Queryable,
  institutionId: InstitutionId,
  userKey: bigint,
): Promise<LoginRow | undefined> {
  return (await db.query<LoginTableRow>(loginOf, [institutionId, userKey])).rows.map(toLogin)[0];
}

function toLogin(row: LoginTableRow): LoginRow {
  return {
    userKey: row.user_key,
    userId: row.user_id,
    username: row.username,
    passwordHash: row.password_hash,
    active: row.active,
    lockedByOperator: row.locked_by_operator,
    lockedUntil: row.locked_until,
    failedLogins: row.failed_logins,
    tokenEpoch: row.token_epoch,
    customerIds: row.customer_ids,
  };
}

const passwordRules = sql(
  'auth_password_rules',
  `select i.password_min_length,
          array[i.name, i.code, p.first_name, p.last_name, p.email, u.email]
            || array(select c.member_number from customer_persons cp
                     join customers c on c.institution_id = cp.institution_id and c.customer_key = cp.customer_key
                     where cp.institution_id = u.institution_id and cp.person_key = u.person_key) as own_words
   from users u
   join institutions i on i.institution_id = u.institution_id
   join persons p on p.institution_id = u.institution_id and p.person_key = u.person_key
   where u.institution_id = $1 and u.user_key = $2`,
);

/** What a new password of this user is checked against: the institution's least length, its words and the member's. */
export async function selectPasswordRules(
  db: Queryable,
  institutionId: InstitutionId,
  userKey: bigint,
): Promise<{ readonly minLength: number; readonly ownWords: readonly string[] }> {
  const { rows } = await db.query<{ password_min_length: number; own_words: (string | null)[] }>(
    passwordRules,
    [institutionId, userKey],
  );
  const [row] = rows;
  if (row === undefined) throw new Error('auth: a user that was just read is gone');
  return { minLength: row.password_min_length, ownWords: row.own_words.filter((word) => word !== null) };
}

// One statement, so that wrong tries at the same time are each counted once. A user who is locked stays as they are:
// further tries neither extend the lock nor count toward the next. Where nobody is counted, a message in the log of the
// database (read by nobody) makes the commit as durable, and so as slow, as where somebody is.
const countFailure = sql(
  'auth_count_failed_login',
  `with counted as (
     update users
     set failed_logins = failed_logins + 1,
         locked_until = case when (failed_logins + 1) % $4 = 0
           then $3::timestamptz + least($6, $5 * 2 ^ ((failed_logins + 1) / $4 - 1)) * interval '1 millisecond' end
     where institution_id = $1 and user_key = $2 and (locked_until is null or locked_until <= $3)
       and failed_logins < ${mostFailures}
     returning failed_logins, locked_until)
   select (select failed_logins from counted) as failed_logins,
          (select locked_until is not null from counted) as locked,
          case when not exists (select from counted)
               then pg_logical_emit_message(true, 'sharedraft.login', 'refused') end as message`,
);

/** The user's count after this try; undefined when nobody was counted, which takes as long. `userKey` null: nobody. */
export async function countFailedLogin(
  db: Queryable,
  institutionId: InstitutionId,
  userKey: bigint | null,
  rule: {
    readonly now: Date;
    readonly triesInARow: number;
    readonly firstLockMillis: number;
    readonly longestLockMillis: number;
  },
): Promise<{ readonly failedLogins: number; readonly isLocked: boolean } | undefined> {
  const { rows } = await db.query<{ failed_logins: number | null; locked: boolean | null }>(countFailure, [
    institutionId,
    userKey,
    rule.now,
    rule.triesInARow,
    rule.firstLockMillis,
    rule.longestLockMillis,
  ]);
  const failedLogins = rows[0]?.failed_logins ?? undefined;
  return failedLogins === undefined ? undefined : { failedLogins, isLocked: rows[0]?.locked === true };
}

/** Of what was read before a hash that took its time: nothing that shuts the user out came meanwhile. */
const maySignIn = `
   where institution_id = $1 and user_key = $2 and password_hash = $4 and failed_logins < ${mostFailures}
     and active and not locked_by_operator and (locked_until is null or locked_until <= $3)`;

const admit = sql(
  'auth_admit_login',
  `update users set failed_logins = 0, locked_until = null, password_hash = $5
   ${maySignIn}`,
);

/** False when the user was locked, deactivated or given another password since `user` was read. */
export async function admitLogin(
  db: Queryable,
  institutionId: InstitutionId,
  user: LoginRow,
  { now, passwordHash }: { readonly now: Date; readonly passwordHash: string | null },
): Promise<boolean> {
  const { rowCount } = await db.query(admit, [
    institutionId,
    user.userKey,
    now,
    user.passwordHash,
    passwordHash,
  ]);
  return rowCount === 1;
}

const replace = sql(
  'auth_replace_password',
  `update users
   set failed_logins = 0, locked_until = null, password_hash = $5, token_epoch = token_epoch + 1
   ${maySignIn}`,
);

/** As `admitLogin`, with another password, which ends the user's tokens. */
export async function replacePassword(
  db: Queryable,
  institutionId: InstitutionId,
  user: LoginRow,
  { now, passwordHash }: { readonly now: Date; readonly passwordHash: string },
): Promise<boolean> {
  const values = [institutionId, user.userKey, now, user.passwordHash, passwordHash];
  return (await db.query(replace, values)).rowCount === 1;
}

const setCredentials = sql(
  'auth_set_credentials',
  `update users
   set username = coalesce($3, username), password_hash = $4, failed_logins = 0, locked_until = null,
       token_epoch = token_epoch + 1
   where institution_id = $1 and user_key = $2 and not exists (
     select from users o
     where o.institution_id = $1 and o.user_id = any (array[$3, lower($3 collate "C")]) and o.user_key <> $2)`,
);

/**
 * Ends the user's tokens with the old password. False, or a unique violation of users_by_username: the name is taken,
 * as somebody's user id or as a username; an operator may name a user by either. `username` null leaves it as it is.
 */
export async function updateCredentials(
  db: Queryable,
  institutionId: InstitutionId,
  userKey: bigint,
  username: string | null,
  passwordHash: string,
): Promise<boolean> {
  const values = [institutionId, userKey, username, passwordHash];
  return (await db.query(setCredentials, values)).rowCount === 1;
}

const setStanding = sql(
  'auth_set_standing',
  `update users
   set active = coalesce($3, active), locked_by_operator = coalesce($4, locked_by_operator),
       failed_logins = case when $4 is false and failed_logins < ${mostFailures} then 0 else failed_logins end,
       locked_until = case when $4 is false then null else locked_until end,
       tokens_ended_at = case when coalesce($3, active) <> active or coalesce($4, locked_by_operator) <> locked_by_operator
                              then $5 else tokens_ended_at end
   where institution_id = $1 and user_key = $2`,
);

/** Null leaves as it is; unlocking also ends a lock by wrong passwords, and revives no password that has ended. */
export async function updateStanding(
  db: Queryable,
  institutionId: InstitutionId,
  userKey: bigint,
  change: { readonly active: boolean | null; readonly lockedByOperator: boolean | null; readonly at: Date },
): Promise<void> {
  const { active, lockedByOperator, at } = change;
  await db.query(setStanding, [institutionId, userKey, active, lockedByOperator, at]);
}

const newLogin = sql(
  'auth_insert_login',
  `insert into users (institution_id, user_id, person_key, email, username, password_hash, active,
                      locked_by_operator, created_at, verified_email, email_verified_by)
   select $1, $2, p.person_key, $4, $5, $6, $7, $8, $9,
          case when lower(p.email collate "C") = lower($4 collate "C") then $4 end,
          case when lower(p.email collate "C") = lower($4 collate "C") then 'CORE' end
   from persons p
   where p.institution_id = $1 and p.person_id = $3
   on conflict do nothing
   returning user_key`,
);
const copyPhone = sql(
  'auth_copy_phone',
  `insert into user_phones (institution_id, user_key, phone_type, phone_number)
   select p.institution_id, $2, p.phone_type, p.phone_number from persons p
   where p.institution_id = $1 and p.person_id = $3 and p.phone_number is not null`,
);

/** A user with credentials for a person the core knows; nothing happens when there is one already. */
export async function insertLogin(
  db: Queryable,
  institutionId: InstitutionId,
  row: {
    readonly userId: string;
    readonly personId: string;
    readonly email: string;
    readonly username: string;
    readonly passwordHash: string;
    readonly active: boolean;
    readonly lockedByOperator: boolean;
    readonly createdAt: Date;
  },
): Promise<void> {
  const { rows } = await db.query<{ user_key: bigint }>(newLogin, [
    institutionId,
    row.userId,
    row.personId,
    row.email,
    row.username,
    row.passwordHash,
    row.active,
    row.lockedByOperator,
    row.createdAt,
  ]);
  const userKey = rows[0]?.user_key;
  if (userKey !== undefined) await db.query(copyPhone, [institutionId, userKey, row.personId]);
}

const userByName = sql(
  'auth_user_by_name',
  `select user_key, user_id, username from users
   where institution_id = $1
     and (username_lower = lower($2) and lower(username collate "C") = lower($2 collate "C") or user_id = $2)`,
);

/**
 * By username or user id. Undefined also for what is one user's username and another's id, which whoever chooses a
 * username can bring about: nobody is taken for the other.
 */
export async function selectUserByName(
  db: Queryable,
  institutionId: InstitutionId,
  name: string,
): Promise<{ userKey: bigint; userId: string; username: string | null } | undefined> {
  const { rows } = await db.query<{ user_key: bigint; user_id: string; username: string | null }>(
    userByName,
    [institutionId, name],
  );
  const [row, another] = rows;
  if (row === undefined || another !== undefined) return undefined;
  return { userKey: row.user_key, userId: row.user_id, username: row.username };
}

// ----- activation -----

const saveActivation = sql(
  'auth_save_activation',
  `insert into activations (institution_id, user_key, selector, secret_hash, expires_at)
   values ($1, $2, $3, $4, $5)
   on conflict (institution_id, user_key) do update
   set selector = excluded.selector, secret_hash = excluded.secret_hash, expires_at = excluded.expires_at,
       failed_tries = 0`,
);

/** A user has one code at most: a new one ends the old. */
export async function upsertActivation(
  db: Queryable,
  institutionId: InstitutionId,
  row: {
    readonly userKey: bigint;
    readonly selector: string;
    readonly secretHash: Buffer;
    readonly expiresAt: Date;
  },
): Promise<void> {
  await db.query(saveActivation, [institutionId, row.userKey, row.selector, row.secretHash, row.expiresAt]);
}

export interface ActivationRow {
  readonly userKey: bigint;
  readonly personKey: bigint;
  readonly userId: string;
  readonly secretHash: Buffer;
  readonly failedTries: number;
  readonly expiresAt: Date;
  readonly memberNumbers: readonly string[];
}

const activation = sql(
  'auth_activation',
  `select a.user_key, u.user_id, u.person_key, a.secret_hash, a.failed_tries, a.expires_at,
          array(select c.member_number from customer_persons cp
                join customers c on c.institution_id = cp.institution_id and c.customer_key = cp.customer_key
                where cp.institution_id = a.institution_id and cp.person_key = u.person_key) as member_numbers
   from activations a
   join users u on u.institution_id = a.institution_id and u.user_key = a.user_key
   where a.institution_id = $1 and a.selector = $2`,
);

export async function selectActivation(
  db: Queryable,
  institutionId: InstitutionId,
  selector: string,
): Promise<ActivationRow | undefined> {
  const { rows } = await db.query<{
    user_key: bigint;
    user_id: string;
    person_key: bigint;
    secret_hash: Buffer;
    failed_tries: number;
    expires_at: Date;
    member_numbers: string[];
  }>(activation, [institutionId, selector]);
  return rows.map((row) => ({
    userKey: row.user_key,
    userId: row.user_id,
    personKey: row.person_key,
    secretHash: row.secret_hash,
    failedTries: row.failed_tries,
    expiresAt: row.expires_at,
    memberNumbers: row.member_numbers,
  }))[0];
}

const countTry = sql(
  'auth_count_activation_try',
  `update activations set failed_tries = failed_tries + 1
   where institution_id = $1 and selector = $2 and failed_tries < $3`,
);

export async function countFailedActivation(
  db: Queryable,
  institutionId: InstitutionId,
  selector: string,
  most: number,
): Promise<void> {
  await db.query(countTry, [institutionId, selector, most]);
}

const spend = sql(
  'auth_spend_activation',
  `delete from activations
   where institution_id = $1 and selector = $2 and failed_tries < $3 and expires_at > $4`,
);

/** False when somebody else spent it, or it ran out, meanwhile. */
export async function spendActivation(
  db: Queryable,
  institutionId: InstitutionId,
  selector: string,
  most: number,
  now: Date,
): Promise<boolean> {
  return (await db.query(spend, [institutionId, selector, most, now])).rowCount === 1;
}
