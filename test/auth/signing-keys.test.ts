import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createLocalJWKSet, decodeProtectedHeader, type JSONWebKeySet, jwtVerify } from 'jose';
import { jwksMaxAgeSeconds } from '../../src/auth/index.ts';
import { ownOrigin } from '../../src/events/index.ts';
import { Client } from '../support/client.ts';
import { clientOf, paths, send } from '../support/demo.ts';
import { startTestService, type TestService } from '../support/service.ts';

const day = 24 * 60 * 60_000;
const minute = 60_000;
const start = new Date('2026-03-02T12:00:00Z');
let now = start;
let one: TestService;
let two: TestService;
before(async () => {
  one = await startTestService({ clock: () => now });
  two = await startTestService({ clock: () => now, beside: one });
});
after(async () => {
  await two.close();
  await one.close();
});

const later = (millis: number) => {
  now = new Date(now.getTime() + millis);
};
const kidOf = (token: string) => decodeProtectedHeader(token).kid;
const keysOf = ({ service }: TestService) => service.context.auth.keys;

async function accepts(service: TestService, token: string): Promise<boolean> {
  const headers = { authorization: `Bearer ${token}` };
  const { status } = await send(service.address, 'GET', `${paths.accounts}/a-1001-checking`, { headers });
  assert.ok(status === 200 || status === 401, String(status));
  return status === 200;
}

async function publishedKids(service: TestService): Promise<string[]> {
  const reply = await new Client(service.address).get('/auth/v2/jwks');
  assert.equal(reply.headers.get('cache-control'), 'public, max-age=300');
  return reply.body.keys.map(({ kid }: { kid: string }) => kid);
}

const statesOf = async (service: TestService) =>
  (await keysOf(service).list()).map(
    ({ state, hasPrivatePart }) => `${state}${hasPrivatePart ? '' : ' wiped'}`,
  );

describe('signing keys', () => {
  test('two processes that start together on an empty database share one first key', async () => {
    const tokens = await Promise.all([one, two].map((service) => clientOf(service)));
    assert.equal(new Set(tokens.map(({ token }) => kidOf(token))).size, 1);
    assert.deepEqual(await statesOf(one), ['signing']);
  });

  test('publishes no private part of a signing key', async () => {
    const reply = await new Client(one.address).get('/auth/v2/jwks');
    for (const key of reply.body.keys) {
      assert.deepEqual(Object.keys(key).toSorted(), ['alg', 'crv', 'kid', 'kty', 'use', 'x', 'y']);
    }
  });

  test('rotates signing keys by schedule: published an hour before use, one key for any number of processes', async () => {
    const old = kidOf((await clientOf(one)).token);
    later(90 * day - 60 * minute - 1);
    await Promise.all([one, two, one].map((service) => keysOf(service).maintain()));
    assert.deepEqual(await statesOf(two), ['signing']);
    later(1);
    await Promise.all([one, two, one, two].map((service) => keysOf(service).maintain()));
    assert.deepEqual(await statesOf(two), ['signing', 'published']);
    const kids = await publishedKids(two);
    assert.equal(kids.length, 2);
    assert.equal(kidOf((await clientOf(one)).token), old);
    later(60 * minute);
    // A moved clock triggers no timer: both look now, as they do each second.
    await Promise.all([keysOf(one).list(), keysOf(two).list()]);
    assert.equal(kidOf((await clientOf(two)).token), kids[1]);
    assert.equal(kidOf((await clientOf(one)).token), kids[1]);
  });

  test('wipes a key’s private part once it is retired, and deletes it after its last token has expired', async () => {
    later(5 * minute);
    await keysOf(two).maintain();
    assert.deepEqual(await statesOf(one), ['retired wiped', 'signing']);
    later(day - 1);
    await keysOf(two).maintain();
    assert.deepEqual(await statesOf(one), ['retired wiped', 'signing']);
    later(1);
    assert.equal((await publishedKids(one)).length, 1, 'an expired key is not published');
    await keysOf(one).maintain();
    assert.deepEqual(await statesOf(two), ['signing']);
  });

  test('rotates signing keys by command without a failed request, and each process accepts the other’s tokens', async () => {
    for (const how of ['soon', 'now'] as const) {
      const before = kidOf((await clientOf(one)).token);
      const tokens: string[] = [];
      const step = async () => {
        for (const service of [one, two]) tokens.push((await clientOf(service)).token);
        for (const token of tokens) {
          assert.ok((await accepts(one, token)) && (await accepts(two, token)), how);
        }
      };
      await step();
      await keysOf(one).rotate(how, ownOrigin());
      await step();
      later(how === 'now' ? minute - 1 : 10 * minute - 1);
      await step();
      assert.equal(kidOf((await clientOf(one)).token), before, 'not before its time');
      later(1);
      await step();
      assert.notEqual(kidOf((await clientOf(one)).token), before);
      assert.notEqual(kidOf((await clientOf(two)).token), before);
      await keysOf(two).maintain();
      await step();
    }
  });

  test('keys rotate --now delays the new key longer than jose and Nimbus refuse to look again for an unknown kid', async () => {
    const coolDownMillis = 30_000;
    let keys = (await new Client(one.address).get('/auth/v2/jwks')).body;
    const fetchedAt = now.getTime();
    await keysOf(one).rotate('now', ownOrigin());
    const before = kidOf((await clientOf(one)).token);
    let kid = before;
    while (kid === before) {
      later(5_000);
      await keysOf(one).list();
      const { token } = await clientOf(one);
      kid = kidOf(token);
      // Fetches the keys again for an unknown kid, as those libraries do, unless it has fetched them within the cool-down.
      const isKnown = keys.keys.some((key: { kid: string }) => key.kid === kid);
      if (!isKnown && now.getTime() - fetchedAt >= coolDownMillis) {
        keys = (await new Client(one.address).get('/auth/v2/jwks')).body;
      }
      await jwtVerify(token, createLocalJWKSet(keys), { currentDate: now });
    }
  });

  test('rotates signing keys under load without a failed request at two processes or in a verifier with cached keys', async () => {
    const signedWith = new Set<string | undefined>();
    const statuses: Record<string, number> = {};
    let over = false;
    /** Caches the published keys as long as allowed, and looks again for an unknown kid. */
    let kept: { readonly keys: JSONWebKeySet; readonly until: number } | undefined;
    const keysOutside = async (kid: string | undefined) => {
      if (
        kept === undefined ||
        now.getTime() >= kept.until ||
        !kept.keys.keys.some((key) => key.kid === kid)
      ) {
        const keys = (await new Client(one.address).get('/auth/v2/jwks')).body;
        kept = { keys, until: now.getTime() + jwksMaxAgeSeconds * 1_000 };
      }
      return createLocalJWKSet(kept.keys);
    };
    const caller = async (issuing: TestService, using: TestService) => {
      while (!over) {
        const { token } = await clientOf(issuing);
        const headers = { authorization: `Bearer ${token}` };
        const { status } = await send(using.address, 'GET', `${paths.accounts}/a-1001-checking`, { headers });
        statuses[status] = (statuses[status] ?? 0) + 1;
        signedWith.add(kidOf(token));
        await jwtVerify(token, await keysOutside(kidOf(token)), { currentDate: now });
      }
    };
    const load = [
      [one, one],
      [one, two],
      [two, one],
      [two, two],
    ].map(([issuing, using]) => caller(issuing as TestService, using as TestService));
    const ended = Promise.all(load);
    // A caller that fails ends the test at once.
    const served = async (count: number) => {
      const before = statuses[200] ?? 0;
      while ((statuses[200] ?? 0) < before + count) await Promise.race([ended, sleep(5)]);
    };
    try {
      for (const [rotating, how, millis] of [
        [one, 'now', minute],
        [two, 'soon', 10 * minute],
        [one, 'now', minute],
      ] as const) {
        await served(8);
        await keysOf(rotating).rotate(how, ownOrigin());
        await served(8);
        // A moved clock triggers no timer: both look now, as they do each second.
        await Promise.all([keysOf(one).list(), keysOf(two).list()]);
        later(millis);
        await Promise.all([keysOf(one).maintain(), keysOf(two).maintain()]);
        await served(8);
      }
    } finally {
      over = true;
    }
    await ended;
    assert.deepEqual(Object.keys(statuses), ['200']);
    assert.ok(signedWith.size >= 4, `${signedWith.size} keys signed`);
  });

  test('accepts a key that another process has just made, even beside invented key ids', async () => {
    const stranger = (await clientOf(one)).token.replace(/^[^.]+/, () =>
      Buffer.from('{"alg":"ES256","typ":"at+jwt","kid":"made-up"}').toString('base64url'),
    );
    await keysOf(one).rotate('now', ownOrigin());
    later(minute);
    const { token } = await clientOf(one);
    const answers = await Promise.all([
      ...Array.from({ length: 20 }, () => accepts(two, stranger)),
      ...Array.from({ length: 20 }, () => accepts(two, token)),
    ]);
    assert.deepEqual(answers, [...Array(20).fill(false), ...Array(20).fill(true)]);
  });

  test('a process that starts later accepts tokens signed before', async () => {
    const { token } = await clientOf(one);
    await using third = await startTestService({ clock: () => now, beside: one });
    assert.ok(await accepts(third, token));
  });

  test('ends all tokens in every process when a signing key is compromised, even tokens just verified', async () => {
    const { token } = await clientOf(one);
    assert.ok((await accepts(one, token)) && (await accepts(two, token)));
    await keysOf(one).rotate('compromised', ownOrigin());
    assert.deepEqual(await statesOf(one), ['signing']);
    assert.equal(await accepts(one, token), false);
    const deadline = performance.now() + 30_000;
    while ((await accepts(two, token)) && performance.now() < deadline);
    assert.equal(await accepts(two, token), false);
    assert.ok(await accepts(two, (await clientOf(one)).token));
    assert.ok(await accepts(one, (await clientOf(two)).token));
  });
});

describe('metadata (RFC 8414)', () => {
  test('serves the metadata at the path of OpenID Connect too, and claims nothing untrue there', async () => {
    const client = new Client(one.address);
    const { body: plain } = await client.get('/.well-known/oauth-authorization-server');
    const reply = await client.get('/.well-known/openid-configuration');
    assert.equal(reply.status, 200);
    assert.deepEqual(reply.body, plain);
    assert.deepEqual(reply.body.subject_types_supported, ['public']);
    assert.equal(reply.body.registration_endpoint, undefined);
    assert.deepEqual(reply.body.response_types_supported, ['code']);
    assert.deepEqual(reply.body.id_token_signing_alg_values_supported, ['ES256']);
  });

  test('the metadata names our issuer and only existing operations', async () => {
    const client = new Client(one.address);
    const reply = await client.get('/.well-known/oauth-authorization-server');
    assert.equal(reply.status, 200);
    assert.equal(reply.body.issuer, 'http://sharedraft.test');
    for (const [name, url] of Object.entries(reply.body)) {
      if (!/_(?:endpoint|uri|documentation)$/.test(name)) continue;
      const { origin, pathname } = new URL(String(url));
      assert.equal(origin, reply.body.issuer, name);
      const { status } = await client.request('OPTIONS', pathname);
      assert.equal(status, 204, name);
    }
  });
});
