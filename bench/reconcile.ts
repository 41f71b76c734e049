/*
 * The time of a run of reconcile over every row against one over the changes since:
 *
 *   node bench/reconcile.ts [MEMBERS] [TRANSFERS]     default 10000 10000
 *
 * Each member has ten accounts with three earlier transfers each.
 */
import { loadConfig } from '../src/app/config.ts';
import { openAppContext, openDesk } from '../src/app/context.ts';
import { ownOrigin } from '../src/events/index.ts';
import { findInstitutionByCode } from '../src/institutions/index.ts';
import { type Finding, reconcile, reconcileChanges } from '../src/reconciliation/index.ts';
import { initiateTransfer, parseDecimalAmount } from '../src/transfers/index.ts';
import { environmentOf } from './fill.ts';
import { accountId, accountsPerMember } from './job.ts';
import { Stage } from './stage.ts';

const members = Number(process.argv[2] ?? 10_000);
const transfers = Number(process.argv[3] ?? 10_000);
await using stage = await Stage.open((text) => console.log(text));
const { connection } = await stage.dataset({ members, historyPerAccount: 3 });
const { config, secrets } = loadConfig(environmentOf(connection));
const context = await openAppContext(config, secrets, 'borrow', () => {});
const institution = await context.database.directory((db) => findInstitutionByCode(db, 'bench'));
if (institution === undefined) throw new Error('the bench has no institution');
const { institutionId } = institution;
const { desk, close } = openDesk(context);

const findings: Finding[] = [];
const options = { onFinding: (finding: Finding) => findings.push(finding) };
async function timed<T>(what: string, work: () => Promise<T>): Promise<T> {
  const startedAt = performance.now();
  const result = await work();
  console.log(`${what.padEnd(44)} ${((performance.now() - startedAt) / 1000).toFixed(2)} s`);
  return result;
}

const cent = parseDecimalAmount('0.01');
if ('invalid' in cent) throw new Error(cent.invalid);
const amount = cent;
const actor = { kind: 'client', institutionId, clientId: 'bench-app' } as const;
const accounts = members * accountsPerMember;
async function order(index: number): Promise<void> {
  const from = (index * 10) % accounts;
  await initiateTransfer(desk, actor, {
    order: {
      transferId: `reconcile-${index}`,
      fromAccountId: accountId(from),
      toAccountId: accountId(from + 1),
      amount,
      currencyCode: null,
      transferType: null,
      paymentOption: null,
      previousYearContribution: null,
      memo: null,
    },
    origin: ownOrigin(),
  });
}

try {
  const all = `${accounts} accounts, every row`;
  const checkpoint = await timed(all, () => reconcile(context.database, institutionId, options));
  for (let index = 0; index < transfers; index += 200) {
    await Promise.all(Array.from({ length: Math.min(200, transfers - index) }, (_, at) => order(index + at)));
  }
  const changes = `changes of ${transfers} transfers`;
  const next = await timed(changes, () =>
    reconcileChanges(context.database, institutionId, checkpoint, options),
  );
  await timed('no changes', () => reconcileChanges(context.database, institutionId, next, options));
  await timed(all, () => reconcile(context.database, institutionId, options));
  console.log(`${findings.length} findings`);
} finally {
  await close();
  await context.close();
}
