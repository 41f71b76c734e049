import { type Directory, type InstitutionId, sql } from '../storage/index.ts';
import { eventsPerMark } from './event-numbers.ts';

const toMaintain = sql('events_to_maintain', 'select institution from institutions_to_maintain($1, $2)');

/** Institutions with an audit entry to seal, an expired secret, or events without a mark of their numbers. */
export async function selectInstitutionsToMaintain(db: Directory, now: Date): Promise<InstitutionId[]> {
  const { rows } = await db.query<{ institution: InstitutionId }>(toMaintain, [now, eventsPerMark]);
  return rows.map(({ institution }) => institution);
}

const makePartitions = sql('events_make_partitions', 'select make_event_partitions() as made');

/** Makes the partitions of events that are missing ahead. Returns how many it made. */
export async function makeEventPartitions(db: Directory): Promise<number> {
  return (await db.query<{ made: number }>(makePartitions)).rows[0]?.made ?? 0;
}
