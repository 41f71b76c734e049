import * as Type from 'typebox/type';
import { pendingTransactionExample, postedTransactionExample } from '../../openapi/examples.ts';
import { operation } from '../../operation.ts';
import { presentTransaction } from '../../presenters.ts';
import { periodParameters, readPeriod } from '../../request/moments.ts';
import { answerPage, nextLink, pageParameters, readPage } from '../../request/paging.ts';
import { line, Transaction, TransactionStatus } from '../../schemas.ts';

export const listTransactions = operation({
  operationId: 'listTransactions',
  method: 'GET',
  path: '/digitalbanking/db-accounts/v1/accounts/{accountId}/transactions',
  tag: 'Accounts',
  summary: 'List transactions',
  description:
    'What happened on an account: first what is held for pending transfers from it, then what was posted, each newest first. A transfer is told once, pending while it is and posted when it has; the id stays. Whose accounts a token sees is as for the account itself. A page may be short, or empty, and still have a next one: only a missing `Link` ends the list.',
  token: 'any',
  scope: 'account:read',
  params: Type.Object({ accountId: line(64, { description: 'Unique identifier of the account.' }) }),
  query: Type.Object({
    status: Type.Optional(TransactionStatus),
    ...periodParameters,
    ...pageParameters,
  }),
  answers: {
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
  async handle(services, { actor, url, params, query }) {
    const asked = { actor, url, query };
    const filter = { status: query.status ?? null, period: readPeriod(query) };
    const page = await services.listTransactions(actor, params.accountId, filter, readPage(asked, 3));
    return answerPage(asked, page, presentTransaction);
  },
});
