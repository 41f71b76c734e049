import * as Type from 'typebox/type';
import { declinedTransferExample, pendingTransferExample, transferExample } from '../../openapi/examples.ts';
import { operation } from '../../operation.ts';
import { presentTransfer } from '../../presenters.ts';
import { periodParameters, readPeriod } from '../../request/moments.ts';
import { answerPage, nextLink, pageParameters, readPage } from '../../request/paging.ts';
import { line, Transfer, TransferStatus, TransferType } from '../../schemas.ts';

export const listTransfers = operation({
  operationId: 'listTransfers',
  method: 'GET',
  path: '/digitalbanking/db-transfers/v1/transfers',
  tag: 'Transfers',
  summary: 'List transfers',
  description:
    'Transfers, newest first. A member token sees those that its user ordered and, once PENDING or COMPLETED, those that leave the accounts it may see; a client token all of its institution. A page may be short, or empty, and still have a next one: only a missing `Link` ends the list.',
  token: 'any',
  scope: 'transfer:read',
  query: Type.Object({
    accountId: Type.Optional(
      line(64, {
        description:
          'Those that leave or reach this account. Of one that the token may not see there are none.',
      }),
    ),
    transferType: Type.Optional(TransferType),
    status: Type.Optional(TransferStatus),
    ...periodParameters,
    ...pageParameters,
  }),
  answers: {
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
  async handle(services, { actor, url, query }) {
    const asked = { actor, url, query };
    const filter = {
      accountId: query.accountId ?? null,
      transferType: query.transferType ?? null,
      status: query.status ?? null,
      created: readPeriod(query),
    };
    const page = await services.listTransfers(actor, filter, readPage(asked, 2));
    return answerPage(asked, page, presentTransfer);
  },
});
