/*
 * The cost of a page of each list among a million transfers (two million entries, a million events), on the embedded
 * database. It counts rows and blocks, not time, so the figures are the same on any machine. It fails if a page reads more than
 * test/plans/reading.test.ts allows among fewer transfers.
 *
 *   node bench/reading-plans.ts [transfers]
 */
import { testDatabase } from '../test/support/database.ts';
import { fill } from '../test/support/reading-fill.ts';
import { breaches, measureReads } from '../test/support/reading-plans.ts';

const transfers = Number(process.argv[2] ?? 1_000_000);

await using db = await testDatabase();
const started = performance.now();
const filled = await fill(db, transfers);
await db.superuser('analyze');
console.log(`${transfers} transfers filled in ${Math.round((performance.now() - started) / 1000)} s\n`);

const measured = await measureReads(db, filled);
console.log(`${'page'.padEnd(60)} ${'plan'.padEnd(8)} returned  rows read  buffers`);
for (const { read, depth, plan, returned, rowsRead, buffers } of measured) {
  console.log(
    `${`${read}, ${depth}`.padEnd(60)} ${plan.padEnd(8)} ${String(returned).padStart(8)} ${String(rowsRead).padStart(10)} ${String(buffers).padStart(8)}`,
  );
}
const found = breaches(measured);
for (const breach of found) console.error(breach);
process.exitCode = found.length > 0 ? 1 : 0;
