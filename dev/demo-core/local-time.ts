/** Days like 2026-03-02, and moments with the offset of the core's time zone. */
export type Day = string;

const dayMillis = 24 * 60 * 60_000;

export function addDays(day: Day, count: number): Day {
  return new Date(Date.parse(day) + count * dayMillis).toISOString().slice(0, 10);
}

/** 0 is Sunday. */
export function weekdayOf(day: Day): number {
  return new Date(day).getUTCDay();
}

export function isBusinessDay(day: Day): boolean {
  return weekdayOf(day) % 6 !== 0;
}

export function isLastOfMonth(day: Day): boolean {
  return addDays(day, 1).slice(0, 7) !== day.slice(0, 7);
}

/** Whole weeks since a fixed Thursday. */
export function weekNumber(day: Day): number {
  return Math.floor(Date.parse(day) / (7 * dayMillis));
}

export function dayOf(moment: Date, zone: string): Day {
  return new Date(moment.getTime() + offsetMinutes(moment, zone) * 60_000).toISOString().slice(0, 10);
}

/** The moment of a wall clock of the zone; `minutes` count from midnight. */
export function momentOn(day: Day, minutes: number, zone: string): Date {
  const asUtc = Date.parse(day) + Math.floor(minutes * 60_000);
  const offset = offsetMinutes(new Date(Date.parse(day) + dayMillis / 2), zone);
  return new Date(asUtc - offset * 60_000);
}

/** RFC 3339 with the offset of the zone. */
export function stamp(moment: Date, zone: string): string {
  const offset = offsetMinutes(moment, zone);
  const local = new Date(moment.getTime() + offset * 60_000).toISOString().slice(0, 19);
  const two = (number: number) => String(number).padStart(2, '0');
  const size = Math.abs(offset);
  return `${local}${offset < 0 ? '-' : '+'}${two(Math.floor(size / 60))}:${two(size % 60)}`;
}

const formats = new Map<string, Intl.DateTimeFormat>();
const known = new Map<string, number>();

/** Asked for each hour once: Intl is slow. */
function offsetMinutes(moment: Date, zone: string): number {
  const key = `${zone} ${Math.floor(moment.getTime() / 3_600_000)}`;
  const before = known.get(key);
  if (before !== undefined) return before;
  const format =
    formats.get(zone) ?? new Intl.DateTimeFormat('en-US', { timeZone: zone, timeZoneName: 'longOffset' });
  formats.set(zone, format);
  const name = format.formatToParts(moment).find(({ type }) => type === 'timeZoneName')?.value ?? 'GMT';
  const [, sign, hours = '0', minutes = '0'] = /^GMT(?:([+-])(\d\d):(\d\d))?$/.exec(name) ?? [];
  const offset = (Number(hours) * 60 + Number(minutes)) * (sign === '-' ? -1 : 1);
  known.set(key, offset);
  return offset;
}
