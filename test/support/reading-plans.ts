import pg from 'pg';
import { getBalances } from '../../src/accounts/index.ts';
import { getEffectiveBalances, listTransactions, readEvents } from '../../src/feed/index.ts';
import { type Actor, localDate } from '../../src/institutions/index.ts';
import type { Position } from '../../src/shared/page.ts';
import type { Database, Queryable, Statement } from '../../src/storage/index.ts';
import { listTransfers, type TransferFilter } from '../../src/transfers/index.ts';
import type { TestDatabase } from './database.ts';
import type { Filled } from './reading-fill.ts';

/** PostgreSQL's work for one page. */
export interface Measured {
  readonly read: string;
  readonly depth: 'first' | 'deep';
  /** Planned for its values, or for any values. */
  readonly plan: 'custom' | 'generic';
  readonly returned: number;
  /** Rows read by scans of the large tables, discarded ones included. */
  readonly rowsRead: number;
  readonly buffers: number;
  readonly sequentialScans: readonly string[];
}

const largeTables: ReadonlySet<string> = new Set(['transfers', 'entries', 'outbox', 'audit_entries']);
const pageSize = 50;

export interface Read {
  readonly name: string;
  /** The position of the second page; null if there is only one. */
  readonly deep: Position | null;
  run(database: Database, after: Position | null): Promise<unknown>;
}

/** Each list and filter, as the service runs them: the first page, and one behind nine tenths of its rows. */
export function readsOf(filled: Filled): Read[] {
  const { client, member, own, joint, shop, institution, transfers, start } = filled;
  const everything: TransferFilter = {
    accountId: null,
    transferType: null,
    status: null,
    created: { from: null, to: null },
  };
  const at = (share: number) => new Date(start.getTime() + Math.floor(transfers * share) * 1_000);
  const deps = (database: Database) => ({ database, institution: async () => institution });
  const page = (after: Position | null) => ({ limit: pageSize, after });
  const list = (name: string, actor: Actor, filter: Partial<TransferFilter>): Read => ({
    name: `transfers, ${name}`,
    deep: [BigInt(at(0.1).getTime()), 0n],
    run: (database, after) =>
      listTransfers(deps(database), actor, { filter: { ...everything, ...filter }, page: page(after) }),
  });
  // An account's entries are a tenth of the transfers and more: this page is nine tenths down.
  const history = (
    name: string,
    actor: Actor,
    filter: Partial<Parameters<typeof listTransactions>[3]>,
  ): Read => ({
    name: `transactions, ${name}`,
    deep: [1n, BigInt(Math.floor(transfers / 100)), 0n],
    run: (database, after) => {
      const wanted = { status: null, period: { from: null, to: null }, ...filter };
      return listTransactions(deps(database), actor, joint.accountId, wanted, page(after));
    },
  });
  const keys = [own.accountKey, joint.accountKey];
  const consent = { consentId: 'any', version: 1, accountKeys: keys, payingKeys: keys };
  const period = { from: { at: at(0.05) }, to: { at: at(0.95) } };
  return [
    list('of the institution', client, {}),
    list('of the institution, failed', client, { status: 'FAILED' }),
    list('of the institution, of a rare type', client, { transferType: 'IRA_CONTRIBUTION' }),
    list('of the institution, pending, in a period', client, { status: 'PENDING', created: period }),
    list('of the institution, of an account', client, { accountId: shop.accountId }),
    list('of a member', member, {}),
    list('of a member, pending', member, { status: 'PENDING' }),
    list('of a member, of a type that is not there', member, { transferType: 'LOAN_PAYMENT' }),
    list('of a member, of their account', member, { accountId: own.accountId }),
    list('of a member, of a joint account, in a period', member, {
      accountId: joint.accountId,
      created: period,
    }),
    list('of an app with two accounts', { ...member, consent }, {}),
    list('of an app with two accounts, failed', { ...member, consent }, { status: 'FAILED' }),
    list('of an app with two accounts, of one of them', { ...member, consent }, { accountId: own.accountId }),
    history('of the institution', client, {}),
    history('of a member', member, {}),
    history('of a member, in a period', member, { period }),
    {
      name: 'transactions, pending',
      deep: [0n, BigInt(at(0.1).getTime()), 0n],
      run: (database, after) => {
        const wanted = { status: 'PENDING', period: { from: null, to: null } } as const;
        return listTransactions(deps(database), member, joint.accountId, wanted, page(after));
      },
    },
    {
      name: 'balances as of a moment',
      deep: null,
      run: (database) => getBalances({ database, clock: () => at(2) }, member, joint.accountId, at(0.5)),
    },
    {
      name: 'balances as of a moment, by effective date',
      deep: null,
      run: (database) => {
        const day = localDate(at(0.5), institution.timeZone);
        return getEffectiveBalances({ ...deps(database), now: at(2) }, member, joint.accountId, day);
      },
    },
    {
      name: 'events',
      deep: [0n, 453n, 0n],
      run: (database, after) => readEvents(database, institution.institutionId, page(after)),
    },
  ];
}

/**
 * The allowed cost of a page for any contents of the tables: a few rows per returned row (a member's list is merged
 * from as many lists as they have accounts), one row per branch that is read, and blocks in proportion.
 */
export function breaches(measured: readonly Measured[]): string[] {
  return measured.flatMap((one) => {
    const { read, depth, plan, returned, rowsRead, buffers, sequentialScans } = one;
    const first = measured.find((other) => other.read === read && other.plan === plan) ?? one;
    const found = [
      ...sequentialScans.map((scan) => `a sequential scan, ${scan}`),
      rowsRead > 4 * returned + 20 && `${rowsRead} rows read for ${returned}`,
      buffers > 600 && `${buffers} buffers`,
      buffers > 1.5 * first.buffers + 20 && `${buffers} buffers, the first page ${first.buffers}`,
    ];
    return found.filter(Boolean).map((breach) => `${read}, ${depth} page, ${plan} plan: ${breach}`);
  });
}

export async function measureReads(
  db: TestDatabase,
  filled: Filled,
  reads: readonly Read[] = readsOf(filled),
): Promise<Measured[]> {
  const session = new pg.Client({ ...db.connection });
  await session.connect();
  try {
    await session.query('set jit = off');
    await session.query(`select set_config('sharedraft.institution', $1, false)`, [
      String(filled.institution.institutionId),
    ]);
    const measured: Measured[] = [];
    for (const { name, deep, run } of reads) {
      for (const depth of deep === null ? (['first'] as const) : (['first', 'deep'] as const)) {
        const sent = await recorded(db.database, (database) => run(database, depth === 'deep' ? deep : null));
        for (const plan of ['custom', 'generic'] as const) {
          const parts = [];
          for (const [statement, values] of sent) {
            parts.push(await explain(session, statement, values, plan));
          }
          measured.push({
            read: name,
            depth,
            plan,
            returned: parts.at(-1)?.returned ?? 0,
            rowsRead: sum(parts.map((part) => part.rowsRead)),
            buffers: sum(parts.map((part) => part.buffers)),
            sequentialScans: parts.flatMap((part) => part.sequentialScans),
          });
        }
      }
    }
    return measured;
  } finally {
    await session.end();
  }
}

type Sent = readonly [statement: Statement, values: readonly unknown[]];

/** Runs it on the database, and returns its statements. */
async function recorded(database: Database, run: (database: Database) => Promise<unknown>): Promise<Sent[]> {
  const sent: Sent[] = [];
  const recording: Pick<Database, 'read'> = {
    read: (institutionId, work) =>
      database.read(institutionId, (db) => {
        const listening: Queryable = {
          institutionId,
          query: (statement, values = []) => {
            sent.push([statement, values]);
            return db.query(statement, values);
          },
        };
        return work(listening);
      }),
  };
  await run(recording as Database);
  return sent;
}

interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Rows Removed by Index Recheck'?: number;
  readonly 'Shared Hit Blocks': number;
  readonly 'Shared Read Blocks': number;
  readonly Plans?: readonly PlanNode[];
}

async function explain(
  session: pg.Client,
  { name, text }: Statement,
  values: readonly unknown[],
  plan: 'custom' | 'generic',
) {
  const prepared = `measured_${name}`;
  const { rows: known } = await session.query('select from pg_prepared_statements where name = $1', [
    prepared,
  ]);
  if (known.length === 0) await session.query(`prepare ${prepared} as ${text}`);
  await session.query(`set plan_cache_mode = force_${plan}_plan`);
  const execute = `execute ${prepared} (${values.map(literal).join(', ')})`;
  // The first run in a session plans the functions that it calls, and so reads the catalogs.
  await session.query(execute);
  const { rows } = await session.query<{ 'QUERY PLAN': readonly { Plan: PlanNode }[] }>(
    `explain (analyze, buffers, format json) ${execute}`,
  );
  const top = rows[0]?.['QUERY PLAN'][0]?.Plan;
  if (top === undefined) throw new Error('no plan');
  // A scan of a partition is one of its table.
  const scans = nodesOf(top).filter((node) =>
    largeTables.has((node['Relation Name'] ?? '').replace(/_(?:\d+|default)$/, '')),
  );
  return {
    returned: top['Actual Rows'],
    rowsRead: sum(
      scans.map(
        (node) =>
          (node['Actual Rows'] +
            (node['Rows Removed by Filter'] ?? 0) +
            (node['Rows Removed by Index Recheck'] ?? 0)) *
          node['Actual Loops'],
      ),
    ),
    buffers: top['Shared Hit Blocks'] + top['Shared Read Blocks'],
    sequentialScans: scans
      .filter((node) => node['Node Type'] === 'Seq Scan' && node['Actual Loops'] > 0)
      .map((node) => `${name}: ${node['Relation Name']}`),
  };
}

function nodesOf(node: PlanNode): PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(nodesOf)];
}

function literal(value: unknown): string {
  if (value === null) return 'null';
  const text =
    value instanceof Date
      ? value.toISOString()
      : Array.isArray(value)
        ? `{${value.join(',')}}`
        : String(value);
  return pg.escapeLiteral(text);
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
