import * as Type from 'typebox/type';
import type { Consent as ConsentOfMember } from '../../../auth/index.ts';

const moment = (description: string) => Type.String({ format: 'date-time', description });

export const ConsentAccount = Type.Object({
  accountId: Type.String({ description: 'The account.' }),
  mayPay: Type.Boolean({ description: 'With the scope transfer:write: the app may pay from the account.' }),
});

export const Consent = Type.Object({
  consentId: Type.String({ format: 'uuid', description: 'The id of the consent.' }),
  clientId: Type.String({ description: 'The app.' }),
  clientName: Type.String({ description: 'The name of the app, for people.' }),
  scopes: Type.Array(Type.String(), { description: 'The scopes that the app may have.' }),
  allAccounts: Type.Boolean({
    description: 'The app may use every account of the member, also those of later.',
  }),
  accounts: Type.Array(ConsentAccount, {
    description:
      'The accounts that the app may use, unless it may use all; an app reads those that its own consent covers.',
  }),
  grantedAt: moment('When the member consented.'),
  expiresAt: moment('When the consent ends by itself.'),
});

export const consentIdParameter = Type.Object({
  consentId: Type.String({
    pattern: '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$',
    description: 'The id of the consent.',
  }),
});

export const exampleConsent = {
  consentId: '7a0e2d6c-4b1f-4f0e-9c55-0a6d3f5b8e21',
  clientId: 'demo-budget',
  clientName: 'Demo Budget',
  scopes: ['openid', 'account:read'],
  allAccounts: false,
  accounts: [{ accountId: 'a-1001-checking', mayPay: false }],
  grantedAt: '2026-03-02T12:00:00.000Z',
  expiresAt: '2026-05-31T12:00:00.000Z',
};

export function consentBody({ grantedAt, expiresAt, accounts, ...consent }: ConsentOfMember) {
  const { consentId, clientId, clientName, scopes, allAccounts } = consent;
  return {
    ...{ consentId, clientId, clientName, scopes, allAccounts },
    accounts: accounts.map(({ accountId, mayPay }) => ({ accountId, mayPay })),
    ...{ grantedAt: grantedAt.toISOString(), expiresAt: expiresAt.toISOString() },
  };
}
