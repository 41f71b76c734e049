import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import type { TokenSubject } from '../../src/auth/tokens/access-tokens.ts';
import { multiFactor, type Settings, updateInstitution } from '../../src/institutions/index.ts';
import { clientOf, type DemoCaller, memberOf, paths, send } from '../support/demo.ts';
import { startTestService, type TestService } from '../support/service.ts';

const checking = 'a-1001-checking';
const savings = 'a-1001-savings';
const ofOthers = 'a-1002-checking';
const tooLate = 301_000;

let now = Date.now();
let service: TestService;
let institutionId: number;
before(async () => {
  service = await startTestService({ clock: () => new Date(now) });
  const [row] = await service.db.superuser<{ institution_id: number }>(
    "select institution_id from institutions where code = 'lakeside'",
  );
  institutionId = row?.institution_id ?? 0;
});
after(() => service.close());
const off = {
  transferStepUpMaxAgeSeconds: 0,
  transferStepUpAboveMinor: 0n,
  transferStepUpNewDestination: false,
  transferStepUpPasskey: false,
};
afterEach(() => demand(off));

/** Changes the policy, and waits until the service has learned of it. */
async function demand(policy: Partial<Settings>): Promise<void> {
  const { database } = service.service.context;
  await database.transaction(institutionId as never, (tx) => updateInstitution(tx, policy));
  await new Promise((resolve) => setTimeout(resolve, 1_100));
}

const login = () => memberOf(service, 'demo.member', 'demo-member-password');

function pay(caller: DemoCaller, id: string, amount: number, toAccountId = savings) {
  return caller.post(paths.transfers, { id, fromAccountId: checking, toAccountId, amount });
}

async function isIdFree(id: string): Promise<boolean> {
  const used = await service.db.superuser('select from idempotency_keys where transfer_id = $1', [id]);
  return used.length === 0;
}

/** A token of the demo's member with other claims. */
async function tokenWith(change: Partial<TokenSubject>): Promise<string> {
  const member = await login();
  const { tokens } = service.service.context.auth;
  return tokens.issue({ ...(await tokens.verify(member.token)), ...change }, 300);
}

function payWith(token: string, id: string, amount: number) {
  const body = { id, fromAccountId: checking, toAccountId: savings, amount };
  return send(service.address, 'POST', paths.transfers, {
    body,
    headers: { authorization: `Bearer ${token}` },
  });
}

test('an old sign-in is challenged above the amount after RFC 9470, uses up no id, and a new one passes', async () => {
  await demand({ transferStepUpMaxAgeSeconds: 300, transferStepUpAboveMinor: 10_000n });
  const early = await login();
  assert.equal((await pay(early, 'fresh', 100.01)).status, 201);
  now += tooLate;
  assert.equal((await pay(early, 'at-the-amount', 100)).status, 201);
  const refused = await pay(early, 'large', 100.01);
  assert.equal(refused.status, 401);
  assert.partialDeepStrictEqual(refused.body, {
    ...{ code: 'insufficient_user_authentication', max_age: 300, step_up: 'transfer_amount' },
  });
  assert.equal('acr_values' in refused.body, false);
  assert.match(
    refused.headers.get('www-authenticate') ?? '',
    /^Bearer realm="sharedraft", error="insufficient_user_authentication", .*max_age="300"$/,
  );
  assert.ok(await isIdFree('large'));
  assert.equal((await pay(await login(), 'large', 100.01)).status, 201);
  assert.equal((await pay(early, 'large', 100.01)).status, 200, 'a repeated order needs no new sign-in');
  assert.equal((await pay(early, 'poor', 9_000_000)).status, 422, 'nor does one that fails');
  const app = await clientOf(service);
  assert.equal((await pay(app, 'by-the-bank', 150)).status, 201, 'a client has no sign-in');
});

test('a refreshed token keeps the time of its sign-in', async () => {
  await demand({ transferStepUpMaxAgeSeconds: 300, transferStepUpAboveMinor: 10_000n });
  const form = { client_id: 'demo-app', client_secret: 'demo-app-secret' };
  const first = await send(service.address, 'POST', paths.token, {
    body: {
      ...form,
      grant_type: 'password',
      username: 'demo.member',
      password: 'demo-member-password',
      scope: 'transfer:write offline_access',
    },
  });
  assert.equal(first.status, 200, first.text);
  now += tooLate;
  const renewed = await send(service.address, 'POST', paths.token, {
    body: { ...form, grant_type: 'refresh_token', refresh_token: first.body.refresh_token },
  });
  assert.equal(renewed.status, 200, renewed.text);
  assert.equal((await payWith(renewed.body.access_token, 'refreshed', 200)).status, 401);
});

test('a sign-in whose time is not known is an old one', async () => {
  await demand({ transferStepUpMaxAgeSeconds: 300, transferStepUpAboveMinor: 10_000n });
  const token = await tokenWith({ authTime: undefined });
  assert.equal((await payWith(token, 'no-time', 100.01)).status, 401);
  assert.equal((await payWith(token, 'no-time-small', 99)).status, 201);
});

test('a new destination needs a recent sign-in once, within the own accounts none', async () => {
  await demand({
    transferStepUpMaxAgeSeconds: 300,
    transferStepUpAboveMinor: 1_000_000_00n,
    transferStepUpNewDestination: true,
  });
  const early = await login();
  now += tooLate;
  assert.equal((await pay(early, 'own', 1)).status, 201);
  const refused = await pay(early, 'stranger', 1, ofOthers);
  assert.partialDeepStrictEqual(refused, { status: 401, body: { step_up: 'transfer_destination' } });
  assert.ok(await isIdFree('stranger'));
  assert.equal((await pay(await login(), 'stranger', 1, ofOthers)).status, 201);
  now += tooLate;
  assert.equal((await pay(early, 'known', 1, ofOthers)).status, 201);
  assert.equal((await pay(early, 'other-stranger', 1, 'a-1003-savings')).status, 401);
});

test('a policy of passkeys wants one from a recent sign-in with a password, and names it', async () => {
  await demand({
    transferStepUpMaxAgeSeconds: 300,
    transferStepUpAboveMinor: 10_000n,
    transferStepUpPasskey: true,
  });
  const refused = await pay(await login(), 'by-password', 150);
  assert.equal(refused.status, 401);
  assert.partialDeepStrictEqual(refused.body, { max_age: 300, acr_values: 'phr' });
  assert.match(refused.headers.get('www-authenticate') ?? '', /max_age="300", acr_values="phr"$/);
  const twoFactors = await tokenWith({ acr: multiFactor });
  const phished = await payWith(twoFactors, 'by-code', 150);
  assert.partialDeepStrictEqual(phished, { status: 401, body: { acr_values: 'phr' } });
  const strong = await tokenWith({ acr: 'phr' });
  assert.equal((await payWith(strong, 'by-passkey', 150)).status, 201);
  const oldAndStrong = await tokenWith({ acr: 'phr', authTime: Math.floor(now / 1000) - 400 });
  assert.equal((await payWith(oldAndStrong, 'by-old-passkey', 150)).status, 401);
  await demand({ ...off, transferStepUpMaxAgeSeconds: 300, transferStepUpAboveMinor: 10_000n });
  assert.equal((await payWith(twoFactors, 'by-code', 150)).status, 201, 'a policy of age alone takes a code');
});

test('the database refuses a large transfer without a recent sign-in', async () => {
  await demand({ transferStepUpMaxAgeSeconds: 300, transferStepUpAboveMinor: 10_000n });
  await service.db.superuser("update institutions set transfer_step_up_from = now() where code = 'lakeside'");
  const copy = `insert into transfers (institution_id, transfer_key, transfer_id, transfer_type, from_account_id, to_account_id,
      from_key, to_key, amount, currency, status, client_id, user_key, created_at, settled_at)
    select institution_id, transfer_key + 1000000, 'copied', transfer_type, from_account_id, to_account_id,
      from_key, to_key, amount, currency, 'COMPLETED', client_id, user_key, created_at, settled_at
    from transfers where transfer_id = 'fresh'`;
  await assert.rejects(service.db.superuser(copy), { code: 'SD214' });
  const signedIn = (age: number, acr: string | null = null) => `with s as (
      insert into transfer_sign_ins (institution_id, transfer_key, signed_in_at, checked_at, acr)
      select institution_id, transfer_key + 1000000, now() - interval '${age} seconds', now(), ${acr === null ? 'null' : `'${acr}'`}
      from transfers where transfer_id = 'fresh')
    ${copy}`;
  await assert.rejects(service.db.superuser(signedIn(301)), { code: 'SD214' });
  await service.db.superuser(
    "update institutions set transfer_step_up_passkey = true where code = 'lakeside'",
  );
  for (const acr of [null, multiFactor])
    await assert.rejects(service.db.superuser(signedIn(1, acr)), { code: 'SD214' });
});

test('members pay as before while the policy binds in the database', async () => {
  await demand({ transferStepUpMaxAgeSeconds: 300, transferStepUpAboveMinor: 10_000n });
  await service.db.superuser("update institutions set transfer_step_up_from = now() where code = 'lakeside'");
  const member = await login();
  assert.equal((await pay(member, 'bound', 120)).status, 201);
  now += tooLate;
  assert.equal((await pay(member, 'bound-small', 20)).status, 201);
});
