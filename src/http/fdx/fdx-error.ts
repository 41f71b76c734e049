import { randomUUID } from 'node:crypto';
import * as Type from 'typebox/type';
import type { Problem } from '../../shared/problem.ts';
import { isUuid } from '../../shared/uuid.ts';
import { type ErrorResponse, problemKinds, problemResponse } from '../problems.ts';

/** FAPI's header, which names a request on both sides. */
export const interactionHeader = 'x-fapi-interaction-id';

/** The caller's id if it is a UUID, otherwise that of the request, or a new one. */
export function interactionIdOf(given: string | undefined, transactionId: string): string {
  const known = [given, transactionId].find((id) => id !== undefined && isUuid(id.toLowerCase()));
  return known ?? randomUUID();
}

export const FdxError = Type.Object(
  {
    code: Type.String({
      description:
        'FDX’s number: 401 invalid input, 500, 501 subsystem unavailable, 602 not authorized, 701 no such account, 702 invalid time, 703 invalid range. Other errors have the code of the service.',
    }),
    message: Type.String({ description: 'For people.' }),
    debugMessage: Type.String({
      description: 'For developers: the code of the service (/problems), and the reason.',
    }),
  },
  { description: 'The error entity of FDX.' },
);

/** The numbers are public; the status stays that of our own table. */
const numbers = {
  input: { code: '401', message: 'Invalid input' },
  internal: { code: '500', message: 'Internal server error' },
  unavailable: { code: '501', message: 'Subsystem unavailable' },
  unauthorized: { code: '602', message: 'Customer not authorized' },
  noAccount: { code: '701', message: 'Account not found' },
  time: { code: '702', message: 'Invalid start or end date' },
  range: { code: '703', message: 'Invalid date range' },
} as const;

export function fdxErrorResponse(problem: Problem, transactionId: string): ErrorResponse {
  const { status, headers } = problemResponse(problem, transactionId);
  return { status, headers: { ...headers, 'content-type': 'application/json' }, body: fdxErrorOf(problem) };
}

export function fdxErrorOf({ code, detail, errors }: Pick<Problem, 'code' | 'detail' | 'errors'>) {
  // The range is refused by the use case, which names its own parameters.
  const isRange = errors.some(({ pointer }) => pointer === 'to');
  const parts = isRange ? [] : errors.map((part) => `${part.pointer}: ${part.detail}`);
  const isTime = errors.some(({ pointer }) => pointer === 'startTime' || pointer === 'endTime');
  const kind = problemKinds[code];
  return {
    ...(isRange ? numbers.range : isTime ? numbers.time : numberOf(code, kind)),
    debugMessage: `${code}: ${[kind.detail ?? detail, ...parts].join(' ')}`,
  };
}

function numberOf(code: Problem['code'], { status, title }: { status: number; title: string }) {
  switch (status) {
    case 400:
      return numbers.input;
    case 401:
    case 403:
      return numbers.unauthorized;
    case 404:
      return numbers.noAccount;
    case 500:
      return numbers.internal;
    case 503:
      return numbers.unavailable;
    default:
      return { code, message: title };
  }
}
