import * as Type from 'typebox/type';
import type { TransactionSearch } from '../../../feed/index.ts';
import { pendingTransactionExample, postedTransactionExample } from '../../openapi/examples.ts';
import { operation } from '../../operation.ts';
import { presentTransaction } from '../../presenters.ts';
import { periodParameters, readDay, readPeriod } from '../../request/moments.ts';
import { nextLink, pageParameters, pageResponse, readPage } from '../../request/paging.ts';
import { line, Transaction, TransactionStatus, TransactionTypeFilter } from '../../schemas.ts';

export const listTransactions = operation({
  operationId: 'listTransactions',
  method: 'GET',
  path: '/digitalbanking/db-accounts/v1/accounts/{accountId}/transactions',
  tag: 'Accounts',
  summary: 'List transactions',
  description:
    'Returns the transactions of an account: first the holds of pending transfers from it, then the posted ones, each newest first. A transfer appears once, pending or posted, under the same id. A token sees the same accounts as in `getAccount`. A page may be short, or empty, and still have a next one: only a missing `Link` ends the list. A search looks at some thousand transactions for a page.',
  token: 'any',
  scope: 'account:read',
  params: Type.Object({ accountId: line(64, { description: 'Unique identifier of the account.' }) }),
  query: Type.Object({
    status: Type.Optional(TransactionStatus),
    text: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 100,
        description:
          'Each word must stand in the description, merchant, category, check number or memo, in any case of letters.',
      }),
    ),
    type: Type.Optional(TransactionTypeFilter),
    minAmount: Type.Optional(bound('At least this amount in major units, without its sign.')),
    maxAmount: Type.Optional(bound('At most this amount.')),
    category: Type.Optional(line(64, { description: 'The category, in any case of letters.' })),
    startDate: Type.Optional(
      Type.String({
        maxLength: 40,
        description:
          'The first effective date (2026-11-20). A transaction without an effective date counts by its day of posting.',
      }),
    ),
    endDate: Type.Optional(
      Type.String({ maxLength: 40, description: 'Until this effective date, inclusive.' }),
    ),
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
  isHistory: true,
  async handle(services, { actor, url, params, query, basis, seen }) {
    const listRequest = { actor, url, query };
    const filter = { status: query.status ?? null, period: readPeriod(query), search: readSearch(query) };
    const wanted = { filter, page: readPage(listRequest, 3), basis, seen };
    const page = await services.listTransactions(actor, params.accountId, wanted);
    return pageResponse(listRequest, page, presentTransaction);
  },
});

function bound(description: string) {
  return Type.Number({ minimum: 0, maximum: 9_999_999_999_999, description });
}

interface SearchQuery {
  readonly text?: string;
  readonly type?: TransactionSearch['type'];
  readonly minAmount?: number;
  readonly maxAmount?: number;
  readonly category?: string;
  readonly startDate?: string;
  readonly endDate?: string;
}

/** Undefined without a search. Throws Problem `invalid_request` for a date that is none. */
function readSearch(query: SearchQuery): TransactionSearch | undefined {
  const { text, type, minAmount, maxAmount, category } = query;
  const search = {
    text,
    type,
    category,
    minAmount: minAmount === undefined ? undefined : readBound(minAmount),
    maxAmount: maxAmount === undefined ? undefined : readBound(maxAmount),
    startDate: query.startDate === undefined ? undefined : readDay('startDate', query.startDate),
    endDate: query.endDate === undefined ? undefined : readDay('endDate', query.endDate),
  };
  return Object.values(search).some((value) => value !== undefined) ? search : undefined;
}

/** The decimal text of a number below 10^13 is exact. */
function readBound(amount: number): { readonly digits: bigint; readonly decimals: number } {
  const [integer = '', fraction = ''] = String(amount).split('.');
  return { digits: BigInt(integer + fraction), decimals: fraction.length };
}
