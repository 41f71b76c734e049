import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatMinor, parseDecimalAmount, toMinor } from './money.ts';

const notANumber = { invalid: 'The amount must be a number.' };
const notPositive = { invalid: 'The amount must be greater than zero.' };
const tooLarge = { invalid: 'The amount must have at most 13 digits before the decimal point.' };
const tooFine = { invalid: 'The amount has more decimals than any currency.' };

test('reads an amount by value, with any zeros and any exponent', () => {
  const cases: [string, bigint, number][] = [
    ['105.25', 10525n, 2],
    ['0.01', 1n, 2],
    ['1.500', 15n, 1],
    ['1.50000', 15n, 1],
    ['1.0E1', 10n, 0],
    ['100.00', 100n, 0],
    ['1', 1n, 0],
    ['100', 100n, 0],
    ['0.1', 1n, 1],
    ['1e2', 100n, 0],
    ['1E+2', 100n, 0],
    ['1e0', 1n, 0],
    ['1e-2', 1n, 2],
    ['1.05e2', 105n, 0],
    ['1.050e2', 105n, 0],
    ['1.05e4', 10500n, 0],
    ['0.00000105e8', 105n, 0],
    ['10500e-2', 105n, 0],
    ['1e00000000000000000000002', 100n, 0],
    ['0.30', 3n, 1],
    [`1.${'0'.repeat(60_000)}`, 1n, 0],
    [`100000e-${'0'.repeat(60_000)}5`, 1n, 0],
    ['9007199254740.9931', 90071992547409931n, 4],
  ];
  for (const [text, digits, decimals] of cases) {
    assert.deepEqual(parseDecimalAmount(text), { digits, decimals }, text);
  }
});

test('accepts at most 13 digits before the point of an amount, in any spelling', () => {
  for (const text of ['9999999999999', '9999999999999.9999', '1e12', '0.1e13', '99999999999999999e-4']) {
    assert.ok('digits' in parseDecimalAmount(text), text);
  }
  for (const text of [
    '10000000000000',
    '10000000000000.00',
    '1e13',
    '0.1e14',
    '1e400',
    `1e${'9'.repeat(60_000)}`,
  ]) {
    assert.deepEqual(parseDecimalAmount(text), tooLarge, text.slice(0, 20));
  }
});

test('accepts at most 4 decimals of an amount, those of the finest currency, in any spelling', () => {
  assert.deepEqual(parseDecimalAmount('0.0001'), { digits: 1n, decimals: 4 });
  for (const text of ['0.00001', '1.000010', '1e-5', '1e-400', `1e-${'9'.repeat(60_000)}`]) {
    assert.deepEqual(parseDecimalAmount(text), tooFine, text.slice(0, 20));
  }
});

test('rejects an amount that is not more than zero', () => {
  for (const text of [
    '0',
    '-0',
    '0.00',
    '0e9',
    '-1',
    '-0.01',
    '-1e400',
    '-1e-400',
    `0e${'9'.repeat(60_000)}`,
  ]) {
    assert.deepEqual(parseDecimalAmount(text), notPositive, text.slice(0, 20));
  }
});

test('rejects an amount that is not a JSON number', () => {
  const texts = [
    '',
    ' ',
    '1 ',
    ' 1',
    '1\n',
    '+1',
    '.5',
    '1.',
    '01',
    '00.1',
    '1e',
    '1e+',
    '1.e2',
    '0x10',
    '1_000',
    '1,00',
  ];
  for (const text of [
    ...texts,
    '"1"',
    'NaN',
    'Infinity',
    '-',
    '--1',
    '1n',
    'null',
    '\uff11',
    '\u0661',
    '1e1.0',
    '1-1',
  ]) {
    assert.deepEqual(parseDecimalAmount(text), notANumber, JSON.stringify(text));
  }
});

test('counts minor units in the decimals of the currency', () => {
  assert.equal(toMinor({ digits: 10525n, decimals: 2 }, 'USD'), 10525n);
  assert.equal(toMinor({ digits: 1055n, decimals: 1 }, 'USD'), 10550n);
  assert.equal(toMinor({ digits: 105n, decimals: 0 }, 'USD'), 10500n);
  assert.equal(toMinor({ digits: 105n, decimals: 0 }, 'JPY'), 105n);
  assert.equal(toMinor({ digits: 105n, decimals: 0 }, 'KWD'), 105_000n);
  assert.equal(toMinor({ digits: 99999999999999999n, decimals: 4 }, 'CLF'), 99999999999999999n);
});

test('rejects more decimals than the currency has', () => {
  const refused = { invalid: 'The amount has more decimals than its currency.' };
  assert.deepEqual(toMinor({ digits: 1501n, decimals: 3 }, 'USD'), refused);
  assert.deepEqual(toMinor({ digits: 11n, decimals: 1 }, 'JPY'), refused);
  assert.deepEqual(toMinor({ digits: 10001n, decimals: 4 }, 'KWD'), refused);
});

test('rejects an unknown currency when reading, and throws when printing', () => {
  assert.deepEqual(toMinor({ digits: 1n, decimals: 0 }, 'usd'), {
    invalid: 'The currency is not an active one of ISO 4217.',
  });
  assert.throws(() => formatMinor(1n, 'usd'), RangeError);
});

test('prints an amount with exactly the decimals of its currency', () => {
  const cases: [bigint, string, string][] = [
    [10525n, 'USD', '105.25'],
    [10500n, 'USD', '105.00'],
    [5n, 'USD', '0.05'],
    [-5n, 'USD', '-0.05'],
    [-10525n, 'USD', '-105.25'],
    [0n, 'USD', '0.00'],
    [105n, 'JPY', '105'],
    [-105n, 'JPY', '-105'],
    [0n, 'JPY', '0'],
    [5n, 'KWD', '0.005'],
    [12345n, 'CLF', '1.2345'],
    [-1n, 'CLF', '-0.0001'],
    [9223372036854775807n, 'USD', '92233720368547758.07'],
    [-9223372036854775808n, 'USD', '-92233720368547758.08'],
  ];
  for (const [minor, currency, text] of cases) assert.equal(formatMinor(minor, currency), text);
});
