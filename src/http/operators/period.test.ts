import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Problem } from '../../shared/problem.ts';
import { readSpan } from './period.ts';

const newYork = 'America/New_York';

/** The instants of a period, without the seconds that are zero. */
function spanOf(
  since: string | undefined,
  until: string | undefined,
  timeZone = newYork,
): (string | undefined)[] {
  const span = readSpan({ since, until }, timeZone);
  return [span.since, span.until].map((at) => at?.toISOString().replace(':00.000Z', 'Z'));
}

test('a day means its whole length at the institution, also when the clocks change on it', () => {
  assert.deepEqual(spanOf('2026-11-20', '2026-11-20'), ['2026-11-20T05:00Z', '2026-11-21T05:00Z']);
  assert.deepEqual(spanOf('2026-03-08', '2026-03-08'), ['2026-03-08T05:00Z', '2026-03-09T04:00Z']);
  assert.deepEqual(spanOf('2026-11-01', '2026-11-01'), ['2026-11-01T04:00Z', '2026-11-02T05:00Z']);
  assert.deepEqual(spanOf('2026-11-20', undefined), ['2026-11-20T05:00Z', undefined]);
  assert.deepEqual(spanOf(undefined, undefined), [undefined, undefined]);
});

test('a time is one of the institution’s clocks, and a date-time is the same everywhere', () => {
  assert.deepEqual(spanOf('2026-11-20T15:04', '2026-11-20T15:04:30'), [
    '2026-11-20T20:04Z',
    '2026-11-20T20:04:30.000Z',
  ]);
  assert.deepEqual(spanOf('2026-11-20T15:04:00Z', '2026-11-20T17:04:00+01:00'), [
    '2026-11-20T15:04Z',
    '2026-11-20T16:04Z',
  ]);
  assert.deepEqual(spanOf('2026-11-20', '2026-11-20T05:00:00.001Z'), [
    '2026-11-20T05:00Z',
    '2026-11-20T05:00:00.001Z',
  ]);
});

test('a time that the clocks show twice begins with the first and ends with the second', () => {
  assert.deepEqual(spanOf('2026-11-01T01:30', '2026-11-01T01:30'), [
    '2026-11-01T05:30Z',
    '2026-11-01T06:30Z',
  ]);
});

test('a time that the clocks skip moves by the length of the gap', () => {
  assert.deepEqual(spanOf('2026-03-08T02:30', '2026-03-08T02:45'), [
    '2026-03-08T07:30Z',
    '2026-03-08T07:45Z',
  ]);
});

test('a period that ends before it begins, or at once, is refused', () => {
  for (const [since, until] of [
    ['2026-11-21', '2026-11-20'],
    ['2026-11-20T15:04', '2026-11-20T15:04'],
    ['2026-11-20T15:04', '2026-11-20T15:03:59'],
    ['2026-11-20T20:04:00Z', '2026-11-20T15:04'],
    ['2026-11-21', '2026-11-20T23:00'],
    // A day that Samoa left out.
    ['2011-12-30', '2011-12-30'],
  ] as const) {
    assert.throws(
      () => readSpan({ since, until }, since < '2012' ? 'Pacific/Apia' : newYork),
      (error) =>
        error instanceof Problem && error.code === 'invalid_request' && /ends before/.test(error.message),
      `${since} ${until}`,
    );
  }
});

test('a text that is no moment is refused with the forms that are accepted', () => {
  const wrong = [
    ...[
      '',
      'yesterday',
      '2026-02-29',
      '2026-11-20T24:00',
      '2026-11-20T15',
      '2026-11-20T15:60',
      '2026-11-20 15:04',
    ],
    ...[
      '1899-12-31',
      '3000-01-01',
      '2026-02-29T10:00',
      '20261120',
      '2026-11-20T15:04:05.5',
      'T15:04',
      '٢٠٢٦-١١-٢٠',
    ],
  ];
  for (const text of wrong) {
    for (const query of [{ since: text }, { until: text }]) {
      const [name = ''] = Object.keys(query);
      assert.throws(
        () => readSpan(query, newYork),
        (error) =>
          error instanceof Problem &&
          error.code === 'invalid_request' &&
          error.errors.some(
            ({ pointer, detail }) =>
              pointer === name &&
              detail.startsWith('Must be a day like 2026-11-20, a time of the institution’s clocks'),
          ),
        text,
      );
    }
  }
});
