/*
 * Kills at random moments: commands of a move, its undo and its confirmation end by SIGKILL, in a random step or after a random time, and
 * servers crash, while members of the institution pay. After each round the command is repeated until it ends well. Fails if two cells
 * ever serve the institution, an undo leaves anything, an order is lost or doubled, reconcile finds anything, or something of a move is
 * left. A failure prints the commands of its round with their output, the state of both cells, and the last lines of both services.
 *
 *   node scripts/move-kills.ts [ROUNDS] [SEED]     default 10 rounds; the same seed chooses the same kills
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { moveSteps } from '../src/cells/index.ts';
import { listTables, tablesOfCopy } from '../src/cells/tables.ts';
import { stepSentences } from '../src/cli/commands/institution/move.ts';
import { listInstitutions } from '../src/institutions/index.ts';
import { reconcile } from '../src/reconciliation/index.ts';
import { lakesideApp, pay, RetryingClient } from '../test/support/cell-clients.ts';
import { between, environmentOfMove, startCells, type TestCell } from '../test/support/cells.ts';
import { eventually } from '../test/support/processes.ts';

/** Longer than a whole move of the demo institution, so that some commands end before they are killed. */
const longestMillis = 6_000;
const mostRepetitions = 20;
const shownLines = 15;

const [rounds = 10, seed = 1] = process.argv.slice(2).map(Number);
let state = seed;
/** A number from 0 to 1 (mulberry32). */
function random(): number {
  state = (state + 0x6d2b79f5) | 0;
  let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
  mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
  return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
}

/** The end of a command: after a time, or at the line that announces a step. */
type Kill = { readonly afterMillis: number } | { readonly at: (typeof moveSteps)[number] };

const afterSome = (): Kill => ({ afterMillis: random() * longestMillis });
function killOfMove(): Kill {
  const step = moveSteps[Math.floor(random() * moveSteps.length)];
  const byTime = afterSome();
  return random() < 0.5 || step === undefined ? byTime : { at: step };
}

await using cells = await startCells();
const [east, west] = cells;
const tally = new Map<string, number>();
const count = (what: string) => tally.set(what, (tally.get(what) ?? 0) + 1);

/** The commands of this round and what they said, for a failure. */
let told: string[] = [];
const startedAt = performance.now();
function tell(line: string): void {
  told.push(`${((performance.now() - startedAt) / 1_000).toFixed(2).padStart(8)} s  ${line}`);
}

/** Runs a command on the move of lakeside, and kills it as given. Returns whether it ended well. */
async function run(
  [source, target]: readonly [TestCell, TestCell],
  options: readonly string[],
  kill?: Kill,
): Promise<boolean> {
  const words = ['institution', 'move', 'lakeside', '--to', target.name, ...options];
  const called = words.slice(1).join(' ');
  tell(`${called}${kill === undefined ? '' : `, to be killed ${JSON.stringify(kill)}`}`);
  const child = spawn(process.execPath, ['src/main.ts', ...words], {
    env: environmentOfMove(source, target),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (part) => {
      for (const line of String(part).trimEnd().split('\n')) tell(`  ${line}`);
      if (kill !== undefined && 'at' in kill && String(part).includes(stepSentences[kill.at]))
        child.kill('SIGKILL');
    });
  const timer =
    kill !== undefined && 'afterMillis' in kill
      ? setTimeout(() => child.kill('SIGKILL'), kill.afterMillis)
      : undefined;
  const [code, signal] = await once(child, 'close');
  clearTimeout(timer);
  tell(`${called} ended with ${signal ?? code}`);
  return code === 0;
}

/** Ends the server of a cell without a shutdown, as a loss of power does. */
async function crash(cell: TestCell): Promise<void> {
  const [backend] = await cell.rows<{ pid: number }>(
    `select pid from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid() limit 1`,
  );
  tell(`crash of ${cell.name}`);
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

const objects = `select pubname::text as name from pg_publication union all select slot_name::text from pg_replication_slots
  union all select subname::text from pg_subscription`;

/** An undo leaves nothing of the move, and the directory names the cell that serves. */
async function requireUndone([source, target]: readonly [TestCell, TestCell]): Promise<void> {
  assert.deepEqual(await whoServes(), [source.name]);
  for (const cell of cells) assert.deepEqual(await cell.rows(objects), [], `an undo left it at ${cell.name}`);
  const tables = await between(source, target, (sides) => listTables(sides.source.db));
  const copies = [...tablesOfCopy(tables).map(({ name }) => name), 'cell_keys'].map(
    (name) => `select '${name}' as name where exists (select from public."${name}" where institution_id = 1)`,
  );
  assert.deepEqual(await target.rows(copies.join(' union all ')), [], `an undo left rows at ${target.name}`);
  const [own] = await source.rows<{ moves: number }>(
    `select moves from institutions where institution_id = 1`,
  );
  assert.deepEqual(
    await cells.directory.rows('select cell, moves from directory_institutions where institution_id = 1'),
    [{ cell: source.name, moves: own?.moves }],
  );
}

/** The facts that explain a failure. */
async function describeFailure(round: number, error: unknown): Promise<string> {
  const parts = [`round ${round} with seed ${seed} failed: ${(error as Error).stack ?? error}`, ...told];
  for (const cell of cells) {
    const look = (text: string) =>
      cell.rows<object>(text).then(
        (found) => found.map((row) => `  ${JSON.stringify(row)}`),
        (away) => [`  ${away}`],
      );
    parts.push(
      `${cell.name}:`,
      ...(await look(`select code, served, other_cell, moves from institutions order by code`)),
      ...(await look(objects)),
      ...(await look(`select application_name, state, left(query, 80) as query from pg_stat_activity
                      where application_name = 'sharedraft move' or backend_type like 'logical%'`)),
      ...cell.logged.slice(-shownLines).map((line) => `  ${line}`),
    );
  }
  const placed = await cells.directory
    .rows<object>('select * from directory_institutions')
    .catch((away) => [String(away)]);
  return [...parts, 'directory:', ...placed.map((row) => `  ${JSON.stringify(row)}`)].join('\n');
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
  told = [];
  try {
    home = await playRound(home);
  } catch (error) {
    process.stderr.write(`${await describeFailure(round, error)}\n`);
    throw error;
  }
}

/** One move with its kills. Returns the cell that serves the institution in the end. */
async function playRound(from: TestCell): Promise<TestCell> {
  const sides = from === east ? ([east, west] as const) : ([west, east] as const);
  const victim = random() < 0.3 ? sides[random() < 0.5 ? 0 : 1] : undefined;
  const kill = killOfMove();
  const moving = run(sides, [], kill);
  if (victim !== undefined) {
    await sleep(random() * longestMillis);
    await crash(victim);
    count(`crash of the ${victim === sides[0] ? 'source' : 'target'}`);
  }
  count((await moving) ? 'move that had ended' : `move killed ${'at' in kill ? `at ${kill.at}` : 'by time'}`);
  const serving = await whoServes();
  assert.ok(serving.length <= 1, `both serve: ${serving}`);
  const wantsUndo = random() < 0.4;
  const after = afterSome();
  if (wantsUndo && !serving.includes(sides[1].name)) {
    await run(sides, ['--undo'], after);
    count('undo killed');
    await untilItEndsWell(sides, ['--undo']);
    await requireUndone(sides);
    return sides[0];
  }
  await untilItEndsWell(sides, []);
  if (wantsUndo) {
    assert.ok(!(await run(sides, ['--undo'])), 'an undo behind the opening is refused');
    count('undo refused');
  }
  await run(sides, ['--confirm', '--yes'], after);
  count('confirmation killed');
  const [kept] = await sides[0].rows<{ served: string }>(
    `select served from institutions where code = 'lakeside'`,
  );
  if (kept?.served === 'left') await untilItEndsWell(sides, ['--confirm', '--yes']);
  assert.deepEqual(await whoServes(), [sides[1].name]);
  return sides[1];
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
  assert.deepEqual(await rows(objects), [], `left at ${name}`);
  const { context } = service;
  for (const { institutionId, code } of await context.database.directory(listInstitutions))
    await reconcile(context.database, institutionId, {
      at: context.businessTime(institutionId, context.clock()),
      onFinding: (finding) => assert.fail(`${name}: ${code}: ${JSON.stringify(finding)}`),
    });
}
process.stdout.write(`${rounds} rounds with seed ${seed}, ${orders.size} decided orders\n`);
for (const [what, times] of tally) process.stdout.write(`${what.padEnd(30)} ${times}\n`);
