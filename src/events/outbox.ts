import type { InstitutionId, Queryable, Write } from '../storage/index.ts';
import type { CodeEvent, CodeEventKind, NewEvent } from './event.ts';
import { placeOf } from './event-id.ts';
import {
  clearExpiredSecrets,
  clearMemberData,
  clearSecret,
  insertEvents,
  selectCodeEvent,
} from './queries.ts';

/**
 * Appends the events in the order given, in one statement of the caller's transaction.
 *
 * Fails unless each was written, so that the caller's transaction does not commit without them.
 */
export async function appendEvents(tx: Queryable, events: readonly NewEvent[], at: Date): Promise<void> {
  for (const { statement, values } of eventsToAppend(tx.institutionId, events, at)) {
    await tx.query(statement, values);
  }
}

/** The same as a write, for a transaction that sends its writes with COMMIT; none without events. */
export function eventsToAppend(
  institutionId: InstitutionId,
  events: readonly NewEvent[],
  at: Date,
): readonly Write[] {
  if (events.length === 0) return [];
  for (const event of events) {
    if ((event.secret === undefined) !== (event.secretExpiresAt === undefined)) {
      throw new TypeError(`the secret of a ${event.kind} and its expiry come together`);
    }
  }
  return [insertEvents(institutionId, events, at)];
}

/** Wipes the secrets whose time is over at `now`; the events stay. Answers how many were wiped. */
export async function wipeExpiredSecrets(db: Queryable, now: Date): Promise<number> {
  return clearExpiredSecrets(db, now);
}

/** Finds an event by the id that the feed shows. Undefined if the institution has no such event of these kinds. */
export async function findCodeEvent(
  db: Queryable,
  eventId: string,
  kinds: readonly CodeEventKind[],
): Promise<CodeEvent | undefined> {
  const place = placeOf(eventId);
  return place && selectCodeEvent(db, place, kinds);
}

/** Erases the data of the events about a member; the events stay. Returns how many had any. */
export async function eraseMemberEvents(tx: Queryable, userKey: bigint): Promise<number> {
  return clearMemberData(tx, userKey);
}

/** The secret was delivered, and goes; the event stays. False: there was none any more. */
export async function wipeSecret(db: Queryable, eventKey: bigint): Promise<boolean> {
  return (await clearSecret(db, eventKey)) === 1;
}
