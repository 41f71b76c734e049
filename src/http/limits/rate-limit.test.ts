import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rateLimit } from './rate-limit.ts';

test('gives each client its own share of each minute, and reports the rest of it', () => {
  let now = 1_000_000;
  const limit = rateLimit({ name: 'token', nowMillis: () => now });
  const spend = (key: string) => limit.spend(key, 2);
  assert.deepEqual(spend('a').headers, {
    'ratelimit-policy': '"token";q=2;w=60',
    ratelimit: '"token";r=1;t=60',
  });
  now += 20_001;
  assert.equal(spend('a').headers.ratelimit, '"token";r=0;t=40');
  const third = spend('a');
  assert.equal(third.headers.ratelimit, '"token";r=0;t=40');
  assert.equal(third.refusal?.code, 'too_many_requests');
  assert.equal(third.refusal?.retryAfterSeconds, 40);
  assert.equal(spend('b').refusal, undefined);
  now += 39_998;
  assert.equal(spend('a').refusal?.retryAfterSeconds, 1);
  now += 1;
  const next = spend('a');
  assert.equal(next.refusal, undefined);
  assert.equal(next.headers.ratelimit, '"token";r=1;t=60');
});

test('counts nothing on entry, and distinguishes the first refusal of a minute from later ones', async () => {
  let now = 1_000_000;
  const { spend, enter, leave } = rateLimit({ name: 'id-conflict', nowMillis: () => now });
  for (let tries = 0; tries < 5; tries += 1) {
    assert.equal((await enter('a', 1)).refusal, undefined);
    leave('a');
  }
  assert.equal(spend('a', 1).refusal, undefined);
  assert.equal((await enter('a', 1)).isFirstRefusal, true);
  assert.equal((await enter('a', 1)).isFirstRefusal, false);
  now += 60_000;
  assert.equal((await enter('a', 1)).refusal, undefined);
  spend('a', 1);
  assert.equal(spend('a', 1).isFirstRefusal, true);
});

test('admits as many requests at once as the share allows, and charges waiting requests no more than it', async () => {
  const { spend, enter, leave } = rateLimit({ name: 'id-conflict', nowMillis: () => 1_000_000 });
  let underWay = 0;
  let most = 0;
  const one = async (counts: boolean): Promise<boolean> => {
    if ((await enter('a', 3)).refusal !== undefined) return false;
    underWay += 1;
    most = Math.max(most, underWay);
    await Promise.resolve();
    underWay -= 1;
    if (counts) spend('a', 3);
    leave('a');
    return true;
  };
  const harmless = await Promise.all(Array.from({ length: 20 }, () => one(false)));
  assert.deepEqual(
    [harmless.every(Boolean), most],
    [true, 3],
    'a caller who meets no id of others waits and is not refused',
  );
  const counted = await Promise.all(Array.from({ length: 20 }, () => one(true)));
  assert.equal(counted.filter(Boolean).length, 3);
  assert.equal(await one(false), false);
});
