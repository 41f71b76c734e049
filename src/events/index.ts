/**
 * Owns the outbox: what happened to transfers and members, written in the same transaction as the change itself,
 * so that an event exists exactly when its change does.
 *
 * Invariants: events are only ever added; nothing of one changes but its secret, which is wiped when it was
 * delivered or has expired. Keys are given out in order of insertion, which is not the order of commits: who
 * reads on from a position must stay below the oldest transaction still running.
 */
export type { Origin } from './origin.ts';
export { appendEvents, type NewEvent, wipeExpiredSecrets } from './outbox.ts';
