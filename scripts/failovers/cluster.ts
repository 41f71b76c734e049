import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseEnv } from 'node:util';
import { Agent, request } from 'undici';
import { embeddedLogin, type SocketConnection } from '../../src/storage/index.ts';
import { childrenOf } from '../../test/support/processes.ts';
import {
  addressOf,
  makeCertificate,
  opsFile,
  proxyOf,
  replaced,
  type ServerNumber,
  serverNumbers,
  standIns,
} from './settings.ts';
import { Supervised } from './supervised.ts';

export type Mode = 'sync' | 'async';

/** Seconds. Shorter than those of ops/patroni, so that a hundred fail-overs fit into less than an hour. Patroni 4 takes 20 for a shorter `ttl`. */
export const times = { ttl: 8, loop_wait: 1, retry_timeout: 3 } as const;

const database = 'bank';
/** Of ops/patroni. */
export const superuser = { login: 'postgres', password: 'change-me-1' } as const;
/** A busy machine takes minutes to rewind a server. */
const patienceMillis = 600_000;
/** Bytes. The load goes on, and the lag is that of the last report. */
const mostLag = 1_000_000;
const askMillis = 2_000;
const pollMillis = 300;

interface Member {
  readonly name: string;
  readonly role: string;
  readonly state: string;
  readonly timeline?: number;
  readonly lag?: number | string;
}

interface PatroniChoice {
  readonly program: string;
  readonly api: 'etcd' | 'etcd3';
}

interface Server {
  readonly number: ServerNumber;
  readonly home: string;
  readonly etcd: Supervised;
  readonly patroni: Supervised;
}

/** Three servers with the settings of ops/patroni on addresses of the loopback interface, and the proxy in front of them. */
export class Cluster {
  readonly #folder: string;
  readonly #network: string;
  readonly #mode: Mode;
  readonly #patroni: PatroniChoice;
  readonly #servers: readonly Server[];
  readonly #proxy: Supervised;
  readonly #agent: Agent;

  constructor({
    folder,
    network,
    mode,
    programs,
    patroni,
  }: {
    readonly folder: string;
    readonly network: string;
    readonly mode: Mode;
    readonly programs: string;
    readonly patroni: PatroniChoice;
  }) {
    this.#folder = folder;
    this.#network = network;
    this.#mode = mode;
    this.#patroni = patroni;
    this.#servers = serverNumbers.map((number) => this.#prepare(number, programs));
    this.#proxy = new Supervised({
      command: 'haproxy',
      parameters: ['-f', path.join(folder, 'db1/haproxy.cfg')],
      log: path.join(folder, 'haproxy.log'),
      options: {},
    });
    const cert = readFileSync(this.certificate);
    this.#agent = new Agent({
      connect: { ca: cert, cert, key: readFileSync(path.join(folder, 'db1/server.key')), timeout: askMillis },
      headersTimeout: askMillis,
      bodyTimeout: askMillis,
    });
  }

  /** The certificate of all servers, which is its own authority. */
  get certificate(): string {
    return path.join(this.#folder, 'db1/ca.pem');
  }

  /** `proxy` finds the primary by HAProxy; `hosts` lists all servers and leaves the search to the service. */
  urlOf(login: string, password: string, way: 'proxy' | 'hosts'): string {
    const hosts =
      way === 'proxy'
        ? `${proxyOf(this.#network)}:5432`
        : serverNumbers.map((server) => `${addressOf(this.#network, server)}:5432`).join(',');
    return `postgresql://${login}:${password}@${hosts}/${database}?sslmode=verify-full&sslrootcert=${this.certificate}`;
  }

  #prepare(number: ServerNumber, programs: string): Server {
    const home = path.join(this.#folder, `db${number}`);
    mkdirSync(path.join(home, 'socket'), { recursive: true });
    const words = [
      ...standIns({ network: this.#network, folder: this.#folder, server: number, programs }),
      ...Object.entries(times).map(([name, seconds]) => [
        new RegExp(`${name}: \\d+`).exec(readFileSync(opsFile('patroni.yml'), 'utf8'))?.[0] ?? name,
        `${name}: ${seconds}`,
      ]),
      ...(this.#mode === 'async'
        ? [
            ['synchronous_mode: true', 'synchronous_mode: false'],
            ['synchronous_mode_strict: true', 'synchronous_mode_strict: false'],
          ]
        : []),
      // This process is root or any user, not the one of the server.
      ['local all postgres peer', 'local all all trust'],
      ['bank_owner,bank_app,bank_dump', `${embeddedLogin},${superuser.login}`],
      // PostgreSQL 17 keeps copies of the slots of moves at the standbys (docs/cells.md).
      ...(keepsSlots(programs)
        ? [
            [
              'hot_standby: "on"',
              'hot_standby: "on"\n        hot_standby_feedback: "on"\n        sync_replication_slots: "on"',
            ],
          ]
        : []),
      ['\netcd:', `\n${this.#patroni.api}:`],
    ] as readonly (readonly [string, string])[];
    for (const name of ['patroni.yml', 'etcd.env', 'haproxy.cfg'])
      writeFileSync(path.join(home, name), replaced(readFileSync(opsFile(name), 'utf8'), words));
    const shared = path.join(this.#folder, 'server.pem');
    if (number === 1)
      makeCertificate(this.#network, { cert: shared, key: path.join(this.#folder, 'server.key') });
    copyFileSync(shared, path.join(home, 'ca.pem'));
    copyFileSync(shared, path.join(home, 'server.pem'));
    copyFileSync(path.join(this.#folder, 'server.key'), path.join(home, 'server.key'));
    execFileSync('chmod', ['600', path.join(home, 'server.key')]);
    // PostgreSQL refuses to run as root.
    const owner = process.getuid?.() === 0 ? idsOf('postgres') : undefined;
    if (owner) execFileSync('chown', ['-R', `${owner.uid}:${owner.gid}`, home]);
    const supervised = (command: string, parameters: readonly string[], more: object = {}) =>
      new Supervised({
        command,
        parameters,
        log: path.join(this.#folder, `${path.basename(command)}${number}.log`),
        options: { cwd: home, env: { PATH: process.env.PATH, ...more }, ...owner },
      });
    return {
      number,
      home,
      etcd: supervised('etcd', [], parseEnv(readFileSync(path.join(home, 'etcd.env'), 'utf8'))),
      patroni: supervised(this.#patroni.program, [path.join(home, 'patroni.yml')]),
    };
  }

  /** Starts everything, makes the database, and waits for both standbys. */
  async start(): Promise<void> {
    for (const { etcd } of this.#servers) etcd.start();
    for (const { patroni } of this.#servers) patroni.start();
    await this.untilWhole();
    this.#proxy.start();
  }

  /** The server that holds the leader's key. `besides` is not asked. */
  async leader(besides?: ServerNumber): Promise<ServerNumber> {
    const leader = (await this.#members(besides)).find(({ role }) => role === 'leader');
    if (leader === undefined) throw new Error('No server holds the leader key.');
    return Number(leader.name.slice(2)) as ServerNumber;
  }

  async untilAnotherLeads(than: ServerNumber): Promise<ServerNumber> {
    return patiently('another server leads', async () => {
      const leader = await this.leader(than);
      if (leader === than) throw new Error(`db${than} still leads.`);
      return leader;
    });
  }

  /** Waits until one server leads, both others follow it on its timeline, and one is synchronous if one should be. */
  async untilWhole(): Promise<void> {
    await patiently('the cluster is whole', async () => {
      const members = await this.#members();
      const leader = members.find(({ role, state }) => role === 'leader' && state === 'running');
      const followers = members.filter(
        ({ role, state, timeline, lag }) =>
          role !== 'leader' &&
          /running|streaming/.test(state) &&
          timeline === leader?.timeline &&
          Number(lag) < mostLag,
      );
      const isSynchronous = members.some(({ role }) => role === 'sync_standby');
      if (leader && followers.length === 2 && (this.#mode === 'async' || isSynchronous)) return;
      throw new Error(JSON.stringify(members));
    });
  }

  /** The synchronous standby, or any standby of an asynchronous cluster. */
  async successor(): Promise<ServerNumber> {
    const members = await this.#members();
    const one = members.find(({ role }) => role === (this.#mode === 'sync' ? 'sync_standby' : 'replica'));
    if (one === undefined) throw new Error('There is no standby to switch to.');
    return Number(one.name.slice(2)) as ServerNumber;
  }

  async #members(besides?: ServerNumber): Promise<readonly Member[]> {
    // One after the other: each question is a TLS handshake of a Patroni that has other work.
    for (const server of serverNumbers) {
      if (server === besides) continue;
      const answer = await this.#ask(server, 'GET', ':8008/cluster').catch(() => undefined);
      const { members = [] } = (answer ?? {}) as { readonly members?: readonly Member[] };
      if (members.length > 0) return members;
    }
    throw new Error('No Patroni responds.');
  }

  async #ask(server: ServerNumber, method: 'GET' | 'POST', where: string, body?: object): Promise<unknown> {
    const response = await request(`https://${addressOf(this.#network, server)}${where}`, {
      method,
      dispatcher: this.#agent,
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await response.body.text();
    if (response.statusCode >= 300) throw new Error(`${where}: ${response.statusCode} ${text}`);
    try {
      return JSON.parse(text);
    } catch {
      return text;
    }
  }

  async switchOver(from: ServerNumber, to: ServerNumber): Promise<void> {
    // The response comes when it is done, which takes longer than other requests; the caller waits for the new leader.
    await this.#ask(from, 'POST', ':8008/switchover', { leader: `db${from}`, candidate: `db${to}` }).catch(
      (error) => {
        if (error.code !== 'UND_ERR_HEADERS_TIMEOUT') throw error;
      },
    );
  }

  async etcdLeader(): Promise<ServerNumber> {
    for (const server of serverNumbers) {
      const status = (await this.#ask(server, 'POST', ':2379/v3/maintenance/status', {}).catch(
        () => ({}),
      )) as {
        leader?: string;
        header?: { member_id: string };
      };
      if (status.leader !== undefined && status.leader === status.header?.member_id) return server;
    }
    throw new Error('etcd has no leader.');
  }

  server(number: ServerNumber): Server {
    return this.#servers[number - 1] as Server;
  }

  async postmasterOf(number: ServerNumber): Promise<number> {
    const text = await readFile(path.join(this.server(number).home, 'data/postmaster.pid'), 'utf8');
    return Number(text.split('\n')[0]);
  }

  /** Stops or continues Patroni, and every process of PostgreSQL unless `patroniOnly`. */
  async signal(number: ServerNumber, signal: 'SIGSTOP' | 'SIGCONT', patroniOnly: boolean): Promise<void> {
    const pids = [this.server(number).patroni.pid];
    if (!patroniOnly) {
      const postmaster = await this.postmasterOf(number);
      pids.push(postmaster, ...(await childrenOf(postmaster)));
    }
    for (const pid of pids) {
      try {
        process.kill(pid, signal);
      } catch {
        // A server process may end meanwhile.
      }
    }
  }

  /** Stops or continues the process of a standby that receives the log. */
  async signalReceiver(number: ServerNumber, signal: 'SIGSTOP' | 'SIGCONT'): Promise<void> {
    for (const pid of await childrenOf(await this.postmasterOf(number))) {
      const words = await readFile(`/proc/${pid}/cmdline`, 'latin1').catch(() => '');
      if (words.includes('walreceiver')) process.kill(pid, signal);
    }
  }

  /** The superuser's connection to the leader, through its socket. */
  async connection(): Promise<SocketConnection> {
    const host = path.join(this.server(await this.leader()).home, 'socket');
    return { host, port: 5432, user: 'postgres', database };
  }

  async stop(): Promise<void> {
    await this.#proxy.stop();
    await Promise.all(this.#servers.map(({ patroni }) => patroni.stop()));
    for (const { number } of this.#servers) {
      // Patroni stops its PostgreSQL, unless it was killed.
      const postmaster = await this.postmasterOf(number).catch(() => undefined);
      if (postmaster !== undefined) killQuietly(postmaster);
    }
    await Promise.all(this.#servers.map(({ etcd }) => etcd.stop()));
    await this.#agent.close();
  }
}

/** Whether the PostgreSQL of the folder is 17 or newer. */
export function keepsSlots(programs: string): boolean {
  const version = execFileSync(path.join(programs, 'postgres'), ['--version'], { encoding: 'utf8' });
  return Number(/ (\d+)/.exec(version)?.[1]) >= 17;
}

function killQuietly(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended.
  }
}

function idsOf(user: string): { readonly uid: number; readonly gid: number } {
  const id = (option: string) => Number(execFileSync('id', [option, user], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
}

async function patiently<T>(what: string, attempt: () => Promise<T>): Promise<T> {
  const deadline = performance.now() + patienceMillis;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (performance.now() > deadline) throw new Error(`Not in time: ${what}.`, { cause: error });
    }
    await sleep(pollMillis);
  }
}
