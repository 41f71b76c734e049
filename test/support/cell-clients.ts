import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TestCell } from './cells.ts';
import { type Answer, paths, send } from './demo.ts';

/* Clients as a proxy and a retrying library make them: 421 leads to the other cell, and 429, 503 and 504 are repeated. */

const api = '/digitalbanking';

export class RetryingClient {
  readonly #cells: readonly Pick<TestCell, 'address'>[];
  readonly #patienceMillis: number;
  #at = 0;
  #token = '';
  /** Answers that were no outcome, by status. */
  readonly retried: number[] = [];

  constructor(cells: readonly Pick<TestCell, 'address'>[], patienceMillis = 60_000) {
    this.#cells = cells;
    this.#patienceMillis = patienceMillis;
  }

  get token(): string {
    return this.#token;
  }

  async request(method: string, path: string, body?: object): Promise<Answer> {
    for (const deadline = Date.now() + this.#patienceMillis; ; ) {
      const headers = this.#token === '' ? {} : { authorization: `Bearer ${this.#token}` };
      const address = this.#cells[this.#at]?.address ?? '';
      const answer = await send(address, method, path, { headers, ...(body && { body }) });
      if (![421, 429, 503, 504].includes(answer.status)) return answer;
      assert.ok(Date.now() < deadline, answer.text);
      this.retried.push(answer.status);
      if (answer.status === 421) this.#at = 1 - this.#at;
      else assert.ok(answer.headers.has('retry-after'), answer.text);
      await sleep(20);
    }
  }

  async logIn(grant: object): Promise<Answer> {
    this.#token = '';
    const answer = await this.request('POST', paths.token, grant);
    assert.equal(answer.status, 200, answer.text);
    this.#token = answer.body.access_token;
    return answer;
  }
}

export const lakesideApp = { client_id: 'demo-app', client_secret: 'demo-app-secret' };
export const harborApp = { client_id: 'harbor-app', client_secret: 'harbor-app-secret' };

/** Orders cents until it is stopped, each under an id of its own. Returns the status of each decided order by its id. */
export async function pay(
  client: RetryingClient,
  isStopped: () => boolean,
  onDecided: () => void = () => {},
): Promise<Map<string, number>> {
  const decided = new Map<string, number>();
  for (let order = 0; !isStopped(); order += 1) {
    const [fromAccountId, toAccountId] =
      order % 2 === 0 ? ['a-1001-checking', 'a-1001-savings'] : ['a-1001-savings', 'a-1001-checking'];
    const id = randomUUID();
    const answer = await client.request('POST', `${api}/db-transfers/v1/transfers`, {
      ...{ id, fromAccountId, toAccountId, amount: 0.01 },
    });
    assert.ok([200, 201, 422].includes(answer.status), `${answer.status} ${answer.text}`);
    decided.set(id, answer.status);
    onDecided();
    await sleep(20);
  }
  return decided;
}

export interface FeedEvent {
  readonly eventId: string;
  readonly type: string;
  readonly transfer?: { readonly id: string };
}

/** Follows the feed until it has read as many events as are complete, and then a page without any. Returns all in their order. */
export async function follow(
  client: RetryingClient,
  areComplete: (events: number) => boolean,
): Promise<FeedEvent[]> {
  const events: FeedEvent[] = [];
  for (let at = `${api}/db-events/v1/events?limit=100`; ; ) {
    const isLast = areComplete(events.length);
    const page = await client.request('GET', at);
    assert.equal(page.status, 200, page.text);
    events.push(...page.body);
    const [, next = ''] = /<([^>]+)>; rel="next"/.exec(page.headers.get('link') ?? '') ?? [];
    assert.notEqual(next, '');
    at = next.replace(/^https?:\/\/[^/]+/, '');
    if (page.body.length > 0) continue;
    if (isLast) return events;
    await sleep(50);
  }
}
