import * as Type from 'typebox/type';
import { operation } from '../../operation.ts';
import { presentTransferOptions } from '../../presenters.ts';
import { line, TransferOptions } from '../../schemas.ts';

export const getTransferOptions = operation({
  operationId: 'getTransferOptions',
  method: 'GET',
  path: '/digitalbanking/db-transfers/v1/transfers/options',
  tag: 'Transfers',
  summary: 'Get transfer options',
  description:
    'Returns the destinations to which the caller may move money from an account: each account that the member holds (with a client token: the accounts of the source’s membership and of its users’ other memberships), and any other member’s deposit account. Each has the transfer type, and the most that may be moved now or the reason why nothing may. The rules are those of orders.',
  token: 'any',
  scope: 'transfer:read',
  query: Type.Object({ fromAccountId: line(64, { description: 'Source account.' }) }),
  responses: {
    200: {
      description: 'The options.',
      schema: TransferOptions,
      examples: {
        options: {
          value: {
            fromAccountId: 'a-1001-checking',
            currencyCode: 'USD',
            options: [
              {
                toAccountId: 'a-1001-savings',
                transferType: 'STANDARD',
                allowed: true,
                maximumAmount: 1240.5,
              },
              {
                toAccountId: 'a-1001-carloan',
                transferType: 'LOAN_PAYMENT',
                paymentOption: 'DEFAULT',
                allowed: true,
                maximumAmount: 1240.5,
              },
              {
                toAccountId: 'a-1001-old-savings',
                allowed: false,
                maximumAmount: 0,
                reason: {
                  code: 'account_closed',
                  detail: 'The source or the destination account is closed.',
                },
              },
              { transferType: 'INTRA_FI', allowed: true, maximumAmount: 1240.5, reviewAbove: 1000 },
            ],
          },
        },
      },
    },
  },
  problems: ['not_found'],
  rate: 'options',
  async handle(services, { actor, query }) {
    return {
      status: 200,
      body: presentTransferOptions(await services.listTransferOptions(actor, query.fromAccountId)),
    };
  },
});
