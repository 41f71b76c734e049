import { type Queryable, sql } from '../storage/index.ts';

/** Every event with a number divisible by this is marked, and the last one in the archive. */
export const eventsPerMark = 500;
/** Ends a run that could not keep up with new events; the next run continues. */
const mostMarksAtOnce = 2_000;

const addMark = sql(
  'events_add_mark',
  `insert into event_marks (institution_id, number, epoch, xid, event_key)
   select $1, last.next, o.epoch, o.xid, o.event_key
   from (
     select coalesce(max(e.epoch), 0) as epoch, pg_snapshot_xmin(pg_current_snapshot()) as first_running
     from event_epochs e where e.institution_id = $1
   ) now
   cross join (
     select coalesce(m.number, 0) as number, (coalesce(m.number, 0) / $2::bigint + 1) * $2::bigint as next,
            coalesce(m.epoch, -1) as epoch, coalesce(m.xid, '0') as xid, coalesce(m.event_key, 0) as event_key
     from (select) one
     left join lateral (
       select * from event_marks m where m.institution_id = $1 order by m.number desc limit 1) m on true
     -- Keeps the coalesce out of the comparison below: with it, row-level security would have each event read and filtered.
     offset 0
   ) last
   cross join lateral (
     select o.epoch, o.xid, o.event_key from outbox o
     where o.institution_id = $1 and (o.epoch, o.xid, o.event_key) > (last.epoch, last.xid, last.event_key)
     order by o.epoch, o.xid, o.event_key offset last.next - last.number - 1 limit 1
   ) o
   where (o.epoch, o.xid) < (now.epoch, now.first_running)
   on conflict do nothing`,
);

/** Marks the numbers of new events, so that the number of any event is counted from one nearby. Returns how many it marked. */
export async function markEventNumbers(db: Queryable): Promise<number> {
  for (let marked = 0; marked < mostMarksAtOnce; marked += 1) {
    const { rowCount } = await db.query(addMark, [db.institutionId, eventsPerMark]);
    if (rowCount === 0) return marked;
  }
  return mostMarksAtOnce;
}
