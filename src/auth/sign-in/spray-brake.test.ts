import assert from 'node:assert/strict';
import { test } from 'node:test';
import { networkOf } from './network.ts';
import { SprayBrake } from './spray-brake.ts';

function aBrake(pauseMillis = 2_000) {
  const waited: number[] = [];
  const waking: (() => void)[] = [];
  let millis = 0;
  const brake = new SprayBrake({
    clock: () => new Date(millis),
    pauseMillis,
    sleep: (pause) => {
      waited.push(pause);
      return new Promise<void>((resolve) => waking.push(resolve));
    },
  });
  const waits = async (...sources: string[]) => {
    const before = waited.length;
    const waiting = brake.wait(sources);
    for (const wake of waking.splice(0)) wake();
    await waiting;
    return waited.length > before;
  };
  const note = (times: number, outcome: 'failed' | 'succeeded', ...sources: string[]) => {
    for (let time = 0; time < times; time += 1) {
      if (outcome === 'failed') brake.failed(sources);
      else brake.succeeded(sources, BigInt(time));
    }
  };
  return { brake, waits, note, later: (by: number) => (millis += by) };
}

test('slows a source from its twentieth failure if it has more failures than successes', async () => {
  const { waits, note } = aBrake();
  note(19, 'failed', 'app');
  assert.equal(await waits('app'), false);
  note(1, 'failed', 'app');
  assert.equal(await waits('app'), true);
  assert.equal(await waits('other app'), false);
});

test('does not slow a busy client whose members sometimes mistype', async () => {
  const { waits, note } = aBrake();
  note(100, 'succeeded', 'app');
  note(99, 'failed', 'app');
  assert.equal(await waits('app'), false);
});

test('slows a member’s address that sprays through a client whose other logins succeed', async () => {
  const { waits, note } = aBrake();
  note(500, 'succeeded', 'app', 'one address');
  note(30, 'failed', 'app', 'another address');
  assert.equal(await waits('app', 'one address'), false);
  assert.equal(await waits('app', 'another address'), true);
});

test('slows a sprayer who signs in as a user of their own between guesses', async () => {
  const { brake, waits, note } = aBrake();
  for (let guess = 0; guess < 20; guess += 1) {
    note(1, 'failed', 'app');
    brake.succeeded(['app'], BigInt(guess % 2));
  }
  assert.equal(await waits('app'), true);
});

test('counts an IPv6 /64 as one source, and each IPv4 address as its own', () => {
  for (const address of ['2001:db8:0:7::1', '2001:DB8::7:ffff:0:0:9', '2001:0db8:0000:0007:1:2:3:4']) {
    assert.equal(networkOf(address), '2001:db8:0:7', address);
  }
  assert.equal(networkOf('::1'), '0:0:0:0');
  assert.notEqual(networkOf('2001:db8:0:8::1'), networkOf('2001:db8:0:7::1'));
  assert.notEqual(networkOf('::ffff:203.0.113.7'), networkOf('::ffff:203.0.113.8'));
  assert.equal(networkOf('203.0.113.7'), '203.0.113.7');
});

test('halves counted failures every five minutes', async () => {
  const { waits, note, later } = aBrake();
  note(40, 'failed', 'app');
  later(5 * 60_000);
  assert.equal(await waits('app'), true);
  later(1);
  assert.equal(await waits('app'), false);
});

test('refuses a login when too many wait, and leaves slots for another address', async () => {
  const { brake, note } = aBrake();
  note(20, 'failed', 'app', 'sprayer');
  let taken = 0;
  const fill = () => {
    void brake.wait(['app', 'sprayer']).catch(() => {});
    taken += 1;
  };
  while (taken < 32) fill();
  await assert.rejects(brake.wait(['app', 'sprayer']), { code: 'overloaded' });
  await assert.doesNotReject(
    Promise.race([brake.wait(['app', 'honest']), new Promise((done) => setImmediate(done))]),
  );
});

test('delays no login when the pause is switched off', async () => {
  const { waits, note } = aBrake(0);
  note(100, 'failed', 'app');
  assert.equal(await waits('app'), false);
});
