// An hour of faults under load: what callers and dashboards see, which alerts fire, and whether anything is lost.
//
//   node scripts/hour.ts                          an hour at 500 requests a second with 200 institutions
//   node scripts/hour.ts --minutes 12             the same faults, closer together
//   node scripts/hour.ts --from COMMIT            the version that serves first; by default the commit before the newest migration,
//                                                 which has metrics, as 0.2.0 has not
//   node scripts/hour.ts --only freeze,upgrade    some of the faults
//
// Two processes of two workers each stand behind HAProxy, on a primary with a synchronous standby. The faults, at fixed parts of the time:
// upgrade, worker (lost), freeze (of the database), disk (full), clock (of one process jumps by an hour), fail-over. Each order that got no
// outcome is repeated with its id. Prometheus loads ops/prometheus and scrapes both processes.
//
// Needs root (for the file system of the primary), and Debian's haproxy, prometheus and faketime. Exits with 2 after `skip:` with the missing
// ones, and with 1 if an order is lost, doubled or declined, a chain of the audit does not verify, or reconcile finds anything but accounts
// that the clock has yet to reach.
import { execFileSync, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdtemp, rm, symlink } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { People } from '../bench/job.ts';
import { embeddedLogin } from '../src/storage/index.ts';
import { exitOf } from '../test/support/processes.ts';
import { Databases } from './hour/databases.ts';
import { type Fault, faultsOf } from './hour/faults.ts';
import { Load } from './hour/load.ts';
import { fakeTimeLibrary, Services } from './hour/services.ts';
import { verify } from './hour/verify.ts';
import { Watch } from './hour/watch.ts';
import { isInstalled } from './programs.ts';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '60' },
    rate: { type: 'string', default: '500' },
    institutions: { type: 'string', default: '200' },
    members: { type: 'string', default: '2000' },
    from: { type: 'string' },
    only: { type: 'string' },
  },
});
const root = fileURLToPath(new URL('..', import.meta.url));
const say = (text: string) => process.stdout.write(`${text}\n`);
const git = (...words: string[]) => execFileSync('git', words, { cwd: root, encoding: 'utf8' }).trim();

const missing = ['haproxy', 'prometheus'].filter((program) => !isInstalled(program));
if (process.getuid?.() !== 0) missing.push('root');
if (!existsSync(fakeTimeLibrary)) missing.push('faketime');
if (missing.length > 0) {
  say(`skip: hour: ${missing.join(', ')} missing`);
  process.exit(2);
}

const minutes = Number(values.minutes);
const from = values.from ?? `${git('log', '-1', '--format=%H', '--', 'migrations')}^`;
const parent = await mkdtemp(path.join(os.tmpdir(), 'sharedraft-hour-'));
await chmod(parent, 0o755);
const old = path.join(parent, 'old');
git('worktree', 'add', '--quiet', '--detach', old, from);
await symlink(path.join(root, 'node_modules'), path.join(old, 'node_modules'));
let isSound = false;
const databases = new Databases(parent);
const services = new Services(parent, { workers: 2, haveClocks: true });
let watch: Watch | undefined;
try {
  await databases.startPrimary();
  say(`${git('log', '-1', '--format=%h %s', from)} fills ${values.institutions} institutions.`);
  const people = await fillBy(old);
  await databases.startStandby();
  const environment = databases.environment(embeddedLogin);
  await services.start({ checkout: old, environment });
  const [rules, dashboards] = [path.join(root, 'ops/prometheus'), path.join(root, 'ops/grafana')];
  watch = await Watch.start({ folder: parent, rules, dashboards, services });
  const load = new Load({
    address: services.address,
    people,
    perSecond: Number(values.rate),
    name: 'hour',
    retryMillis: 2_000,
  });
  const world = { root, databases, services, environment, say, load };
  load.start();
  await runFaults(faultsOf(world), load, watch);
  await load.stop();
  await watch.report(say);
  const { connection } = databases;
  const count = Number(values.institutions);
  const institutions = Array.from({ length: count }, (_, index) =>
    index === 0 ? 'bench' : `bench-${index}`,
  );
  const verdict = await verify({ root, environment, load, name: 'hour', connection, institutions, say });
  isSound = verdict.isSound && verdict.lost.length === 0;
} finally {
  await services.stop();
  await watch?.stop();
  await databases.stop();
  git('worktree', 'remove', '--force', old);
  await rm(parent, { recursive: true, force: true });
}
process.exitCode = isSound ? 0 : 1;

/** Begins each fault at its part of the time, and goes on to the end of the time after the last one. */
async function runFaults(all: readonly Fault[], load: Load, seen: Watch): Promise<void> {
  const wanted = values.only?.split(',');
  const started = performance.now();
  const until = (part: number) => sleep(Math.max(0, started + part * minutes * 60_000 - performance.now()));
  for (const fault of all) {
    if (wanted !== undefined && !wanted.includes(fault.name)) continue;
    await until(fault.part);
    const minute = ((performance.now() - started) / 60_000).toFixed(1);
    say(`minute ${minute}: ${fault.name}: ${fault.does}`);
    load.phase = fault.name;
    seen.began(fault.name);
    await fault.run();
    seen.ended();
    load.phase = `after ${fault.name}`;
  }
  await until(1);
}

/** The fill of the bench, run by the older version with its own schema. */
async function fillBy(checkout: string): Promise<People> {
  const filling = {
    members: Number(values.members),
    historyPerAccount: 0,
    institutions: Number(values.institutions),
  };
  const script = `const { fill } = await import('./bench/fill.ts');
    const people = await fill(${JSON.stringify(databases.connection)}, ${JSON.stringify(filling)});
    process.stdout.write(JSON.stringify(people));`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
    cwd: checkout,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.on('data', (chunk) => {
    output += chunk;
  });
  if ((await exitOf(child)) !== 0) throw new Error('The database could not be filled.');
  return JSON.parse(output);
}
