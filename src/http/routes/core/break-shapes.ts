import * as Type from 'typebox/type';
import { type Break as BreakRow, type BreakWithStory, breakClasses } from '../../../core-connection/index.ts';
import { exactNumber } from '../../presenters.ts';
import { CurrencyCode, knownValues } from '../../schemas.ts';

/* The JSON shapes of a break, shared by its operations. */

const moment = (description: string) => Type.String({ format: 'date-time', description });

export const BreakNote = Type.Object(
  {
    at: moment('The time of the note.'),
    author: Type.Optional(Type.String({ description: 'The client or the operator. Missing: the service.' })),
    note: Type.String(),
  },
  { description: "A line of a break's story." },
);

export const Break = Type.Object(
  {
    breakId: Type.String(),
    class: knownValues([...breakClasses], 'The kind of difference.'),
    accountId: Type.String(),
    transactionId: Type.Optional(Type.String({ description: "The core's id of the posting that differs." })),
    transferId: Type.Optional(Type.String({ description: 'The transfer that differs.' })),
    difference: Type.Number({ description: "The core's amount minus the one here, in major units." }),
    currencyCode: CurrencyCode,
    asOf: Type.Optional(moment('The moment of the balances that were compared.')),
    owner: Type.Optional(Type.String({ description: 'The person who looks after it.' })),
    openedAt: moment('When it was found.'),
    closedAt: Type.Optional(moment('Missing: it is open.')),
    closedBy: Type.Optional(
      knownValues(['ARRIVED', 'AGREED', 'DECIDED', 'RECOVERED', 'ADJUSTED'], 'The reason of its end.'),
    ),
    story: Type.Optional(Type.Array(BreakNote, { description: 'The newest 200 notes. Not in lists.' })),
  },
  { description: "A difference between the core's books and these." },
);

export const breakExample = {
  breakId: '17',
  class: 'MISSING_HERE',
  accountId: 'a-1001-checking',
  transactionId: 'core-2026-000187',
  difference: -12.34,
  currencyCode: 'USD',
  asOf: '2026-11-20T05:00:00.000Z',
  openedAt: '2026-11-20T06:10:00.000Z',
};

export const breakParameter = {
  breakId: Type.String({ pattern: '^[1-9][0-9]{0,17}$', description: 'The id of the break.' }),
};

export function presentBreak(one: BreakRow & Partial<Pick<BreakWithStory, 'story'>>) {
  const {
    breakKey,
    accountId,
    coreId,
    transferId,
    currency,
    asOf,
    owner,
    openedAt,
    closedAt,
    closedBy,
    story,
  } = one;
  return {
    breakId: String(breakKey),
    class: one.class,
    accountId,
    ...(coreId !== null && { transactionId: coreId }),
    ...(transferId !== null && { transferId }),
    difference: exactNumber(one.differenceMinor, currency),
    currencyCode: currency,
    ...(asOf !== null && { asOf: asOf.toISOString() }),
    ...(owner !== null && { owner }),
    openedAt: openedAt.toISOString(),
    ...(closedAt !== null && { closedAt: closedAt.toISOString() }),
    ...(closedBy !== null && { closedBy }),
    ...(story !== undefined && {
      story: story.map(({ at, author, note }) => ({
        at: at.toISOString(),
        ...(author !== null && { author }),
        note,
      })),
    }),
  };
}
