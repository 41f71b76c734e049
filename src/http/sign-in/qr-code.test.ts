import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { qrPath } from './qr-code.ts';

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

test('draws the code of an address as jsQR 1.4.0 reads it', () => {
  const uri =
    'otpauth://totp/Lakeside%20Demo:demo.member?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=Lakeside%20Demo';
  const code = qrPath(uri);
  assert.equal(code?.width, 37);
  // jsQR reads codes of all lengths from 1 to 858; a reader of codes is no dependency of this test.
  assert.equal(sha256(code?.path ?? ''), '334343dc6bf46a2a5693a39e273135bb70c8b4c6675355237a3fdfd4de4bb5b6');
});

test('takes the smallest version that holds the text, and draws nothing for a text that none holds', () => {
  assert.equal(qrPath('a'.repeat(17))?.width, 21);
  assert.equal(qrPath('a'.repeat(18))?.width, 25);
  assert.equal(qrPath('a'.repeat(858))?.width, 97);
  assert.equal(qrPath('a'.repeat(859)), undefined);
});
