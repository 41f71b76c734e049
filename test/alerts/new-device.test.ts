import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { clientCredentials, password, Sharedraft } from '../../client/src/index.ts';
import { runMaintenance } from '../../src/app/background/maintenance.ts';
import { paths, send } from '../support/demo.ts';
import { TestKey } from '../support/dpop.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { authorizeUrl, pkce, TestBrowser } from '../support/sign-in.ts';
import { until } from '../webhooks/receiver.ts';

/* The alert about a sign-in from a new device. */

const issuer = 'http://localhost';
const app = { clientId: 'demo-app', clientSecret: 'demo-app-secret' };
const willow = { username: 'demo.member', password: 'demo-member-password' };
const fern = { username: 'fern.joint', password: 'fern-green-lantern-2' };
const cedar = { username: 'cedar.owner', password: 'cedar-red-lantern-3' };
let now = new Date('2026-03-02T17:00:00Z');
let service: TestService;
before(async () => {
  service = await startTestService({ clock: () => now, environment: { PUBLIC_URL: issuer } });
});
after(() => service.close());

interface Way {
  readonly deviceId?: string;
  readonly key?: TestKey;
}

async function signIn(member: typeof willow, { deviceId, key }: Way = {}) {
  const body = {
    ...{ grant_type: 'password', client_id: app.clientId, client_secret: app.clientSecret },
    ...{ ...member, device_id: deviceId },
  };
  const iat = Math.floor(now.getTime() / 1000);
  const nonce = service.service.context.auth.proofNonces.current();
  const claims = { htm: 'POST', htu: `${issuer}${paths.token}`, iat, nonce };
  const headers: Record<string, string> = key === undefined ? {} : { dpop: key.proof({ claims }) };
  return send(service.address, 'POST', paths.token, { body, headers });
}

async function signInAtPage(browser: TestBrowser, member = willow) {
  const page = await browser.get(
    authorizeUrl({
      client_id: 'demo-budget',
      response_type: 'code',
      redirect_uri: 'http://127.0.0.1:49152/',
      scope: 'openid account:read',
      prompt: 'login',
      code_challenge: pkce().challenge,
      code_challenge_method: 'S256',
    }),
  );
  const next = await browser.post('/auth/v2/sign-in', { request: page.request, ...member });
  assert.ok(browser.cookies.has('session-1'), next.text);
}

/** How many new devices the member was told of, according to the outbox. */
async function newDevicesOf(userId: string): Promise<number> {
  const rows = await service.db.superuser(
    `select from outbox o join users u using (institution_id)
     where o.kind = 'member.new_device' and o.subject_key = u.user_key and u.user_id = $1`,
    [userId],
  );
  return rows.length;
}

/** The answer to a sign-in is 200; returns how many new devices it added. */
async function added(userId: string, ways: readonly Way[], member: typeof willow): Promise<number> {
  const earlier = await newDevicesOf(userId);
  const answers = await Promise.all(ways.map((way) => signIn(member, way)));
  assert.deepEqual(
    answers.map(({ status, text }) => (status === 200 ? 200 : text)),
    ways.map(() => 200),
  );
  return (await newDevicesOf(userId)) - earlier;
}

test('a new device raises one alert, and the first device and a known one raise none', async () => {
  const phone = { deviceId: 'phone-1' };
  const signInOf = (...ways: Way[]) => added('u-demo-member', ways, willow);
  assert.equal(await signInOf(phone), 0);
  assert.equal(await signInOf(phone), 0);
  assert.equal(await signInOf({ deviceId: 'tablet-1' }), 1);
  assert.equal(await signInOf({ deviceId: 'tablet-1' }, phone), 0);
  const member = new Sharedraft({ baseUrl: service.address, auth: password(app, willow) });
  await until(async () => (await member.alerts.list()).items.length > 0, 'the alert');
  const [alert] = (await member.alerts.list()).items;
  assert.deepEqual(
    [alert?.alertType, alert?.accountId, alert?.message],
    ['NEW_DEVICE', undefined, 'Your login was used on a new device. If this was not you, call us at once.'],
  );
  const bank = new Sharedraft({ baseUrl: service.address, auth: clientCredentials(app) });
  await until(async () => {
    const { events } = await bank.events.read({ from: 1, limit: 200 });
    const raised = events.find(({ eventType }) => eventType === 'member.alert_raised');
    const caused = events.find(({ eventId }) => eventId === raised?.data?.causedBy);
    if (raised === undefined || caused === undefined) return false;
    assert.deepEqual(raised.data?.channels, ['EMAIL', 'INBOX']);
    assert.deepEqual([caused.eventType, caused.data?.clientId], ['member.new_device', 'demo-app']);
    return true;
  }, 'the alert in the feed, beside its cause');
});

test('a browser stays known after its session, for each member alone', async () => {
  const browser = new TestBrowser(service.address);
  const earlier = await newDevicesOf('u-demo-member');
  await signInAtPage(browser);
  assert.equal(await newDevicesOf('u-demo-member'), earlier + 1);
  browser.cookies.delete('session-1');
  await signInAtPage(browser);
  assert.equal(await newDevicesOf('u-demo-member'), earlier + 1);
  await signInAtPage(new TestBrowser(service.address));
  assert.equal(await newDevicesOf('u-demo-member'), earlier + 2);
  assert.equal((await signIn(fern)).status, 200);
  const [row] = await service.db.superuser<{ user_id: string }>(
    `select user_id from users where username = 'fern.joint'`,
  );
  const userId = row?.user_id ?? '';
  assert.equal(await newDevicesOf(userId), 0);
  await signInAtPage(browser, fern);
  assert.equal(await newDevicesOf(userId), 1);
});

test('the cookie of a browser lasts, and the cookie of a session does not', async () => {
  const cookies: string[] = [];
  const fetched = await fetch(
    service.address +
      authorizeUrl({
        ...{ client_id: 'demo-budget', response_type: 'code', redirect_uri: 'http://127.0.0.1:49152/' },
        ...{ scope: 'openid', code_challenge: pkce().challenge, code_challenge_method: 'S256' },
      }),
  );
  cookies.push(...fetched.headers.getSetCookie());
  const request = /name="request" value="([^"]+)"/.exec(await fetched.text())?.[1] ?? '';
  const cookie = cookies[0]?.split(';')[0] ?? '';
  const signedIn = await fetch(`${service.address}/auth/v2/sign-in`, {
    method: 'POST',
    redirect: 'manual',
    headers: { cookie, 'sec-fetch-site': 'same-origin' },
    body: new URLSearchParams({ request, ...willow }),
  });
  const set = signedIn.headers.getSetCookie();
  assert.ok(set.some((line) => line.startsWith(cookie) && /; Max-Age=34560000$/.test(line)));
  assert.ok(set.some((line) => line.startsWith('session-') && !/Max-Age|Expires/i.test(line)));
});

test('the key of a proof names the device, whatever id comes beside it', async () => {
  const [key, other] = [new TestKey(), new TestKey()];
  const ways = (way: Way) => added('u-demo-member', [way], willow);
  assert.equal(await ways({ key }), 1);
  assert.equal(await ways({ key, deviceId: 'phone-1' }), 0);
  assert.equal(await ways({ key: other, deviceId: 'phone-1' }), 1);
});

test('eight sign-ins at once from one new device raise one alert', async () => {
  const ways = Array.from({ length: 8 }, () => ({ deviceId: 'watch-1' }));
  assert.equal(await added('u-demo-member', ways, willow), 1);
});

test('a refused sign-in is not noted, and a device id that is too long is refused', async () => {
  const count = async () => (await service.db.superuser('select from user_devices')).length;
  const earlier = await count();
  assert.equal(
    (await signIn({ ...willow, password: 'wrong-password-1' }, { deviceId: 'car-1' })).status,
    400,
  );
  const long = await signIn(willow, { deviceId: 'x'.repeat(257) });
  assert.equal(long.status, 400);
  assert.match(long.text, /device_id must have at most 256 characters/);
  assert.equal(await count(), earlier);
});

test('a device that was not used for 400 days is new again', async () => {
  const { context } = service.service;
  const [row] = await service.db.superuser<{ user_id: string }>(
    `select user_id from users where username = 'cedar.owner'`,
  );
  const userId = row?.user_id ?? '';
  assert.equal(await added(userId, [{ deviceId: 'old-phone' }], cedar), 0);
  now = new Date(now.getTime() + 200 * 86_400_000);
  assert.equal(await added(userId, [{ deviceId: 'new-phone' }], cedar), 1);
  now = new Date(now.getTime() + 201 * 86_400_000);
  await runMaintenance(context, () => {});
  assert.equal(await added(userId, [{ deviceId: 'new-phone' }], cedar), 0);
  assert.equal(await added(userId, [{ deviceId: 'old-phone' }], cedar), 1);
});

test('a known device has the kind of its mark, the app and the name of the browser, also if it had none', async () => {
  await service.db.superuser('delete from user_devices');
  const key = new TestKey();
  const about = async () =>
    (
      await service.db.superuser<{ kind: string | null; client_id: string | null; name: string | null }>(
        `select d.kind, d.client_id, d.name from user_devices d join users u using (institution_id, user_key)
         where u.username = 'cedar.owner' order by d.kind`,
      )
    ).map(({ kind, client_id, name }) => [kind, client_id, name]);
  for (const way of [{}, { deviceId: 'cedar-phone' }, { key }]) {
    assert.equal((await signIn(cedar, way)).status, 200);
  }
  const firefox = 'Mozilla/5.0 (X11; Linux x86_64; rv:142.0) Gecko/20100101 Firefox/142.0';
  await signInAtPage(new TestBrowser(service.address, { 'user-agent': firefox }), cedar);
  const all = [
    ['APP', 'demo-app', null],
    ['APP_WITHOUT_ID', 'demo-app', null],
    ['BROWSER', 'demo-budget', 'Firefox on Linux'],
    ['KEY', 'demo-app', null],
  ];
  assert.deepEqual(await about(), all);
  await service.db.superuser(
    `update user_devices set kind = null, client_id = null, name = null where kind = 'APP'`,
  );
  // Within a day of the last sign-in nothing is written.
  now = new Date(now.getTime() + 25 * 3_600_000);
  assert.equal((await signIn(cedar, { deviceId: 'cedar-phone' })).status, 200);
  assert.deepEqual(await about(), all);
});
