/*
 * The saving of remembered tokens: account reads with a new token each, compared with the same reads with one
 * token. Both in turns, in one run, by one client.
 *
 *   node bench/fresh-tokens.ts
 *
 * The difference in the service's CPU is the cost of verifying a signature. The rate also depends on the database and the
 * client.
 */
import { availableParallelism } from 'node:os';
import { loadConfig } from '../src/app/config.ts';
import { openAppContext } from '../src/app/context.ts';
import { findInstitutionByCode } from '../src/institutions/index.ts';
import { type DemoService, startDemoService } from './demo-service.ts';
import { median } from './measure.ts';
import { cpuSeconds } from './meters.ts';

const connections = 64;
const readsEach = 4_000;
const rounds = 3;

await using service = await startDemoService(18_438, connections);
const tokens = await issue(service, rounds * readsEach + 1);
const one = tokens.pop() as string;
await reads(Array(readsEach).fill(one));

const results: { known: Cost; fresh: Cost }[] = [];
for (let round = 0; round < rounds; round += 1) {
  const known = await reads(Array(readsEach).fill(one));
  const fresh = await reads(tokens.splice(0, readsEach));
  results.push({ known, fresh });
}
const medianOf = (kind: 'known' | 'fresh') => {
  const of = (name: keyof Cost) => median(results.map((result) => result[kind][name])).toFixed(0);
  return `${of('micros')} µs of service CPU per read, ${of('perSecond')} reads/s`;
};
console.log(
  `${availableParallelism()} cores, ${connections} connections, ${rounds} rounds of ${readsEach} reads
one token     ${medianOf('known')}
new tokens    ${medianOf('fresh')}
ratio         ${median(results.map(({ known, fresh }) => fresh.micros / known.micros)).toFixed(2)}`,
);

/** Tokens of the demo's member, made here with the service's signing key. */
async function issue({ settings }: DemoService, count: number): Promise<string[]> {
  const { config, secrets } = loadConfig({ ...settings });
  const context = await openAppContext(config, secrets, 'borrow', () => {});
  try {
    const lakeside = await context.database.directory((db) => findInstitutionByCode(db, 'lakeside'));
    if (lakeside === undefined) throw new Error('the demo institution does not exist');
    const { institutionId } = lakeside;
    const client = { institutionId, clientId: 'demo-app', clientEpoch: 0, scopes: ['account:read'] } as const;
    const member = { use: 'member', userId: 'u-demo-member', userEpoch: 0 } as const;
    const { tokens } = context.auth;
    return await Promise.all(
      Array.from({ length: count }, () => tokens.issue({ ...client, ...member }, 1_800)),
    );
  } finally {
    await context.close();
  }
}

/** The cost of one read. */
interface Cost {
  readonly micros: number;
  readonly perSecond: number;
}

/** One read with each token, on all connections at once. */
async function reads(tokens: string[]): Promise<Cost> {
  const waiting = [...tokens];
  const started = performance.now();
  const used = async () => (await cpuSeconds(service.pid, false)) ?? Number.NaN;
  const before = await used();
  const reader = async () => {
    for (let token = waiting.pop(); token !== undefined; token = waiting.pop()) {
      await service.readAccount(token);
    }
  };
  await Promise.all(Array.from({ length: connections }, reader));
  const seconds = (performance.now() - started) / 1_000;
  return { micros: (((await used()) - before) / tokens.length) * 1e6, perSecond: tokens.length / seconds };
}
