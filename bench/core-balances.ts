/*
 * The time of a comparison of the core's balances with those here:
 *
 *   node bench/core-balances.ts [ACCOUNTS]     default 1000000
 *
 * Fills balances without their accounts and entries, which a comparison does not read, writes a file in which each 100,000th differs,
 * and compares it twice. The time includes reading the file, staging its lines and deleting them.
 */
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { compareBalances, readBalancesFile } from '../src/core-connection/index.ts';
import { ownOrigin } from '../src/events/index.ts';
import { findInstitutionByCode } from '../src/institutions/index.ts';
import { startTestService } from '../test/support/service.ts';

const accounts = Number(process.argv[2] ?? 1_000_000);
const service = await startTestService();
const { context } = service.service;
const institution = await context.database.directory((db) => findInstitutionByCode(db, 'lakeside'));
if (institution === undefined) throw new Error('the demo has no lakeside');
await service.db.superuser(`do $$ begin
  set local session_replication_role = replica;
  insert into balances (institution_id, account_key, account_id, currency, posted, debits_pending, credits_pending, seq, last_at)
  select ${institution.institutionId}, 10000000 + n, 'bulk-' || lpad(n::text, 8, '0'), 'USD', n, 0, 0, 1, now()
  from generate_series(1, ${accounts}) n; end $$`);
const folder = await mkdtemp(path.join(os.tmpdir(), 'sharedraft-bench-'));
const file = path.join(folder, 'balances.csv');
const out = createWriteStream(file);
out.write('account_id,balance,currency_code\n');
for (let n = 1; n <= accounts; n += 1) {
  const minor = n % 100_000 === 7 ? n + 100 : n;
  if (!out.write(`bulk-${String(n).padStart(8, '0')},${(minor / 100).toFixed(2)},USD\n`))
    await once(out, 'drain');
}
out.end();
await once(out, 'close');

for (const run of ['first', 'second']) {
  const start = performance.now();
  const asOf = new Date();
  const answers = compareBalances(
    { ...context, inactiveTokens: async () => new Set<never>() },
    { institution, origin: ownOrigin() },
    { asOf, since: asOf, isComplete: false },
    readBalancesFile(file),
  );
  let step = await answers.next();
  while (!step.done) step = await answers.next();
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  console.log(`${run} comparison of ${accounts} accounts: ${seconds} s`, JSON.stringify(step.value));
}
await rm(folder, { recursive: true });
await service.close();
process.exit(0);
