import * as Type from 'typebox/type';
import { isLocalDate, type LocalDate, type Moment, type Period } from '../../institutions/index.ts';
import { Problem } from '../../shared/problem.ts';

export const periodParameters = {
  from: Type.Optional(
    Type.String({
      maxLength: 40,
      description:
        'The beginning, inclusive: a day of the institution’s calendar (2026-11-20), or a date-time (2026-11-20T15:04:05Z).',
    }),
  ),
  to: Type.Optional(
    Type.String({
      maxLength: 40,
      description: 'The end, inclusive: a day of the institution’s calendar, or a date-time.',
    }),
  ),
} as const;

/** Throws Problem `invalid_request` for a parameter that is neither a day nor a date-time. */
export function readPeriod(query: { readonly from?: string; readonly to?: string }): Period {
  const read = (name: 'from' | 'to') => {
    const text = query[name];
    return text === undefined ? null : readMoment(name, text);
  };
  return { from: read('from'), to: read('to') };
}

/** Throws Problem `invalid_request` for a text that is no day. */
export function readDay(name: string, text: string): LocalDate {
  if (isDay(text)) return text;
  throw new Problem('invalid_request', 'A part of the request is not valid.', {
    errors: [{ pointer: name, detail: 'Must be a day like 2026-11-20.' }],
  });
}

/** Throws Problem `invalid_request` for a text that is neither a day nor a date-time. */
export function readMoment(name: string, text: string): Moment {
  return isDay(text) ? { day: text } : { at: readInstant(name, text, 'a day like 2026-11-20, or ') };
}

// RFC 3339, section 5.6. An unescaped plus sign arrives as a space.
const dateTime =
  /^(\d{4}-\d{2}-\d{2})[Tt]([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,9})?([Zz]|[+\- ]([01]\d|2[0-3]):[0-5]\d)$/;

/** Truncates to milliseconds, the precision of the database. `orElse` names other accepted forms in the refusal. */
export function readInstant(name: string, text: string, orElse = ''): Date {
  const [, day] = dateTime.exec(text) ?? [];
  if (day === undefined || !isDay(day)) {
    throw new Problem('invalid_request', 'A part of the request is not valid.', {
      errors: [
        {
          pointer: name,
          detail: `Must be ${orElse}a date-time like 2026-11-20T15:04:05Z (RFC 3339), from 1900 to 2999.`,
        },
      ],
    });
  }
  return new Date(text.toUpperCase().replace(' ', '+'));
}

/** A calendar day of a year that an account can have. */
export function isDay(text: string): boolean {
  return isLocalDate(text) && text >= '1900' && text < '3000';
}
