import * as Type from 'typebox/type';
import { Problem } from '../../../shared/problem.ts';
import { accountExample } from '../../openapi/examples.ts';
import { operation } from '../../operation.ts';
import { presentBalances } from '../../presenters.ts';
import { readDay, readInstant } from '../../request/moments.ts';
import { Balances, line } from '../../schemas.ts';

export const getBalances = operation({
  operationId: 'getBalances',
  method: 'GET',
  path: '/digitalbanking/db-accounts/v1/accounts/{accountId}/balances',
  tag: 'Accounts',
  summary: 'Get balances as of a moment',
  description:
    'Returns the balances of an account now, or at a past moment, with everything posted and held up to and including it; or, with `effectiveDate`, at the end of a business day by the effective dates of the core’s transactions, whenever they arrived. A moment in the future, or before the account’s first entry, gets 400. A token sees the same accounts as in `getAccount`.',
  token: 'any',
  scope: 'account:read',
  params: Type.Object({ accountId: line(64, { description: 'Unique identifier of the account.' }) }),
  query: Type.Object({
    asOf: Type.Optional(
      Type.String({ maxLength: 40, description: 'A date-time (2026-11-20T15:04:05Z). Default: now.' }),
    ),
    effectiveDate: Type.Optional(
      Type.String({
        maxLength: 10,
        description:
          'In place of `asOf`: a business day (2026-11-20), not in the future. Holds have no effective date and are not in its available balance. A late transaction changes the balances of past days.',
      }),
    ),
  }),
  responses: {
    200: {
      description: 'The balances.',
      schema: Balances,
      examples: {
        earlier: {
          value: {
            accountId: accountExample.accountId,
            asOf: '2026-11-19T17:00:00.000Z',
            balance: accountExample.balance,
          },
        },
        effective: {
          summary: 'Of a business day',
          value: {
            accountId: accountExample.accountId,
            asOf: '2026-11-20T15:04:05.678Z',
            effectiveDate: '2026-11-18',
            balance: accountExample.balance,
          },
        },
      },
    },
  },
  problems: ['not_found'],
  isHistory: true,
  async handle(services, { actor, params, query, seen }) {
    if (query.effectiveDate !== undefined) {
      if (query.asOf !== undefined) {
        throw new Problem('invalid_request', 'A part of the request is not valid.', {
          errors: [
            { pointer: 'effectiveDate', detail: 'Must not be together with asOf: leave one of them out.' },
          ],
        });
      }
      const effectiveDate = readDay('effectiveDate', query.effectiveDate);
      const wanted = { effectiveDate, seen };
      const balances = await services.getEffectiveBalances(actor, params.accountId, wanted);
      return { status: 200, body: presentBalances(balances) };
    }
    const asOf = query.asOf === undefined ? null : readInstant('asOf', query.asOf);
    // The balances of now are no history: a payer decides by them.
    const wanted = { asOf, seen: asOf === null ? null : seen };
    const balances = await services.getBalances(actor, params.accountId, wanted);
    return { status: 200, body: presentBalances(balances) };
  },
});
