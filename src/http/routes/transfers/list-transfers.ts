import * as Type from 'typebox/type';
import { declinedTransferExample, pendingTransferExample, transferExample } from '../../openapi/examples.ts';
import { operation } from '../../operation.ts';
import { presentTransfer } from '../../presenters.ts';
import { periodParameters, readPeriod } from '../../request/moments.ts';
import { nextLink, pageParameters, pageResponse, readPage } from '../../request/paging.ts';
import { line, Transfer, TransferStatus, TransferType } from '../../schemas.ts';

export const listTransfers = operation({
  operationId: 'listTransfers',
  method: 'GET',
  path: '/digitalbanking/db-transfers/v1/transfers',
  tag: 'Transfers',
  summary: 'List transfers',
  description:
    'Returns transfers, newest first. A member token sees those that its user ordered and, once PENDING or COMPLETED, those that leave the accounts it may see. A client token sees all of its institution. A page may be short, or empty, and still have a next one: only a missing `Link` ends the list.',
  token: 'any',
  scope: 'transfer:read',
  query: Type.Object({
    accountId: Type.Optional(
      line(64, {
        description:
          'Only those that leave or reach this account. Empty for an account that the token may not see.',
      }),
    ),
    transferType: Type.Optional(TransferType),
    status: Type.Optional(TransferStatus),
    ...periodParameters,
    ...pageParameters,
  }),
  responses: {
    200: {
      description: 'A page of transfers.',
      headers: nextLink,
      schema: Type.Array(Transfer),
      examples: {
        page: { value: [pendingTransferExample, transferExample, declinedTransferExample] },
        none: { value: [] },
      },
    },
  },
  isHistory: true,
  async handle(services, { actor, url, query, seen }) {
    const listRequest = { actor, url, query };
    const filter = {
      accountId: query.accountId ?? null,
      transferType: query.transferType ?? null,
      status: query.status ?? null,
      created: readPeriod(query),
    };
    const page = await services.listTransfers(actor, filter, { page: readPage(listRequest, 2), seen });
    return pageResponse(listRequest, page, presentTransfer);
  },
});
