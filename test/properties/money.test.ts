import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { currencies } from '../../src/ledger/currencies.ts';
import { formatMinor, parseDecimalAmount, toMinor } from '../../src/ledger/money.ts';

const currency = fc.constantFrom(...currencies);

function read(text: string, code: string): bigint | string {
  const amount = parseDecimalAmount(text);
  if ('invalid' in amount) return amount.invalid;
  const minor = toMinor(amount, code);
  return typeof minor === 'bigint' ? minor : minor.invalid;
}

/** The text that a person would write, made of whole numbers and text only. */
function written(major: bigint, minor: bigint, decimals: number): string {
  return decimals === 0 ? `${major}` : `${major}.${String(minor).padStart(decimals, '0')}`;
}

test('reads and prints every cent from 0.01 to 100,000.00 as itself', () => {
  let expected = 0n;
  for (let major = 0; major < 100_000; major += 1) {
    for (let cents = 0; cents < 100; cents += 1) {
      expected += 1n;
      const text = cents === 99 ? `${major + 1}.00` : `${major}.${cents < 9 ? '0' : ''}${cents + 1}`;
      // Compared without assert: ten million calls of it would take longer than the work under test.
      if (read(text, 'USD') !== expected) assert.equal(read(text, 'USD'), expected, text);
      if (formatMinor(expected, 'USD') !== text) assert.equal(formatMinor(expected, 'USD'), text);
    }
  }
  assert.equal(expected, 10_000_000n);
});

test('reads any amount of up to 13 digits in any currency exactly, and prints it as written', () => {
  fc.assert(
    fc.property(
      currency,
      fc.bigInt(0n, 10n ** 13n - 1n),
      fc.bigInt(0n, 9_999n),
      ([code, decimals], major, part) => {
        const scale = 10n ** BigInt(decimals);
        const minor = part % scale;
        fc.pre(major * scale + minor > 0n);
        const text = written(major, minor, decimals);
        assert.equal(read(text, code), major * scale + minor);
        assert.equal(formatMinor(major * scale + minor, code), text);
      },
    ),
    { numRuns: 20_000 },
  );
});

test('accepts as many decimals as the currency has and not one more, except for trailing zeros', () => {
  for (const [code, decimals] of currencies) {
    for (let written = 0; written <= 6; written += 1) {
      const scale = 10n ** BigInt(decimals);
      const zeros = written === 0 ? '7' : `7.${'0'.repeat(written)}`;
      assert.equal(read(zeros, code), 7n * scale, `${zeros} ${code}`);
      const text = written === 0 ? '1' : `0.${'1'.padStart(written, '0')}`;
      if (written <= decimals) {
        assert.equal(read(text, code), 10n ** BigInt(decimals - written), `${text} ${code}`);
      } else assert.match(String(read(text, code)), /^The amount has more decimals than /, `${text} ${code}`);
    }
  }
});

test('accepts 13 digits before the point in each currency and not one more', () => {
  for (const [code, decimals] of currencies) {
    const fraction = decimals === 0 ? '' : `.${'9'.repeat(decimals)}`;
    assert.equal(read(`9999999999999${fraction}`, code), 10n ** BigInt(13 + decimals) - 1n, code);
    assert.equal(
      read('10000000000000', code),
      'The amount must have at most 13 digits before the decimal point.',
      code,
    );
  }
});

test('reads a printed amount of any size back as the same amount', () => {
  const largest = 10n ** 13n;
  fc.assert(
    fc.property(currency, fc.bigInt(1n, 2n ** 63n - 1n), ([code, decimals], minor) => {
      const text = formatMinor(minor, code);
      const readable = minor < largest * 10n ** BigInt(decimals);
      if (readable) assert.equal(read(text, code), minor);
      else assert.equal(typeof read(text, code), 'string');
      assert.equal(BigInt(text.replace('.', '')), minor);
      assert.equal(formatMinor(-minor, code), `-${text}`);
      assert.equal(text.split('.')[1]?.length ?? 0, decimals);
    }),
    { numRuns: 20_000 },
  );
});

test('reads a number with its point moved by an exponent as the same amount', () => {
  fc.assert(
    fc.property(
      fc.bigInt(1n, 10n ** 13n - 1n),
      fc.integer({ min: 0, max: 4 }),
      fc.integer({ min: 0, max: 30 }),
      fc.constantFrom('e', 'E', 'e+', 'E+'),
      (digits, decimals, shift, e) => {
        const plain = parseDecimalAmount(pointed(digits, decimals));
        assert.ok('digits' in plain);
        // The finest currency's decimals are enough to compare by.
        assert.equal(plain.digits * 10n ** BigInt(4 - plain.decimals), digits * 10n ** BigInt(4 - decimals));
        assert.deepEqual(parseDecimalAmount(`${pointed(digits, decimals + shift)}${e}${shift}`), plain);
        assert.deepEqual(parseDecimalAmount(`${digits}e-${decimals}`), plain);
      },
    ),
    { numRuns: 20_000 },
  );
});

function pointed(digits: bigint, decimals: number): string {
  const text = String(digits).padStart(decimals + 1, '0');
  return decimals === 0 ? text : `${text.slice(0, -decimals)}.${text.slice(-decimals)}`;
}

test('reads no amount from text that is not a JSON number, and judges every JSON number without an error', () => {
  const text = fc.string({ unit: fc.constantFrom(...'0123456789.eE+-'), maxLength: 24 });
  fc.assert(
    fc.property(text, (source) => {
      const amount = parseDecimalAmount(source);
      const isNumber = isJson(source);
      assert.equal('invalid' in amount && amount.invalid === 'The amount must be a number.', !isNumber);
      if ('digits' in amount) {
        assert.ok(amount.digits > 0n);
        assert.ok(amount.decimals >= 0 && amount.decimals <= 4);
        assert.ok(amount.digits < 10n ** BigInt(13 + amount.decimals));
      }
    }),
    { numRuns: 20_000 },
  );
});

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
