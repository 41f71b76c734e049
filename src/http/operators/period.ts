import * as Type from 'typebox/type';
import { addDays, instantOf, lastInstantOf } from '../../institutions/index.ts';
import { Problem } from '../../shared/problem.ts';
import { isDay, readInstant } from '../request/moments.ts';

/** The period of a list of operators. */
export const periodParameters = {
  since: Type.Optional(
    Type.String({
      maxLength: 40,
      description:
        'The beginning, inclusive: a day of the institution’s calendar (2026-11-20), a time of its clocks (2026-11-20T15:04), or a date-time (2026-11-20T15:04:05Z).',
    }),
  ),
  until: Type.Optional(
    Type.String({
      maxLength: 40,
      description:
        'The end: a day, which it includes, or a time of the institution’s clocks or a date-time, which it excludes.',
    }),
  ),
} as const;

interface Span {
  /** Inclusive. */
  readonly since?: Date | undefined;
  /** Exclusive. */
  readonly until?: Date | undefined;
}

/**
 * A time that the clocks of the zone show twice means the first for the beginning and the second for the end, so that the period leaves out
 * nothing; one that they skip moves by the length of the gap. Problem `invalid_request`.
 */
export function readSpan(
  { since, until }: { readonly since?: string | undefined; readonly until?: string | undefined },
  timeZone: string,
): Span {
  const span = {
    since: since === undefined ? undefined : beginningOf(since, timeZone),
    until: until === undefined ? undefined : endOf(until, timeZone),
  };
  if (span.since !== undefined && span.until !== undefined && span.until <= span.since) {
    throw new Problem('invalid_request', 'The period ends before it begins.', {
      errors: [{ pointer: 'until', detail: 'Must be later than `since`.' }],
    });
  }
  return span;
}

function beginningOf(text: string, timeZone: string): Date {
  if (isDay(text)) return instantOf(text, '00:00', timeZone);
  const clock = clockOf(text);
  return clock ? instantOf(...clock, timeZone) : readInstant('since', text, otherForms);
}

function endOf(text: string, timeZone: string): Date {
  if (isDay(text)) return instantOf(addDays(text, 1), '00:00', timeZone);
  const clock = clockOf(text);
  return clock ? lastInstantOf(...clock, timeZone) : readInstant('until', text, otherForms);
}

const otherForms = 'a day like 2026-11-20, a time of the institution’s clocks like 2026-11-20T15:04, or ';

/** Day and time of `2026-11-20T15:04` and `2026-11-20T15:04:05`. */
function clockOf(text: string): [day: string, time: string] | undefined {
  const [, day = '', time = ''] = /^([0-9-]{10})T((?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d)?)$/.exec(text) ?? [];
  return isDay(day) ? [day, time] : undefined;
}
