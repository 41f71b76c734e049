import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { clientCredentials, type Event, Sharedraft } from '../../client/src/index.ts';
import { embeddedLogin } from '../../src/storage/index.ts';
import { asSuperuser, serviceRole, templateName, useCluster } from '../support/postgres.ts';
import { addressOf, exitOf, isRunning, type Launched, launch } from '../support/processes.ts';
import { mulberry32, pick, type Random } from '../support/random.ts';
import { HostileReceiver } from './hostile-receiver.ts';

/*
 * Two processes send the events of one database to hostile receivers, while members pay, processes are killed with -9 and the database is
 * restored from a backup. The plan follows from the seed; how the processes race does not. Waits between attempts are cut short, since
 * the schedule takes days.
 */

export interface HazardOptions {
  readonly seed: number;
  /** The time with hostile receivers and kills, once before the restore and once after it. */
  readonly seconds: number;
  /** The longest time that a receiver takes to respond. */
  readonly lateMillis: number;
  readonly say?: (line: string) => void;
}

export interface HazardResult {
  /** Sentences about what must not be; none if all is well. */
  readonly faults: readonly string[];
  readonly events: number;
  readonly arrivals: number;
  readonly repeated: number;
  readonly lostByReceivers: number;
  readonly filledFromFeed: number;
  readonly undoneByRestore: number;
  readonly kills: number;
}

const environment = { SECRET_KEY: 'cd'.repeat(32), ALLOW_DEMO_ANYWHERE: 'true', LOG_LEVEL: 'info' };
const accounts = [1, 2, 3].flatMap((member) => [`a-100${member}-checking`, `a-100${member}-savings`]);
const orderings = ['ACCOUNT', 'STRICT'] as const;
const patienceMillis = 120_000;

/** A receiver with its endpoint. */
interface Endpoint {
  readonly name: string;
  readonly endpointId: string;
  readonly receiver: HostileReceiver;
  /** The last event before its first. */
  readonly start: number;
}

export async function endureHazards(options: HazardOptions): Promise<HazardResult> {
  const cluster = await useCluster();
  const database = new RestorableDatabase(cluster.connection);
  const bank = new Bank(database, options);
  try {
    await database.create(templateName);
    return await bank.run();
  } finally {
    await bank.stop();
    await database.drop();
    await cluster.stop();
  }
}

type Connection = Awaited<ReturnType<typeof useCluster>>['connection'];

/** A database that can be put back to an earlier state, under the same name. */
class RestorableDatabase {
  readonly #cluster: Connection;
  readonly #name = `hazards_${randomUUID().replaceAll('-', '')}`;

  constructor(cluster: Connection) {
    this.#cluster = cluster;
  }

  get url(): string {
    return `postgresql://${embeddedLogin}@localhost/${this.#name}?host=${encodeURIComponent(this.#cluster.host)}`;
  }

  async create(from: string): Promise<void> {
    await this.#run(
      `create database ${this.#name} template ${from}`,
      `revoke connect, temporary on database ${this.#name} from public`,
      `grant connect on database ${this.#name} to ${serviceRole}`,
    );
  }

  /** The service must be stopped. */
  async backUp(): Promise<void> {
    await this.#run(
      `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${this.#name}'`,
      `create database ${this.#name}_backup template ${this.#name}`,
    );
  }

  async restore(): Promise<void> {
    await this.#run(`drop database ${this.#name} with (force)`);
    await this.create(`${this.#name}_backup`);
  }

  async drop(): Promise<void> {
    await this.#run(
      `drop database if exists ${this.#name} with (force)`,
      `drop database if exists ${this.#name}_backup with (force)`,
    );
  }

  async sql(text: string): Promise<void> {
    const connection = { ...this.#cluster, database: this.#name };
    await asSuperuser(connection, (client) => client.query(text));
  }

  async #run(...statements: readonly string[]): Promise<void> {
    await asSuperuser(this.#cluster, async (client) => {
      for (const statement of statements) await client.query(statement);
    });
  }
}

class Bank {
  readonly #database: RestorableDatabase;
  readonly #options: HazardOptions;
  readonly #random: Random;
  readonly #client: Sharedraft;
  readonly #faults: string[] = [];
  readonly #launched = new Set<Launched>();
  #served: { readonly launched: Launched; readonly address: string }[] = [];
  #endpoints: Endpoint[] = [];
  #orders = 0;
  #kills = 0;

  constructor(database: RestorableDatabase, options: HazardOptions) {
    this.#database = database;
    this.#options = options;
    this.#random = mulberry32(options.seed);
    const app = { clientId: 'demo-app', clientSecret: 'demo-app-secret' };
    this.#client = new Sharedraft({
      baseUrl: 'http://bank.invalid',
      auth: clientCredentials(app),
      maxRetries: 50,
      // To a process that serves, as a proxy would.
      fetch: (input, init) => {
        const { pathname, search } = new URL(String(input));
        const { address = 'http://127.0.0.1:1' } = this.#served[this.#random(this.#served.length || 1)] ?? {};
        return fetch(`${address}${pathname}${search}`, init);
      },
    });
  }

  async run(): Promise<HazardResult> {
    await this.#serve();
    this.#endpoints = await Promise.all(orderings.map((ordering) => this.#endpointOf(ordering)));
    this.#say('two processes serve');
    await this.#calm();
    this.#say('30 events came once');
    await this.#hazards();
    this.#say('the backup is taken');
    await this.#killAll();
    await this.#database.backUp();
    await this.#serve();
    await this.#hazards();
    const before = await this.#feed(0);
    this.#say('the database is restored');
    await this.#killAll();
    await this.#database.restore();
    const restored = launch([process.execPath, 'src/main.ts', 'restored'], this.#environment());
    if ((await exitOf(restored.child)) !== 0) throw new Error(restored.output());
    await this.#serve();
    await this.#hazards();
    this.#say('the receivers behave');
    await this.#settle();
    this.#say('all events are accepted');
    return this.#compare(before);
  }

  async stop(): Promise<void> {
    await this.#killAll();
    for (const { receiver } of this.#endpoints) await receiver.stop();
  }

  #say(line: string): void {
    this.#options.say?.(`${(performance.now() / 1_000).toFixed(1)} s: ${line}`);
  }

  #environment(): Record<string, string> {
    return { ...environment, DATABASE_URL: this.#database.url };
  }

  async #serve(): Promise<void> {
    // The leases of killed processes, which end by themselves within a minute.
    await this.#database.sql('update webhook_endpoints set lease_until = now() where lease_until > now()');
    // The first process of all loads the demo.
    if (this.#endpoints.length === 0) await this.#launch();
    await Promise.all(Array.from({ length: 2 - this.#served.length }, () => this.#launch()));
  }

  async #launch(): Promise<void> {
    const launched = launch([process.execPath, 'src/main.ts', 'serve'], this.#environment());
    this.#launched.add(launched);
    this.#served.push({ launched, address: await addressOf(launched) });
  }

  async #kill(): Promise<void> {
    const [killed] = this.#served.splice(this.#random(this.#served.length), 1);
    if (killed === undefined || !isRunning(killed.launched.child)) return;
    killed.launched.child.kill('SIGKILL');
    await exitOf(killed.launched.child);
    this.#kills += 1;
  }

  async #killAll(): Promise<void> {
    this.#served = [];
    for (const { child } of this.#launched) child.kill('SIGKILL');
    for (const { child } of this.#launched) await exitOf(child);
    this.#launched.clear();
  }

  async #endpointOf(ordering: (typeof orderings)[number]): Promise<Endpoint> {
    const receiver = new HostileReceiver(
      mulberry32(this.#options.seed + ordering.length),
      this.#options.lateMillis,
    );
    await receiver.start();
    const created = await this.#client.webhooks.create({ url: receiver.url, ordering });
    receiver.secret = created.keys?.secret ?? '';
    return { name: ordering, endpointId: created.endpointId, receiver, start: created.sequence };
  }

  async #order(): Promise<void> {
    const fromAccountId = pick(this.#random, accounts);
    const toAccountId = pick(
      this.#random,
      accounts.filter((account) => account !== fromAccountId),
    );
    this.#orders += 1;
    const id = `hazard-${this.#orders}`;
    await this.#client.transfers.create({ id, fromAccountId, toAccountId, amount: '0.01' });
  }

  /** Two processes, receivers that are slow but sound, and no kill: each event comes once. */
  async #calm(): Promise<void> {
    for (let order = 0; order < 30; order += 1) await this.#order();
    await this.#untilAccepted();
    for (const { name, receiver } of this.#endpoints) {
      const ids = receiver.arrivals.map(({ event }) => event.eventId);
      if (new Set(ids).size !== ids.length)
        this.#faults.push(`${name}: an event came twice without a reason`);
    }
  }

  async #hazards(): Promise<void> {
    for (const { receiver } of this.#endpoints) receiver.isHostile = true;
    const until = performance.now() + this.#options.seconds * 1_000;
    const isTime = () => performance.now() < until;
    const orders = async () => {
      while (isTime()) {
        await this.#order();
        await sleep(this.#random(30));
      }
    };
    const kills = async () => {
      await sleep(this.#random(this.#options.seconds * 300));
      while (isTime()) {
        await this.#kill();
        await this.#serve();
        await sleep(1_000 + this.#random(4_000));
      }
    };
    const deaths = async () => {
      while (isTime()) {
        await sleep(500 + this.#random(2_000));
        const { receiver } = pick(this.#random, this.#endpoints);
        await receiver.stop();
        await sleep(this.#random(400));
        await receiver.start();
      }
    };
    const hurry = async () => {
      while (isTime()) {
        await this.#hurry();
        await sleep(200);
      }
    };
    await Promise.all([orders(), kills(), deaths(), hurry()]);
  }

  /** The next attempts are due now. */
  async #hurry(): Promise<void> {
    await this.#database.sql(
      'update webhook_deliveries set next_attempt_at = now() where next_attempt_at > now()',
    );
    await this.#database.sql(
      'update webhook_endpoints set next_attempt_at = now() where next_attempt_at > now()',
    );
  }

  /** Waits, with receivers that behave, until they have accepted all events. */
  async #settle(): Promise<void> {
    for (const { receiver } of this.#endpoints) receiver.isHostile = false;
    await this.#order();
    await this.#untilAccepted();
  }

  async #untilAccepted(): Promise<void> {
    const newest = (await this.#feed(0)).at(-1)?.sequence ?? 0;
    for (const { name, endpointId } of this.#endpoints) {
      for (const deadline = performance.now() + patienceMillis; ; await sleep(100)) {
        const { sequence } = await this.#client.webhooks.get(endpointId);
        const { items } = await this.#client.webhooks.deliveries(endpointId, { state: 'WAITING' });
        if (sequence >= newest && items.length === 0) break;
        if (performance.now() > deadline)
          throw new Error(`${name}: ${items.length} events wait at ${sequence} of ${newest}`);
        await this.#hurry();
      }
    }
  }

  /** All events with a larger sequence. */
  async #feed(after: number): Promise<Event[]> {
    const all: Event[] = [];
    for (;;) {
      const { events } = await this.#client.events.read({ from: after + all.length + 1, limit: 200 });
      all.push(...events);
      if (events.length < 200) return all;
    }
  }

  async #compare(beforeRestore: readonly Event[]): Promise<HazardResult> {
    const feed = await this.#feed(0);
    const ids = new Set(feed.map(({ eventId }) => eventId));
    for (const endpoint of this.#endpoints) await this.#check(endpoint, feed);
    const receivers = this.#endpoints.map(({ receiver }) => receiver);
    const arrivals = receivers.reduce((sum, receiver) => sum + receiver.arrivals.length, 0);
    const different = receivers.map(
      ({ arrivals: those }) => new Set(those.map(({ event }) => event.eventId)).size,
    );
    return {
      faults: this.#faults,
      events: feed.length,
      arrivals,
      repeated: arrivals - different.reduce((sum, count) => sum + count, 0),
      lostByReceivers: receivers.reduce((sum, { lost }) => sum + lost.size, 0),
      filledFromFeed: receivers.reduce((sum, { filled }) => sum + filled.size, 0),
      undoneByRestore: beforeRestore.filter(({ eventId }) => !ids.has(eventId)).length,
      kills: this.#kills,
    };
  }

  async #check({ name, endpointId, receiver, start }: Endpoint, feed: readonly Event[]): Promise<void> {
    const parked = (await this.#client.webhooks.deliveries(endpointId)).items;
    if (parked.length > 0) this.#faults.push(`${name}: ${parked.length} events are parked`);
    if (receiver.redirectsFollowed > 0) this.#faults.push(`${name}: a redirect was followed`);
    const wanted = feed.filter(({ sequence }) => sequence > start);
    const firstAccepted = new Map<string, number>();
    const firstCame = new Map<string, number>();
    for (const { event, cameAt, acceptedAt } of receiver.arrivals) {
      if (!firstCame.has(event.eventId)) firstCame.set(event.eventId, cameAt);
      if (acceptedAt === undefined) continue;
      firstAccepted.set(event.eventId, Math.min(acceptedAt, firstAccepted.get(event.eventId) ?? acceptedAt));
    }
    for (const { eventId } of wanted)
      if (!firstAccepted.has(eventId)) this.#faults.push(`${name}: ${eventId} was never accepted`);
    const lastOf = new Map<string, Event>();
    for (const event of wanted) {
      for (const { accountId } of event.accounts) {
        const earlier = lastOf.get(accountId);
        lastOf.set(accountId, event);
        if (earlier === undefined) continue;
        const accepted = firstAccepted.get(earlier.eventId) ?? Number.POSITIVE_INFINITY;
        if ((firstCame.get(event.eventId) ?? 0) < accepted)
          this.#faults.push(
            `${name}: ${event.eventId} came before ${earlier.eventId} of ${accountId} was accepted`,
          );
      }
    }
    for (const { eventId, sequence } of wanted) {
      const isKept = receiver.stored.get(sequence)?.eventId === eventId;
      if (!isKept && !receiver.lost.has(eventId))
        this.#faults.push(`${name}: ${eventId} is missing without a reason`);
    }
    await receiver.complete(this.#client, start);
    const stored = [...receiver.stored.values()].toSorted((one, other) => one.sequence - other.sequence);
    if (stored.map(({ eventId }) => eventId).join() !== wanted.map(({ eventId }) => eventId).join())
      this.#faults.push(`${name}: the receiver does not end equal to the feed`);
  }
}
