import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { clientCredentials, environmentOf } from '../fill.ts';
import { accountId, customerId } from '../job.ts';
import { type Bench, compared, drive, inTurns, plain, type Row } from '../measure.ts';
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
