/*
 * Cost and speed of the service, as ratios measured in one run, on the embedded database:
 *
 *   npm run bench                 the whole table, under ten minutes
 *   npm run bench -- large        the same with a million accounts and five million transfers: five minutes more
 *   npm run bench -- transfers    one row or several
 *   npm run bench -- --quick      one second per measurement, one round: a check that the rows run, without figures
 *   npm run bench -- --help       lists the rows, and the measurements beside the table
 *
 * Results go into bench/results: latest.json and latest.svg for the table, ROW.json and ROW.svg for rows.
 */
import { parseArgs } from 'node:util';
import type { Pace } from './measure.ts';
import { asTable, describeSetting, type Measured, writeResults } from './report.ts';
import { cost } from './rows/cost.ts';
import { institutions } from './rows/institutions.ts';
import { instructions } from './rows/instructions.ts';
import { fairness, overload } from './rows/overload.ts';
import { account, accounts, fresh, page, profile, token } from './rows/reads.ts';
import { moving, remembering, unchanged } from './rows/remembered.ts';
import { start } from './rows/start.ts';
import { dryRun, hot, largeTables, latency, one, transfers, zipf } from './rows/transfers.ts';
import { workers } from './rows/workers.ts';
import { Stage } from './stage.ts';

const rows = [
  transfers,
  dryRun,
  hot,
  zipf,
  one,
  latency,
  cost,
  overload,
  fairness,
  account,
  accounts,
  profile,
  page,
  fresh,
  unchanged,
  moving,
  remembering,
  token,
  start,
  workers,
];
/** These rows run by name only, because filling their tables takes long. */
const selectable = [...rows, instructions, institutions, largeTables];
const { values, positionals } = parseArgs({
  options: { quick: { type: 'boolean' }, help: { type: 'boolean' } },
  allowPositionals: true,
});
if (values.help) {
  console.log(`npm run bench [-- [--quick] [ROW ...]]

${selectable.map(({ name, title }) => `  ${name.padEnd(10)} ${title}`).join('\n')}

Without a ROW, all rows run except instructions, which takes a minute, institutions, which takes two, and large, which takes five.

--quick runs each row for a second, to check that it works. Beside the table:

  node bench/login-storm.ts                the cost of 500 simultaneous logins for callers that read
  node bench/fresh-tokens.ts               the saving of remembered tokens
  node bench/dpop.ts [ROUNDS]              the cost of tokens that are bound to a key
  node bench/read-path.ts                  files, functions and lines that a read runs
  node bench/revocations.ts [MEMBERS]      the time of a revocation during an import
  node bench/reading-plans.ts [TRANSFERS]  rows and blocks that each page reads among a million transfers
  node bench/metrics.ts [ROUNDS] [SECONDS] the cost of the metrics, in turns with a service without them
  node bench/core-search.ts [ENTRIES]      searches in one account's history, in pages of it
  node bench/import.ts [MEMBERS ...]       the cost of an import, relative to COPY

pgbench runs the handwritten transactions and wrk the steady load over HTTP, if they are on the PATH;
BENCH_TOOLS=npm ignores both.`);
  process.exit();
}
const unknown = positionals.filter((name) => !selectable.some((row) => row.name === name));
if (unknown.length > 0) {
  console.error(
    `There is no row ${unknown.join(', ')}. Rows: ${selectable.map((row) => row.name).join(', ')}.`,
  );
  process.exit(2);
}
const chosen = positionals.length === 0 ? rows : selectable.filter((row) => positionals.includes(row.name));
const pace: Pace = values.quick ? { seconds: 1, rounds: 1 } : { seconds: 3, rounds: 3 };

const started = performance.now();
const say = (text: string) => {
  const seconds = Math.round((performance.now() - started) / 1000);
  process.stderr.write(`${String(seconds).padStart(4)} s  ${text}\n`);
};
const measured: Measured[] = [];
let setting: Awaited<ReturnType<typeof describeSetting>>;
{
  say('starting the database');
  await using stage = await Stage.open(say);
  const [server] = await stage.sql<{ version: string }>(
    'postgres',
    `select current_setting('server_version') as version`,
  );
  setting = await describeSetting(pace, server?.version ?? 'unknown');
  for (const [index, row] of chosen.entries()) {
    say(`${row.name} (${index + 1} of ${chosen.length}): ${row.title}`);
    measured.push({ name: row.name, title: row.title, figures: await row.measure({ stage, pace }) });
  }
}
console.log(`\n${asTable(setting, measured)}\n`);
const name = chosen === rows ? 'latest' : chosen.map((row) => row.name).join('-');
if (values.quick) console.log('The measurements are too short for figures: no file was written.');
else console.log(`Written to ${await writeResults(setting, measured, name)}.json and .svg`);
