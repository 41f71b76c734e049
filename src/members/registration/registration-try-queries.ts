import { type Queryable, sql } from '../../storage/index.ts';

// One statement, so that of many tries at once each is counted and none slips past a pause.
const takeTry = sql(
  'members_take_registration_try',
  `insert into registration_tries as t (institution_id, member_number, tries, last_at) values ($1, $2, 1, $3)
   on conflict (institution_id, member_number) do update
   set tries = case when t.last_at <= $4 then 1 else t.tries + 1 end,
       last_at = $3,
       paused_until = case when t.last_at > $4 and t.tries + 1 >= $5
                           then $3 + least(interval '1 minute' * 2 ^ least(t.tries + 1 - $5, 6), interval '1 hour') end
   where t.paused_until is null or t.paused_until <= $3`,
);

/** False during a pause; then nothing is counted. */
export async function insertTry(
  db: Queryable,
  memberNumber: string,
  rule: { readonly now: Date; readonly forgottenBefore: Date; readonly freeTries: number },
): Promise<boolean> {
  const { now, forgottenBefore, freeTries } = rule;
  const values = [db.institutionId, memberNumber, now, forgottenBefore, freeTries];
  return (await db.query(takeTry, values)).rowCount === 1;
}

const pause = sql(
  'members_registration_pause',
  'select paused_until from registration_tries where institution_id = $1 and member_number = $2',
);

export async function selectPause(db: Queryable, memberNumber: string): Promise<Date | null> {
  const { rows } = await db.query<{ pausedUntil: Date | null }>(pause, [db.institutionId, memberNumber]);
  return rows[0]?.pausedUntil ?? null;
}

const removeTries = sql(
  'members_delete_registration_tries',
  'delete from registration_tries where institution_id = $1 and member_number = $2',
);

/** A member was registered. */
export async function deleteTries(tx: Queryable, memberNumber: string): Promise<void> {
  await tx.query(removeTries, [tx.institutionId, memberNumber]);
}

const removeOld = sql(
  'members_delete_old_registration_tries',
  'delete from registration_tries where institution_id = $1 and last_at <= $2',
);

export async function deleteOldTries(db: Queryable, before: Date): Promise<void> {
  await db.query(removeOld, [db.institutionId, before]);
}
