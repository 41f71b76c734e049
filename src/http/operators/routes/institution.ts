import * as Type from 'typebox/type';
import { isHostName, isLocalDate, isTimeZone, mostLogoBytes } from '../../../institutions/index.ts';
import {
  calendarOf,
  changeInstitution,
  institutionDocument,
  institutionOf,
  limitDocument,
  nearLimits,
  settingsDocument,
  showLimits,
} from '../../../operators/index.ts';
import { defined } from '../../../shared/defined.ts';
import { Problem } from '../../../shared/problem.ts';
import { changeBusinessDay } from '../../../transfers/index.ts';
import { decimalText, minorOf } from '../amounts.ts';
import { type OperatorOperation, operatorOperation } from '../operation.ts';
import {
  anything,
  body,
  flag,
  line,
  moment,
  oneOf,
  optional,
  orNull,
  reason,
  shape,
  text,
} from '../shapes.ts';

const bounded = (minimum: number, maximum: number) => optional(Type.Integer({ minimum, maximum }));

export const institutionOperations: readonly OperatorOperation[] = [
  operatorOperation({
    operationId: 'showInstitution',
    method: 'GET',
    path: '/institution',
    right: 'institution:read',
    summary: 'The institution with its settings.',
    response: Type.Object({
      code: text,
      name: text,
      currency: text,
      timeZone: text,
      record: text,
      demo: flag,
      host: orNull(text),
    }),
    handle: async (deps, { institutionId }) => institutionDocument(await institutionOf(deps, institutionId)),
  }),
  operatorOperation({
    operationId: 'changeInstitution',
    method: 'PATCH',
    path: '/institution',
    right: 'institution:change',
    summary: 'Change settings; those left out stay. Every process uses the new ones within a second.',
    body: body({
      reason,
      name: optional(line(128)),
      timeZone: optional(Type.String({ maxLength: 64, description: 'An IANA time zone.' })),
      enrollment: optional(oneOf(['closed', 'open'])),
      openingDeposit: optional(decimalText),
      openingDepositsPerDay: optional(decimalText),
      openingsPerDay: bounded(0, 10_000_000),
      passwordMinLength: bounded(8, 128),
      contactChangeMaxAgeSeconds: bounded(0, 2_592_000),
      transferStepUpMaxAgeSeconds: bounded(0, 2_592_000),
      transferStepUpAbove: optional(decimalText),
      transferStepUpNewDestination: optional(flag),
      transferStepUpPasskey: optional(flag),
      registrationBirthDate: optional(flag),
      brandColor: optional(
        orNull(
          Type.String({
            pattern: '^#[0-9a-f]{6}$',
            description:
              'The color of the pages on which members sign in, with a contrast of 4.5 to white; null: that of the service.',
          }),
        ),
      ),
      logo: optional(
        orNull(
          Type.String({
            maxLength: base64Length(mostLogoBytes),
            description: 'A PNG in base64, in place of the name on these pages; null: none.',
          }),
        ),
      ),
      host: optional(
        orNull(
          Type.String({
            maxLength: 253,
            description:
              'A DNS name in lower case and ASCII, where the institution is an issuer of its own; null: none. Passkeys made at another name do not work there.',
          }),
        ),
      ),
    }),
    response: shape({ before: anything, after: anything }),
    async handle(deps, { institutionId, body: given, origin }) {
      const { reason: statedReason, openingDeposit, openingDepositsPerDay, ...more } = given;
      const { transferStepUpAbove, logo, ...others } = more;
      if (others.timeZone !== undefined && !isTimeZone(others.timeZone))
        throw invalid('timeZone', 'an IANA time zone');
      if (typeof others.host === 'string' && !isHostName(others.host))
        throw invalid('host', 'a DNS name like bank.example, in lower case and ASCII');
      const { currency } = await institutionOf(deps, institutionId);
      const settings = defined({
        ...others,
        openingDepositMinor: minorOf(openingDeposit, currency, '/openingDeposit'),
        openingDepositsPerDayMinor: minorOf(openingDepositsPerDay, currency, '/openingDepositsPerDay'),
        transferStepUpAboveMinor: minorOf(transferStepUpAbove, currency, '/transferStepUpAbove'),
      });
      const { before, after } = await changeInstitution(deps, institutionId, {
        settings,
        logo: typeof logo === 'string' ? readBase64(logo) : logo,
        statedReason,
        origin,
      });
      return { before: settingsDocument(before, currency), after: settingsDocument(after, currency) };
    },
  }),
  operatorOperation({
    operationId: 'showCalendar',
    method: 'GET',
    path: '/calendar',
    right: 'institution:read',
    summary: 'The weekdays of a year without business, and the exceptions of the institution.',
    query: Type.Object({ year: optional(Type.Integer({ minimum: 1975, maximum: 2999 })) }),
    response: Type.Array(
      shape({ day: text, weekday: text, open: flag, source: oneOf(['institution', 'Federal Reserve']) }),
    ),
    handle: async (deps, { institutionId, query }) =>
      calendarOf(deps, await institutionOf(deps, institutionId), query.year),
  }),
  operatorOperation({
    operationId: 'changeCalendar',
    method: 'POST',
    path: '/calendar',
    right: 'institution:change',
    summary:
      'Open or close the institution on a day, or end such an exception. Under dual control two persons do this once each.',
    body: body({ day: text, open: orNull(flag), reason }),
    response: shape({
      outcome: oneOf(['DONE', 'UNCHANGED', 'PROPOSED']),
      proposedBy: optional(text),
      expiresAt: optional(moment),
    }),
    async handle(deps, { institutionId, body: { day, open }, origin }) {
      if (!isLocalDate(day)) throw invalid('day', 'a day like 2026-12-24');
      const changed = await changeBusinessDay(deps, institutionId, { day, open, origin });
      if (changed.kind === 'proposed') {
        const { proposedBy, expiresAt } = changed;
        return { outcome: 'PROPOSED', proposedBy, expiresAt };
      }
      return { outcome: changed.kind === 'unchanged' ? 'UNCHANGED' : 'DONE' };
    },
  }),
  operatorOperation({
    operationId: 'showLimits',
    method: 'GET',
    path: '/limits',
    right: 'institution:read',
    summary: 'The limits of the institution as a whole, with what is used of them.',
    response: Type.Array(anything),
    async handle(deps, { institutionId, origin }) {
      const { timeZone } = await institutionOf(deps, institutionId);
      const now = deps.businessTime(institutionId, deps.clock());
      const shown = await showLimits(deps, institutionId, { of: { whole: true }, now, timeZone, origin });
      return shown?.map(limitDocument);
    },
  }),
  operatorOperation({
    operationId: 'listNearLimits',
    method: 'GET',
    path: '/limits/near',
    right: 'members:read',
    summary:
      'The members, memberships and accounts that have used most of a limit in the present day or month, the fullest first. At most 200.',
    query: Type.Object({ percent: bounded(1, 100) }),
    response: Type.Array(anything),
    async handle(deps, { institutionId, query: { percent = 80 }, origin }) {
      const institution = await institutionOf(deps, institutionId);
      return (await nearLimits(deps, institution, { percent, origin })).map(limitDocument);
    },
  }),
];

function base64Length(bytes: number): number {
  return Math.ceil(bytes / 3) * 4;
}

function readBase64(given: string): Uint8Array {
  const bytes = Buffer.from(given, 'base64');
  if (bytes.toString('base64') !== given) throw invalid('logo', 'base64 with its padding');
  return bytes;
}

function invalid(member: string, expected: string): Problem {
  return new Problem('invalid_request', 'A part of the request is not valid.', {
    errors: [{ pointer: `/${member}`, detail: `Must be ${expected}.` }],
  });
}
