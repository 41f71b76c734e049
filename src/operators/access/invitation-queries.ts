import { type Queryable, sql } from '../../storage/index.ts';
import type { OperatorRow } from './operator-queries.ts';

const save = sql(
  'access_save_invitation',
  `insert into operator_invitations (institution_id, operator_id, selector, secret_hash, expires_at)
   values ($1, $2, $3, $4, $5)
   on conflict (institution_id, operator_id) do update
   set selector = excluded.selector, secret_hash = excluded.secret_hash, expires_at = excluded.expires_at, failed_tries = 0`,
);

/** An operator has at most one code; a new one replaces it. */
export async function upsertInvitation(
  tx: Queryable,
  row: Pick<InvitationRow, 'operatorId' | 'secretHash' | 'expiresAt'> & { readonly selector: string },
): Promise<void> {
  const { operatorId, selector, secretHash, expiresAt } = row;
  await tx.query(save, [tx.institutionId, operatorId, selector, secretHash, expiresAt]);
}

export interface InvitationRow extends Pick<OperatorRow, 'operatorId' | 'name'> {
  readonly secretHash: Buffer;
  readonly failedTries: number;
  readonly expiresAt: Date;
}

const bySelector = sql(
  'access_invitation',
  `select i.operator_id, o.name, i.secret_hash, i.failed_tries, i.expires_at
   from operator_invitations i
   join operators o on o.institution_id = i.institution_id and o.operator_id = i.operator_id
   where i.institution_id = $1 and i.selector = $2 and o.status in ('INVITED', 'ACTIVE')`,
);

export async function selectInvitation(db: Queryable, selector: string): Promise<InvitationRow | undefined> {
  return (await db.query<InvitationRow>(bySelector, [db.institutionId, selector])).rows[0];
}

// If no try is counted, a message in the database's log makes the commit as durable, and so as slow, as a counted one.
const countTry = sql(
  'access_count_invitation_try',
  `with counted as (
     update operator_invitations set failed_tries = failed_tries + 1
     where institution_id = $1 and selector = $2 and failed_tries < $3
     returning true)
   select case when not exists (select from counted)
               then pg_logical_emit_message(true, 'sharedraft.code', 'refused') end as message`,
);

export async function countFailedInvitation(
  db: Queryable,
  selector: string,
  maxTries: number,
): Promise<void> {
  await db.query(countTry, [db.institutionId, selector, maxTries]);
}

const use = sql(
  'access_use_invitation',
  `delete from operator_invitations
   where institution_id = $1 and operator_id = $2 and selector = $3 and failed_tries < $4 and expires_at > $5`,
);

/** False if another request used the code, a new one replaced it, or it expired, meanwhile. */
export async function useInvitation(
  tx: Queryable,
  { operatorId, selector }: { readonly operatorId: string; readonly selector: string },
  { maxTries, now }: { readonly maxTries: number; readonly now: Date },
): Promise<boolean> {
  const used = await tx.query(use, [tx.institutionId, operatorId, selector, maxTries, now]);
  return used.rowCount === 1;
}

const drop = sql(
  'access_drop_invitation',
  'delete from operator_invitations where institution_id = $1 and operator_id = $2',
);

export async function dropInvitation(tx: Queryable, operatorId: string): Promise<void> {
  await tx.query(drop, [tx.institutionId, operatorId]);
}
