import { setTimeout as sleep } from 'node:timers/promises';
import { within } from '../../src/shared/within.ts';

const restMillis = 200;
const retryMillis = 500;
const requestSeconds = 20;
const endMillis = 120_000;
const feed = '/digitalbanking/db-events/v1/events';

interface Event {
  readonly eventId: string;
  readonly sequence: number;
  readonly eventType: string;
  readonly transfer?: { readonly id: string };
}

/**
 * Follows the feed of an institution as docs/reading.md tells readers to: it keeps its position over every error, and reads again from the
 * beginning when the position is refused.
 */
export class Reader {
  /** Transfers by the events of the present reading. */
  readonly completed = new Set<string>();
  /** Events of earlier readings that the present one does not have. */
  readonly undone = new Map<string, string | undefined>();
  /** Times that a position was refused. */
  refused = 0;
  /** Events that were read twice, or out of their order, in one reading. */
  readonly faults: string[] = [];
  readonly #address: string;
  readonly #credentials: Readonly<Record<string, string>>;
  /** Transfers by event id. */
  readonly #read = new Map<string, string | undefined>();
  #sequence = 0;
  #next: string | undefined;
  #token = '';
  #isOver = false;
  #isGivenUp = false;
  #reading: Promise<void> | undefined;

  constructor(address: string, credentials: Readonly<Record<string, string>>) {
    this.#address = address;
    this.#credentials = credentials;
  }

  get events(): number {
    return this.#read.size;
  }

  start(): void {
    this.#reading = this.#follow();
  }

  /** Returns once it has read everything, or cannot. */
  async stop(): Promise<void> {
    this.#isOver = true;
    const isAtEnd = await within(endMillis, this.#reading ?? Promise.resolve());
    this.#isGivenUp = true;
    if (!isAtEnd) this.faults.push(`the reader of ${this.#sequence} events did not come to the end`);
  }

  async #follow(): Promise<void> {
    while (!this.#isGivenUp) {
      const isLast = this.#isOver;
      const read = await this.#readPage().catch(() => undefined);
      if (read === undefined) await sleep(retryMillis);
      else if (read === 0 && isLast) return;
      else if (read === 0) await sleep(restMillis);
    }
  }

  /** The number of its events; undefined without an answer. */
  async #readPage(): Promise<number | undefined> {
    const response = await fetch(this.#next ?? `${this.#address}${feed}?limit=200`, {
      headers: { authorization: `Bearer ${this.#token}` },
      signal: AbortSignal.timeout(requestSeconds * 1_000),
    });
    if (response.status === 401) {
      await response.body?.cancel();
      await this.#logIn();
      return undefined;
    }
    if (response.status === 400) {
      await response.body?.cancel();
      this.#startOver();
      return undefined;
    }
    if (response.status !== 200) {
      await response.body?.cancel();
      return undefined;
    }
    const events = (await response.json()) as Event[];
    const [, link] = /<([^>]+)>; rel="next"/.exec(response.headers.get('link') ?? '') ?? [];
    if (link === undefined) throw new Error('The page has no link to the next one.');
    const { pathname, search } = new URL(link);
    for (const event of events) this.#take(event);
    this.#next = `${this.#address}${pathname}${search}`;
    return events.length;
  }

  #take({ eventId, sequence, eventType, transfer }: Event): void {
    if (this.#read.has(eventId)) this.faults.push(`${eventId} was read twice`);
    if (sequence !== this.#sequence + 1) this.faults.push(`${sequence} came after ${this.#sequence}`);
    this.#sequence = sequence;
    this.#read.set(eventId, transfer?.id);
    this.undone.delete(eventId);
    if (eventType === 'transfer.completed' && transfer) this.completed.add(transfer.id);
  }

  #startOver(): void {
    this.refused += 1;
    for (const [eventId, transfer] of this.#read) this.undone.set(eventId, transfer);
    this.#read.clear();
    this.completed.clear();
    this.#sequence = 0;
    this.#next = undefined;
  }

  async #logIn(): Promise<void> {
    const response = await fetch(`${this.#address}/auth/v2/token`, {
      method: 'POST',
      body: new URLSearchParams({ grant_type: 'client_credentials', ...this.#credentials }),
      signal: AbortSignal.timeout(requestSeconds * 1_000),
    });
    if (!response.ok) throw new Error(`The token endpoint responds ${response.status}.`);
    const { access_token: token } = (await response.json()) as { access_token: string };
    this.#token = token;
  }
}
