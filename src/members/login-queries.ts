import { type Queryable, sql } from '../storage/index.ts';

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

/** A password is disabled after this many wrong ones in a row (NIST SP 800-63B-4, section 3.2.2). A trigger has the same number. */
export const maxFailedLogins = 100;

const logins = `
   select u.user_key, u.user_id, u.username, u.password_hash, u.active, u.locked_by_operator, u.locked_until,
          u.failed_logins, u.token_epoch,
          array(select c.customer_id from customer_persons cp
                join customers c on c.institution_id = cp.institution_id and c.customer_key = cp.customer_key
                where cp.institution_id = u.institution_id and cp.person_key = u.person_key
                order by c.member_number) as customer_ids
   from users u`;

// The index folds by the database's locale, which may equate more letters; the second comparison folds ASCII only.
const login = sql(
  'members_login',
  `${logins} where u.institution_id = $1 and u.username_lower = lower($2)
     and lower(u.username collate "C") = lower($2 collate "C")`,
);
const loginOf = sql('members_login_of', `${logins} where u.institution_id = $1 and u.user_key = $2`);

export async function selectLogin(db: Queryable, username: string): Promise<LoginRow | undefined> {
  return (await db.query<LoginRow>(login, [db.institutionId, username])).rows[0];
}

export async function selectLoginOf(db: Queryable, userKey: bigint): Promise<LoginRow | undefined> {
  return (await db.query<LoginRow>(loginOf, [db.institutionId, userKey])).rows[0];
}

// One statement, so that each of several simultaneous tries is counted once. During a lock nothing is counted. If no user
// is counted, a message in the database's log makes the commit as durable, and so as slow, as a counted one.
const countFailure = sql(
  'members_count_failed_login',
  `with counted as (
     update users
     set failed_logins = failed_logins + 1,
         locked_until = case when (failed_logins + 1) % $4 = 0
           then $3::timestamptz + least($6, $5 * 2 ^ ((failed_logins + 1) / $4 - 1)) * interval '1 millisecond' end
     where institution_id = $1 and user_key = $2 and (locked_until is null or locked_until <= $3)
       and failed_logins < ${maxFailedLogins}
     returning failed_logins, locked_until)
   select (select failed_logins from counted) as failed_logins,
          coalesce((select locked_until is not null from counted), false) as is_locked,
          case when not exists (select from counted)
               then pg_logical_emit_message(true, 'sharedraft.login', 'refused') end as message`,
);

export interface LockRule {
  readonly now: Date;
  readonly triesInARow: number;
  readonly firstLockMillis: number;
  readonly longestLockMillis: number;
}

/** The user's count after this try; null if no user was counted, which takes as long. `userKey` null counts no one. */
export async function countFailedLogin(
  db: Queryable,
  userKey: bigint | null,
  { now, triesInARow, firstLockMillis, longestLockMillis }: LockRule,
): Promise<{ readonly failedLogins: number | null; readonly isLocked: boolean }> {
  const values = [db.institutionId, userKey, now, triesInARow, firstLockMillis, longestLockMillis];
  const { rows } = await db.query<{ failedLogins: number | null; isLocked: boolean }>(countFailure, values);
  return rows[0] ?? { failedLogins: null, isLocked: false };
}

/** The user was read before a slow hash: a lock, a deactivation or a new password since then excludes them. */
const maySignIn = `
   where institution_id = $1 and user_key = $2 and password_hash = $4 and failed_logins < ${maxFailedLogins}
     and active and not locked_by_operator and (locked_until is null or locked_until <= $3)`;

const admit = sql(
  'members_admit_login',
  `update users
   set failed_logins = case when $6 then failed_logins else 0 end, locked_until = null, password_hash = $5
   ${maySignIn}`,
);

/**
 * False if the user was locked, deactivated or given another password since `user` was read. `isHalf`: a second step follows, so the count of
 * failures stays; otherwise a stranger with the password could reset it before each guess at a code.
 */
export async function admitLogin(
  db: Queryable,
  user: LoginRow,
  {
    now,
    passwordHash,
    isHalf = false,
  }: { readonly now: Date; readonly passwordHash: string | null; readonly isHalf?: boolean },
): Promise<boolean> {
  const values = [db.institutionId, user.userKey, now, user.passwordHash, passwordHash, isHalf];
  return (await db.query(admit, values)).rowCount === 1;
}

const replace = sql(
  'members_replace_password',
  `update users
   set failed_logins = 0, locked_until = null, password_hash = $5, token_epoch = token_epoch + 1
   ${maySignIn}`,
);

/** Replaces the password under the same conditions as `admitLogin`, and ends the user's tokens. */
export async function replacePassword(
  db: Queryable,
  user: LoginRow,
  { now, passwordHash }: { readonly now: Date; readonly passwordHash: string },
): Promise<boolean> {
  const values = [db.institutionId, user.userKey, now, user.passwordHash, passwordHash];
  return (await db.query(replace, values)).rowCount === 1;
}
