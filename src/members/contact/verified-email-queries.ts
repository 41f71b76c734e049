import { type Queryable, sql } from '../../storage/index.ts';

const foundByEmail = sql(
  'members_found_by_email',
  `select from users
   where institution_id = $1 and verified_email_lower = lower($2) and user_key <> $3 limit 1`,
);

/** Whether another user has the address, verified. */
export async function isFoundByEmail(db: Queryable, email: string, exceptUserKey: bigint): Promise<boolean> {
  return (await db.query(foundByEmail, [db.institutionId, email, exceptUserKey])).rows.length > 0;
}

const verify = sql(
  'members_verify_email_by_code',
  `update users set verified_email = email, email_verified_by = 'CODE'
   where institution_id = $1 and user_key = $2 and email = $3`,
);

/** False if the user has changed the address meanwhile. */
export async function verifyEmailByCode(db: Queryable, userKey: bigint, email: string): Promise<boolean> {
  return (await db.query(verify, [db.institutionId, userKey, email])).rowCount === 1;
}

const unverified = sql(
  'members_unverified_email',
  `select email from users
   where institution_id = $1 and user_key = $2
     and lower(email collate "C") is distinct from lower(verified_email collate "C")`,
);

/** The user's address; undefined if it is verified. */
export async function selectUnverifiedEmail(db: Queryable, userKey: bigint): Promise<string | undefined> {
  return (await db.query<{ email: string }>(unverified, [db.institutionId, userKey])).rows[0]?.email;
}
