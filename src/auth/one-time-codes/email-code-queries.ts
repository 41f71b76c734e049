import { type Queryable, sql } from '../../storage/index.ts';

const saveCode = sql(
  'auth_save_email_code',
  `insert into email_codes (institution_id, user_key, selector, secret_hash, email, expires_at)
   values ($1, $2, $3, $4, $5, $6)
   on conflict (institution_id, user_key) do update
   set selector = excluded.selector, secret_hash = excluded.secret_hash, email = excluded.email,
       expires_at = excluded.expires_at, failed_tries = 0`,
);

/** A user has at most one code; a new one replaces it. */
export async function upsertEmailCode(
  db: Queryable,
  row: Omit<EmailCodeRow, 'userId' | 'failedTries'> & { readonly selector: string },
): Promise<void> {
  const { userKey, selector, secretHash, emailAddress, expiresAt } = row;
  await db.query(saveCode, [db.institutionId, userKey, selector, secretHash, emailAddress, expiresAt]);
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
  `select e.user_key, u.user_id, e.secret_hash, e.email as email_address, e.failed_tries, e.expires_at
   from email_codes e
   join users u on u.institution_id = e.institution_id and u.user_key = e.user_key
   where e.institution_id = $1 and e.selector = $2
     and exists (select from customer_persons cp
                 where cp.institution_id = $1 and cp.person_key = u.person_key)`,
);

/** Undefined also for a user without a membership. */
export async function selectEmailCode(db: Queryable, selector: string): Promise<EmailCodeRow | undefined> {
  return (await db.query<EmailCodeRow>(code, [db.institutionId, selector])).rows[0];
}

const countTry = sql(
  'auth_count_email_code_try',
  `update email_codes set failed_tries = failed_tries + 1
   where institution_id = $1 and selector = $2 and failed_tries < $3`,
);

export async function countFailedEmailCode(db: Queryable, selector: string, maxTries: number): Promise<void> {
  await db.query(countTry, [db.institutionId, selector, maxTries]);
}

const remove = sql(
  'auth_delete_email_code',
  `delete from email_codes
   where institution_id = $1 and selector = $2 and failed_tries < $3 and expires_at > $4`,
);

/** False if another request used the code, or it expired, meanwhile. */
export async function deleteEmailCode(
  db: Queryable,
  selector: string,
  { maxTries, now }: { readonly maxTries: number; readonly now: Date },
): Promise<boolean> {
  return (await db.query(remove, [db.institutionId, selector, maxTries, now])).rowCount === 1;
}
