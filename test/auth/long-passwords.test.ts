import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkNewPassword, PasswordHasher } from '../../src/auth/credentials/passwords.ts';

/** Marks in the wrong order. Normalization moves each past all before it, in quadratic time. */
const marks = `${'\u0301'.repeat(15_900)}${'\u0316'.repeat(15_900)}`;

// More than a minute with normalization, two seconds of hashing without.
test('hashes the longest password that a body can hold at the cost of any other', {
  timeout: 30_000,
}, async () => {
  const hasher = new PasswordHasher(1);
  for (let n = 0; n < 60; n += 1) {
    assert.equal(await hasher.verify(null, marks), false);
    await assert.rejects(checkNewPassword(marks, { username: 'nobody', minLength: 15, ownWords: [] }));
  }
});

test('accepts the longest password in its longest spelling as the same password', async () => {
  const hasher = new PasswordHasher(1);
  // Decomposition makes no character longer than this: three code points of two units each.
  const [composed, spelled] = ['\u{1D160}', '\u{1D158}\u{1D165}\u{1D16E}'];
  assert.equal(composed.normalize('NFKC'), spelled);
  const encoded = await hasher.hash(spelled.repeat(128));
  assert.equal(await hasher.verify(encoded, composed.repeat(128)), true);
});
