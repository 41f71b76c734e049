import * as Type from 'typebox/type';
import { operation } from '../operation.ts';
import { line } from '../schemas.ts';
import { fdxAccountExample } from './examples.ts';
import { presentFdxAccount } from './present.ts';
import { FdxAccount } from './shapes.ts';

export const getFdxAccount = operation({
  operationId: 'getFdxAccount',
  method: 'GET',
  path: '/fdx/v6/accounts/{accountId}',
  tag: 'Aggregators',
  summary: 'Account (FDX)',
  description: 'Returns an account that the consent covers, with the balances of its category.',
  token: 'consented',
  scope: 'account:read',
  fdx: true,
  params: Type.Object({ accountId: line(64, { description: 'Unique identifier of the account.' }) }),
  responses: {
    200: {
      description: 'The account.',
      schema: FdxAccount,
      examples: { deposit: { value: fdxAccountExample } },
    },
  },
  problems: ['not_found'],
  remembers: true,
  async handle(services, { actor, params, basis }) {
    const [account, asOf] = await Promise.all([
      services.getAccount(actor, params.accountId, basis),
      services.balancesAsOf(actor, basis),
    ]);
    return { status: 200, body: presentFdxAccount(account, asOf) };
  },
});
