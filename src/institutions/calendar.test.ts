import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import {
  type BusinessCalendar,
  cutOff,
  federalHolidays,
  isBusinessDay,
  nextBusinessDay,
} from './calendar.ts';
import { addDays, instantOf, localDate } from './time-zone.ts';

const seed = Number(process.env.SEED ?? Date.now() % 1_000_000);

/**
 * "K.8 Holidays Observed by the Federal Reserve System", editions 2020-2024 (before Juneteenth was one), 2021-2025 and
 * 2026-2030: the dates of the holidays, `*` a Saturday (banks open on the Friday before), `**` a Sunday (closed on the
 * Monday after). https://www.federalreserve.gov/aboutthefed/k8.htm
 */
const published: Readonly<Record<string, string>> = {
  2021: '01-01 01-18 02-15 05-31 06-19* 07-04** 09-06 10-11 11-11 11-25 12-25*',
  2022: '01-01* 01-17 02-21 05-30 06-19** 07-04 09-05 10-10 11-11 11-24 12-25**',
  2023: '01-01** 01-16 02-20 05-29 06-19 07-04 09-04 10-09 11-11* 11-23 12-25',
  2024: '01-01 01-15 02-19 05-27 06-19 07-04 09-02 10-14 11-11 11-28 12-25',
  2025: '01-01 01-20 02-17 05-26 06-19 07-04 09-01 10-13 11-11 11-27 12-25',
  2026: '01-01 01-19 02-16 05-25 06-19 07-04* 09-07 10-12 11-11 11-26 12-25',
  2027: '01-01 01-18 02-15 05-31 06-19* 07-04** 09-06 10-11 11-11 11-25 12-25*',
  2028: '01-01* 01-17 02-21 05-29 06-19 07-04 09-04 10-09 11-11* 11-23 12-25',
  2029: '01-01 01-15 02-19 05-28 06-19 07-04 09-03 10-08 11-11** 11-22 12-25',
  2030: '01-01 01-21 02-18 05-27 06-19 07-04 09-02 10-14 11-11 11-28 12-25',
};

for (const [year, row] of Object.entries(published)) {
  test(`computes the published Federal Reserve holidays of ${year}`, () => {
    const closed = row.split(' ').flatMap((holiday) => {
      const date = `${year}-${holiday.slice(0, 5)}`;
      if (holiday.endsWith('**')) return [addDays(date, 1)];
      return holiday.endsWith('*') ? [] : [date];
    });
    assert.deepEqual(federalHolidays(Number(year)), closed);
  });
}

test('counts Juneteenth as a holiday only since it became one', () => {
  assert.ok(!federalHolidays(2020).includes('2020-06-19'));
});

const newYork: BusinessCalendar = {
  timeZone: 'America/New_York',
  opensAt: '08:00',
  exceptions: new Map(),
};

function except(days: Record<string, 'OPEN' | 'CLOSED'>, calendar = newYork): BusinessCalendar {
  return { ...calendar, exceptions: new Map(Object.entries(days)) };
}

test('counts a day as a business day if it is neither weekend nor holiday, unless the institution decides otherwise', () => {
  assert.ok(isBusinessDay('2026-11-25', newYork));
  assert.ok(!isBusinessDay('2026-11-26', newYork), 'Thanksgiving');
  assert.ok(isBusinessDay('2026-11-26', except({ '2026-11-26': 'OPEN' })));
  assert.ok(!isBusinessDay('2026-11-28', newYork), 'Saturday');
  assert.ok(isBusinessDay('2026-11-28', except({ '2026-11-28': 'OPEN' })));
  assert.ok(!isBusinessDay('2026-11-25', except({ '2026-11-25': 'CLOSED' })));
  assert.ok(isBusinessDay('2026-07-03', newYork), 'the Friday before a Saturday holiday');
  assert.ok(!isBusinessDay('2027-07-05', newYork), 'the Monday after a Sunday holiday');
});

test('finds the next business day after weekends, holidays and the institution’s closing days', () => {
  assert.equal(nextBusinessDay('2026-11-25', newYork), '2026-11-27');
  assert.equal(nextBusinessDay('2026-11-25', except({ '2026-11-27': 'CLOSED' })), '2026-11-30');
  assert.equal(nextBusinessDay('2026-11-25', except({ '2026-11-26': 'OPEN' })), '2026-11-26');
  assert.equal(nextBusinessDay('2026-11-27', newYork), '2026-11-30', 'over a weekend');
  assert.equal(nextBusinessDay('2026-12-31', newYork), '2027-01-04', 'over New Year and a weekend');
});

test('skips a day that a time zone left out', () => {
  const apia = { ...newYork, timeZone: 'Pacific/Apia' };
  assert.ok(isBusinessDay('2011-12-30', newYork), 'a Friday');
  assert.ok(!isBusinessDay('2011-12-30', apia));
  assert.equal(nextBusinessDay('2011-12-29', apia), '2012-01-03', 'New Year, a Sunday, is kept on Monday');
});

/** [name, local time at the institution, cut-off, local time until which the order waits] */
const orders: readonly (readonly [string, string, string, string | null])[] = [
  ['in business hours', '2026-11-25 12:00', '17:00', null],
  ['at the opening', '2026-11-25 08:00', '17:00', null],
  ['before the opening', '2026-11-25 07:59:59', '17:00', '2026-11-25 08:00'],
  ['at the cut-off', '2026-11-25 17:00', '17:00', null],
  ['after the cut-off, over a holiday', '2026-11-25 17:00:01', '17:00', '2026-11-27 08:00'],
  ['on a holiday', '2026-11-26 12:00', '17:00', '2026-11-27 08:00'],
  ['after Friday’s cut-off', '2026-11-20 18:00', '17:00', '2026-11-23 08:00'],
  ['on a Saturday', '2026-11-21 12:00', '17:00', '2026-11-23 08:00'],
  ['late on a Sunday', '2026-11-22 23:59:59', '17:00', '2026-11-23 08:00'],
  ['early on a Monday', '2026-11-23 00:00', '17:00', '2026-11-23 08:00'],
  ['over a change to summer time', '2026-03-06 18:00', '17:00', '2026-03-09 08:00'],
  ['over a change to winter time', '2026-10-30 18:00', '17:00', '2026-11-02 08:00'],
  ['a cut-off before the opening: in time', '2026-11-25 06:00', '07:00', '2026-11-25 08:00'],
  ['a cut-off before the opening: late', '2026-11-25 07:00:01', '07:00', '2026-11-27 08:00'],
];

for (const [name, given, cutOffTime, until] of orders) {
  test(`an order ${name} (${given}) ${until === null ? 'is processed at once' : `waits until ${until}`}`, () => {
    const waits = cutOff(instant(given), cutOffTime, newYork);
    assert.deepEqual(waits, until === null ? null : instant(until));
  });
}

function instant(local: string, timeZone = 'America/New_York'): Date {
  const [date = '', time = ''] = local.split(' ');
  return instantOf(date, time, timeZone);
}

test('moves a cut-off in a clock gap by the length of the gap, and takes the first of two in an overlap', () => {
  const open = except({ '2026-03-08': 'OPEN', '2026-11-01': 'OPEN' }, { ...newYork, opensAt: '00:00' });
  const late = (at: string) => cutOff(new Date(at), '02:30', open) !== null;
  assert.deepEqual([late('2026-03-08T07:30:00.000Z'), late('2026-03-08T07:30:00.001Z')], [false, true]);
  const lateTwice = (at: string) => cutOff(new Date(at), '01:30', open) !== null;
  assert.deepEqual(
    [lateTwice('2026-11-01T05:30:00.000Z'), lateTwice('2026-11-01T05:30:00.001Z')],
    [false, true],
    'the second 01:30, an hour later, is late',
  );
});

const zones = [
  'America/New_York',
  'America/Chicago',
  'America/Los_Angeles',
  'Australia/Lord_Howe',
  'Pacific/Apia',
  'UTC',
];
const times = fc
  .integer({ min: 0, max: 1_439 })
  .map((minute) => new Date(minute * 60_000).toISOString().slice(11, 16));
const instants = fc
  .integer({ min: Date.UTC(2011, 10, 1) / 1_000, max: Date.UTC(2031, 0, 1) / 1_000 })
  .map((seconds) => new Date(seconds * 1_000));
const calendars = fc.record({
  timeZone: fc.constantFrom(...zones),
  opensAt: times,
  exceptions: fc
    .array(
      fc.tuple(
        instants.map((at) => localDate(at, 'UTC')),
        fc.constantFrom('OPEN' as const, 'CLOSED' as const),
      ),
      { maxLength: 5 },
    )
    .map((rows) => new Map(rows)),
});

test('waits only for an opening of a future business day, in the order of arrival', (context) => {
  context.diagnostic(`SEED=${seed}`);
  const close = { min: 0, max: 5 * 86_400 };
  fc.assert(
    fc.property(calendars, times, instants, fc.integer(close), (calendar, cutOffTime, at, seconds) => {
      const waits = cutOff(at, cutOffTime, calendar);
      const { timeZone, opensAt } = calendar;
      if (waits === null) {
        assert.ok(isBusinessDay(localDate(at, timeZone), calendar));
      } else {
        const day = localDate(waits, timeZone);
        assert.ok(waits > at);
        assert.ok(isBusinessDay(day, calendar));
        assert.deepEqual(waits, instantOf(day, opensAt, timeZone));
      }
      const later = new Date(at.getTime() + seconds * 1_000);
      assert.ok((cutOff(later, cutOffTime, calendar) ?? later) >= (waits ?? at));
    }),
    { seed, numRuns: 1_000 },
  );
});
