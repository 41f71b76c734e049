import { type Directory, type Queryable, sql } from '../storage/index.ts';

const beginEpoch = sql(
  'events_begin_epoch',
  `insert into event_epochs (institution_id, epoch, started_at, last_before)
   select $1, newest.epoch + 1, $2, newest.xid
   from newest_event($1) newest
   where newest.xid >= pg_snapshot_xmax(pg_current_snapshot())
     and newest.epoch = coalesce((select max(e.epoch) from event_epochs e where e.institution_id = $1), 0)
   on conflict do nothing`,
);

/** Returns 1 if an epoch began. */
export async function insertEpochAfterRestore(db: Queryable, at: Date): Promise<number> {
  return (await db.query(beginEpoch, [db.institutionId, at])).rowCount;
}

const beginEpochsOfTimeline = sql(
  'events_begin_epochs_of_timeline',
  'select begin_epochs_of_timeline($1) as begun',
);

export async function insertEpochsOfTimeline(db: Directory, at: Date): Promise<boolean> {
  return (await db.query<{ begun: boolean }>(beginEpochsOfTimeline, [at])).rows[0]?.begun === true;
}

const timeline = sql('events_timeline', 'select timeline from event_timeline');

/** The cluster and its timeline, as of the first connection to it. */
export async function selectTimeline(db: Directory): Promise<string | undefined> {
  return (await db.query<{ timeline: string }>(timeline)).rows[0]?.timeline;
}

const beginEpochNow = sql('events_begin_epoch_now', 'select begin_event_epoch($1)');

export async function insertEpoch(db: Queryable, at: Date): Promise<void> {
  await db.query(beginEpochNow, [at]);
}

const beginEpochOfMove = {
  name: 'events_begin_epoch_of_move',
  text: `insert into event_epochs (institution_id, epoch, started_at, last_before)
         select $1, now.epoch + 1, $2, coalesce(
           (select n.xid from newest_event($1) n where n.epoch = now.epoch), '0')
         from (select coalesce(max(e.epoch), 0) as epoch from event_epochs e where e.institution_id = $1) now`,
};

/** For an institution whose events came from another cluster. It needs the owner's login, and no writer of its events. */
export async function insertEpochOfMove(db: Queryable, at: Date): Promise<void> {
  await db.query(beginEpochOfMove, [db.institutionId, at]);
}

const newestEpoch = sql(
  'events_newest_epoch',
  'select coalesce(max(epoch), 0) as epoch from event_epochs where institution_id = $1',
);

export async function selectEpoch(db: Queryable): Promise<number> {
  const { rows } = await db.query<{ epoch: number }>(newestEpoch, [db.institutionId]);
  return rows[0]?.epoch ?? 0;
}
