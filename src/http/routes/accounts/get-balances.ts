import * as Type from 'typebox/type';
import { accountExample } from '../../openapi/examples.ts';
import { operation } from '../../operation.ts';
import { presentBalances } from '../../presenters.ts';
import { readInstant } from '../../request/moments.ts';
import { Balances, line } from '../../schemas.ts';

export const getBalances = operation({
  operationId: 'getBalances',
  method: 'GET',
  path: '/digitalbanking/db-accounts/v1/accounts/{accountId}/balances',
  tag: 'Accounts',
  summary: 'Get balances as of a moment',
  description:
    'Returns the balances of an account now, or at a past moment, with everything posted and held up to and including it. A moment in the future, or before the account’s first entry, gets 400. A token sees the same accounts as in `getAccount`.',
  token: 'any',
  scope: 'account:read',
  params: Type.Object({ accountId: line(64, { description: 'Unique identifier of the account.' }) }),
  query: Type.Object({
    asOf: Type.Optional(
      Type.String({ maxLength: 40, description: 'A date-time (2026-11-20T15:04:05Z). Default: now.' }),
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
      },
    },
  },
  problems: ['not_found'],
  async handle(services, { actor, params, query }) {
    const asOf = query.asOf === undefined ? null : readInstant('asOf', query.asOf);
    return { status: 200, body: presentBalances(await services.getBalances(actor, params.accountId, asOf)) };
  },
});
