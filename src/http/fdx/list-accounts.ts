import * as Type from 'typebox/type';
import { operation } from '../operation.ts';
import { descriptorExample, fdxAccountExample } from './examples.ts';
import { presentFdxAccount, presentFdxDescriptor } from './present.ts';
import { FdxAccounts } from './shapes.ts';

export const listFdxAccounts = operation({
  operationId: 'listFdxAccounts',
  method: 'GET',
  path: '/fdx/v6/accounts',
  tag: 'Aggregators',
  summary: 'Accounts (FDX)',
  description: 'Returns the accounts that the consent covers, on one page: descriptors, or with balances.',
  token: 'consented',
  scope: 'account:read',
  fdx: true,
  query: Type.Object({
    resultType: Type.Optional(
      Type.Unsafe<'lightweight' | 'details'>({
        type: 'string',
        enum: ['lightweight', 'details'],
        description: '`lightweight`, the default: descriptors. `details`: with balances.',
      }),
    ),
  }),
  responses: {
    200: {
      description: 'The accounts.',
      schema: FdxAccounts,
      examples: {
        descriptors: { value: { accounts: [descriptorExample] } },
        details: { value: { accounts: [fdxAccountExample] } },
      },
    },
  },
  remembers: true,
  async handle(services, { actor, query, basis }) {
    const [accounts, asOf] = await Promise.all([
      services.listAccounts(actor, undefined, basis),
      services.balancesAsOf(actor, basis),
    ]);
    const present = query.resultType === 'details' ? presentFdxAccount : presentFdxDescriptor;
    return { status: 200, body: { accounts: accounts.map((account) => present(account, asOf)) } };
  },
});
