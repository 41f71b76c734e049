/*
 * The time of a preview of other rules over the most orders that it reads:
 *
 *   node bench/rules-preview.ts [ORDERS]     default 250000
 *
 * Plants completed orders of two accounts of harbor over the last 30 days, without the checks of the tables, and asks three times with another
 * threshold.
 */
import os from 'node:os';
import { demoAddress, operatorOf } from '../test/support/operators.ts';
import { startTestService } from '../test/support/service.ts';

const orders = Number(process.argv[2] ?? 250_000);
const service = await startTestService({ environment: demoAddress });
await service.db.superuser(`do $$
begin
  set local session_replication_role = replica;
  insert into transfers (institution_id, transfer_key, transfer_id, transfer_type, from_account_id, to_account_id, from_key, to_key,
                         amount, currency, status, client_id, created_at, settled_at)
  select i.institution_id, nextval('posting_keys'), 'bulk-' || n, 'INTRA_FI', f.account_id, t.account_id, f.account_key, t.account_key,
         100 + n % 60000, 'USD', 'COMPLETED', 'harbor-app', at, at
  from (select n, now() - interval '29 days' * (${orders} - n) / ${orders} as at from generate_series(1, ${orders}) n) n
  join institutions i on i.code = 'harbor'
  join accounts f on f.institution_id = i.institution_id and f.account_id = 'a-1002-checking'
  join accounts t on t.institution_id = i.institution_id and t.account_id = 'a-1001-checking'
  order by n;
end $$`);
await service.db.superuser('analyze transfers');
const auditor = await operatorOf(service, 'Demo auditor', 'harbor');
const { thresholds, limits } = (await auditor.get('/transfer-rules')).body;
const proposed = {
  thresholds: thresholds.map((one: { readonly transferType: string }) =>
    one.transferType === 'INTRA_FI' ? { ...one, reviewAbove: '400.00' } : one,
  ),
  limits,
};
for (let turn = 0; turn < 3; turn += 1) {
  const started = performance.now();
  const { status, body } = await auditor.post('/transfer-rules/preview', proposed);
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  const read = body.figures.reduce(
    (sum: number, one: { readonly transfers: number }) => sum + one.transfers,
    0,
  );
  console.log(
    `${status}: ${read} orders by both rules, ${body.differing} with another outcome, ${seconds} s, load ${os.loadavg()[0]?.toFixed(1)}`,
  );
}
await service.close();
