import * as Type from 'typebox/type';
import {
  accountsOfClass,
  institutionOf,
  ledgerClasses,
  moneyFlows,
  trialBalance,
} from '../../../operators/index.ts';
import { type OperatorOperation, operatorOperation } from '../operation.ts';
import { amount, flag, moment, oneOf, optional, orNull, shape, text, whole } from '../shapes.ts';

const figures = { currency: text, debits: amount, credits: amount, balance: amount };
const day = Type.String({ pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}$' });

export const ledgerOperations: readonly OperatorOperation[] = [
  operatorOperation({
    operationId: 'showTrialBalance',
    method: 'GET',
    path: '/ledger/trial-balance',
    right: 'institution:read',
    summary:
      'Debit and credit balances by class of accounts at a minute of the institution’s clock, like 2026-11-20T17:00; without one, now.',
    query: Type.Object({
      at: optional(Type.String({ pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}$' })),
    }),
    response: shape({
      at: moment,
      classes: Type.Array(
        shape({ class: text, isInternal: flag, accountId: orNull(text), accounts: whole, ...figures }),
      ),
      totals: Type.Array(shape(figures)),
    }),
    handle: async (deps, { institutionId, query }) =>
      trialBalance(deps, await institutionOf(deps, institutionId), query.at),
  }),
  operatorOperation({
    operationId: 'listAccountsOfClass',
    method: 'GET',
    path: '/ledger/accounts',
    right: 'members:read',
    summary:
      'The accounts that a class of the trial balance counts, with their balances before its `at`: those not at zero, credit is positive. A page may be short, or empty, before the last. The audit records the read of members’ accounts.',
    query: Type.Object({
      class: oneOf(ledgerClasses),
      currency: Type.String({ pattern: '^[A-Z]{3}$' }),
      before: optional(moment),
    }),
    response: shape({ accountId: text, description: text, memberNumber: orNull(text), balance: amount }),
    positionWords: 1,
    handle: (deps, { institutionId, query: { before, ...of }, page, origin }) =>
      accountsOfClass(deps, institutionId, {
        asked: { ...of, before: before === undefined ? null : new Date(before) },
        ...{ page, origin },
      }),
  }),
  operatorOperation({
    operationId: 'showFlows',
    method: 'GET',
    path: '/ledger/flows',
    right: 'institution:read',
    summary:
      'Money that moved between classes of accounts on at most 31 days; without days, on the last seven.',
    query: Type.Object({ from: optional(day), to: optional(day) }),
    response: shape({
      from: text,
      to: text,
      flows: Type.Array(
        shape({
          ...{ from: text, to: text, fromAccountId: orNull(text), toAccountId: orNull(text) },
          ...{ currency: text, postings: whole, amount },
        }),
      ),
    }),
    handle: async (deps, { institutionId, query }) =>
      moneyFlows(deps, await institutionOf(deps, institutionId), query),
  }),
];
