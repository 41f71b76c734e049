import { longDay, wordOf } from '../../format.ts';
import type { ProposedChange } from '../../operations.ts';

/** `Thursday, December 24, 2026: closed`, or the names of the rules that change. */
export function changeWords(change: ProposedChange | undefined): string {
  if (change === undefined) return 'Rules of transfers';
  const { days, policies, limits, contributionLimits } = change;
  const parts = [
    ...days.map(({ day, open }) => `${longDay(day)}: ${dayWords(open)}`),
    ...policies.map((name) => {
      const [type, currency] = name.split(' ');
      return `policy of ${wordOf(type).toLowerCase()} ${currency ?? ''}`.trim();
    }),
    ...limits.map((key) => `limit ${key}`),
    ...contributionLimits.map((year) => `IRA limit of ${year}`),
  ];
  if (days.length === 1 && parts.length === 1) return parts[0] as string;
  return `Rules of transfers, by the command line with the same files: ${parts.join(', ') || 'no difference'}`;
}

function dayWords(open: boolean | null): string {
  if (open === null) return 'as the Federal Reserve has it';
  return open ? 'open' : 'closed';
}
