import * as Type from 'typebox/type';
import { operation } from '../operation.ts';
import { readMoment } from '../request/moments.ts';
import { pageParameters, positionText, readPage } from '../request/paging.ts';
import { line } from '../schemas.ts';
import { presentFdxTransaction } from './present.ts';
import { FdxTransactions } from './shapes.ts';

const moment = (description: string) => Type.Optional(Type.String({ maxLength: 40, description }));

export const listFdxTransactions = operation({
  operationId: 'listFdxTransactions',
  method: 'GET',
  path: '/fdx/v6/accounts/{accountId}/transactions',
  tag: 'Aggregators',
  summary: 'Transactions (FDX)',
  description:
    'Returns the transactions of an account that the consent covers: first the pending, then the posted ones, each newest first. A page may be short, or empty, and still have a next one: only a missing `nextOffset` ends the list.',
  token: 'consented',
  scope: 'account:read',
  fdx: true,
  params: Type.Object({ accountId: line(64, { description: 'Unique identifier of the account.' }) }),
  query: Type.Object({
    startTime: moment(
      'The beginning, inclusive: a day of the institution’s calendar (2026-11-20), or a date-time (2026-11-20T15:04:05Z).',
    ),
    endTime: moment('The end, inclusive: a day of the institution’s calendar, or a date-time.'),
    limit: pageParameters.limit,
    offset: Type.Optional(
      Type.String({
        maxLength: 128,
        description: 'The `nextOffset` of the page before, with the same times.',
      }),
    ),
  }),
  responses: {
    200: {
      description: 'A page of transactions.',
      schema: FdxTransactions,
      examples: {
        page: {
          value: {
            page: { nextOffset: 'q7Gk1T0sYvXhAAAAAAAAAAEAAAAAAAAAKgAAAAAAAAAA' },
            transactions: [
              {
                accountCategory: 'DEPOSIT_ACCOUNT',
                transactionId: '48213',
                transactionTimestamp: '2026-11-20T15:04:05.678Z',
                postedTimestamp: '2026-11-20T15:04:05.678Z',
                description: 'Card purchase',
                debitCreditMemo: 'DEBIT',
                status: 'POSTED',
                amount: 23.4,
                payee: 'Corner Bakery',
              },
            ],
          },
        },
        none: { value: { transactions: [] } },
      },
    },
  },
  problems: ['not_found'],
  remembers: true,
  isHistory: true,
  async handle(services, { actor, url, params, query, basis, seen }) {
    const listRequest = { actor, url, query, positionName: 'offset' } as const;
    const { startTime, endTime } = query;
    const period = {
      from: startTime === undefined ? null : readMoment('startTime', startTime),
      to: endTime === undefined ? null : readMoment('endTime', endTime),
    };
    const wanted = { filter: { status: null, period }, page: readPage(listRequest, 3), basis, seen };
    const [{ category }, { items, next }] = await Promise.all([
      services.getAccount(actor, params.accountId, basis),
      services.listTransactions(actor, params.accountId, wanted),
    ]);
    return {
      status: 200,
      body: {
        ...(next !== null && { page: { nextOffset: positionText(next, listRequest) } }),
        transactions: items.map((item) => presentFdxTransaction(item, category)),
      },
    };
  },
});
