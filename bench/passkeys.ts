/*
 * The cost of a sign-in on the pages, from the page to the tokens: by passkey and by password, in turns, in one run, by one client.
 *
 *   node bench/passkeys.ts [ROUNDS]
 *
 * A sign-in is three requests: the page, its form, the exchange of the code. The bare signature is what one sign-in by passkey cannot do
 * without: one ES256 verification, on one thread of this machine.
 */
import { createSign, createVerify, generateKeyPairSync } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { Authenticator, optionsIn } from '../test/support/authenticator.ts';
import { authorizeUrl, pkce, TestBrowser, type TestPage } from '../test/support/sign-in.ts';
import { startDemoService } from './demo-service.ts';
import { median } from './measure.ts';
import { cpuSeconds } from './meters.ts';

const port = 18_441;
const address = `http://localhost:${port}`;
/** A member has ten passkeys at most, and each is used by one caller at a time, as its counter demands. */
const callers = 10;
const signInsEach = 40;
const rounds = Number(process.argv[2] ?? 5);
const clientId = 'demo-budget';
const redirectUri = 'http://127.0.0.1:8080/';
const member = { username: 'demo.member', password: 'demo-member-password' };

type SignIn = (caller: number) => Promise<void>;

await using service = await startDemoService(port, callers);
const keys = await enroll();
const ways: Record<'passkey' | 'password', SignIn> = {
  passkey: (caller) =>
    signIn((browser, page) => {
      const credential = (keys[caller] as Authenticator).get(optionsIn(page.text));
      return browser.post('/auth/v2/sign-in/passkey', { request: page.request, credential });
    }),
  password: () =>
    signIn((browser, page) => browser.post('/auth/v2/sign-in', { request: page.request, ...member })),
};
// The member allows the app here, once; a second consent would end the codes of the first.
await ways.password(0);
const results: Record<keyof typeof ways, Cost>[] = [];
for (let round = -1; round < rounds; round += 1) {
  const result = { passkey: await run(ways.passkey), password: await run(ways.password) };
  // The first round warms up.
  if (round >= 0) results.push(result);
}
const line = (way: keyof typeof ways) => {
  const of = (name: keyof Cost) => median(results.map((result) => result[way][name]));
  return `${of('perSecond').toFixed(0)} sign-ins a second, ${of('millis').toFixed(1)} ms of service CPU each`;
};
const ratio = median(results.map(({ passkey, password }) => passkey.perSecond / password.perSecond));
console.log(
  `${availableParallelism()} cores, ${callers} callers, ${rounds} rounds
passkey    ${line('passkey')}
password   ${line('password')}
ratio      ${ratio.toFixed(2)}
signature  ${signaturesPerSecond().toFixed(0)} bare ES256 verifications a second`,
);

interface Cost {
  readonly perSecond: number;
  readonly millis: number;
}

async function run(one: SignIn): Promise<Cost> {
  const used = async () => (await cpuSeconds(service.pid, false)) ?? Number.NaN;
  const before = await used();
  const started = performance.now();
  await Promise.all(
    Array.from({ length: callers }, async (_, caller) => {
      for (let count = 0; count < signInsEach; count += 1) await one(caller);
    }),
  );
  const seconds = (performance.now() - started) / 1_000;
  const count = callers * signInsEach;
  return { perSecond: count / seconds, millis: (((await used()) - before) / count) * 1_000 };
}

/** A new browser opens the page, sends the form, allows the app if it is asked to, and the app exchanges the code. */
async function signIn(send: (browser: TestBrowser, page: TestPage) => Promise<TestPage>): Promise<void> {
  const browser = new TestBrowser(address);
  const { verifier, challenge } = pkce();
  const opened = await browser.get(
    authorizeUrl({
      client_id: clientId,
      response_type: 'code',
      redirect_uri: redirectUri,
      scope: 'openid account:read',
      code_challenge: challenge,
      code_challenge_method: 'S256',
    }),
  );
  let page = await send(browser, opened);
  if (page.title.startsWith('Allow'))
    page = await browser.post('/auth/v2/consent', {
      request: page.request,
      days: '30',
      answer: 'allow',
      accounts: 'all',
    });
  if (page.status !== 303) throw new Error(`the sign-in ended with ${page.status} ${page.title}`);
  const response = await fetch(`${address}/auth/v2/token`, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'authorization_code',
      client_id: clientId,
      redirect_uri: redirectUri,
      code: page.location.searchParams.get('code') ?? '',
      code_verifier: verifier,
    }),
  });
  if (response.status !== 200)
    throw new Error(`the exchange ended with ${response.status} ${await response.text()}`);
  await response.text();
}

async function enroll(): Promise<Authenticator[]> {
  const browser = new TestBrowser(address);
  const security = `/auth/v2/security?client_id=${clientId}`;
  const first = await browser.get(security);
  await browser.post('/auth/v2/sign-in', { request: first.request, ...member });
  const enrolled: Authenticator[] = [];
  while (enrolled.length < callers) {
    const page = await browser.get(security);
    const key = new Authenticator(address);
    const form = { request: page.request, credential: key.create(optionsIn(page.text)), name: 'Bench' };
    const added = await browser.post('/auth/v2/security/passkeys', form);
    if (added.status !== 200) throw new Error(`the enrollment ended with ${added.status} ${added.title}`);
    enrolled.push(key);
  }
  return enrolled;
}

function signaturesPerSecond(): number {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const data = Buffer.alloc(128);
  const signature = createSign('sha256').update(data).sign(privateKey);
  const started = performance.now();
  for (let count = 0; count < 5_000; count += 1)
    createVerify('sha256').update(data).verify(publicKey, signature);
  return 5_000 / ((performance.now() - started) / 1_000);
}
