import { Problem } from '../shared/problem.ts';
import { addDays, instantOf, type LocalDate } from './time-zone.ts';

/** A whole day in the institution's time zone, or an instant. */
export type Moment = { readonly day: LocalDate } | { readonly at: Date };

/** Includes both ends; null means open. */
export interface Period {
  readonly from: Moment | null;
  readonly to: Moment | null;
}

/**
 * The period as instants, from `start` and before `end`; null means open. Times have whole milliseconds. Throws Problem
 * `invalid_request` if it ends before it starts.
 */
export function instantsOf(
  { from, to }: Period,
  timeZone: string,
): { readonly start: Date | null; readonly end: Date | null } {
  const start = from && ('day' in from ? instantOf(from.day, '00:00', timeZone) : from.at);
  const end =
    to && ('day' in to ? instantOf(addDays(to.day, 1), '00:00', timeZone) : new Date(to.at.getTime() + 1));
  if (start !== null && end !== null && end <= start) {
    throw new Problem('invalid_request', 'The period ends before it starts.', {
      errors: [{ pointer: 'to', detail: 'Must not be before `from`.' }],
    });
  }
  return { start, end };
}
