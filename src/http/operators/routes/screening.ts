import * as Type from 'typebox/type';
import {
  changeScreeningRules,
  institutionOf,
  rotateScreening,
  showScreening,
  switchScreeningOff,
  tryScreening,
} from '../../../operators/index.ts';
import { defined } from '../../../shared/defined.ts';
import { verdicts } from '../../../transfers/index.ts';
import { decimalText, minorOf } from '../amounts.ts';
import { type OperatorOperation, operatorOperation } from '../operation.ts';
import {
  amount,
  body,
  Changed,
  flag,
  oneOf,
  optional,
  orNull,
  reason,
  shape,
  text,
  whole,
  withReason,
} from '../shapes.ts';

const Screening = shape({
  on: flag,
  url: text,
  from: amount,
  currencyCode: text,
  timeoutMillis: whole,
  onSilence: oneOf(verdicts),
  holdSeconds: whole,
});

export const screeningOperations: readonly OperatorOperation[] = [
  operatorOperation({
    operationId: 'showScreening',
    method: 'GET',
    path: '/screening',
    right: 'institution:read',
    summary: 'Whether orders are screened before they are decided, at which address and by which rules.',
    response: Type.Partial(Screening),
    handle: async (deps, { institutionId }) => (await showScreening(deps, institutionId)) ?? { on: false },
  }),
  operatorOperation({
    operationId: 'changeScreening',
    method: 'PATCH',
    path: '/screening',
    right: 'institution:change',
    summary:
      'Change the rules of screening; those left out stay. Only the command line sets the address, which may be inside the network.',
    body: body({
      reason,
      from: optional(decimalText),
      timeoutMillis: optional(Type.Integer({ minimum: 50, maximum: 5_000 })),
      onSilence: optional(oneOf(verdicts)),
      holdSeconds: optional(Type.Integer({ minimum: 60, maximum: 2_592_000 })),
    }),
    response: Screening,
    async handle(deps, { institutionId, body: { reason: _, from, ...others }, origin }) {
      const { currency } = await institutionOf(deps, institutionId);
      const change = defined({ ...others, fromMinor: minorOf(from, currency, '/from') });
      return changeScreeningRules(deps, institutionId, { change, origin });
    },
  }),
  operatorOperation({
    operationId: 'rotateScreeningSecret',
    method: 'POST',
    path: '/screening/rotate-secret',
    right: 'institution:change',
    summary: 'A new secret that signs the questions, shown once. The one before signs as well for a while.',
    body: body({ reason, overlapHours: optional(Type.Integer({ minimum: 0, maximum: 720 })) }),
    response: shape({ secret: text }),
    handle: (deps, { institutionId, body: { overlapHours = 24 }, origin }) =>
      rotateScreening(deps, institutionId, { overlapHours, origin }),
  }),
  operatorOperation({
    operationId: 'testScreening',
    method: 'POST',
    path: '/screening/test',
    right: 'institution:change',
    summary: 'Ask for the verdict on an invented order now. Without an answer, error says why.',
    body: withReason,
    response: shape({
      verdict: optional(oneOf(verdicts)),
      reference: optional(orNull(text)),
      error: optional(text),
      millis: whole,
    }),
    handle: (deps, { institutionId, origin }) => tryScreening(deps, institutionId, origin),
  }),
  operatorOperation({
    operationId: 'switchScreeningOff',
    method: 'POST',
    path: '/screening/off',
    right: 'institution:change',
    summary: 'Screen no orders from now on. Transfers that wait for a review go on waiting.',
    body: withReason,
    response: Changed,
    async handle(deps, { institutionId, origin }) {
      await switchScreeningOff(deps, institutionId, origin);
      return { changed: true };
    },
  }),
];
