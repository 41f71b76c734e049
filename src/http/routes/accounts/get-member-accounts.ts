import * as Type from 'typebox/type';
import { accountExample, loanExample } from '../../openapi/examples.ts';
import { operation } from '../../operation.ts';
import { presentAccount } from '../../presenters.ts';
import { balancesAsOfHeader, staleBalances } from '../../request/balances-as-of.ts';
import { Account, line } from '../../schemas.ts';

export const getMemberAccounts = operation({
  operationId: 'getMemberAccounts',
  method: 'GET',
  path: '/digitalbanking/ux-users/v1/customers/{customerId}/accounts',
  tag: 'Accounts',
  summary: 'Get member accounts',
  description:
    'Returns the accounts of one membership: all of them for a client token; for a member token, those whose holder record names its user.',
  token: 'any',
  scope: 'account:read',
  params: Type.Object({ customerId: line(64, { description: 'The customer ID of the member.' }) }),
  responses: {
    200: {
      description: 'The accounts.',
      headers: balancesAsOfHeader,
      schema: Type.Array(Account),
      examples: { two: { value: [accountExample, loanExample] } },
    },
  },
  problems: ['not_found'],
  remembers: true,
  async handle(services, { actor, params, basis }) {
    const [accounts, asOf] = await Promise.all([
      services.listCustomerAccounts(actor, params.customerId, basis),
      services.balancesAsOf(actor, basis),
    ]);
    const body = accounts.map((account) => presentAccount(account, asOf));
    return { status: 200, headers: staleBalances(asOf), body };
  },
});
