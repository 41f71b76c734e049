import * as Type from 'typebox/type';
import { accountExample, loanExample } from '../../openapi/examples.ts';
import { operation } from '../../operation.ts';
import { presentAccount } from '../../presenters.ts';
import { balancesAsOfHeader, staleBalances } from '../../request/balances-as-of.ts';
import { Account, line } from '../../schemas.ts';

export const listAccounts = operation({
  operationId: 'listAccounts',
  method: 'GET',
  path: '/digitalbanking/db-accounts/v1/accounts',
  tag: 'Accounts',
  summary: 'List accounts',
  description:
    'Returns the accounts of a member, in all memberships or in the one that `customerId` names. A client token must send `customerId`.',
  token: 'any',
  scope: 'account:read',
  query: Type.Object({
    customerId: Type.Optional(line(64, { description: 'The membership. Required with a client token.' })),
  }),
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
  async handle(services, { actor, query, basis }) {
    const [accounts, asOf] = await Promise.all([
      services.listAccounts(actor, query.customerId, basis),
      services.balancesAsOf(actor, basis),
    ]);
    const body = accounts.map((account) => presentAccount(account, asOf));
    return { status: 200, headers: staleBalances(asOf), body };
  },
});
