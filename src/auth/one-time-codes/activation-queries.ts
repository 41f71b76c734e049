import { type Queryable, sql } from '../../storage/index.ts';
import { maxTries } from './one-time-codes.ts';

const saveActivation = sql(
  'auth_save_activation',
  `insert into activations (institution_id, user_key, selector, secret_hash, expires_at)
   values ($1, $2, $3, $4, $5)
   on conflict (institution_id, user_key) do update
   set selector = excluded.selector, secret_hash = excluded.secret_hash, expires_at = excluded.expires_at,
       failed_tries = 0`,
);

/** A user has at most one code; a new one replaces it. */
export async function upsertActivation(
  db: Queryable,
  row: Pick<ActivationRow, 'userKey' | 'secretHash' | 'expiresAt'> & { readonly selector: string },
): Promise<void> {
  const { userKey, selector, secretHash, expiresAt } = row;
  await db.query(saveActivation, [db.institutionId, userKey, selector, secretHash, expiresAt]);
}

export interface ActivationRow {
  readonly userKey: bigint;
  readonly personKey: bigint;
  readonly userId: string;
  /** The user has a username and a password. Only the use of this code could give them to a user without. */
  readonly hasLogin: boolean;
  readonly secretHash: Buffer;
  readonly failedTries: number;
  readonly expiresAt: Date;
  readonly memberNumbers: readonly string[];
}

const activation = sql(
  'auth_activation',
  `select a.user_key, u.user_id, u.person_key, u.username is not null as has_login, a.secret_hash, a.failed_tries, a.expires_at,
          array(select c.member_number from customer_persons cp
                join customers c on c.institution_id = cp.institution_id and c.customer_key = cp.customer_key
                where cp.institution_id = a.institution_id and cp.person_key = u.person_key) as member_numbers
   from activations a
   join users u on u.institution_id = a.institution_id and u.user_key = a.user_key
   where a.institution_id = $1 and a.selector = $2`,
);

export async function selectActivation(db: Queryable, selector: string): Promise<ActivationRow | undefined> {
  return (await db.query<ActivationRow>(activation, [db.institutionId, selector])).rows[0];
}

// If no try is counted, a message in the database's log makes the commit as durable, and so as slow, as a counted one.
const countTry = sql(
  'auth_count_activation_try',
  `with counted as (
     update activations set failed_tries = failed_tries + 1
     where institution_id = $1 and selector = $2 and failed_tries < $3
     returning true)
   select case when not exists (select from counted)
               then pg_logical_emit_message(true, 'sharedraft.code', 'refused') end as message`,
);

export async function countFailedActivation(
  db: Queryable,
  selector: string,
  maxTries: number,
): Promise<void> {
  await db.query(countTry, [db.institutionId, selector, maxTries]);
}

const remove = sql(
  'auth_delete_activation',
  `delete from activations
   where institution_id = $1 and selector = $2 and failed_tries < $3 and expires_at > $4`,
);

/** False if another request used the code, or it expired, meanwhile. */
export async function deleteActivation(
  db: Queryable,
  selector: string,
  { maxTries, now }: { readonly maxTries: number; readonly now: Date },
): Promise<boolean> {
  return (await db.query(remove, [db.institutionId, selector, maxTries, now])).rowCount === 1;
}

const valid = sql(
  'auth_has_activation',
  `select exists (
     select from activations where institution_id = $1 and user_key = $2 and expires_at > $3 and failed_tries < $4) as has_code`,
);

/** Whether the user has a code that still works. */
export async function hasActivation(db: Queryable, userKey: bigint, now: Date): Promise<boolean> {
  const { rows } = await db.query<{ hasCode: boolean }>(valid, [db.institutionId, userKey, now, maxTries]);
  return rows[0]?.hasCode === true;
}
