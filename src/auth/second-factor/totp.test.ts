import assert from 'node:assert/strict';
import { test } from 'node:test';
import { codeOf, keyUri, stepAt, stepOfCode, typedSecret } from './totp.ts';

const secret = Buffer.from('12345678901234567890');

// RFC 6238 appendix B, SHA-1. The appendix has eight digits; six digits are its last six.
const vectors: readonly (readonly [seconds: number, code: string])[] = [
  [59, '94287082'],
  [1_111_111_109, '07081804'],
  [1_111_111_111, '14050471'],
  [1_234_567_890, '89005924'],
  [2_000_000_000, '69279037'],
  [20_000_000_000, '65353130'],
];

test('computes the codes of RFC 6238 appendix B', () => {
  for (const [seconds, code] of vectors) {
    assert.equal(codeOf(secret, stepAt(new Date(seconds * 1000))), code.slice(2));
  }
});

// RFC 4226 appendix D.
test('computes the codes of RFC 4226 appendix D', () => {
  const codes = ['755224', '287082', '359152', '969429', '338314', '254676', '287922', '162583', '399871'];
  assert.deepEqual(
    codes.map((_, counter) => codeOf(secret, counter)),
    codes,
  );
});

test('accepts a code of the step before, of this step and of the next, and of no other', () => {
  const now = new Date(1_234_567_890_000);
  const step = stepAt(now);
  const accepted = [-3, -2, -1, 0, 1, 2, 3].filter(
    (skew) => stepOfCode(secret, codeOf(secret, step + skew), { now, lastStep: 0 }) === step + skew,
  );
  assert.deepEqual(accepted, [-1, 0, 1]);
});

test('refuses the code of a step that was used, and of each step before it', () => {
  const now = new Date(1_234_567_890_000);
  const step = stepAt(now);
  const at = (skew: number, lastStep: number) =>
    stepOfCode(secret, codeOf(secret, step + skew), { now, lastStep });
  assert.equal(at(0, step), undefined);
  assert.equal(at(-1, step), undefined);
  assert.equal(at(1, step), step + 1);
  assert.equal(at(1, step + 1), undefined);
});

test('reads a code with spaces and dashes, and refuses texts of another form', () => {
  const now = new Date(59_000);
  for (const typed of ['287082', ' 287 082', '287-082']) {
    assert.equal(stepOfCode(secret, typed, { now, lastStep: 0 }), 1, typed);
  }
  for (const typed of ['', '28708', '2870820', '2870８2', '28708x', '00000000287082']) {
    assert.equal(stepOfCode(secret, typed, { now, lastStep: 0 }), undefined, typed);
  }
});

test('writes the secret in base32, for people and for apps', () => {
  assert.equal(typedSecret(secret), 'GEZD GNBV GY3T QOJQ GEZD GNBV GY3T QOJQ');
  assert.equal(
    keyUri(secret, { issuer: 'Lake: & Sons', account: 'demo.member' }),
    'otpauth://totp/Lake%20%20%26%20Sons:demo.member?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=Lake%20%20%26%20Sons',
  );
});
