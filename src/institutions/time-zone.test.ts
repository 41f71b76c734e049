import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { addDays, instantOf, isLocalDate, lastInstantOf, localDate, weekday } from './time-zone.ts';

const seed = Number(process.env.SEED ?? Date.now() % 1_000_000);

const newYork = 'America/New_York';
const lordHowe = 'Australia/Lord_Howe';
const apia = 'Pacific/Apia';

const walls: readonly (readonly [name: string, zone: string, date: string, time: string, instant: string])[] =
  [
    ['UTC is itself', 'UTC', '2026-03-08', '02:30', '2026-03-08T02:30:00.000Z'],
    ['winter', newYork, '2026-01-15', '17:00', '2026-01-15T22:00:00.000Z'],
    ['summer', newYork, '2026-07-15', '17:00:30', '2026-07-15T21:00:30.000Z'],
    ['midnight', newYork, '2026-01-15', '00:00', '2026-01-15T05:00:00.000Z'],
    ['the last second before a gap', newYork, '2026-03-08', '01:59:59', '2026-03-08T06:59:59.000Z'],
    ['a gap begins: an hour later', newYork, '2026-03-08', '02:00', '2026-03-08T07:00:00.000Z'],
    ['in a gap: an hour later', newYork, '2026-03-08', '02:30', '2026-03-08T07:30:00.000Z'],
    ['a gap has ended', newYork, '2026-03-08', '03:00', '2026-03-08T07:00:00.000Z'],
    ['later on that day', newYork, '2026-03-08', '17:00', '2026-03-08T21:00:00.000Z'],
    ['before an overlap', newYork, '2026-11-01', '00:59:59', '2026-11-01T04:59:59.000Z'],
    ['an overlap begins: the first time', newYork, '2026-11-01', '01:00', '2026-11-01T05:00:00.000Z'],
    ['in an overlap: the first time', newYork, '2026-11-01', '01:30', '2026-11-01T05:30:00.000Z'],
    ['an overlap has ended', newYork, '2026-11-01', '02:00', '2026-11-01T07:00:00.000Z'],
    ['Chicago, gap', 'America/Chicago', '2027-03-14', '02:15', '2027-03-14T08:15:00.000Z'],
    ['Chicago, overlap', 'America/Chicago', '2027-11-07', '01:15', '2027-11-07T06:15:00.000Z'],
    ['Los Angeles, gap', 'America/Los_Angeles', '2028-03-12', '02:59:59', '2028-03-12T10:59:59.000Z'],
    ['Los Angeles, overlap', 'America/Los_Angeles', '2028-11-05', '01:59:59', '2028-11-05T08:59:59.000Z'],
    ['half an hour of gap', lordHowe, '2026-10-04', '02:15', '2026-10-03T15:45:00.000Z'],
    ['after half an hour of gap', lordHowe, '2026-10-04', '02:30', '2026-10-03T15:30:00.000Z'],
    ['half an hour of overlap', lordHowe, '2026-04-05', '01:45', '2026-04-04T14:45:00.000Z'],
    ['after half an hour of overlap', lordHowe, '2026-04-05', '02:00', '2026-04-04T15:30:00.000Z'],
    ['the day before a day left out', apia, '2011-12-29', '23:59:59', '2011-12-30T09:59:59.000Z'],
    ['a day left out: a day later', apia, '2011-12-30', '09:00', '2011-12-30T19:00:00.000Z'],
    ['the day after a day left out', apia, '2011-12-31', '00:00', '2011-12-30T10:00:00.000Z'],
  ];

for (const [name, zone, date, time, instant] of walls) {
  test(`converts ${name}: ${date} ${time} in ${zone} is ${instant}`, () => {
    assert.equal(instantOf(date, time, zone).toISOString(), instant);
  });
}

test('takes the second of two times as an end, and every other time like a beginning', () => {
  const second = {
    '2026-11-01 01:30': '2026-11-01T06:30:00.000Z',
    '2026-11-01 01:00': '2026-11-01T06:00:00.000Z',
  };
  for (const [wall, instant] of Object.entries(second)) {
    const [date = '', time = ''] = wall.split(' ');
    assert.equal(lastInstantOf(date, time, newYork).toISOString(), instant);
  }
  for (const [name, zone, date, time] of walls.filter(([one]) => !one.includes('overlap'))) {
    assert.deepEqual(lastInstantOf(date, time, zone), instantOf(date, time, zone), name);
  }
  assert.throws(() => lastInstantOf('2026-02-29', '10:00', 'UTC'), RangeError);
  assert.throws(() => lastInstantOf('2026-02-28', '24:00', 'UTC'), RangeError);
});

test('throws for an invalid day, time or zone', () => {
  for (const date of ['2026-02-29', '2026-13-01', '2026-1-1', '', '2026-00-10']) {
    assert.throws(() => instantOf(date, '10:00', 'UTC'), RangeError, date);
    assert.throws(() => addDays(date, 1), RangeError, date);
    assert.throws(() => weekday(date), RangeError, date);
  }
  for (const time of ['24:00', '10:60', '1:00', '10', '', '10:00Z', '10:00+02:00', '10:00:00.5']) {
    assert.throws(() => instantOf('2026-01-01', time, 'UTC'), RangeError, time);
  }
  assert.throws(() => instantOf('2026-01-01', '10:00', 'Mars/Olympus'), RangeError);
  assert.throws(() => localDate(new Date(Number.NaN), 'UTC'), RangeError);
});

test('takes the day of an instant from the zone', () => {
  assert.equal(localDate(new Date('2026-01-01T04:59:59.999Z'), newYork), '2025-12-31');
  assert.equal(localDate(new Date('2026-01-01T05:00:00.000Z'), newYork), '2026-01-01');
  assert.equal(localDate(new Date('2011-12-30T09:59:59.999Z'), apia), '2011-12-29');
  assert.equal(localDate(new Date('2011-12-30T10:00:00.000Z'), apia), '2011-12-31');
  assert.equal(localDate(new Date('1969-12-31T23:59:59.999Z'), 'UTC'), '1969-12-31', 'before the epoch');
});

test('counts days across months, leap years and years', () => {
  assert.equal(addDays('2028-02-28', 1), '2028-02-29');
  assert.equal(addDays('2026-02-28', 1), '2026-03-01');
  assert.equal(addDays('2026-01-01', -1), '2025-12-31');
  assert.equal(addDays('2026-01-01', 365), '2027-01-01');
  assert.deepEqual(['2026-11-21', '2026-11-22', '2026-11-23'].map(weekday), [6, 0, 1]);
});

const zones = [newYork, 'America/Chicago', 'America/Los_Angeles', lordHowe, apia, 'UTC', 'Asia/Kathmandu'];
const instants = fc.integer({
  min: Date.UTC(2010, 0, 1) / 1_000,
  max: Date.UTC(2036, 0, 1) / 1_000,
});

/** The local time of a zone, by another formatter than the one under test. */
function clocks(at: Date, timeZone: string): string {
  const options = { timeZone, dateStyle: 'short', timeStyle: 'medium' } as const;
  return new Intl.DateTimeFormat('sv-SE', options).format(at);
}

test('finds an instant again from its local time, or the first instant with that local time', (context) => {
  context.diagnostic(`SEED=${seed}`);
  let again = 0;
  fc.assert(
    fc.property(fc.constantFrom(...zones), instants, (zone, seconds) => {
      const at = new Date(seconds * 1_000);
      const [date = '', time = ''] = clocks(at, zone).split(' ');
      assert.equal(localDate(at, zone), date);
      const found = instantOf(date, time, zone);
      assert.equal(clocks(found, zone), `${date} ${time}`);
      assert.ok(found <= at && at.getTime() - found.getTime() <= 3_600_000);
      if (found < at) again++;
    }),
    { seed, numRuns: 3_000 },
  );
  context.diagnostic(`${again} instants were in an overlap`);
});

test('finds the same instant for each local minute around every clock change as walking the clocks does', () => {
  const changes: readonly (readonly [zone: string, date: string])[] = [
    [newYork, '2026-03-08'],
    [newYork, '2026-11-01'],
    ['America/Chicago', '2026-03-08'],
    ['America/Los_Angeles', '2026-11-01'],
    [lordHowe, '2026-10-04'],
    [lordHowe, '2026-04-05'],
    [apia, '2011-12-31'],
  ];
  for (const [zone, date] of changes) {
    const shown = new Map<string, number>();
    const start = Date.parse(`${date}T00:00Z`) - 15 * 3_600_000;
    for (let millis = start; millis < start + 54 * 3_600_000; millis += 60_000) {
      const wall = clocks(new Date(millis), zone);
      if (!shown.has(wall)) shown.set(wall, millis);
    }
    let gap = 0;
    for (let minute = 0; minute < 1440; minute++) {
      const time = new Date(minute * 60_000).toISOString().slice(11, 16);
      const walked = shown.get(`${date} ${time}:00`);
      if (walked === undefined) gap++;
      else assert.equal(instantOf(date, time, zone).getTime(), walked, `${zone} ${date} ${time}`);
    }
    assert.ok(gap <= 60, `${zone} ${date}: ${gap} minutes were never shown`);
  }
});

test('never places the same time of a later day before that of an earlier day', (context) => {
  context.diagnostic(`SEED=${seed}`);
  fc.assert(
    fc.property(
      fc.constantFrom(...zones),
      instants,
      fc.integer({ min: 1, max: 2_000 }),
      (zone, seconds, days) => {
        const date = localDate(new Date(seconds * 1_000), zone);
        assert.ok(instantOf(addDays(date, days), '17:00', zone) >= instantOf(date, '17:00', zone));
        assert.equal(addDays(addDays(date, days), -days), date);
        assert.equal(weekday(addDays(date, 7 * days)), weekday(date));
      },
    ),
    { seed, numRuns: 500 },
  );
});

test('accepts only days of the calendar, written in full', () => {
  for (const day of ['2026-11-20', '2024-02-29', '1900-01-01']) assert.ok(isLocalDate(day), day);
  for (const text of [
    '',
    '2026-02-29',
    '2026-13-01',
    '2026-1-2',
    '20261120',
    '2026-11-20T00:00',
    '+012026-01-01',
  ]) {
    assert.ok(!isLocalDate(text), text);
  }
});
