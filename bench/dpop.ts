/*
 * The cost of tokens that are bound to a key (RFC 9449): account reads and token requests with proofs, compared with the same without.
 * All in turns, in one run, by one client, which signs its proofs beforehand.
 *
 *   node bench/dpop.ts [ROUNDS]
 *
 * A bound request verifies an ES256 signature and records its proof.
 */
import { generateKeyPairSync, hash, randomUUID, sign } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { startDemoService } from './demo-service.ts';
import { median } from './measure.ts';
import { cpuSeconds } from './meters.ts';

const connections = 64;
const readsEach = 4_000;
const tokensEach = 2_000;
const rounds = Number(process.argv[2] ?? 5);
const accountPath = '/digitalbanking/db-accounts/v1/accounts/a-1001-checking';
const tokenPath = '/auth/v2/token';
const grant = new URLSearchParams({
  grant_type: 'client_credentials',
  client_id: 'demo-app',
  client_secret: 'demo-app-secret',
}).toString();
const login = `${grant.replace('client_credentials', 'password')}&username=demo.member&password=demo-member-password`;

const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const { kty, crv, x, y } = publicKey.export({ format: 'jwk' });
const header = base64url({ typ: 'dpop+jwt', alg: 'ES256', jwk: { kty, crv, x, y } });

interface Sent {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body?: string;
}

await using service = await startDemoService(18_439, connections);
let nonce = '';

let known: string | undefined;
const results: { readonly reads: Pair; readonly tokens: Pair }[] = [];
const bearer = (await tokenOf({})).access_token;
const bound = await boundToken();
known = bound;
for (let round = -1; round < rounds; round += 1) {
  const reads = {
    without: await run(readsEach, () => readWith({ authorization: `Bearer ${bearer}` })),
    with: await run(readsEach, () =>
      readWith({ authorization: `DPoP ${bound}`, dpop: proof('GET', accountPath, bound) }),
    ),
  };
  const tokens = {
    without: await run(tokensEach, () => request(grant, {})),
    with: await run(tokensEach, () => request(grant, { dpop: proof('POST', tokenPath) })),
  };
  // The first round warms up.
  if (round >= 0) results.push({ reads, tokens });
}
const line = (kind: 'reads' | 'tokens', which: keyof Pair) => {
  const of = (name: keyof Cost) => median(results.map((result) => result[kind][which][name])).toFixed(0);
  return `${of('perSecond')}/s, ${of('micros')} µs of service CPU each`;
};
const ratio = (kind: 'reads' | 'tokens') =>
  median(results.map((result) => result[kind].with.perSecond / result[kind].without.perSecond)).toFixed(2);
console.log(
  `${availableParallelism()} cores, ${connections} connections, ${rounds} rounds
reads   without  ${line('reads', 'without')}
        DPoP     ${line('reads', 'with')}
        ratio    ${ratio('reads')}
tokens  without  ${line('tokens', 'without')}
        DPoP     ${line('tokens', 'with')}
        ratio    ${ratio('tokens')}`,
);

interface Pair {
  readonly without: Cost;
  readonly with: Cost;
}

interface Cost {
  readonly micros: number;
  readonly perSecond: number;
}

/** Sends requests that are made beforehand, on all connections at once; throws for any status but 200. */
async function run(count: number, make: () => Sent): Promise<Cost> {
  // The nonce of the last run may be minutes old.
  await boundToken();
  const waiting = Array.from({ length: count }, make);
  const used = async () => (await cpuSeconds(service.pid, false)) ?? Number.NaN;
  const before = await used();
  const started = performance.now();
  const sender = async () => {
    for (let one = waiting.pop(); one !== undefined; one = waiting.pop()) await send(one);
  };
  await Promise.all(Array.from({ length: connections }, sender));
  const seconds = (performance.now() - started) / 1_000;
  return { micros: (((await used()) - before) / count) * 1e6, perSecond: count / seconds };
}

async function send(sent: Sent): Promise<string> {
  const { statusCode, body } = await service.pool.request(sent);
  const text = await body.text();
  if (statusCode !== 200) throw new Error(`${sent.path} returned ${statusCode}: ${text}`);
  return text;
}

function readWith(headers: Record<string, string>): Sent {
  return { method: 'GET', path: accountPath, headers };
}

function request(body: string, headers: Record<string, string>): Sent {
  const type = 'application/x-www-form-urlencoded';
  return { method: 'POST', path: tokenPath, body, headers: { 'content-type': type, ...headers } };
}

async function tokenOf(headers: Record<string, string>): Promise<{ readonly access_token: string }> {
  return JSON.parse(await send(request(login, headers)));
}

/** A bound token, with a nonce of the present. */
async function boundToken(): Promise<string> {
  const asked = await service.pool.request(request(grant, { dpop: proof('POST', tokenPath) }));
  await asked.body.dump();
  nonce = String(asked.headers['dpop-nonce']);
  return known ?? (await tokenOf({ dpop: proof('POST', tokenPath) })).access_token;
}

function proof(htm: string, path: string, accessToken?: string): string {
  const ath = accessToken && hash('sha256', accessToken, 'base64url');
  const iat = Math.floor(Date.now() / 1000);
  const input = `${header}.${base64url({ jti: randomUUID(), htm, htu: service.url + path, iat, nonce, ath })}`;
  const signature = sign('sha256', Buffer.from(input), { key: privateKey, dsaEncoding: 'ieee-p1363' });
  return `${input}.${signature.toString('base64url')}`;
}

function base64url(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}
