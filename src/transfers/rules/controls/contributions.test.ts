import assert from 'node:assert/strict';
import { test } from 'node:test';
import { contributionLimitCents, contributionYear, filingDate } from './contributions.ts';

/** irs.gov, "Retirement topics - IRA contribution limits", as dollars until and from 50. */
const limits: readonly (readonly [year: number, under50: number, from50: number])[] = [
  [2019, 6_000, 7_000],
  [2020, 6_000, 7_000],
  [2021, 6_000, 7_000],
  [2022, 6_000, 7_000],
  [2023, 6_500, 7_500],
  [2024, 7_000, 8_000],
  [2025, 7_000, 8_000],
  [2026, 7_500, 8_600],
];

for (const [year, under50, from50] of limits) {
  test(`limits contributions for ${year} to ${under50}, and to ${from50} for a person who is 50 by its end`, () => {
    assert.equal(contributionLimitCents(year, `${year - 50}-12-31`), BigInt(from50) * 100n);
    assert.equal(contributionLimitCents(year, `${year - 49}-01-01`), BigInt(under50) * 100n);
    assert.equal(contributionLimitCents(year, '1930-01-01'), BigInt(from50) * 100n);
    assert.equal(contributionLimitCents(year, null), BigInt(under50) * 100n, 'of unknown age');
  });
}

test('uses the latest known limit for a later year', () => {
  assert.equal(contributionLimitCents(2031, null), 7_500_00n);
  assert.equal(contributionLimitCents(2031, '1960-01-01'), 8_600_00n);
  assert.equal(contributionLimitCents(2018, null), 6_000_00n, 'before all that is known: the earliest');
});

test('prefers an institution’s own limits to the published ones, for later years too', () => {
  const own = [
    { year: 2026, limitCents: 7_600_00n, catchUpCents: 1_200_00n },
    { year: 2028, limitCents: 8_000_00n, catchUpCents: 1_300_00n },
  ];
  assert.equal(contributionLimitCents(2025, null, own), 7_000_00n);
  assert.equal(contributionLimitCents(2026, null, own), 7_600_00n);
  assert.equal(contributionLimitCents(2027, '1950-01-01', own), 8_800_00n);
  assert.equal(contributionLimitCents(2028, '1950-01-01', own), 9_300_00n);
  assert.equal(contributionLimitCents(2030, null, own), 8_000_00n);
});

/** The filing dates that the IRS announced; it postponed those of 2020 and 2021 for everyone. 2027 and 2028 follow the rule. */
const dates: readonly (readonly [string, string])[] = [
  ['2016-04-18', 'Emancipation Day, a Saturday, is kept on Friday the 15th'],
  ['2017-04-18', 'the 15th is a Saturday, Emancipation Day is kept on Monday'],
  ['2018-04-17', 'the 15th is a Sunday, Emancipation Day a Monday'],
  ['2019-04-15', 'an ordinary Monday'],
  ['2020-07-15', 'postponed'],
  ['2021-05-17', 'postponed'],
  ['2022-04-18', 'Emancipation Day, a Saturday, is kept on Friday the 15th'],
  ['2023-04-18', 'the 15th is a Saturday, Emancipation Day is kept on Monday'],
  ['2024-04-15', 'an ordinary Monday'],
  ['2025-04-15', 'an ordinary Tuesday'],
  ['2026-04-15', 'an ordinary Wednesday'],
  ['2027-04-15', 'an ordinary Thursday'],
  ['2028-04-18', 'the 15th is a Saturday, Emancipation Day is kept on Monday'],
];

for (const [date, why] of dates) {
  test(`sets the filing date ${date}: ${why}`, () =>
    assert.equal(filingDate(Number(date.slice(0, 4))), date));
}

test('counts a contribution for the year in which it is made, in the institution’s zone', () => {
  const zone = 'America/Los_Angeles';
  assert.equal(
    contributionYear({ at: new Date('2027-01-01T07:59:59.999Z'), timeZone: zone, previousYear: false }),
    2026,
  );
  assert.equal(
    contributionYear({ at: new Date('2027-01-01T08:00:00.000Z'), timeZone: zone, previousYear: false }),
    2027,
  );
});

test('counts a contribution for the previous year on request, from 1 January to the end of the filing date', () => {
  const zone = 'America/New_York';
  const previous = (at: string) => contributionYear({ at: new Date(at), timeZone: zone, previousYear: true });
  assert.equal(previous('2026-01-01T05:00:00.000Z'), 2025);
  assert.equal(previous('2026-04-16T03:59:59.999Z'), 2025);
  assert.equal(previous('2026-04-16T04:00:00.000Z'), null);
  assert.equal(previous('2027-01-01T04:59:59.999Z'), null, 'the last moment of the year');
  assert.equal(previous('2022-04-19T03:59:59.999Z'), 2021, 'a filing date that is moved');
});

test('prefers an institution’s own filing date', () => {
  const zone = 'America/New_York';
  const own = [{ year: 2025, limitCents: 0n, catchUpCents: 0n, filingDate: '2026-04-20' }] as const;
  assert.equal(
    contributionYear({ at: new Date('2026-04-21T03:59:59.999Z'), timeZone: zone, previousYear: true }, own),
    2025,
  );
  assert.equal(
    contributionYear({ at: new Date('2026-04-21T04:00:00.000Z'), timeZone: zone, previousYear: true }, own),
    null,
  );
  assert.equal(
    contributionYear({ at: new Date('2027-04-16T04:00:00.000Z'), timeZone: zone, previousYear: true }, own),
    null,
  );
});
