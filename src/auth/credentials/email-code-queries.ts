import { type InstitutionId, type Queryable, sql } from '../../storage/index.ts';

const saveCode = sql(
  'auth_save_email_code',
  `insert into email_codes (institution_id, user_key, selector, secret_hash, email, expires_at)
   values ($1, $2, $3, $4, $5, $6)
   on conflict (institution_id, user_key) do update
   set selector = excluded.selector, secret_hash = excluded.secret_hash, email = excluded.email,
       expires_at = excluded.expires_at, failed_tries = 0`,
);

/** A user has one code at most: a new one ends the old. */
export async function upsertEmailCode(
  db: Queryable,
  institutionId: InstitutionId,
  row: {
    readonly userKey: bigint;
    readonly selector: string;
    readonly secretHash: Buffer;
    readonly emailAddress: string;
    readonly expiresAt: Date;
  },
): Promise<void> {
  const { userKey, selector, secretHash, emailAddress, expiresAt } = row;
  await db.query(saveCode, [institutionId, userKey, selector, secretHash, emailAddress, expiresAt]);
}

export interface EmailCodeRow {
  readonly userKey: bigint;
  readonly userId: string;
  readonly secretHash: Buffer;
  readonly emailAddress: string;
  readonly failedTries: number;
  readonly expiresAt: Date;
}

const code = sql(
  'auth_email_code',
  `select e.user_key as "userKey", u.user_id as "userId", e.secret_hash as "secretHash", e.email as "emailAddress",
          e.failed_tries as "failedTries", e.expires_at as "expiresAt"
   from email_codes e
   join users u on u.institution_id = e.institution_id and u.user_key = e.user_key
   where e.institution_id = $1 and e.selector = $2
     and exists (select from customer_persons cp
                 where cp.institution_id = $1 and cp.person_key = u.person_key)`,
);

/** Undefined also for a user without a membership. */
export async function selectEmailCode(
  db: Queryable,
  institutionId: InstitutionId,
  selector: string,
): Promise<EmailCodeRow | undefined> {
  return (await db.query<EmailCodeRow>(code, [institutionId, selector])).rows[0];
}

const countTry = sql(
  'auth_count_email_code_try',
  `update email_codes set failed_tries = failed_tries + 1
   where institution_id = $1 and selector = $2 and failed_tries < $3`,
);

export async function countFailedEmailCode(
  db: Queryable,
  institutionId: InstitutionId,
  selector: string,
  most: number,
): Promise<void> {
  await db.query(countTry, [institutionId, selector, most]);
}

const spend = sql(
  'auth_spend_email_code',
  `delete from email_codes
   where institution_id = $1 and selector = $2 and failed_tries < $3 and expires_at > $4`,
);

/** False if another request spent it, or it expired, meanwhile. */
export async function deleteEmailCode(
  db: Queryable,
  institutionId: InstitutionId,
  selector: string,
  most: number,
  now: Date,
): Promise<boolean> {
  return (await db.query(spend, [institutionId, selector, most, now])).rowCount === 1;
}

const foundByEmail = sql(
  'auth_found_by_email',
  `select from users
   where institution_id = $1 and verified_email_lower = lower($2) and user_key <> $3 limit 1`,
);

/** Whether another user has the address, verified. */
export async function isFoundByEmail(
  db: Queryable,
  institutionId: InstitutionId,
  email: string,
  exceptUserKey: bigint,
): Promise<boolean> {
  return (await db.query(foundByEmail, [institutionId, email, exceptUserKey])).rows.length > 0;
}

const verify = sql(
  'auth_verify_email_by_code',
  `update users set verified_email = email, email_verified_by = 'CODE'
   where institution_id = $1 and user_key = $2 and email = $3`,
);

/** False if the user has another address by now. */
export async function verifyEmailByCode(
  db: Queryable,
  institutionId: InstitutionId,
  userKey: bigint,
  email: string,
): Promise<boolean> {
  return (await db.query(verify, [institutionId, userKey, email])).rowCount === 1;
}

const unverified = sql(
  'auth_unverified_email',
  `select email from users
   where institution_id = $1 and user_key = $2
     and lower(email collate "C") is distinct from lower(verified_email collate "C")`,
);

/** Undefined: the address that the user has is verified. */
export async function selectUnverifiedEmail(
  db: Queryable,
  institutionId: InstitutionId,
  userKey: bigint,
): Promise<string | undefined> {
  return (await db.query<{ email: string }>(unverified, [institutionId, userKey])).rows[0]?.email;
}
