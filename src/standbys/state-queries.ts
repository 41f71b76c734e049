import type { LogPosition } from '../memory/index.ts';
import { type Queryable, sql } from '../storage/index.ts';

/** The state of a server at a moment. */
export interface ServerState {
  readonly isStandby: boolean;
  /** It follows the primary of the position. */
  readonly isOfTimeline: boolean;
  readonly hasReplayed: boolean;
}

/*
 * pg_last_wal_replay_lsn() is the end of the last record that was replayed, and a commit is visible before it counts. The function is
 * called behind the snapshot of its own statement, so only the statements after this one see everything up to there.
 */
const stateOfServer = sql(
  'standbys_state',
  `select pg_is_in_recovery() as is_standby,
          coalesce((select t.timeline from event_timeline t) = $2, false) as is_of_timeline,
          coalesce(pg_last_wal_replay_lsn() >= $1::text::pg_lsn, false) as has_replayed`,
);

export async function selectState(
  db: Pick<Queryable, 'query'>,
  { flushed, timeline }: LogPosition,
): Promise<ServerState> {
  const [state] = (await db.query<ServerState>(stateOfServer, [flushed, timeline])).rows;
  if (state === undefined) throw new Error('standbys: a server without a state');
  return state;
}
