import { type ChildProcess, spawn } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type Fault, faultNames } from '../../dev/demo-core/faults.ts';
import { Client, type Reply } from './client.ts';
import { appClient, code, coreClient, type MonthMember, openBank, writeExtract } from './month-bank.ts';
import { compareBooks, type MonthResult } from './month-checks.ts';
import { addressOf, exitOf, isRunning, type Launched, launch, postmasterOf } from './processes.ts';
import { mulberry32, pick, type Random } from './random.ts';

/*
 * A simulated month: the service, the simulated core with its connector, and the database, as processes that are killed and disturbed, while
 * members order transfers at the service and the core posts its own days. The plan of the month follows from the seed: the members, their
 * orders, the core's days, the faults and kills with their times. How the processes race is not in the plan.
 *
 * Each start of the core begins with a connector that loses postings, so that every month has breaks to name.
 */

export interface MonthOptions {
  readonly seed: number;
  /** Days of the core. */
  readonly days: number;
  readonly members: number;
  /** Real seconds for a day of the core. */
  readonly daySeconds: number;
  /** Orders of the members in a day. */
  readonly ordersPerDay: number;
  /** Between two disturbances, at most. */
  readonly calmSeconds: number;
  readonly say?: (line: string) => void;
}

export interface Month extends MonthResult {
  readonly orders: Readonly<Record<string, number>>;
  readonly disturbances: Readonly<Record<string, number>>;
  readonly seconds: number;
}

type Disturbance = Fault | 'kill service' | 'kill core' | 'kill database';
const kills = ['kill service', 'kill core', 'kill database'] as const;
const root = fileURLToPath(new URL('../..', import.meta.url));
const transfers = '/digitalbanking/db-transfers/v1/transfers';
/** Both sides agree within this time after the last disturbance. */
const patienceSeconds = 180;

export async function simulateMonth(options: MonthOptions): Promise<Month> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'sharedraft-month-'));
  await chmod(folder, 0o755);
  const month = new Processes(folder, options);
  try {
    return await month.run();
  } finally {
    await month.end();
    await rm(folder, { recursive: true, force: true });
  }
}

class Processes {
  readonly #folder: string;
  readonly #options: MonthOptions;
  readonly #random: Random;
  readonly #say: (line: string) => void;
  #environment: Record<string, string> = {};
  #address = '';
  #service: Launched | undefined;
  #core: ChildProcess | undefined;
  #isEnding = false;
  readonly #counts: Record<string, number> = {};

  constructor(folder: string, options: MonthOptions) {
    this.#folder = folder;
    this.#options = options;
    this.#random = mulberry32(options.seed);
    this.#say = options.say ?? (() => {});
  }

  get #coreFolder(): string {
    return path.join(this.#folder, 'core');
  }

  async run(): Promise<Month> {
    const { days, daySeconds, members: count } = this.#options;
    const startedAt = performance.now();
    const port = await freePort();
    this.#address = `http://127.0.0.1:${port}`;
    this.#environment = {
      DATA_DIR: path.join(this.#folder, 'data'),
      PORT: String(port),
      PUBLIC_URL: this.#address,
      // A few seconds of silence are an absence, so that stand-in happens.
      CORE_LATE_SECONDS: '1',
      CORE_AWAY_SECONDS: '2',
      LOG_LEVEL: 'info',
    };
    const extract = path.join(this.#folder, 'extract');
    const members = await writeExtract(extract, count, this.#random);
    await openBank(this.#environment, extract, await this.#makeKey());
    this.#say(`${code} is open after ${seconds(startedAt)} s`);

    await this.#startService();
    this.#startCore();
    const monthSeconds = days * daySeconds;
    const until = performance.now() + monthSeconds * 1_000;
    const ordered = new Set<string>();
    const orders: Record<string, number> = {};
    const left = { count: days * this.#options.ordersPerDay };
    await Promise.all([
      this.#disturb(until),
      ...Array.from({ length: 6 }, (_, n) => this.#order(members, { n, until, ordered, orders, left })),
    ]);
    this.#say(`the days are over after ${seconds(startedAt)} s: ${JSON.stringify(this.#counts)}`);
    await this.#settle();
    await this.end();
    const result = await compareBooks(this.#environment.DATA_DIR ?? '', this.#coreFolder, ordered);
    return { ...result, orders, disturbances: this.#counts, seconds: seconds(startedAt) };
  }

  async end(): Promise<void> {
    this.#isEnding = true;
    this.#core?.kill('SIGTERM');
    if (this.#core && isRunning(this.#core)) await once(this.#core, 'exit');
    if (this.#service && isRunning(this.#service.child)) {
      this.#service.child.kill('SIGTERM');
      await exitOf(this.#service.child);
    }
  }

  async #makeKey(): Promise<string> {
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    await mkdir(this.#coreFolder, { recursive: true });
    const pem = privateKey.export({ type: 'pkcs8', format: 'pem' });
    await writeFile(path.join(this.#coreFolder, 'key.pem'), pem, { mode: 0o600 });
    return publicKey.export({ type: 'spki', format: 'pem' }) as string;
  }

  /** Resolves when it serves, and starts it again whenever it ends. */
  async #startService(): Promise<void> {
    const launched = launch([process.execPath, 'src/main.ts', 'serve'], this.#environment);
    this.#service = launched;
    launched.child.once('exit', () => {
      if (!this.#isEnding) void this.#startService().catch(() => {});
    });
    await addressOf(launched);
  }

  #startCore(): void {
    const { days, daySeconds, seed } = this.#options;
    const parameters = {
      url: this.#address,
      client: coreClient,
      folder: this.#coreFolder,
      extract: path.join(this.#folder, 'extract'),
      seed: String(seed),
      history: '0',
      replay: String(days),
      speed: String(Math.round(86_400 / daySeconds)),
    };
    const words = Object.entries(parameters).flatMap(([name, value]) => [`--${name}`, value]);
    this.#core = spawn(
      process.execPath,
      [path.join(root, 'dev/demo-core/main.ts'), ...words, '--fault', 'loses', '--ends-with-stdin'],
      { stdio: ['pipe', 'pipe', 'inherit'] },
    );
    this.#core.stdout?.on('data', (chunk) => {
      const text = String(chunk);
      if (/refused|damaged/.test(text)) this.#say(text.trim().slice(0, 500));
    });
    this.#core.once('exit', () => {
      if (!this.#isEnding) setTimeout(() => this.#isEnding || this.#startCore(), 200);
    });
  }

  /**
   * A kill, or a fault that lasts for up to two seconds, then a pause. Every round has each of them once, in another order. The first round
   * begins with the kills, so that a short month has them too.
   */
  async #disturb(until: number): Promise<void> {
    let plan: Disturbance[] = [...shuffle(this.#random, faultNames), ...shuffle(this.#random, kills)];
    for (;;) {
      if (plan.length === 0) plan = shuffle(this.#random, [...kills, ...faultNames]);
      const what = plan.pop() as Disturbance;
      const pause = 200 + this.#random(1_000 * this.#options.calmSeconds);
      const lasting = what === 'away' ? 2_500 : 300 + this.#random(1_700);
      if (performance.now() + pause > until) return;
      await sleep(pause);
      this.#counts[what] = (this.#counts[what] ?? 0) + 1;
      if (what === 'kill service') {
        if (this.#service && isRunning(this.#service.child)) this.#service.child.kill('SIGKILL');
      } else if (what === 'kill core') {
        this.#core?.kill('SIGKILL');
      } else if (what === 'kill database') {
        await this.#killDatabase();
      } else {
        await this.#switch(what, 'on');
        if (what === 'dies') continue;
        await sleep(lasting);
        await this.#switch(what, 'off');
      }
    }
  }

  async #killDatabase(): Promise<void> {
    try {
      process.kill(await postmasterOf(this.#environment.DATA_DIR ?? ''), 'SIGKILL');
    } catch {
      // It is on its way up again.
    }
  }

  /** A core that is down has no faults when it is back. */
  async #switch(fault: Fault, word: 'on' | 'off'): Promise<void> {
    const address = await this.#controlAddress();
    await fetch(`${address}/faults/${fault}`, { method: 'PUT', body: word }).catch(() => {});
  }

  async #controlAddress(): Promise<string> {
    return (await readFile(path.join(this.#coreFolder, 'control'), 'utf8').catch(() => '')).trim();
  }

  /** One member after the other orders a transfer, and repeats it until it has an answer. */
  async #order(
    members: readonly MonthMember[],
    run: {
      readonly n: number;
      readonly until: number;
      readonly ordered: Set<string>;
      readonly orders: Record<string, number>;
      readonly left: { count: number };
    },
  ): Promise<void> {
    const random = mulberry32(this.#options.seed + 7_919 * (run.n + 1));
    const { days, daySeconds, ordersPerDay } = this.#options;
    const pause = (2 * 6 * daySeconds * 1_000) / ordersPerDay;
    const app = new App(this.#address);
    // On a slow machine the days are over before there was time for many orders.
    const isTime = () => performance.now() < run.until || run.ordered.size < (days * ordersPerDay) / 4;
    for (let n = 0; isTime() && run.left.count > 0; n += 1) {
      run.left.count -= 1;
      const id = `${run.n}-${n}-of-${days}`;
      const answer = await app.untilAnswered(
        transfers,
        orderOf(id, members, random),
        random(4) === 0 ? 2 : 0,
      );
      const name = answer.status < 300 ? String(answer.body.status) : String(answer.body.code);
      run.orders[name] = (run.orders[name] ?? 0) + 1;
      if (answer.status < 300) run.ordered.add(id);
      if (answer.body?.status === 'PENDING' && random(5) === 0) {
        const cancelled = await app.untilAnswered(`${transfers}/${id}/cancel`, {}, 0);
        const word = cancelled.status < 300 ? 'cancelled' : `not cancelled: ${cancelled.body.code}`;
        run.orders[word] = (run.orders[word] ?? 0) + 1;
      }
      await sleep(random(Math.ceil(pause)));
    }
  }

  /** Waits until nothing is under way on either side. */
  async #settle(): Promise<void> {
    for (const fault of faultNames) await this.#switch(fault, 'off');
    const app = new App(this.#address);
    const deadline = performance.now() + patienceSeconds * 1_000;
    let quiet = 0;
    for (let state = ''; quiet < 3; await sleep(300)) {
      if (performance.now() > deadline) throw new Error(`nothing settles: ${state}`);
      const desk = await fetch(await this.#controlAddress()).then(
        (response) => response.json() as Promise<Record<string, unknown>>,
        () => undefined,
      );
      const pending = await app.pending();
      state = JSON.stringify({ desk, pending });
      const isCurrent = Date.now() - Date.parse(String(desk?.time)) < 5_000;
      const isQuiet =
        isCurrent &&
        desk?.undelivered === 0 &&
        desk?.unannounced === 0 &&
        desk?.unreported === 0 &&
        pending === 0;
      quiet = isQuiet ? quiet + 1 : 0;
      if (desk && Object.values(desk.faults as object).includes(true)) {
        for (const fault of faultNames) await this.#switch(fault, 'off');
      }
    }
    // The first comparison names the postings that were lost since the last one, the second finds that all of them have arrived.
    for (let count = 0; count < 2; count += 1) await this.#compare(deadline);
    // The sweep that ends authorizations, breaks, and instructions whose transfers were completed at once.
    await sleep(2_500);
  }

  /** Lets the core send its balances, and waits until the service has compared them. */
  async #compare(deadline: number): Promise<void> {
    const address = await this.#controlAddress();
    await fetch(`${address}/comparison`, { method: 'PUT' });
    for (;;) {
      const desk = (await (await fetch(address)).json()) as Record<string, unknown>;
      if (desk.isComparing === false) return;
      if (performance.now() > deadline)
        throw new Error(`the balances are not compared: ${JSON.stringify(desk)}`);
      await sleep(100);
    }
  }
}

/** A client of the bank that repeats a request until the service has answered it. */
class App {
  readonly #client: Client;
  #token = '';

  constructor(address: string) {
    this.#client = new Client(address);
  }

  async untilAnswered(target: string, body: object, wait: number): Promise<Reply> {
    for (;;) {
      const answer = await this.#try(() =>
        this.#client.post(target, {
          json: body,
          headers: { authorization: `Bearer ${this.#token}`, prefer: `wait=${wait}` },
        }),
      );
      if (answer !== undefined) return answer;
    }
  }

  /** Transfers that are not decided. */
  async pending(): Promise<number | undefined> {
    const answer = await this.#try(() =>
      this.#client.get(`${transfers}?status=PENDING&limit=10`, {
        headers: { authorization: `Bearer ${this.#token}` },
      }),
    );
    return answer?.status === 200 ? answer.body.length : undefined;
  }

  /** Undefined if it must be tried again. */
  async #try(send: () => Promise<Reply>): Promise<Reply | undefined> {
    const answer = await send().catch((error) => {
      if (error instanceof TypeError) return undefined;
      throw error;
    });
    if (answer !== undefined && answer.status < 500 && ![401, 429].includes(answer.status)) return answer;
    if (answer?.status === 401) await this.#login();
    else await sleep(100);
    return undefined;
  }

  async #login(): Promise<void> {
    const [client_id, client_secret] = appClient;
    const form = { grant_type: 'client_credentials', client_id, client_secret };
    const answer = await this.#client.post('/auth/v2/token', { form }).catch(() => undefined);
    this.#token = answer?.body?.access_token ?? '';
  }
}

function orderOf(id: string, members: readonly MonthMember[], random: Random): object {
  const member = pick(random, members);
  const amount = (1 + random(random(8) === 0 ? 150_000 : 12_000)) / 100;
  const kind = random(10);
  if (kind < 4) return { id, fromAccountId: member.checking, toAccountId: member.savings, amount };
  if (kind < 7) return { id, fromAccountId: member.savings, toAccountId: member.checking, amount };
  const payee = pick(random, members);
  return { id, fromAccountId: member.checking, toAccountId: payee.checking, amount };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

function shuffle<T>(random: Random, items: readonly T[]): T[] {
  return items
    .map((item) => [random(2 ** 30), item] as const)
    .sort(([a], [b]) => a - b)
    .map(([, item]) => item);
}

function seconds(since: number): number {
  return Math.round((performance.now() - since) / 100) / 10;
}
