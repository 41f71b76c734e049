import { type Queryable, sql } from '../storage/index.ts';
import { maxFailedLogins } from './login-queries.ts';

const passwordRules = sql(
  'members_password_rules',
  `select i.password_min_length as min_length,
          array_remove(array[i.name, i.code, p.first_name, p.last_name, p.email, u.email], null)
            || array(select c.member_number from customer_persons cp
                     join customers c on c.institution_id = cp.institution_id and c.customer_key = cp.customer_key
                     where cp.institution_id = u.institution_id and cp.person_key = u.person_key) as own_words
   from users u
   join institutions i on i.institution_id = u.institution_id
   join persons p on p.institution_id = u.institution_id and p.person_key = u.person_key
   where u.institution_id = $1 and u.user_key = $2`,
);

/** The institution's minimum length for this user's password, and the words of the institution and the member. */
export async function selectPasswordRules(
  db: Queryable,
  userKey: bigint,
): Promise<{ readonly minLength: number; readonly ownWords: readonly string[] }> {
  const { rows } = await db.query<{ minLength: number; ownWords: string[] }>(passwordRules, [
    db.institutionId,
    userKey,
  ]);
  if (rows[0] === undefined) throw new Error('auth: a user that was just read is gone');
  return rows[0];
}

const setCredentials = sql(
  'members_set_credentials',
  `update users
   set username = coalesce($3, username), password_hash = $4, failed_logins = 0, locked_until = null,
       token_epoch = token_epoch + 1
   where institution_id = $1 and user_key = $2 and not exists (
     select from users o
     where o.institution_id = $1 and o.user_id = any (array[$3, lower($3 collate "C")]) and o.user_key <> $2)`,
);

/**
 * Also ends the user's tokens. `username` null keeps the username. False if the username is another user's id, since operators
 * name users by either; a unique violation of users_by_username if it is another user's username.
 */
export async function updateCredentials(
  db: Queryable,
  userKey: bigint,
  { username, passwordHash }: { readonly username: string | null; readonly passwordHash: string },
): Promise<boolean> {
  const values = [db.institutionId, userKey, username, passwordHash];
  return (await db.query(setCredentials, values)).rowCount === 1;
}

const setStanding = sql(
  'members_set_standing',
  `update users
   set active = coalesce($3, active), locked_by_operator = coalesce($4, locked_by_operator),
       failed_logins = case when $4 is false and failed_logins < ${maxFailedLogins} then 0 else failed_logins end,
       locked_until = case when $4 is false then null else locked_until end,
       tokens_ended_at = case when coalesce($3, active) <> active or coalesce($4, locked_by_operator) <> locked_by_operator
                              then $5 else tokens_ended_at end
   where institution_id = $1 and user_key = $2`,
);

export interface StandingChange {
  readonly active?: boolean;
  readonly lockedByOperator?: boolean;
}

/** Unlocking also ends a lock by wrong passwords; a disabled password stays disabled. */
export async function updateStanding(
  db: Queryable,
  userKey: bigint,
  { active, lockedByOperator, at }: StandingChange & { readonly at: Date },
): Promise<void> {
  await db.query(setStanding, [db.institutionId, userKey, active, lockedByOperator, at]);
}

export interface Standing {
  readonly active: boolean;
  readonly lockedByOperator: boolean;
  readonly lockedUntil: Date | null;
  readonly failedLogins: number;
}

const standing = sql(
  'members_lock_standing',
  `select active, locked_by_operator, locked_until, failed_logins from users
   where institution_id = $1 and user_key = $2 for no key update`,
);

/** The standing of a user that exists, unchanged until the transaction ends. */
export async function lockStanding(tx: Queryable, userKey: bigint): Promise<Standing> {
  return (await tx.query<Standing>(standing, [tx.institutionId, userKey])).rows[0] as Standing;
}

const endAll = sql(
  'members_end_tokens',
  'update users set token_epoch = token_epoch + 1, tokens_ended_at = $3 where institution_id = $1 and user_key = $2',
);

/** Ends every token of the user that was issued until now. */
export async function endTokens(tx: Queryable, userKey: bigint, at: Date): Promise<void> {
  await tx.query(endAll, [tx.institutionId, userKey, at]);
}

const newLogin = sql(
  'members_insert_login',
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
  'members_copy_phone',
  `insert into user_phones (institution_id, user_key, phone_type, phone_number)
   select p.institution_id, $2, p.phone_type, p.phone_number from persons p
   where p.institution_id = $1 and p.person_id = $3 and p.phone_number is not null`,
);

/** Inserts a user with credentials for a person of the core, unless the person has a user. */
export async function insertLogin(
  db: Queryable,
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
  const { userId, personId, email, username, passwordHash, active, lockedByOperator, createdAt } = row;
  const { institutionId } = db;
  const { rows } = await db.query<{ userKey: bigint }>(newLogin, [
    ...[institutionId, userId, personId, email],
    ...[username, passwordHash, active, lockedByOperator, createdAt],
  ]);
  const userKey = rows[0]?.userKey;
  if (userKey !== undefined) await db.query(copyPhone, [institutionId, userKey, personId]);
}

const userByName = sql(
  'members_user_by_name',
  `select user_key, user_id, username from users
   where institution_id = $1
     and (username_lower = lower($2) and lower(username collate "C") = lower($2 collate "C") or user_id = $2)`,
);

/**
 * Finds a user by username or user id. Undefined also if the name is one user's username and another's id: a member could
 * choose another user's id as username.
 */
export async function selectUserByName(
  db: Queryable,
  name: string,
): Promise<{ userKey: bigint; userId: string; username: string | null } | undefined> {
  const { rows } = await db.query<{ userKey: bigint; userId: string; username: string | null }>(userByName, [
    db.institutionId,
    name,
  ]);
  return rows.length === 1 ? rows[0] : undefined;
}
