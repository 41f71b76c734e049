/*
 * Moves of an institution between two cells, there and back, under load: the pauses of the command, the longest time without a decided
 * order of the institution around each move, and the orders of another institution beside it, against those without a move. Fails if an
 * order is lost or doubled, an event is skipped or read twice, or reconcile finds anything.
 *
 *   node bench/moves.ts [MOVES]     default 10; an even number ends where it began
 */
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { confirmMove, moveInstitution } from '../src/cells/index.ts';
import { listInstitutions } from '../src/institutions/index.ts';
import { reconcile } from '../src/reconciliation/index.ts';
import { follow, harborApp, lakesideApp, pay, RetryingClient } from '../test/support/cell-clients.ts';
import { between, startCells } from '../test/support/cells.ts';

const quietMillis = 10_000;
const payers = 4;

const [moves = 10] = process.argv.slice(2).map(Number);
await using cells = await startCells();
const [east, west] = cells;
// Its members may pay all the time: a declined order costs other work.
await east.rows(
  'update transfer_limits set max_count = 1000000 where institution_id = 2 and max_count is not null',
);
let stopped = false;
const isStopped = () => stopped;
const password = { grant_type: 'password', username: 'demo.member' };
const backend = new RetryingClient(cells);
await backend.logIn({ grant_type: 'client_credentials', ...lakesideApp });
let written = Number.POSITIVE_INFINITY;
const reading = follow(backend, (read) => read >= written);

/** The times of decided orders. */
const decided = { moving: [] as number[], beside: [] as number[] };
const start = async (which: keyof typeof decided, grant: object) => {
  const client = new RetryingClient(cells);
  await client.logIn(grant);
  return pay(client, isStopped, () => decided[which].push(performance.now()));
};
const members = { ...password, password: 'demo-member-password', ...lakesideApp };
const neighbors = { ...password, password: 'harbor-member-password', ...harborApp };
const paying = Array.from({ length: payers }, () => start('moving', members));
const beside = Array.from({ length: payers }, () => start('beside', neighbors));
const rate = (times: readonly number[], from: number, to: number) =>
  (times.filter((time) => time >= from && time < to).length * 1000) / (to - from);

await sleep(2_000);
const quietFrom = performance.now();
await sleep(quietMillis);
const quiet = rate(decided.beside, quietFrom, performance.now());

const pauses: number[] = [];
const gaps: number[] = [];
const whole: number[] = [];
let besideMoves = 0;
let rows = 0n;
for (let turn = 0; turn < moves; turn += 1) {
  const [source, target] = turn % 2 === 0 ? [east, west] : [west, east];
  const from = performance.now();
  await between(source, target, async (deps) => {
    const moved = await moveInstitution(deps, 'lakeside', target.name);
    pauses.push(moved.pauseMillis ?? Number.NaN);
    rows = moved.rows;
  });
  const to = performance.now();
  whole.push(to - from);
  besideMoves += rate(decided.beside, from, to) / moves;
  await sleep(1_000);
  const times = decided.moving.filter((time) => time >= from);
  gaps.push(Math.max(...times.slice(1).map((time, index) => time - (times[index] ?? time))));
  await between(source, target, (deps) => confirmMove(deps, 'lakeside', target.name));
}
stopped = true;
const orders = (await Promise.all(paying)).flatMap((each) => [...each]);
await Promise.all(beside);
const home = moves % 2 === 0 ? east : west;
const stored = await home.rows<{ id: string; status: string }>(
  'select transfer_id as id, status from transfers where institution_id = 1',
);
const counted = await home.rows<{ events: number }>(
  'select count(*)::integer as events from outbox where institution_id = 1',
);
written = counted[0]?.events ?? 0;
const events = await reading;
const books = Map.groupBy(stored, ({ id }) => id);
const asDecided = ([id, status]: readonly [string, number]) => {
  const rows = books.get(id) ?? [];
  return rows.length === 1 && rows[0]?.status === (status === 422 ? 'FAILED' : 'COMPLETED');
};
assert.deepEqual(
  orders.filter((order) => !asDecided(order)),
  [],
  'each decided order stands in the books once, as decided',
);
assert.equal(events.length, written, 'no event is skipped');
assert.equal(new Set(events.map(({ eventId }) => eventId)).size, events.length, 'none is read twice');
for (const { name, service } of cells) {
  const { context } = service;
  for (const { institutionId, code } of await context.database.directory(listInstitutions))
    await reconcile(context.database, institutionId, {
      at: context.businessTime(institutionId, context.clock()),
      onFinding: (finding) => assert.fail(`${name}: ${code}: ${JSON.stringify(finding, undefined, 1)}`),
    });
}

const at = (values: readonly number[], share: number) => {
  const sorted = values.toSorted((one, other) => one - other);
  return `${((sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0) / 1000).toFixed(2)} s`;
};
const line = (name: string, values: readonly number[]) =>
  `${name.padEnd(48)} p50 ${at(values, 0.5)}   p99 ${at(values, 0.99)}\n`;
process.stdout.write(
  `${moves} moves of ${rows} rows, ${orders.length} decided orders, ${events.length} events\n` +
    line('pause of the command', pauses) +
    line('longest time without a decided order', gaps) +
    line('whole move', whole) +
    `orders of the other institution: ${besideMoves.toFixed(0)} a second beside moves, ${quiet.toFixed(0)} without\n`,
);
