import { type Queryable, sql, type Transaction } from '../../storage/index.ts';

export interface Suppression {
  readonly address: string;
  /** REFUSED: by the mail server, while it was handed over. */
  readonly reason: 'BOUNCED' | 'COMPLAINED' | 'REFUSED' | 'OPERATOR';
  readonly suppressedAt: Date;
}

const add = sql(
  'mail_suppress',
  `insert into mail_suppressions (institution_id, address, reason, suppressed_at) values ($1, $2, $3, $4)
   on conflict (institution_id, address) do nothing`,
);

/** False if the address was suppressed before; the first reason stays. */
export async function insertSuppression(
  tx: Transaction,
  { address, reason, suppressedAt }: Suppression,
): Promise<boolean> {
  return (await tx.query(add, [tx.institutionId, address, reason, suppressedAt])).rowCount === 1;
}

const remove = sql('mail_lift', 'delete from mail_suppressions where institution_id = $1 and address = $2');

export async function deleteSuppression(tx: Transaction, address: string): Promise<boolean> {
  return (await tx.query(remove, [tx.institutionId, address])).rowCount === 1;
}

const isThere = sql(
  'mail_is_suppressed',
  'select 1 as found from mail_suppressions where institution_id = $1 and address = $2',
);

export async function isSuppressed(db: Queryable, address: string): Promise<boolean> {
  return (await db.query(isThere, [db.institutionId, address])).rows.length > 0;
}

const page = sql(
  'mail_suppressions_page',
  `select address, reason, suppressed_at from mail_suppressions
   where institution_id = $1 and address > $2 order by address limit $3`,
);

export async function selectSuppressions(db: Queryable, after: string, most: number): Promise<Suppression[]> {
  return (await db.query<Suppression>(page, [db.institutionId, after, most])).rows;
}

const erase = sql(
  'mail_erase_suppressions',
  `delete from mail_suppressions s
   using users u
   where s.institution_id = $1 and u.institution_id = $1 and u.user_key = $2
     and s.address in (lower(u.email), lower(u.verified_email))`,
);

/** Forgets the addresses of a user whose personal data is about to be erased. */
export async function eraseSuppressions(tx: Transaction, userKey: bigint): Promise<void> {
  await tx.query(erase, [tx.institutionId, userKey]);
}
