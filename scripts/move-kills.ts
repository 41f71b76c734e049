/*
 * Kills at random moments: commands of a move, its undo and its confirmation end by SIGKILL, and servers crash, while members of the
 * institution pay. After each round the command is repeated until it ends well. Fails if two cells ever serve the institution, an order
 * is lost or doubled, reconcile finds anything, or something of a move is left.
 *
 *   node scripts/move-kills.ts [ROUNDS] [SEED]     default 10 rounds; the same seed chooses the same kills
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { listInstitutions } from '../src/institutions/index.ts';
import { reconcile } from '../src/reconciliation/index.ts';
import { lakesideApp, pay, RetryingClient } from '../test/support/cell-clients.ts';
import { environmentOfMove, startCells, type TestCell } from '../test/support/cells.ts';
import { eventually } from '../test/support/processes.ts';

/** Longer than a whole move of the demo institution, so that some commands end before they are killed. */
const longestMillis = 6_000;
const mostRepetitions = 20;

const [rounds = 10, seed = 1] = process.argv.slice(2).map(Number);
let state = seed;
/** A number from 0 to 1 (mulberry32). */
function random(): number {
  state = (state + 0x6d2b79f5) | 0;
  let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
  mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
  return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
}

await using cells = await startCells();
const [east, west] = cells;
const tally = new Map<string, number>();
const count = (what: string) => tally.set(what, (tally.get(what) ?? 0) + 1);

/** Runs a command on the move of lakeside, and kills it after the time, if one is given. Returns whether it ended well. */
async function run(
  [source, target]: readonly [TestCell, TestCell],
  options: readonly string[],
  killAfterMillis?: number,
): Promise<boolean> {
  const words = ['institution', 'move', 'lakeside', '--to', target.name, ...options];
  const child = spawn(process.execPath, ['src/main.ts', ...words], {
    env: environmentOfMove(source, target),
    stdio: 'ignore',
  });
  const timer =
    killAfterMillis === undefined ? undefined : setTimeout(() => child.kill('SIGKILL'), killAfterMillis);
  const [code] = await once(child, 'close');
  clearTimeout(timer);
  return code === 0;
}

/** Ends the server of a cell without a shutdown, as a loss of power does. */
async function crash(cell: TestCell): Promise<void> {
  const [backend] = await cell.rows<{ pid: number }>(
    `select pid from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid() limit 1`,
  );
  if (backend !== undefined) process.kill(backend.pid, 'SIGKILL');
}

async function whoServes(): Promise<string[]> {
  const serving: string[] = [];
  for (const cell of cells) {
    await eventually('the server is back', async () => {
      const found = await cell
        .rows<{ served: string }>(`select served from institutions where code = 'lakeside'`)
        .catch(() => undefined);
      if (found?.[0]?.served === 'here') serving.push(cell.name);
      return found !== undefined;
    });
  }
  return serving;
}

async function untilItEndsWell(
  sides: readonly [TestCell, TestCell],
  options: readonly string[],
): Promise<void> {
  for (let turn = 0; turn < mostRepetitions; turn += 1) {
    if (await run(sides, options)) return;
    await sleep(500);
  }
  assert.fail(`the command did not end well: ${options.join(' ')}`);
}

let stopped = false;
const member = new RetryingClient(cells);
const login = { grant_type: 'password', username: 'demo.member', password: 'demo-member-password' };
await member.logIn({ ...login, ...lakesideApp });
const paying = pay(member, () => stopped);
// A round that fails ends the services under it, and its own error counts.
paying.catch(() => {});

let home: TestCell = east;
for (let round = 0; round < rounds; round += 1) {
  const sides = home === east ? ([east, west] as const) : ([west, east] as const);
  const victim = random() < 0.3 ? sides[random() < 0.5 ? 0 : 1] : undefined;
  const after = random() * longestMillis;
  const moving = run(sides, [], after);
  if (victim !== undefined) {
    await sleep(random() * longestMillis);
    await crash(victim);
    count(`crash of the ${victim === sides[0] ? 'source' : 'target'}`);
  }
  count((await moving) ? 'move that had ended' : 'move killed');
  assert.ok((await whoServes()).length <= 1);
  const opened = (await whoServes()).includes(sides[1].name);
  if (!opened && random() < 0.3) {
    await run(sides, ['--undo'], random() * longestMillis);
    count('undo killed');
    await untilItEndsWell(sides, ['--undo']);
    assert.deepEqual(await whoServes(), [sides[0].name]);
  } else {
    await untilItEndsWell(sides, []);
    await run(sides, ['--confirm', '--yes'], random() * longestMillis);
    count('confirmation killed');
    if (
      (await sides[0].rows<{ served: string }>(`select served from institutions where code = 'lakeside'`))[0]
        ?.served === 'left'
    )
      await untilItEndsWell(sides, ['--confirm', '--yes']);
    assert.deepEqual(await whoServes(), [sides[1].name]);
    home = sides[1];
  }
}
stopped = true;
const orders = await paying;
const stored = await home.rows<{ id: string; status: string; times: number }>(
  `select transfer_id as id, min(status) as status, count(*)::integer as times from transfers where institution_id = 1 group by 1`,
);
const books = new Map(stored.map(({ id, status, times }) => [id, `${status} ${times}`]));
for (const [id, status] of orders)
  assert.equal(books.get(id), status === 422 ? 'FAILED 1' : 'COMPLETED 1', `order ${id}`);
for (const { name, service, rows } of cells) {
  for (const left of ['pg_replication_slots', 'pg_subscription', 'pg_publication'])
    assert.deepEqual(await rows(`select * from ${left}`), [], `${name}: ${left}`);
  const { context } = service;
  for (const { institutionId, code } of await context.database.directory(listInstitutions))
    await reconcile(context.database, institutionId, {
      at: context.businessTime(institutionId, context.clock()),
      onFinding: (finding) => assert.fail(`${name}: ${code}: ${JSON.stringify(finding)}`),
    });
}
process.stdout.write(`${rounds} rounds with seed ${seed}, ${orders.size} decided orders\n`);
for (const [what, times] of tally) process.stdout.write(`${what.padEnd(30)} ${times}\n`);
