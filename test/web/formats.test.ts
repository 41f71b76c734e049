import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { addMonths, daysOf, formatDay, formatMonth } from '../../web/design/format/dates.ts';
import { formatMoney, readAmount, shareOf } from '../../web/design/format/money.ts';

const english = { locale: 'en-US' } as const;

describe('amounts of money on pages', () => {
  it('an amount that a double cannot hold is written digit by digit', () => {
    assert.equal(formatMoney('9007199254740993.07', 'USD', english), '$9,007,199,254,740,993.07');
  });

  it('an amount has the decimals of its text, and never a rounded one', () => {
    assert.equal(formatMoney('0.10', 'USD', english), '$0.10');
    assert.equal(formatMoney('1200', 'JPY', english), '¥1,200');
    assert.equal(formatMoney('12.500', 'KWD', english), 'KWD\u00a012.500');
    assert.equal(formatMoney('1.005', 'USD', english), '$1.005');
  });

  it('a movement has a plus or a minus, and zero has none', () => {
    assert.equal(formatMoney('5.00', 'USD', { ...english, sign: 'always' }), '+$5.00');
    assert.equal(formatMoney('-5.00', 'USD', { ...english, sign: 'always' }), '-$5.00');
    assert.equal(formatMoney('0.00', 'USD', { ...english, sign: 'always' }), '$0.00');
  });

  it('an amount that was written is read back exactly, with and without its commas', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 1n, max: 10n ** 15n - 1n }), (minor) => {
        const digits = minor.toString().padStart(3, '0');
        const amount = `${digits.slice(0, -2)}.${digits.slice(-2)}`;
        assert.equal(readAmount(amount), amount);
        assert.equal(readAmount(formatMoney(amount, 'USD', english)), amount);
      }),
    );
  });

  it('an amount that could be read in two ways is refused', () => {
    const wrong = [
      '1,50',
      '1,0000',
      '1.500',
      '1.2.3',
      ',100',
      '12,34.00',
      '1e3',
      '0x10',
      '-5',
      '+5',
      '٣',
      '',
      ' ',
      '0',
      '0.00',
      '.5',
      'NaN',
      '12345678901234',
    ];
    for (const text of wrong) assert.equal(readAmount(text), undefined, text);
  });

  it('an amount may be short, with spaces around it and a dollar sign', () => {
    assert.equal(readAmount('5'), '5.00');
    assert.equal(readAmount(' $1,500.5 '), '1500.50');
    assert.equal(readAmount('007.'), '7.00');
    assert.equal(readAmount('500', 0), '500');
    assert.equal(readAmount('500.1', 0), undefined);
  });

  it('a share of a picture is computed in whole numbers', () => {
    assert.equal(shareOf(1n, 3n), 33.33);
    assert.equal(shareOf(0n, 0n), 0);
  });
});

describe('dates on pages', () => {
  it('a day has its year unless it is this year', () => {
    const now = new Date('2026-11-23T12:00:00Z');
    const place = { locale: 'en-US', timeZone: 'America/Chicago' };
    assert.equal(formatDay('2026-11-20T15:04:05Z', place, now), 'Friday, November 20');
    assert.equal(formatDay('2025-11-20T15:04:05Z', place, now), 'Thursday, November 20, 2025');
  });

  it('months go on over the end of a year, and know their last day', () => {
    assert.equal(addMonths('2026-01', -1), '2025-12');
    assert.equal(addMonths('2026-12', 1), '2027-01');
    assert.deepEqual(daysOf('2028-02'), { first: '2028-02-01', last: '2028-02-29' });
    assert.equal(formatMonth('2026-11', { locale: 'en-US' }), 'November 2026');
  });
});
