import { type FeedEvent, readEventsBehind } from '../../feed/index.ts';
import type { Position } from '../../shared/page.ts';
import type { Database, InstitutionId } from '../../storage/index.ts';

const eventsOfPage = 100n;
const mostPages = 32;
/** An event never changes; this bounds how long a process could send events of a database that was put back meanwhile. */
const keptMillis = 1_000;

/** A position and the number of the last event at or before it. */
interface Place {
  readonly position: Position;
  readonly number: bigint;
}

interface FeedPage {
  readonly start: Place;
  readonly events: readonly FeedEvent[];
  readonly readAt: number;
}

/**
 * The newest pages of the feed, read once for all endpoints of an institution. Pages end at numbers that 100 divides, so endpoints that
 * started at different events read the same pages from the second one on.
 */
export class SharedFeed {
  readonly #database: Database;
  /** The last one used is the last. */
  readonly #pages = new Map<string, FeedPage>();
  readonly #underWay = new Map<string, Promise<readonly FeedEvent[]>>();

  constructor(database: Database) {
    this.#database = database;
  }

  /** Up to a hundred events behind the place; none if there are none. */
  async behind(institutionId: InstitutionId, place: Place): Promise<readonly FeedEvent[]> {
    const key = `${institutionId} ${place.number / eventsOfPage}`;
    const known = eventsBehind(this.#fresh(key), place);
    if (known.length > 0) return known;
    const { position } = place;
    const readKey = `${institutionId} ${position.join(' ')}`;
    const underWay = this.#underWay.get(readKey);
    if (underWay !== undefined) return underWay;
    const reading = this.#read(institutionId, place, key).finally(() => this.#underWay.delete(readKey));
    this.#underWay.set(readKey, reading);
    return reading;
  }

  async #read(institutionId: InstitutionId, place: Place, key: string): Promise<readonly FeedEvent[]> {
    const limit = Number(eventsOfPage - (place.number % eventsOfPage));
    const events = await this.#database.read(institutionId, (db) =>
      readEventsBehind(db, { ...place, limit }),
    );
    if (events.length === 0) return events;
    const page = this.#fresh(key);
    const isNext = page?.events.at(-1)?.sequence === place.number && isWithin(page, place);
    this.#keep(key, {
      start: isNext ? page.start : place,
      events: isNext ? [...page.events, ...events] : events,
      readAt: performance.now(),
    });
    return events;
  }

  #fresh(key: string): FeedPage | undefined {
    const page = this.#pages.get(key);
    return page !== undefined && performance.now() - page.readAt < keptMillis ? page : undefined;
  }

  #keep(key: string, page: FeedPage): void {
    this.#pages.delete(key);
    this.#pages.set(key, page);
    const [oldest] = this.#pages.keys();
    if (this.#pages.size > mostPages && oldest !== undefined) this.#pages.delete(oldest);
  }
}

function eventsBehind(page: FeedPage | undefined, place: Place): readonly FeedEvent[] {
  if (page === undefined || !isWithin(page, place)) return [];
  return page.events.slice(Number(place.number - page.start.number));
}

/** The number alone does not tell: after a restore another event may have it. */
function isWithin({ start, events }: FeedPage, { position, number }: Place): boolean {
  const offset = Number(number - start.number);
  if (offset < 0 || offset > events.length) return false;
  const before = offset === 0 ? start.position : (events[offset - 1] as FeedEvent).position;
  const next = events[offset]?.position;
  return !isBefore(position, before) && (next === undefined || isBefore(position, next));
}

function isBefore(one: Position, other: Position): boolean {
  const place = one.findIndex((part, index) => part !== other[index]);
  return place >= 0 && (one[place] as bigint) < (other[place] as bigint);
}
