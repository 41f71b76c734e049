// Runs an older version under load while this version migrates its database, then replaces the process. Reports requests that failed.
//
//   node scripts/upgrade.ts --from COMMIT --members 2000 --history 10 --seconds 60
//
// `--from`: a commit or a tag; without it the newest tag. `--members`: members of the invented institution that the migrations walk
// through, with ten accounts each. `--history`: transfers of each account, which are an entry each beside the two of its opening. The old
// version runs from a worktree, with the packages of this one. Exits with 1 if a request failed.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { chmod, mkdtemp, rm, symlink } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { accountId, accountsPerMember, type People } from '../bench/job.ts';
import { ownEmbeddedPostgres } from '../src/embedded-postgres/index.ts';
import { addressOf, exitOf, freePort } from '../test/support/processes.ts';

const { values } = parseArgs({
  options: {
    from: { type: 'string' },
    members: { type: 'string', default: '2000' },
    history: { type: 'string', default: '10' },
    seconds: { type: 'string', default: '60' },
  },
});
const root = fileURLToPath(new URL('..', import.meta.url));
const say = (text: string) => process.stdout.write(`${text}\n`);
const git = (...words: string[]) => execFileSync('git', words, { cwd: root, encoding: 'utf8' }).trim();

const from = values.from ?? git('tag', '--sort=-creatordate').split('\n')[0];
if (!from) {
  say('There is no tag yet: name a commit with --from.');
  process.exit(2);
}

const parent = await mkdtemp(path.join(os.tmpdir(), 'sharedraft-upgrade-'));
await chmod(parent, 0o755);
const old = path.join(parent, 'old');
git('worktree', 'add', '--detach', old, from);
await symlink(path.join(root, 'node_modules'), path.join(old, 'node_modules'));
const postgres = await ownEmbeddedPostgres({ dataDir: path.join(parent, 'data'), log: () => {} });
/** The bench of the older version, whose rows fit its schema. */
const { fill, environmentOf, urlOf }: typeof import('../bench/fill.ts') = await import(
  pathToFileURL(path.join(old, 'bench/fill.ts')).href
);
const environment = {
  ...environmentOf(postgres.connection),
  PATH: process.env.PATH,
  MIGRATION_DATABASE_URL: urlOf({ ...postgres.connection, user: 'postgres' }),
  LOG_LEVEL: 'info',
};

async function command(cwd: string, ...words: string[]): Promise<void> {
  const child = spawn(process.execPath, ['src/main.ts', ...words], {
    cwd,
    env: environment,
    stdio: 'inherit',
  });
  if ((await exitOf(child)) !== 0) throw new Error(`${words.join(' ')} failed`);
}

const servers: ChildProcess[] = [];

async function serve(cwd: string) {
  const port = await freePort();
  const child = spawn(process.execPath, ['src/main.ts', 'serve'], {
    cwd,
    env: { ...environment, PORT: port },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  servers.push(child);
  let output = '';
  child.stdout.on('data', (chunk) => {
    output = `${output}${chunk}`.slice(-100_000);
    for (const line of String(chunk).split('\n')) if (line.includes('"level":50')) say(line);
  });
  return { child, address: await addressOf({ child, output: () => output }) };
}

/** The response with its whole text. No test helper: the older version has another contract. */
async function ask(
  address: string,
  path: string,
  { token, body }: { readonly token: string; readonly body?: object },
): Promise<{ readonly status: number; readonly text: string }> {
  const response = await fetch(`${address}${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return { status: response.status, text: await response.text() };
}

/** Counts responses by status, and the slowest, in each phase. */
class Load {
  readonly #counts = new Map<string, { statuses: Map<string, number>; slowestMillis: number }>();
  readonly #callers: Promise<void>[] = [];
  readonly #people: People;
  phase = 'before';
  address: string;
  #isOver = false;

  constructor(address: string, people: People) {
    this.address = address;
    this.#people = people;
  }

  start(callers: number): void {
    for (let caller = 0; caller < callers; caller += 1) this.#callers.push(this.#call(caller));
  }

  async #call(caller: number): Promise<void> {
    const { tokens, step } = this.#people;
    for (let number = 0; !this.#isOver; number += 1) {
      const { phase } = this;
      const started = performance.now();
      const index = (caller * 1_000 + number) % tokens.length;
      const token = tokens[index] as string;
      const order = {
        id: `upgrade-${caller}-${number}`,
        fromAccountId: accountId(index * step * accountsPerMember),
        toAccountId: accountId(index * step * accountsPerMember + 1),
        amount: 0.01,
      };
      const status = await (number % 2 === 0
        ? ask(this.address, '/digitalbanking/db-transfers/v1/transfers', { token, body: order })
        : ask(this.address, '/digitalbanking/db-accounts/v1/accounts', { token })
      ).then(
        (response) => String(response.status),
        (error) => String(error.cause?.code ?? error),
      );
      const counts = this.#counts.getOrInsertComputed(phase, () => ({
        statuses: new Map(),
        slowestMillis: 0,
      }));
      counts.statuses.set(status, (counts.statuses.get(status) ?? 0) + 1);
      counts.slowestMillis = Math.max(counts.slowestMillis, performance.now() - started);
      await sleep(20);
    }
  }

  async stop(): Promise<boolean> {
    this.#isOver = true;
    await Promise.all(this.#callers);
    let failed = 0;
    for (const [phase, { statuses, slowestMillis }] of this.#counts) {
      say(
        `${phase}: ${JSON.stringify(Object.fromEntries(statuses))}, slowest ${Math.round(slowestMillis)} ms`,
      );
      for (const [status, count] of statuses) if (status !== '200' && status !== '201') failed += count;
    }
    say(`${failed} requests failed.`);
    return failed === 0;
  }
}

const pauseSeconds = Number(values.seconds) / 4;
let isWhole = false;
try {
  const members = Number(values.members);
  const historyPerAccount = Number(values.history);
  const people = await fill(postgres.connection, { members, historyPerAccount });
  const accounts = accountsPerMember * members;
  say(`${from} serves ${accounts} accounts and ${accounts * (2 + historyPerAccount)} entries.`);
  const before = await serve(old);
  const load = new Load(before.address, people);
  load.start(8);
  await sleep(pauseSeconds * 1_000);
  load.phase = 'during the migration';
  const started = performance.now();
  await command(root, 'migrate');
  say(`The migrations took ${((performance.now() - started) / 1_000).toFixed(1)} s.`);
  load.phase = 'the old version on the new schema';
  await sleep(pauseSeconds * 1_000);
  const next = await serve(root);
  load.phase = 'the new version';
  load.address = next.address;
  await sleep(1_000);
  before.child.kill('SIGTERM');
  await exitOf(before.child);
  await sleep(pauseSeconds * 1_000);
  isWhole = await load.stop();
  await command(root, 'reconcile');
  next.child.kill('SIGTERM');
  await exitOf(next.child);
} finally {
  for (const server of servers) server.kill('SIGKILL');
  await postgres.stop();
  git('worktree', 'remove', '--force', old);
  await rm(parent, { recursive: true, force: true });
}
process.exitCode = isWhole ? 0 : 1;
