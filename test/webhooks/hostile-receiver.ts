import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Event, InvalidRequestError, type Sharedraft, webhooks } from '../../client/src/index.ts';
import type { Random } from '../support/random.ts';

/** One request that the receiver got. Its places count the moments of the whole receiver: 1, 2, 3 … */
interface Arrival {
  readonly event: Event;
  readonly cameAt: number;
  /** The moment at which it responded from 200 to 299; undefined if it did not. */
  acceptedAt: number | undefined;
}

/** A receiver fails an event at most so often, so that none is parked. */
const mostFailures = 4;
const pageSize = 200;

/**
 * A receiver that stores events by their sequence, as docs/webhooks.md advises, and that misbehaves by the seed: it refuses, sleeps,
 * breaks connections, redirects, sends huge responses, refuses events that it has stored, and accepts events that it loses.
 */
export class HostileReceiver {
  readonly arrivals: Arrival[] = [];
  /** Sequences of events that it accepted and did not store at that moment. */
  readonly lost = new Set<string>();
  readonly filled = new Set<string>();
  readonly #stored = new Map<number, Event>();
  readonly #failures = new Map<string, number>();
  readonly #random: Random;
  readonly #lateMillis: number;
  isHostile = false;
  secret = '';
  redirectsFollowed = 0;
  #moments = 0;
  #server: Server | undefined;
  #port = 0;
  #isPutBack = false;

  /** `lateMillis`: the longest time that it takes to respond. */
  constructor(random: Random, lateMillis: number) {
    this.#random = random;
    this.#lateMillis = lateMillis;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}/hook`;
  }

  get stored(): ReadonlyMap<number, Event> {
    return this.#stored;
  }

  /** Listens, on the same port as before. */
  async start(): Promise<void> {
    this.#server = createServer((request, response) => {
      this.#receive(request, response).catch(() => response.destroy());
    });
    await new Promise<void>((resolve) => this.#server?.listen(this.#port, '127.0.0.1', resolve));
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  /** Breaks its connections and refuses new ones. */
  async stop(): Promise<void> {
    this.#server?.closeAllConnections();
    await new Promise((resolve) => this.#server?.close(resolve));
  }

  async #receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.url !== '/hook') this.redirectsFollowed += 1;
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const event = await webhooks.unwrap(Buffer.concat(chunks), request.headers, this.secret);
    const arrival: Arrival = { event, cameAt: this.#moment(), acceptedAt: undefined };
    this.arrivals.push(arrival);
    const accept = (status: number, body = '') => {
      arrival.acceptedAt = this.#moment();
      response.writeHead(status).end(body);
    };
    const store = () => this.#store(event);
    const chance = this.isHostile ? this.#random(100) : 0;
    const mayFail = (this.#failures.get(event.eventId) ?? 0) < mostFailures;
    if (chance < 50 || (chance >= 85 && chance < 90)) {
      store();
      if (chance < 85) return accept(204);
      return accept(200, 'x'.repeat(200_000));
    }
    if (chance >= 90) {
      await sleep(this.#random(this.#lateMillis));
      store();
      return accept(200, 'late');
    }
    if (chance < 55) {
      this.lost.add(event.eventId);
      return accept(200, 'stored, it says');
    }
    if (!mayFail) {
      store();
      return accept(202);
    }
    this.#failures.set(event.eventId, (this.#failures.get(event.eventId) ?? 0) + 1);
    if (chance < 62) response.writeHead(500).end('an error');
    else if (chance < 67) response.writeHead(503, { 'retry-after': '1' }).end();
    else if (chance < 72) response.writeHead(302, { location: '/elsewhere' }).end();
    else if (chance < 76) response.destroy();
    else {
      store();
      if (chance < 80) response.writeHead(500).end('stored, and refused');
      else response.destroy();
    }
  }

  #moment(): number {
    this.#moments += 1;
    return this.#moments;
  }

  /** Another event under a known sequence: the bank's database was put back to an earlier state. */
  #store(event: Event): void {
    const { sequence } = event;
    const known = this.#stored.get(sequence);
    if (known !== undefined && known.eventId !== event.eventId) this.#isPutBack = true;
    this.#stored.set(sequence, event);
  }

  /** Finds by the sequences alone what is missing or undone, and reads it from the feed. `start`: the last event before the first webhook. */
  async complete(bank: Sharedraft, start: number): Promise<void> {
    const last = Math.max(start, ...this.#stored.keys());
    if (this.#isPutBack || (await isAhead(bank, last))) return this.#readAgain(bank, start + 1);
    for (let sequence = start + 1; sequence <= last; sequence += 1) {
      if (this.#stored.has(sequence)) continue;
      const { events } = await bank.events.read({ from: sequence, limit: 1 });
      for (const event of events) this.#fill(event);
    }
  }

  /** From the beginning: of an undone event, a receiver that loses events may have missed the successor. */
  async #readAgain(bank: Sharedraft, first: number): Promise<void> {
    this.#stored.clear();
    for (let from = first; ; ) {
      const { events } = await bank.events.read({ from, limit: pageSize });
      for (const event of events) this.#fill(event);
      if (events.length < pageSize) break;
      from += events.length;
    }
    this.#isPutBack = false;
  }

  #fill(event: Event): void {
    this.filled.add(event.eventId);
    this.#stored.set(event.sequence, event);
  }
}

/** Whether the feed has less than the receiver: it was put back, and no event has come since under a sequence that is stored. */
async function isAhead(bank: Sharedraft, last: number): Promise<boolean> {
  try {
    await bank.events.read({ from: last + 1, limit: 1 });
    return false;
  } catch (error) {
    if (error instanceof InvalidRequestError) return true;
    throw error;
  }
}
