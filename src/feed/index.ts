/**
 * The feed: events in an order that every reader sees alike, read on from a position.
 *
 * Invariants: a page never holds an event of a transaction that an older one may still precede; after a restore a new
 * epoch begins, so that no reader passes over an event.
 */
export {
  beginEpoch,
  beginEpochAfterRestore,
  beginEpochsOfTimeline,
  type FeedEvent,
  readEvents,
} from './feed.ts';
