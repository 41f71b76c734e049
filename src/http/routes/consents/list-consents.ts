import * as Type from 'typebox/type';
import { operation } from '../../operation.ts';
import { Consent, consentBody, exampleConsent } from './consent.ts';

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
      examples: { one: { value: [exampleConsent] } },
    },
  },
  async handle(services, { actor }) {
    return { status: 200, body: (await services.listConsents(actor)).map(consentBody) };
  },
});
