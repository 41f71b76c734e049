import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { choicesOn, edgeOf, lacksDay, valueOfEdge, wordsOfPeriod } from '../../web/console/form/edge.ts';
import { addDays } from '../../web/design/format/dates.ts';

const newYork = 'America/New_York';

describe('the period of a search in the console', () => {
  it('a day and a time of the address fill the fields, and the fields give the same value', () => {
    const edges = {
      '': { day: '', time: '' },
      '2026-11-20': { day: '2026-11-20', time: '' },
      '2026-11-20T15:04': { day: '2026-11-20', time: '15:04' },
      '2026-11-20T15:04:05': { day: '2026-11-20', time: '15:04:05' },
      'T15:04': { day: '', time: '15:04' },
    };
    for (const [value, edge] of Object.entries(edges)) {
      assert.deepEqual(edgeOf(value, newYork), edge, value);
      assert.equal(valueOfEdge(edge), value);
    }
  });

  it('an instant of an older link fills the fields on the clocks of the institution, on both sides of a change', () => {
    const edges = {
      '2026-11-20T17:04:05.678Z': ['2026-11-20', '12:04:05'],
      '2026-11-20T04:00:00Z': ['2026-11-19', '23:00'],
      '2026-03-08T06:59:00Z': ['2026-03-08', '01:59'],
      '2026-03-08T07:00:00Z': ['2026-03-08', '03:00'],
      '2026-11-01T05:30:00Z': ['2026-11-01', '01:30'],
      '2026-11-01T08:30:00+02:00': ['2026-11-01', '01:30'],
    };
    for (const [value, [day, time]] of Object.entries(edges)) {
      assert.deepEqual(edgeOf(value, newYork), { day, time }, value);
    }
  });

  it('nonsense in the address leaves the fields empty', () => {
    for (const value of ['yesterday', '2026-13-45T99:99:99Z', '<b>', '2026-11-20T', '2026-11-20 15:04', 'Z'])
      assert.deepEqual(edgeOf(value, newYork), { day: '', time: '' }, value);
  });

  it('a time without its day is noticed', () => {
    assert.ok(lacksDay('T15:04'));
    for (const value of ['', '2026-11-20', '2026-11-20T15:04']) assert.ok(!lacksDay(value), value);
  });

  it('the choices count whole days with today, across months, leap days and changes of the clocks', () => {
    assert.deepEqual(
      choicesOn('2028-03-02').map(({ label, days }) => [label, ...days]),
      [
        ['Today', '2028-03-02', '2028-03-02'],
        ['Yesterday', '2028-03-01', '2028-03-01'],
        ['7 days', '2028-02-25', '2028-03-02'],
        ['30 days', '2028-02-02', '2028-03-02'],
      ],
    );
    assert.equal(addDays('2026-11-02', -1), '2026-11-01');
    assert.equal(addDays('2026-12-31', 1), '2027-01-01');
  });

  it('the words of a period say which ends it has', () => {
    const words = (since: string, until: string) =>
      wordsOfPeriod(since, until, { locale: 'en-US', timeZone: newYork }).replaceAll('\u202f', ' ');
    assert.equal(words('', ''), '');
    assert.equal(words('2026-11-20', '2026-11-20'), 'on Nov 20, 2026');
    assert.equal(words('2026-11-20', '2026-11-26'), 'from Nov 20, 2026 to Nov 26, 2026');
    assert.equal(words('2026-11-20T15:04', ''), 'from Nov 20, 2026, 3:04 PM');
    assert.equal(words('', '2026-11-20T20:04:05Z'), 'until Nov 20, 2026, 3:04:05 PM');
    assert.equal(words('', '2026-11-20'), 'to Nov 20, 2026');
    assert.equal(words('nonsense', ''), '');
    assert.equal(words('9999-99-99', ''), 'from 9999-99-99');
  });
});
