import * as Type from 'typebox/type';
import { operation } from '../../operation.ts';

const moment = (description: string) => Type.String({ format: 'date-time', description });

export const Consent = Type.Object({
  consentId: Type.String({ format: 'uuid', description: 'The id of the consent.' }),
  clientId: Type.String({ description: 'The app.' }),
  clientName: Type.String({ description: 'The name of the app, for people.' }),
  scopes: Type.Array(Type.String(), { description: 'The scopes that the app may have.' }),
  grantedAt: moment('When the member consented.'),
  expiresAt: moment('When the consent ends by itself.'),
});

export const listConsents = operation({
  operationId: 'listConsents',
  method: 'GET',
  path: '/auth/v2/consents',
  tag: 'Token',
  summary: 'List consents',
  description:
    'The apps that the member allowed to act, newest first; one consent for each app. Ended and expired consents are left out.',
  token: 'member',
  scope: 'institution-users:read',
  responses: {
    200: {
      description: 'The consents in force.',
      schema: Type.Array(Consent),
      examples: {
        one: {
          value: [
            {
              consentId: '7a0e2d6c-4b1f-4f0e-9c55-0a6d3f5b8e21',
              clientId: 'demo-budget',
              clientName: 'Demo Budget',
              scopes: ['openid', 'account:read'],
              grantedAt: '2026-03-02T12:00:00.000Z',
              expiresAt: '2026-05-31T12:00:00.000Z',
            },
          ],
        },
      },
    },
  },
  async handle(services, { actor }) {
    const consents = await services.listConsents(actor);
    return {
      status: 200,
      body: consents.map(({ consentId, clientId, clientName, scopes, grantedAt, expiresAt }) => ({
        ...{ consentId, clientId, clientName, scopes },
        ...{ grantedAt: grantedAt.toISOString(), expiresAt: expiresAt.toISOString() },
      })),
    };
  },
});
