import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { csvOf } from '../../web/common/csv.ts';
import { filterRows } from '../../web/common/filter-rows.ts';
import { durationOf, wordOf } from '../../web/console/format.ts';
import type { Page } from '../../web/console/operations.ts';
import { readAll } from '../../web/console/read-all.ts';
import { whyNotPay } from '../../web/console/why-not-pay.ts';
import { zonedMoment } from '../../web/design/format/dates.ts';
import { compareAmounts } from '../../web/design/format/money.ts';

describe('tables of the console', () => {
  it('a filter leaves the rows that have each of its words in some column, as the page or the file shows it', () => {
    const columns = [
      { text: ([name = '']: readonly string[]) => name },
      {
        text: ([, at = '']: readonly string[]) => at,
        inFile: ([, at = '']: readonly string[]) => `on ${at}`,
      },
    ];
    const rows = [
      ['Ada Savings', '12.50'],
      ['Ben Savings', '7.00'],
    ];
    assert.deepEqual(filterRows(columns, rows, ' savings  ADA '), [rows[0]]);
    assert.deepEqual(filterRows(columns, rows, 'on 7'), [rows[1]]);
    assert.deepEqual(filterRows(columns, rows, 'ada 7.00'), []);
    assert.equal(filterRows(columns, rows, '  '), rows);
  });

  it('a text that a spreadsheet would run as a formula is saved as text', () => {
    const text = csvOf(['a'], [['=1+1'], ['@SUM(A1)'], ['+1 202'], ['-cmd'], ['-12.50'], ['12']]);
    assert.equal(text, "a\r\n'=1+1\r\n'@SUM(A1)\r\n'+1 202\r\n'-cmd\r\n-12.50\r\n12\r\n");
  });

  it('a formula behind a new line, or with a sign in full width, is saved as text too', () => {
    assert.equal(
      csvOf(['a'], [['\n=1+1'], ['＝1+1'], ['＋1'], ['－1'], ['＠A1'], ['-1;=1+1']]),
      `a\r\n"'\n=1+1"\r\n'＝1+1\r\n'＋1\r\n'－1\r\n'＠A1\r\n'-1;=1+1\r\n`,
    );
  });

  it('an amount beyond the digits of a double is saved digit by digit', () => {
    assert.equal(csvOf(['a'], [['-9007199254740993.01']]), 'a\r\n-9007199254740993.01\r\n');
  });

  it('a moment is saved on the clocks of the institution, with its offset and all of its digits', () => {
    const newYork = (moment: string) => zonedMoment(moment, 'America/New_York');
    assert.equal(newYork('2026-11-20T17:04:05.678901Z'), '2026-11-20T12:04:05.678901-05:00');
    assert.equal(newYork('2026-07-01T03:59:59Z'), '2026-06-30T23:59:59-04:00');
    assert.equal(zonedMoment('2026-01-01T00:00:00.5Z', 'Asia/Kathmandu'), '2026-01-01T05:45:00.5+05:45');
    assert.equal(zonedMoment('2026-01-01T00:00:00Z', 'UTC'), '2026-01-01T00:00:00+00:00');
  });

  it('the hour that the end of summer time repeats has two different texts', () => {
    const texts = ['2026-11-01T05:30:00Z', '2026-11-01T06:30:00Z'].map((moment) =>
      zonedMoment(moment, 'America/New_York'),
    );
    assert.deepEqual(texts, ['2026-11-01T01:30:00-04:00', '2026-11-01T01:30:00-05:00']);
  });

  it('a file keeps commas, quotes and new lines inside their cell', () => {
    assert.equal(csvOf(['a', 'b'], [['x,y', 'say "hi"\nthere']]), 'a,b\r\n"x,y","say ""hi""\nthere"\r\n');
  });

  it('amounts sort by their value, also beyond the digits of a double', () => {
    const sorted = ['9007199254740993.01', '-5.00', '9007199254740993.00', '10', '9.99'].toSorted(
      compareAmounts,
    );
    assert.deepEqual(sorted, ['-5.00', '9.99', '10', '9007199254740993.00', '9007199254740993.01']);
  });

  it('a code is shown as a word, and a duration in the unit that fits', () => {
    assert.equal(wordOf('LOAN_PAYMENT'), 'Loan payment');
    assert.equal(wordOf('INTRA_FI'), 'Within the institution');
    assert.equal(wordOf(null), '');
    assert.deepEqual([900, 2_500, 180_000, 7_200_000, 259_200_000].map(durationOf), [
      '900 ms',
      '2.5 s',
      '3 min',
      '2 h',
      '3 days',
    ]);
  });
});

/** A list of so many rows, on pages of three, the second of which is empty. */
function listOf(count: number) {
  const asked: (string | undefined)[] = [];
  const readPage = async (after: string | undefined): Promise<Page<number>> => {
    asked.push(after);
    const [page = 0] = after === undefined ? [] : [Number(after)];
    const first = page === 0 ? 0 : (page - 1) * 3;
    const items =
      page === 1 ? [] : Array.from({ length: 3 }, (_, at) => first + at).filter((row) => row < count);
    const next = page === 0 || page * 3 < count ? String(page + 1) : undefined;
    return { items, next };
  };
  return { asked, readPage };
}

describe('all rows of a list', () => {
  const quiet = { isStopped: () => false, onRows: () => {} };

  it('every page is read to the last, also behind an empty one', async () => {
    const { asked, readPage } = listOf(8);
    const progress: number[] = [];
    const read = await readAll({ readPage, most: 100, ...quiet, onRows: (rows) => progress.push(rows) });
    assert.deepEqual(read, { rows: [0, 1, 2, 3, 4, 5, 6, 7], isCut: false });
    assert.deepEqual(asked, [undefined, '1', '2', '3']);
    assert.deepEqual(progress, [3, 3, 6, 8]);
  });

  it('a list of exactly the most rows is whole, and a longer one is cut and says so', async () => {
    assert.equal((await readAll({ ...listOf(6), most: 6, ...quiet }))?.isCut, false);
    const { asked, readPage } = listOf(8);
    assert.deepEqual(await readAll({ readPage, most: 4, ...quiet }), { rows: [0, 1, 2, 3], isCut: true });
    assert.equal(asked.length, 3);
    assert.deepEqual(await readAll({ ...listOf(9), most: 6, ...quiet }), {
      rows: [0, 1, 2, 3, 4, 5],
      isCut: true,
    });
  });

  it('nothing more is read after a stop, and there is no file', async () => {
    const { asked, readPage } = listOf(8);
    const read = await readAll({ readPage, most: 100, ...quiet, isStopped: () => asked.length === 2 });
    assert.equal(read, undefined);
    assert.equal(asked.length, 2);
  });

  it('a page that fails ends the reading with its error', async () => {
    const { readPage } = listOf(8);
    const failing = (after: string | undefined) =>
      after === '2' ? Promise.reject(new Error('503')) : readPage(after);
    await assert.rejects(readAll({ readPage: failing, most: 100, ...quiet }), /503/);
  });
});

describe('why a person may not pay from an account', () => {
  const open = {
    accountType: 'CHECKING',
    role: 'PRIMARY',
    mayPay: true,
    closed: false,
    coreRestriction: null,
    operatorRestriction: null,
  };

  it('a holder who may pay from an open account gets no reason', () => {
    assert.equal(whyNotPay(open), undefined);
    assert.equal(whyNotPay({ ...open, operatorRestriction: 'EXCLUDE_AS_TO' }), undefined);
  });

  it('the first reason is named: closed, the holder record, an operator, the core, the type', () => {
    const all = {
      accountType: 'MORTGAGE_LOAN',
      role: 'JOINT',
      mayPay: false,
      closed: true,
      coreRestriction: 'EXCLUDE_ALL',
      operatorRestriction: 'EXCLUDE_AS_FROM',
    };
    assert.match(whyNotPay(all) ?? '', /closed/);
    assert.match(whyNotPay({ ...all, closed: false }) ?? '', /holder record \(Joint\)/);
    assert.match(whyNotPay({ ...all, closed: false, mayPay: true }) ?? '', /operator/);
    assert.match(whyNotPay({ ...all, closed: false, mayPay: true, operatorRestriction: null }) ?? '', /core/);
    assert.match(
      whyNotPay({ ...open, accountType: 'MORTGAGE_LOAN' }) ?? '',
      /Mortgage loan pays nothing out/,
    );
  });
});
