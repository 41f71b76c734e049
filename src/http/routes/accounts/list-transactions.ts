import * as Type from 'typebox/type';
import { pendingTransactionExample, postedTransactionExample } from '../../openapi/examples.ts';
import { operation } from '../../operation.ts';
import { presentTransaction } from '../../presenters.ts';
import { periodParameters, readPeriod } from '../../request/moments.ts';
import { nextLink, pageParameters, pageResponse, readPage } from '../../request/paging.ts';
import { line, Transaction, TransactionStatus } from '../../schemas.ts';

export const listTransactions = operation({
  operationId: 'listTransactions',
  method: 'GET',
  path: '/digitalbanking/db-accounts/v1/accounts/{accountId}/transactions',
  tag: 'Accounts',
  summary: 'List transactions',
  description:
    'Returns the transactions of an account: first the holds of pending transfers from it, then the posted ones, each newest first. A transfer appears once, pending or posted, under the same id. A token sees the same accounts as in `getAccount`. A page may be short, or empty, and still have a next one: only a missing `Link` ends the list.',
  token: 'any',
  scope: 'account:read',
  params: Type.Object({ accountId: line(64, { description: 'Unique identifier of the account.' }) }),
  query: Type.Object({
    status: Type.Optional(TransactionStatus),
    ...periodParameters,
    ...pageParameters,
  }),
  responses: {
    200: {
      description: 'A page of transactions.',
      headers: nextLink,
      schema: Type.Array(Transaction),
      examples: {
        page: { value: [pendingTransactionExample, postedTransactionExample] },
        none: { value: [] },
      },
    },
  },
  problems: ['not_found'],
  remembers: true,
  async handle(services, { actor, url, params, query, basis }) {
    const listRequest = { actor, url, query };
    const filter = { status: query.status ?? null, period: readPeriod(query) };
    const wanted = { filter, page: readPage(listRequest, 3), basis };
    const page = await services.listTransactions(actor, params.accountId, wanted);
    return pageResponse(listRequest, page, presentTransaction);
  },
});
