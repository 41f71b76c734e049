import * as Type from 'typebox/type';
import { accountExample } from '../../openapi/examples.ts';
import { operation } from '../../operation.ts';
import { presentAccount } from '../../presenters.ts';
import { balancesAsOfHeader, staleBalances } from '../../request/balances-as-of.ts';
import { Account, line } from '../../schemas.ts';

export const getAccount = operation({
  operationId: 'getAccount',
  method: 'GET',
  path: '/digitalbanking/db-accounts/v1/accounts/{accountId}',
  tag: 'Accounts',
  summary: 'Get account',
  description:
    'Returns one account with its type, category, balances and status. A member token sees the accounts whose holder record names its user; a client token sees those of every member of its institution.',
  token: 'any',
  scope: 'account:read',
  params: Type.Object({ accountId: line(64, { description: 'Unique identifier of the account.' }) }),
  responses: {
    200: {
      description: 'The account.',
      headers: balancesAsOfHeader,
      schema: Account,
      examples: { checking: { value: accountExample } },
    },
  },
  problems: ['not_found'],
  remembers: true,
  async handle(services, { actor, params, basis }) {
    const [account, asOf] = await Promise.all([
      services.getAccount(actor, params.accountId, basis),
      services.balancesAsOf(actor, basis),
    ]);
    return { status: 200, headers: staleBalances(asOf), body: presentAccount(account, asOf) };
  },
});
