import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as dineroCurrencies from 'dinero.js/currencies';
import { currencies, currencyDecimals } from './currencies.ts';

const ours = new Map<string, string>([...currencies].map(([code, decimals]) => [code, `10^${decimals}`]));
const theirs = new Map<string, string>(
  Object.values(dineroCurrencies).map(({ code, base, exponent }) => [code, `${base}^${exponent}`]),
);

test('equals the currency table of dinero.js 2 except for the listed differences', () => {
  const differences = [...new Set([...ours.keys(), ...theirs.keys()])]
    .filter((code) => ours.get(code) !== theirs.get(code))
    .map((code) => ({ code, ours: ours.get(code), theirs: theirs.get(code) }))
    .sort((a, b) => (a.code < b.code ? -1 : 1));
  assert.deepEqual(differences, [
    // Bulgaria has the euro since 1 January 2026 (amendment 180).
    { code: 'BGN', ours: undefined, theirs: '10^2' },
    // The ariary and the ouguiya have fifths; the standard gives them two decimals.
    { code: 'MGA', ours: '10^2', theirs: '5^1' },
    { code: 'MRU', ours: '10^2', theirs: '5^1' },
  ]);
});

test('lists 165 currency codes of three capitals', () => {
  assert.equal(currencies.size, 165);
  for (const code of currencies.keys()) assert.match(code, /^[A-Z]{3}$/);
});

test('uses the standard’s decimals, even where daily use differs', () => {
  const expected = {
    USD: 2,
    JPY: 0,
    KRW: 0,
    ISK: 0,
    HUF: 2,
    IQD: 3,
    BHD: 3,
    KWD: 3,
    TND: 3,
    CLF: 4,
    UYW: 4,
    UYI: 0,
  };
  const found = Object.keys(expected).map((code) => [code, currencyDecimals(code)]);
  assert.deepEqual(Object.fromEntries(found), expected);
});

test('has no decimals for a code that is not an active currency with a minor unit', () => {
  const others = [
    '',
    'usd',
    'US',
    'USDX',
    ' USD',
    'XAU',
    'XDR',
    'XTS',
    'XXX',
    'BGN',
    'HRK',
    'ANG',
    'toString',
    '__proto__',
  ];
  for (const code of others) assert.equal(currencyDecimals(code), undefined, code);
});
