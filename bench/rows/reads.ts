import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { clientCredentials, environmentOf, type Filling, urlOf } from '../fill.ts';
import { accountId, customerId } from '../job.ts';
import {
  type Bench,
  compared,
  drive,
  inTurns,
  plain,
  type Row,
  type Run,
  readEach,
  start,
} from '../measure.ts';
import type { Server } from '../stage.ts';

const connections = 64;
const unit = 'responses/s';

export const account: Row = {
  name: 'account',
  title: 'Account detail by member tokens, 64 connections',
  measure: (bench) =>
    againstConstant(bench, {
      traffic: 'account',
      pathOf: (id) => `/digitalbanking/db-accounts/v1/accounts/${id}`,
      id: accountId(0),
      atLeast: 0.6,
    }),
};

export const profile: Row = {
  name: 'profile',
  title: 'Profile by member tokens, 64 connections',
  measure: (bench) =>
    againstConstant(bench, {
      traffic: 'profile',
      pathOf: (id) => `/digitalbanking/ux-users/v1/customers/${id}/contact-methods`,
      id: customerId(0),
      atLeast: 0.55,
    }),
};

export const accounts: Row = {
  name: 'accounts',
  title: 'The ten accounts of a member by member tokens, 64 connections',
  measure: (bench) =>
    againstConstant(bench, {
      traffic: 'accounts',
      pathOf: (id) => `/digitalbanking/ux-users/v1/customers/${id}/accounts`,
      id: customerId(0),
      atLeast: 0.5,
    }),
};

/** Each account has its opening and fifty transfers: one more than a page. */
const withHistory: Filling = { members: 1_000, historyPerAccount: 50 };

/** A handwritten query for the contents of a page. */
const handwrittenPage = `
  select e.seq, e.kind, e.amount, e.posted_after, e.recorded_at, t.transfer_id, t.transfer_type, t.from_account_id,
         t.to_account_id, a.currency
  from accounts a
  cross join lateral (
    select * from entries e where e.institution_id = a.institution_id and e.account_key = a.account_key
    order by e.seq desc limit 50) e
  left join transfers t on t.institution_id = e.institution_id and t.transfer_key = e.posting_key
  where a.institution_id = (select institution_id from institutions) and a.account_id = $1
  order by e.seq desc`;

export const page: Row = {
  name: 'page',
  title: 'Page of 50 transactions by member tokens, 64 connections',
  async measure(bench) {
    const run = await start(bench, withHistory);
    const bare = await bareRoute(run, 'page', {
      path: '/digitalbanking/db-accounts/v1/accounts/:id/transactions',
      query: {
        text: handwrittenPage,
        // As the owner, so that the handwritten query pays for no policy.
        connectionString: urlOf(run.dataset.connection),
        parameter: 'id',
      },
    });
    return race(run, bare, {
      traffic: 'page',
      against: 'a bare route with a handwritten query',
      atLeast: 1.2,
    });
  },
};

/** Each member's token comes once, on a new process; before that, one client's token many times. */
export const fresh: Row = {
  name: 'fresh',
  title: 'Account detail with a new token each time, against one token, 64 connections',
  async measure(bench) {
    const { stage, pace } = bench;
    const dataset = await stage.dataset(plain);
    const ours: number[] = [];
    const theirs: number[] = [];
    for (let round = 0; round < pace.rounds; round++) {
      const server = await stage.service(dataset, { BENCH_ROUND: String(round) });
      const run = { ...bench, dataset, server };
      const one = await drive(run, { traffic: 'account', connections, as: 'flood' });
      const each = await drive(run, { traffic: 'account', connections, warmupSeconds: 0, seconds: 1 });
      if ((each.allStatuses[200] ?? 0) > dataset.people.tokens.length) throw new Error('too few tokens');
      theirs.push(one.perSecond);
      ours.push(each.perSecond);
      await stage.stop(server);
    }
    const name = 'a new token each time';
    return [compared({ name, unit, ours, against: 'one token', theirs, atLeast: 0.5 })];
  },
};

/** Compares with a bare route that returns the service's response for the first account or member. */
async function againstConstant(
  bench: Bench,
  read: {
    readonly traffic: 'account' | 'accounts' | 'profile';
    readonly pathOf: (id: string) => string;
    readonly id: string;
    readonly atLeast: number;
  },
) {
  const { traffic, pathOf, id, atLeast } = read;
  const run = await start(bench, plain);
  const response = await fetch(run.server.url + pathOf(id), {
    headers: { authorization: `Bearer ${run.dataset.people.tokens[0]}` },
  });
  const constant = await response.text();
  if (response.status !== 200) throw new Error(`${traffic}: ${constant}`);
  const bare = await bareRoute(run, traffic, { path: pathOf(':id'), constant });
  return race(run, bare, { traffic, against: 'a bare Fastify route', atLeast });
}

async function bareRoute({ stage, dataset }: Run, name: string, setting: object): Promise<Server> {
  const keys = await stage.sql<{ kid: string; jwk: object }>(
    dataset.connection.database,
    'select kid, public_jwk as jwk from signing_keys',
  );
  const file = path.join(stage.folder, `${name}.json`);
  const jwks = { keys: keys.map(({ kid, jwk }) => ({ ...jwk, kid })) };
  const issuer = environmentOf(dataset.connection).PUBLIC_URL;
  await writeFile(file, JSON.stringify({ jwks, issuer, ...setting }));
  return stage.baseline('route.ts', { SETTING: file });
}

/** With the memory of the default, and with one that holds all answers, after each was read. */
async function race(
  run: Run,
  bare: Server,
  {
    traffic,
    against,
    atLeast,
  }: {
    readonly traffic: 'account' | 'accounts' | 'profile' | 'page';
    readonly against: string;
    readonly atLeast: number;
  },
) {
  const rate = async (server: Server) =>
    (await drive({ ...run, server }, { traffic, connections })).perSecond;
  const remembers = await run.stage.service(run.dataset, { MEMORY_MEGABYTES: '256' });
  await readEach({ ...run, server: remembers }, traffic);
  for (const server of [bare, run.server]) await rate(server);
  const { theirs, ours, remembered } = await inTurns(run, {
    theirs: () => rate(bare),
    ours: () => rate(run.server),
    remembered: () => rate(remembers),
  });
  await run.stage.stop(remembers);
  return [
    compared({ name: 'all remembered', unit, ours: remembered, against, theirs, atLeast }),
    compared({ name: 'MEMORY_MEGABYTES=48', unit, ours, against, theirs }),
  ];
}

export const token: Row = {
  name: 'token',
  title: 'client_credentials tokens (ES256), 64 connections',
  async measure(bench) {
    const { stage } = bench;
    const run = await start(bench, plain);
    const provider = await stage.baseline('oidc.ts', {
      CLIENT_ID: clientCredentials.clientId,
      CLIENT_SECRET: clientCredentials.clientSecret,
    });
    const job = { traffic: 'token', connections, credentials: clientCredentials } as const;
    const rate = async (server: Server) => (await drive({ ...run, server }, job)).perSecond;
    for (const one of [run.server, provider]) await rate(one);
    const rates = await inTurns(bench, {
      'oidc-provider': () => rate(provider),
      ours: () => rate(run.server),
    });
    await stage.stop(provider);
    return [
      compared({
        name: '64 connections',
        unit: 'tokens/s',
        ours: rates.ours,
        against: 'node-oidc-provider',
        theirs: rates['oidc-provider'],
        atLeast: 3,
      }),
    ];
  },
};
