import { eventIdOf, placeOf } from '../events/index.ts';
import type { Page, Position } from '../shared/page.ts';
import { Problem } from '../shared/problem.ts';
import type { Database, InstitutionId, Queryable } from '../storage/index.ts';
import { type FeedRow, selectFeed, selectHorizon, selectPositionOfNumber } from './feed-queries.ts';

/** Something that happened, as the institution is told. Never with the secret that may go with it. */
export interface FeedEvent {
  /** Different for each event, for ever. */
  readonly eventId: string;
  /** In the feed of the institution, from 1 without a gap. */
  readonly sequence: bigint;
  /** Epoch, transaction and key; unique, as the id is. */
  readonly position: Position;
  readonly kind: string;
  readonly at: Date;
  /** The member of the event; for a transfer, the member who ordered it. */
  readonly userId: string | null;
  /** In the state that the event left. */
  readonly transfer: FeedTransfer | null;
  /** The accounts that it changed and the number of the change on each: an account's are 1, 2, 3 …, each once. */
  readonly accounts: readonly { readonly accountId: string; readonly sequence: bigint }[];
  readonly data: object | null;
}

interface FeedTransfer {
  readonly id: string;
  readonly transferType: string | undefined;
  readonly fromAccountId: string;
  readonly toAccountId: string;
  readonly amountMinor: bigint;
  readonly currencyCode: string;
  readonly status: string;
  readonly createdAt: Date;
  readonly failureCode: string | undefined;
  readonly memo: string | null;
}

/** A place of the feed to read from: behind a page, or an event by its number. Null: the beginning. */
export type FeedStart = { readonly after: Position | null } | { readonly from: bigint };

/**
 * The institution's events from the place on, oldest first. The order is that of their transactions and not quite that of
 * time; an event is not shown before each transaction numbered below its own has ended, so that none is ever skipped.
 * There is always a next position: the same again where nothing is new. It is epoch, transaction and key, and the newest epoch when it
 * was read. Without the last one, a reader that begins again after a loss could never pass the events that were kept behind a lost
 * one: their positions look like those of readers from before the loss.
 *
 * Events in the archive are not returned: the beginning is the first event behind them.
 *
 * Problem `invalid_request`: the place is ahead of the feed, which may have been put back to an earlier state; or the event at the place is
 * in the archive.
 */
export async function readEvents(
  database: Database,
  institutionId: InstitutionId,
  { limit, ...start }: FeedStart & { readonly limit: number },
): Promise<Page<FeedEvent>> {
  return database.read(institutionId, async (db) => {
    const place = await placeOfStart(db, start);
    const { isAhead, isArchived, epochNow, rows } = await selectFeed(db, { ...place, limit });
    if (isAhead) refuseAhead('after');
    if (isArchived) refuseArchived('from' in start ? 'from' : 'after', await selectHorizon(db));
    const items = rows.map(toFeedEvent);
    return { items, next: [...(items.at(-1)?.position ?? place.after), epochNow] };
  });
}

/** Later than any epoch, for a position that was read now. */
const anyEpoch = 2n ** 31n - 1n;

/** Where to read from. The number is null if only counting tells it. */
interface Place {
  readonly after: Position;
  readonly number: bigint | null;
  readonly readIn: bigint | undefined;
}

async function placeOfStart(db: Queryable, start: FeedStart): Promise<Place> {
  if (!('from' in start)) {
    if (start.after !== null) return { after: start.after.slice(0, 3), number: null, readIn: start.after[3] };
    const horizon = await selectHorizon(db);
    return { after: horizon?.position ?? [0n, 0n, 0n], number: horizon?.number ?? 0n, readIn: anyEpoch };
  }
  const number = start.from - 1n;
  const after = await selectPositionOfNumber(db, number);
  if (after !== undefined) return { after, number, readIn: anyEpoch };
  const horizon = await selectHorizon(db);
  if (horizon !== undefined && number < horizon.number) refuseArchived('from', horizon);
  return refuseAhead('from');
}

/** The number of the first event of the feed; the events before it are in the archive. */
export async function firstNumberOf(db: Queryable): Promise<bigint> {
  return ((await selectHorizon(db))?.number ?? 0n) + 1n;
}

/** Events behind a position whose own number is known, so that none is counted. */
export async function readEventsBehind(
  db: Queryable,
  {
    position,
    number,
    limit,
  }: { readonly position: Position; readonly number: bigint; readonly limit: number },
): Promise<FeedEvent[]> {
  const { isArchived, rows } = await selectFeed(db, { after: position, limit, number });
  // The archive takes no event that a reader of ours has still to read.
  if (isArchived) throw new Error('feed: the events behind the position are in the archive');
  return rows.map(toFeedEvent);
}

/** The event with the id. Undefined if there is none, it is in the archive, or the feed does not show it yet. */
export async function findEvent(db: Queryable, eventId: string): Promise<FeedEvent | undefined> {
  const place = placeOf(eventId);
  if (place === undefined || place.eventKey === 0n) return undefined;
  const { isArchived, rows } = await selectFeed(db, {
    after: [BigInt(place.epoch), place.xid, place.eventKey - 1n],
    limit: 1,
  });
  if (isArchived) return undefined;
  return rows.map(toFeedEvent).find((event) => event.eventId === eventId);
}

/** The position behind the event with this number; of 0 the beginning. Undefined if there is no such event yet, or it is in the archive. */
export function positionOfNumber(db: Queryable, number: bigint): Promise<Position | undefined> {
  return selectPositionOfNumber(db, number);
}

function refuseAhead(pointer: 'from' | 'after'): never {
  throw new Problem(
    'invalid_request',
    'The feed has no event at this place. It may have been put back to an earlier state.',
    {
      errors: [{ pointer, detail: 'Is ahead of the feed: read it again from its beginning.' }],
    },
  );
}

function refuseArchived(pointer: 'from' | 'after', horizon: { readonly number: bigint } | undefined): never {
  throw new Problem('invalid_request', 'The events at this place are in the archive.', {
    errors: [
      { pointer, detail: `Read from sequence ${(horizon?.number ?? 0n) + 1n} on, or from the beginning.` },
    ],
  });
}

/** The status after an event of this kind; other kinds show the current status. */
const statusAfter: Readonly<Record<string, string>> = {
  'transfer.pending': 'PENDING',
  'transfer.completed': 'COMPLETED',
  'transfer.failed': 'FAILED',
};

function toFeedEvent(row: FeedRow): FeedEvent {
  const accounts = [
    { accountId: row.fromAccount, sequence: row.fromSeq },
    { accountId: row.toAccount, sequence: row.toSeq },
  ];
  return {
    eventId: eventIdOf(row),
    sequence: row.number,
    position: [BigInt(row.epoch), row.xid, row.eventKey],
    kind: row.kind,
    at: row.at,
    userId: row.userId,
    transfer: toTransfer(row),
    accounts: accounts.flatMap(({ accountId, sequence }) =>
      accountId === null || sequence === null ? [] : [{ accountId, sequence }],
    ),
    data: row.data,
  };
}

function toTransfer({ kind, transfer }: FeedRow): FeedTransfer | null {
  if (transfer === null) return null;
  const status = statusAfter[kind] ?? transfer.status;
  return {
    ...transfer,
    transferType: transfer.transferType ?? undefined,
    amountMinor: BigInt(transfer.amountMinor),
    status,
    createdAt: new Date(transfer.createdAt),
    failureCode: status === 'FAILED' ? (transfer.failureCode ?? undefined) : undefined,
  };
}
