/*
 * The client process: it sends the requests of a job and measures the responses. Each undici client has one
 * connection without pipelining, as apps behind a load balancer do.
 */
import { createHistogram, type RecordableHistogram } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, type Dispatcher } from 'undici';
import {
  accountId,
  accountsPerMember,
  customerId,
  type FromClient,
  type Job,
  type JobResult,
  type ToClient,
} from './job.ts';

type Request = Pick<Dispatcher.DispatchOptions, 'path' | 'method' | 'headers' | 'body'>;

const wanted: Readonly<Record<Job['traffic'], number>> = {
  transfers: 201,
  'dry-run': 200,
  account: 200,
  unchanged: 304,
  accounts: 200,
  profile: 200,
  page: 200,
  token: 200,
};
/** A request that could not be sent this long after its due time is dropped. */
const patienceMillis = 1_000;
const run = `${Date.now().toString(36)}-${process.pid}`;
let requests = 0;

process.on('message', ({ run: job }: ToClient) => {
  perform(job).then(
    (ended) => report({ ended }),
    (error: Error) => report({ failed: error.stack ?? error.message }),
  );
});

function report(message: FromClient): void {
  process.send?.(message);
}

async function perform(job: Job): Promise<JobResult> {
  const next = requestsOf(job);
  const count = new Count(wanted[job.traffic]);
  const connections = Array.from({ length: job.connections }, () => new Client(job.url, { pipelining: 1 }));
  const over = new AbortController();
  const running =
    job.perSecond === undefined
      ? closedLoop(job, connections, next, count, over.signal)
      : openLoop(job, connections, next, count, over.signal);
  await sleep(job.warmupSeconds * 1000);
  report({ began: true });
  count.start();
  await sleep(job.seconds * 1000);
  const result = count.stop();
  over.abort();
  await running;
  await Promise.all(connections.map((connection) => connection.close()));
  return { ...result, allStatuses: count.all() };
}

/** Each connection sends its next request when a response arrives. */
async function closedLoop(
  job: Job,
  connections: readonly Client[],
  next: () => Request,
  count: Count,
  over: AbortSignal,
): Promise<void> {
  await Promise.all(
    connections.map(async (connection) => {
      while (!over.aborted) {
        const retryAfterSeconds = await send(connection, next(), count, performance.now());
        // A random addition, so that requests refused together do not return together.
        if (job.honourRetryAfter && retryAfterSeconds > 0 && !over.aborted) {
          await sleep(retryAfterSeconds * 1000 * (1 + Math.random() / 4), undefined, { signal: over }).catch(
            () => {},
          );
        }
      }
    }),
  );
}

/** Requests are due at a constant rate; any free connection sends the next one. */
async function openLoop(
  { perSecond = 1 }: Job,
  connections: readonly Client[],
  next: () => Request,
  count: Count,
  over: AbortSignal,
): Promise<void> {
  const free = [...connections];
  const underWay = new Set<Promise<void>>();
  const started = performance.now();
  let due = 0;
  while (!over.aborted) {
    const now = performance.now();
    for (; due < ((now - started) / 1000) * perSecond; due++) {
      const dueAt = started + (due / perSecond) * 1000;
      const connection = free.pop();
      if (connection === undefined) {
        if (now - dueAt <= patienceMillis) break;
        count.unsent += 1;
        continue;
      }
      const sending = send(connection, next(), count, dueAt).then(() => {
        free.push(connection);
        underWay.delete(sending);
      });
      underWay.add(sending);
    }
    await sleep(1);
  }
  await Promise.all(underWay);
}

/** Resolves with the response's Retry-After in seconds, or 0. */
function send(connection: Client, request: Request, count: Count, since: number): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>();
  let status = 0;
  let retryAfterSeconds = 0;
  let unexpected = '';
  connection.dispatch(request, {
    onRequestStart() {},
    onResponseStart(_controller, statusCode, headers) {
      status = statusCode;
      retryAfterSeconds = Number(headers['retry-after'] ?? 0);
    },
    onResponseData(_controller, chunk) {
      if (!count.expects(status)) unexpected += chunk.toString();
    },
    onResponseEnd() {
      count.add(status, performance.now() - since, unexpected);
      resolve(retryAfterSeconds);
    },
    onResponseError(_controller, error) {
      count.add(0, performance.now() - since, error.message);
      resolve(0);
    },
  });
  return promise;
}

class Count {
  readonly #wanted: number;
  readonly #all = new Map<number, number>();
  readonly #measured = new Map<number, number>();
  readonly #times = createHistogram();
  readonly #refused = createHistogram();
  #measuring = false;
  #startedAt = 0;
  #unexpected: string | null = null;
  unsent = 0;

  constructor(wantedStatus: number) {
    this.#wanted = wantedStatus;
  }

  expects(status: number): boolean {
    return status === this.#wanted || status === 503;
  }

  add(status: number, millis: number, unexpected: string): void {
    this.#all.set(status, (this.#all.get(status) ?? 0) + 1);
    if (!this.expects(status)) this.#unexpected ??= `${status} ${unexpected}`;
    if (!this.#measuring) return;
    this.#measured.set(status, (this.#measured.get(status) ?? 0) + 1);
    const micros = Math.max(1, Math.round(millis * 1000));
    if (status === this.#wanted) this.#times.record(micros);
    if (status === 503) this.#refused.record(micros);
  }

  start(): void {
    this.unsent = 0;
    this.#measuring = true;
    this.#startedAt = performance.now();
  }

  stop(): Omit<JobResult, 'allStatuses'> {
    this.#measuring = false;
    const seconds = (performance.now() - this.#startedAt) / 1000;
    const percentile = (of: RecordableHistogram, at: number) => of.percentile(at) / 1000;
    const times = this.#times;
    const refused = this.#refused;
    return {
      perSecond: (this.#measured.get(this.#wanted) ?? 0) / seconds,
      statuses: Object.fromEntries(this.#measured),
      millis: {
        p50: percentile(times, 50),
        p99: percentile(times, 99),
        most: times.count > 0 ? times.max / 1000 : 0,
      },
      refusedMillis:
        refused.count > 0 ? { p50: percentile(refused, 50), p99: percentile(refused, 99) } : null,
      unsent: this.unsent,
      unexpected: this.#unexpected,
    };
  }

  all(): Record<string, number> {
    return Object.fromEntries(this.#all);
  }
}

/** Returns a function that makes the next request, on a newly picked account. */
function requestsOf(job: Job): () => Request {
  if (job.traffic === 'token') return tokenRequests(job);
  const { people } = job;
  if (people === null) throw new Error(`the traffic ${job.traffic} needs members`);
  const bearers = people.tokens.map((token) => ['authorization', `Bearer ${token}`]);
  const bearerOf = (member: number) =>
    job.as === 'flood'
      ? ['authorization', `Bearer ${people.floodToken}`]
      : (bearers[member / people.step] as string[]);
  const pick = pickSource(job, people.tokens.length * accountsPerMember);
  const source = () => {
    const picked = pick();
    const member = Math.floor(picked / accountsPerMember) * people.step;
    return { member, account: member * accountsPerMember + (picked % accountsPerMember) };
  };
  switch (job.traffic) {
    case 'transfers':
    case 'dry-run': {
      const transfers = '/digitalbanking/db-transfers/v1/transfers';
      const path = job.traffic === 'dry-run' ? `${transfers}/dry-run` : transfers;
      return () => {
        const { member, account } = source();
        const { accountsPerInstitution: own } = people;
        const first = account - (account % own);
        const other = first + ((account - first + 1 + Math.floor(Math.random() * (own - 1))) % own);
        requests += 1;
        return {
          method: 'POST',
          path,
          headers: [...bearerOf(member), 'content-type', 'application/json'],
          body: `{"id":"${run}-${requests}","fromAccountId":"${accountId(account)}","toAccountId":"${accountId(other)}","amount":0.01}`,
        };
      };
    }
    case 'account':
    case 'unchanged': {
      // An asterisk fits any answer, as the ETag of the newest one does.
      const more = job.traffic === 'unchanged' ? ['if-none-match', '*'] : [];
      return () => {
        const { member, account } = source();
        return {
          method: 'GET',
          path: `/digitalbanking/db-accounts/v1/accounts/${accountId(account)}`,
          headers: [...bearerOf(member), ...more],
        };
      };
    }
    case 'accounts':
      return () => {
        const { member } = source();
        return {
          method: 'GET',
          path: `/digitalbanking/ux-users/v1/customers/${customerId(member)}/accounts`,
          headers: bearerOf(member),
        };
      };
    case 'profile':
      return () => {
        const { member } = source();
        return {
          method: 'GET',
          path: `/digitalbanking/ux-users/v1/customers/${customerId(member)}/contact-methods`,
          headers: bearerOf(member),
        };
      };
    case 'page':
      return () => {
        const { member, account } = source();
        return {
          method: 'GET',
          path: `/digitalbanking/db-accounts/v1/accounts/${accountId(account)}/transactions?limit=50`,
          headers: bearerOf(member),
        };
      };
  }
}

function tokenRequests({ credentials }: Job): () => Request {
  const body = new URLSearchParams({
    grant_type: 'client_credentials',
    client_id: credentials?.clientId ?? '',
    client_secret: credentials?.clientSecret ?? '',
  }).toString();
  const headers = ['content-type', 'application/x-www-form-urlencoded'];
  return () => ({ method: 'POST', path: '/auth/v2/token', headers, body });
}

function pickSource({ sources = 'uniform' }: Job, count: number): () => number {
  if (sources === 'hot') return () => 0;
  if (sources === 'each') {
    let next = -1;
    return () => {
      next = (next + 1) % count;
      return next;
    };
  }
  // Each member comes once before any comes again, so the first run fills the cache of verified tokens.
  let first = 0;
  if (sources === 'uniform') {
    return () => {
      const picked = Math.floor(Math.random() * (first < count ? accountsPerMember : count));
      const from = first;
      if (first < count) first += accountsPerMember;
      return from < count ? from + picked : picked;
    };
  }
  // Zipf: the k-th most used account is used k^-1.1 times as often as the first. The ranks are spread over all accounts.
  const shares = Float64Array.from({ length: count }, (_, rank) => (rank + 1) ** -1.1);
  let sum = 0;
  const upTo = shares.map((share) => {
    sum += share;
    return sum;
  });
  return () => {
    const at = Math.random() * sum;
    let [low, high] = [0, count - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((upTo[middle] as number) < at) low = middle + 1;
      else high = middle;
    }
    return (low * 7919) % count;
  };
}
