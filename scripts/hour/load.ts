import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';
import { accountId, accountsPerMember, type People } from '../../bench/job.ts';
import { mulberry32 } from '../../test/support/random.ts';

const tickMillis = 20;
const connections = 256;
const mostInFlight = 4_000;
const requestSeconds = 20;

/** Figures of a phase: responses by status, and how long they took. */
interface Phase {
  readonly statuses: Map<string, number>;
  readonly millis: number[];
  seconds: number;
}

interface Order {
  readonly id: string;
  readonly bearer: string;
  readonly body: object;
}

interface LoadOptions {
  readonly address: string;
  readonly people: People;
  readonly perSecond: number;
  /** The ids of its orders begin with it. */
  readonly name: string;
  /** An order without an outcome is repeated after this time, and up to twice of it. */
  readonly retryMillis: number;
}

/** A constant rate: four reads of an account, then an order. Orders without an outcome are repeated until they have one. */
export class Load {
  /** Orders by id: the status of their first outcome, or undefined. */
  readonly outcomes = new Map<string, number | undefined>();
  readonly phases = new Map<string, Phase>();
  /** Orders that needed a second request. */
  repeated = 0;
  /** Requests that were not sent, because too many were under way. */
  unsent = 0;
  phase = 'before';
  readonly #pool: Pool;
  readonly #people: People;
  readonly #perSecond: number;
  readonly #name: string;
  readonly #retryMillis: number;
  readonly #random = mulberry32(20_261_125);
  readonly #run = Date.now().toString(36);
  #count = 0;
  #inFlight = 0;
  #isOver = false;
  #decidedAt = performance.now();
  #longestPause = 0;
  #ticking: Promise<void> | undefined;

  constructor({ address, people, perSecond, name, retryMillis }: LoadOptions) {
    this.#pool = new Pool(address, { connections, pipelining: 1 });
    this.#people = people;
    this.#perSecond = perSecond;
    this.#name = name;
    this.#retryMillis = retryMillis;
  }

  /** The longest time without a decided order since the last call, in milliseconds; the present one counts too. */
  takeLongestPause(): number {
    const longest = Math.max(this.#longestPause, performance.now() - this.#decidedAt);
    this.#longestPause = 0;
    return longest;
  }

  start(): void {
    this.#ticking = this.#tick();
  }

  async #tick(): Promise<void> {
    const started = performance.now();
    let due = 0;
    while (!this.#isOver) {
      const wanted = ((performance.now() - started) / 1_000) * this.#perSecond;
      for (; due < wanted; due += 1) {
        if (this.#inFlight >= mostInFlight) this.unsent += 1;
        else void this.#next();
      }
      await sleep(tickMillis);
      this.#figures().seconds += tickMillis / 1_000;
    }
  }

  async #next(): Promise<void> {
    this.#count += 1;
    const { tokens, step } = this.#people;
    const index = this.#random(tokens.length);
    const account = index * step * accountsPerMember + this.#random(accountsPerMember);
    const bearer = tokens[index] ?? '';
    this.#inFlight += 1;
    if (this.#count % 5 !== 0) {
      await this.#send(bearer, `/digitalbanking/db-accounts/v1/accounts/${accountId(account)}`);
      this.#inFlight -= 1;
      return;
    }
    const other = index * step * accountsPerMember + ((account + 1) % accountsPerMember);
    const id = `${this.#name}-${this.#run}-${this.#count}`;
    this.outcomes.set(id, undefined);
    await this.#order({
      id,
      bearer,
      body: { id, fromAccountId: accountId(account), toAccountId: accountId(other), amount: 0.01 },
    });
    this.#inFlight -= 1;
  }

  /** Repeats the order until it has an outcome. */
  async #order({ id, bearer, body }: Order): Promise<void> {
    for (let attempt = 0; ; attempt += 1) {
      const status = await this.#send(bearer, '/digitalbanking/db-transfers/v1/transfers', body);
      if (status === 200 || status === 201 || status === 422) {
        this.outcomes.set(id, status);
        const now = performance.now();
        this.#longestPause = Math.max(this.#longestPause, now - this.#decidedAt);
        this.#decidedAt = now;
        if (attempt > 0) this.repeated += 1;
        return;
      }
      await sleep(this.#retryMillis + this.#random(this.#retryMillis));
    }
  }

  /** The status; 0 without a response. */
  async #send(bearer: string, path: string, body?: object): Promise<number> {
    const started = performance.now();
    const figures = this.#figures();
    const count = (what: string) => figures.statuses.set(what, (figures.statuses.get(what) ?? 0) + 1);
    try {
      const response = await this.#pool.request({
        path,
        method: body === undefined ? 'GET' : 'POST',
        headers: {
          authorization: `Bearer ${bearer}`,
          ...(body !== undefined && { 'content-type': 'application/json' }),
        },
        body: body === undefined ? null : JSON.stringify(body),
        headersTimeout: requestSeconds * 1_000,
        bodyTimeout: requestSeconds * 1_000,
      });
      const text = response.statusCode < 400 ? void (await response.body.dump()) : await response.body.text();
      figures.millis.push(performance.now() - started);
      // The proxy's own refusals have no code.
      const code = text === undefined ? undefined : (/"code":"(\w+)"/.exec(text)?.[1] ?? 'of the proxy');
      count(code === undefined ? String(response.statusCode) : `${response.statusCode} ${code}`);
      return response.statusCode;
    } catch (error) {
      count((error as { code?: string }).code ?? 'no response');
      return 0;
    }
  }

  #figures(): Phase {
    return this.phases.getOrInsertComputed(this.phase, () => ({
      statuses: new Map(),
      millis: [],
      seconds: 0,
    }));
  }

  /** Returns once every order has an outcome. */
  async stop(): Promise<void> {
    this.#isOver = true;
    await this.#ticking;
    while (this.#inFlight > 0) await sleep(100);
    await this.#pool.close();
  }
}
