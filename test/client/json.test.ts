import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseJson, writeJson } from '../../client/src/json.ts';
import { fromMinor, toMinor } from '../../client/src/money.ts';

test('parses a decimal as the digits of its source text', () => {
  const text = '{"amount":1234567890123.45,"balance":{"amount":-0.10},"list":[{"amount":1e-7}]}';
  assert.deepEqual(parseJson(text), {
    amount: '1234567890123.45',
    balance: { amount: '-0.10' },
    list: [{ amount: '1e-7' }],
  });
});

test('leaves numbers alone that are not decimals', () => {
  assert.deepEqual(parseJson('{"status":404,"sequence":7,"amount":"5","expires_in":1800}'), {
    status: 404,
    sequence: 7,
    amount: '5',
    expires_in: 1800,
  });
});

test('does not take the text of a memo for JSON', () => {
  const memo = 'rent "amount":12.50, {"amount": 3}\\';
  assert.deepEqual(parseJson(JSON.stringify({ memo, amount: 1 })), { memo, amount: '1' });
});

test('writes a decimal with exactly its digits', () => {
  assert.equal(writeJson({ amount: '105.20', memo: '105.20' }), '{"amount":105.20,"memo":"105.20"}');
});

test('refuses an amount that is a number, which may have been rounded', () => {
  assert.throws(() => writeJson({ amount: 0.1 + 0.2 }), /amount must be a string of digits/);
  assert.throws(() => writeJson({ amount: '1,50' }), TypeError);
});

test('parses every JSON like JSON.parse, except for decimals', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const text = JSON.stringify({ other: value });
      assert.deepEqual(parseJson(text), JSON.parse(text));
    }),
  );
});

test('converts each amount of cents to a decimal and back', () => {
  fc.assert(
    fc.property(
      fc.bigInt({ min: -(10n ** 15n), max: 10n ** 15n }),
      fc.integer({ min: 0, max: 4 }),
      (minor, decimals) => {
        assert.equal(toMinor(fromMinor(minor, decimals), decimals), minor);
      },
    ),
  );
  assert.equal(fromMinor(-5n), '-0.05');
  assert.equal(toMinor('105.2'), 10520n);
  assert.equal(toMinor('1.500'), 150n);
});

test('refuses a decimal with more decimals than its currency', () => {
  assert.throws(() => toMinor('1.005'), /more than 2 decimals/);
  assert.throws(() => toMinor('1e3'), /not a decimal/);
});
