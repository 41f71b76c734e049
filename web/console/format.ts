/** The words that the rule of `wordOf` would not find. */
const words: Readonly<Record<string, string>> = {
  INTRA_FI: 'Within the institution',
  IRA_CONTRIBUTION: 'IRA contribution',
  RETIREMENT_IRA: 'Retirement (IRA)',
  CERT_OF_DEPOSIT: 'Certificate of deposit',
  CORE_ACH: 'Core ACH',
  CORE_ATM: 'Core ATM',
};

/** `Standard` of `STANDARD`, `Held on both accounts` of `held on both accounts`. */
export function wordOf(name: string | null | undefined): string {
  if (!name) return '';
  const known = words[name];
  if (known !== undefined) return known;
  const plain = /^[A-Z0-9_]+$/.test(name)
    ? name.toLowerCase().replaceAll('_', ' ')
    : name.replaceAll('_', ' ');
  return plain.charAt(0).toUpperCase() + plain.slice(1);
}

/** The bands of age of a transfer that waits. */
export const ageWords: Readonly<Record<string, string>> = {
  UNDER_15_MINUTES: 'Under 15 min',
  UNDER_AN_HOUR: 'Under an hour',
  UNDER_A_DAY: 'Under a day',
  OLDER: 'Older',
};

/** `1.2 s`, `3 min`, `2 h`, `4 days`. */
export function durationOf(millis: number): string {
  if (millis < 1_000) return `${millis} ms`;
  if (millis < 60_000) return `${(millis / 1_000).toFixed(1)} s`;
  if (millis < 3_600_000) return `${Math.round(millis / 60_000)} min`;
  if (millis < 172_800_000) return `${Math.round(millis / 3_600_000)} h`;
  return `${Math.round(millis / 86_400_000)} days`;
}

/** The effect of time on a transfer that waits. */
export function dueWords(whenDue: string): string {
  return whenDue === 'POST' ? 'It posts' : 'It expires';
}

/** `Thursday, December 24, 2026`. A day has no time zone. */
export function longDay(day: string): string {
  return new Date(`${day}T00:00:00Z`).toLocaleDateString(undefined, { dateStyle: 'full', timeZone: 'UTC' });
}
