/*
 * Does the time of a refused sign-in tell whether a name exists? Each kind of name in turns over HTTP, in a new order each round, with the
 * medians. test/auth/enumeration.test.ts compares the work of each kind; this measures the milliseconds.
 *
 *   node bench/sign-in-times.ts [ROUNDS]
 *
 * "slower" is the share of rounds in which the kind took longer than the first one: about a half if they take the same time. A share below
 * 0.4 or above 0.6 in 200 rounds is seldom chance.
 */
import { availableParallelism } from 'node:os';
import { authorizeUrl, pkce, TestBrowser } from '../test/support/sign-in.ts';
import { startDemoService } from './demo-service.ts';
import { median } from './measure.ts';

const rounds = Number(process.argv[2] ?? 200);
/** The first rounds warm up. */
const warmUp = 5;
const wrong = 'whatever it may be';
const app = { client_id: 'demo-app', client_secret: 'demo-app-secret' };
/** The pause would hide the difference, and each fifth wrong password locks a member. */
const settings = { FAILED_LOGIN_PAUSE_MILLIS: '0', TOKENS_PER_MINUTE: '999999999' };
const names = { nobody: 'nobody.of.this.name', locked: 'heath.locked', inactive: 'moss.inactive' };
const clients = { nobody: 'nobody-app', known: 'demo-app' };

/** Each prepares a try, whose time counts. */
type Kinds = Readonly<Record<string, () => Promise<() => Promise<unknown>>>>;

await using service = await startDemoService(18_441, 1, settings);

const form = (path: string, fields: Record<string, string>) => async () => async () => {
  const headers = {
    'content-type': 'application/x-www-form-urlencoded',
    // As a form of our own page.
    'sec-fetch-site': 'same-origin',
  };
  const body = new URLSearchParams(fields).toString();
  const response = await service.pool.request({ path, method: 'POST', headers, body });
  await response.body.dump();
};
const forEach = (of: Readonly<Record<string, string>>, act: (name: string) => Kinds[string]): Kinds =>
  Object.fromEntries(Object.entries(of).map(([kind, name]) => [kind, act(name)]));

/** A form of the page of sign-in, in a new browser. */
const onPage = (path: string, fields: Record<string, string>) => async () => {
  const browser = new TestBrowser(service.url.replace('127.0.0.1', 'localhost'));
  const page = await browser.get(
    authorizeUrl({
      ...{ client_id: 'demo-budget', response_type: 'code', redirect_uri: 'http://127.0.0.1/' },
      ...{ scope: 'openid', code_challenge: pkce().challenge, code_challenge_method: 'S256' },
    }),
  );
  return () => browser.post(path, { request: page.request, ...fields });
};

const subjects: Readonly<Record<string, Kinds>> = {
  'password grant': forEach(names, (username) =>
    form('/auth/v2/token', { grant_type: 'password', ...app, username, password: wrong }),
  ),
  'page of sign-in': forEach(names, (username) => onPage('/auth/v2/sign-in', { username, password: wrong })),
  'page of a forgotten password': forEach(names, (username) => onPage('/auth/v2/forgotten', { username })),
  'wrong secret': forEach(clients, (client_id) =>
    form('/auth/v2/token', { grant_type: 'client_credentials', client_id, client_secret: wrong }),
  ),
  'introspection with a wrong secret': forEach(clients, (client_id) =>
    form('/auth/v2/introspect', { token: 'invented', client_id, client_secret: wrong }),
  ),
  'invitation of an operator': forEach({ nobody: 'no-such-bank', known: 'lakeside' }, (institution) =>
    form('/operations/invitation', { institution, code: 'AAAAAAAA-0000' }),
  ),
};

console.log(`${availableParallelism()} cores, ${rounds} rounds`);
for (const [subject, kinds] of Object.entries(subjects)) await measure(subject, kinds);

async function measure(subject: string, kinds: Kinds): Promise<void> {
  const all = Object.keys(kinds);
  const millis = new Map(all.map((kind) => [kind, [] as number[]]));
  for (let round = -warmUp; round < rounds; round += 1) {
    // Each kind has each place, and follows each other kind, equally often.
    const turned = all.map((_, place) => all[(place + round + warmUp) % all.length] as string);
    for (const kind of round % 2 === 0 ? turned : turned.toReversed()) {
      const act = await kinds[kind]?.();
      const started = performance.now();
      await act?.();
      if (round >= 0) millis.get(kind)?.push(performance.now() - started);
    }
  }
  const [first = ''] = all;
  const timesOf = (kind: string) => millis.get(kind) ?? [];
  for (const kind of all) {
    const slower = timesOf(kind).filter((time, round) => time > (timesOf(first)[round] ?? 0)).length;
    const share = kind === first ? '' : `, slower than ${first} in ${(slower / rounds).toFixed(2)}`;
    console.log(`${subject.padEnd(34)} ${kind.padEnd(9)} ${median(timesOf(kind)).toFixed(2)} ms${share}`);
  }
}
