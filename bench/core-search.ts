/*
 * The time of searches in the history of one account against that of a page of it:
 *
 *   node bench/core-search.ts [ENTRIES]     default 1000000
 *
 * Fills the account with transactions of a core, without the checks of the tables: each hundredth of a rare merchant, the oldest of one
 * that occurs once. `to the end` follows the pages of a search until there is none, since each looks at up to 5,000 entries.
 */
import os from 'node:os';
import { getEffectiveBalances, listTransactions, type TransactionSearch } from '../src/feed/index.ts';
import { findInstitutionByCode, localDate } from '../src/institutions/index.ts';
import { parseDecimalAmount } from '../src/ledger/index.ts';
import type { Position } from '../src/shared/page.ts';
import { startTestService } from '../test/support/service.ts';

const entries = Number(process.argv[2] ?? 1_000_000);
const accountId = 'a-1001-checking';
const service = await startTestService();
const { database } = service.service.context;
const found = await database.directory((db) => findInstitutionByCode(db, 'lakeside'));
if (found === undefined) throw new Error('the demo has no lakeside');
const institution = found;
const { institutionId } = institution;
const filled = performance.now();
await service.db.superuser(`do $$
declare account bigint; before bigint;
begin
  set local session_replication_role = replica;
  select account_key, seq into account, before from balances
  where institution_id = ${institutionId} and account_id = '${accountId}';
  insert into entries (institution_id, account_key, seq, posting_key, kind, amount, posted_after, debits_pending_after,
                       credits_pending_after, recorded_at)
  select ${institutionId}, account, before + n, 1000000000 + n, 'CORE', -100 - n % 900, 0, 0, 0,
         now() - interval '1 second' * (${entries} - n)
  from generate_series(1, ${entries}) n;
  insert into core_transactions (institution_id, core_id, account_key, seq, posting_key, settlement_key, amount, kind, posted_at,
                                 effective_date, description, merchant, category, is_historic, recorded_at)
  select ${institutionId}, 'bulk-' || n, account, before + n, 1000000000 + n, 1, -100 - n % 900, 'CARD', at, at::date,
         'PURCHASE ' || n, case when n = 1 then 'Single Lantern' when n % 100 = 0 then 'Rare Lantern' else 'Corner Bakery' end, 'SHOPPING',
         true, at
  from (select n, now() - interval '1 second' * (${entries} - n) as at from generate_series(1, ${entries}) n) n;
  update balances set seq = before + ${entries}, last_at = now() where institution_id = ${institutionId} and account_key = account;
end $$`);
await service.db.superuser('analyze entries, core_transactions, balances');
const load = () => os.loadavg()[0]?.toFixed(1);
console.log(
  `${entries} entries filled in ${((performance.now() - filled) / 1000).toFixed(0)} s, load ${load()}`,
);

const actor = { kind: 'client', institutionId, clientId: 'bench' } as const;
const deps = { database, institution: async () => institution };
const page = (search: TransactionSearch | undefined, after: Position | null) =>
  listTransactions(
    deps,
    actor,
    accountId,
    { status: 'POSTED', period: { from: null, to: null }, search },
    { limit: 50, after },
  );

async function median(times: number, work: () => Promise<unknown>): Promise<number> {
  const taken: number[] = [];
  for (let count = 0; count < times; count += 1) {
    const start = performance.now();
    await work();
    taken.push(performance.now() - start);
  }
  return taken.toSorted((one, other) => one - other)[times >> 1] ?? 0;
}

const plain = await median(41, () => page(undefined, null));
const report = (what: string, millis: number) =>
  console.log(
    `${what.padEnd(52)} ${millis.toFixed(1).padStart(9)} ms  ${(millis / plain).toFixed(1).padStart(7)} pages`,
  );
report('a page of 50', plain);
report(
  'a page behind half of the entries',
  await median(41, () => page(undefined, [1n, BigInt(entries >> 1), 0n])),
);
const amount = parseDecimalAmount('5.43');
if ('invalid' in amount) throw new Error(amount.invalid);
const searches: readonly (readonly [string, TransactionSearch])[] = [
  ['text of most entries', { text: 'bakery' }],
  ['text of one in a hundred', { text: 'rare lantern' }],
  ['text of the oldest entry', { text: 'single lantern' }],
  ['category of all', { category: 'SHOPPING' }],
  ['amount of one in nine hundred', { minAmount: amount, maxAmount: amount }],
];
for (const [name, search] of searches)
  report(`first page, ${name}`, await median(21, () => page(search, null)));
const toTheEnd = async (search: TransactionSearch) => {
  let items = 0;
  let after: Position | null = null;
  do {
    const answer: Awaited<ReturnType<typeof page>> = await page(search, after);
    items += answer.items.length;
    after = answer.next;
  } while (after !== null);
  return items;
};
report('to the end, text of the oldest entry', await median(1, () => toTheEnd({ text: 'single lantern' })));
const now = new Date();
for (const [name, share] of [
  ['yesterday', 0],
  ['the middle', 0.5],
] as const) {
  const at = new Date(now.getTime() - Math.max(86_400_000, entries * share * 1_000));
  const day = localDate(at, institution.timeZone);
  report(
    `balance by effective date, ${name}`,
    await median(11, () => getEffectiveBalances({ ...deps, now }, actor, accountId, day)),
  );
}
console.log(`load ${load()}`);
await service.close();
process.exit(0);
