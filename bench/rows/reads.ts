import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { clientCredentials, environmentOf, type Filling, urlOf } from '../fill.ts';
import { accountId, customerId } from '../job.ts';
import { type Bench, compared, drive, inTurns, median, plain, type Row, ratioOf } from '../measure.ts';
import type { Ground, Server } from '../stage.ts';

const connections = 64;
const unit = 'answers/s';

export const account: Row = {
  name: 'account',
  title: 'Account detail by member tokens, 64 connections',
  measure: (bench) =>
    againstConstant(bench, 'account', `/digitalbanking/db-accounts/v1/accounts/`, accountId(0), 0.75),
};

export const profile: Row = {
  name: 'profile',
  title: 'Profile by member tokens, 64 connections',
  measure: (bench) =>
    againstConstant(
      bench,
      'profile',
      `/digitalbanking/ux-users/v1/customers/`,
      customerId(0),
      0.6,
      '/contact-methods',
    ),
};

/** Each account has its opening and fifty transfers: a page and one more. */
const withHistory: Filling = { members: 1_000, historyPerAccount: 50 };

/** What a page shows, as a query by hand has it. */
const pageByHand = `
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
    const ground = await bench.stage.ground(withHistory);
    const server = await bench.stage.service(ground);
    const bare = await bareRoute(bench, ground, 'page', {
      path: '/digitalbanking/db-accounts/v1/accounts/:id/transactions',
      query: {
        text: pageByHand,
        // The owner's, whom no policy binds: the query by hand has none to pay for.
        connectionString: urlOf(ground.connection),
        parameter: 'id',
      },
    });
    return race(bench, ground, server, bare, 'page', 'a bare route with a query by hand', 0.7);
  },
};

/** On a service that has not seen them, each member's token comes once; before it, one client's token many times. */
export const fresh: Row = {
  name: 'fresh',
  title: 'Account detail with a new token each time, against one token, 64 connections',
  async measure(bench) {
    const { stage, pace } = bench;
    const ground = await stage.ground(plain);
    const rates: Record<'ours' | 'one token', number[]> = { ours: [], 'one token': [] };
    for (let round = 0; round < pace.rounds; round++) {
      const server = await stage.service(ground, { BENCH_ROUND: String(round) });
      const one = await drive(bench, server, ground, { traffic: 'account', connections, as: 'flood' });
      const job = { traffic: 'account', connections, warmupSeconds: 0, seconds: 1 } as const;
      const each = await drive(bench, server, ground, job);
      if ((each.allStatuses[200] ?? 0) > ground.people.tokens.length) throw new Error('too few tokens');
      rates['one token'].push(one.perSecond);
      rates.ours.push(each.perSecond);
      await stage.stop(server);
    }
    const [ours, against] = [rates.ours, rates['one token']];
    return [
      {
        what: 'a new token each time',
        unit,
        ours: median(ours),
        against: { what: 'one token', value: median(against) },
        ratio: ratioOf(ours, against),
        rounds: rates,
      },
    ];
  },
};

/** A bare route that answers, for every account or member, what we answer for the first. */
async function againstConstant(
  bench: Bench,
  traffic: 'account' | 'profile',
  prefix: string,
  id: string,
  atLeast: number,
  suffix = '',
) {
  const ground = await bench.stage.ground(plain);
  const server = await bench.stage.service(ground);
  const answer = await fetch(`${server.url}${prefix}${id}${suffix}`, {
    headers: { authorization: `Bearer ${ground.people.tokens[0]}` },
  });
  const constant = await answer.text();
  if (answer.status !== 200) throw new Error(`${traffic}: ${constant}`);
  const bare = await bareRoute(bench, ground, traffic, { path: `${prefix}:id${suffix}`, constant });
  return race(bench, ground, server, bare, traffic, 'a bare Fastify route', atLeast);
}

async function bareRoute({ stage }: Bench, ground: Ground, name: string, setting: object): Promise<Server> {
  const keys = await stage.sql<{ kid: string; jwk: object }>(
    ground.connection.database,
    'select kid, public_jwk as jwk from signing_keys',
  );
  const file = path.join(stage.folder, `${name}.json`);
  const jwks = { keys: keys.map(({ kid, jwk }) => ({ ...jwk, kid })) };
  const issuer = environmentOf(ground.connection).PUBLIC_URL;
  await writeFile(file, JSON.stringify({ jwks, issuer, ...setting }));
  return stage.baseline('route.ts', { SETTING: file });
}

async function race(
  bench: Bench,
  ground: Ground,
  server: Server,
  bare: Server,
  traffic: 'account' | 'profile' | 'page',
  against: string,
  atLeast: number,
) {
  for (const one of [bare, server]) await drive(bench, one, ground, { traffic, connections });
  const rates = await inTurns(bench, {
    [against]: async () => (await drive(bench, bare, ground, { traffic, connections })).perSecond,
    ours: async () => (await drive(bench, server, ground, { traffic, connections })).perSecond,
  });
  return [
    compared('64 connections', unit, rates.ours as number[], against, rates[against] as number[], atLeast),
  ];
}

export const token: Row = {
  name: 'token',
  title: 'client_credentials tokens (ES256), 64 connections',
  async measure(bench) {
    const { stage } = bench;
    const ground = await stage.ground(plain);
    const server = await stage.service(ground);
    const provider = await stage.baseline('oidc.ts', {
      CLIENT_ID: clientCredentials.clientId,
      CLIENT_SECRET: clientCredentials.clientSecret,
    });
    const rate = async (of: Server) =>
      (await drive(bench, of, ground, { traffic: 'token', connections, credentials: clientCredentials }))
        .perSecond;
    for (const one of [server, provider]) await rate(one);
    const rates = await inTurns(bench, { 'oidc-provider': () => rate(provider), ours: () => rate(server) });
    await stage.stop(provider);
    return [
      compared('64 connections', 'tokens/s', rates.ours, 'node-oidc-provider', rates['oidc-provider'], 3),
    ];
  },
};
