import * as Type from 'typebox/type';
import { operation } from '../../operation.ts';
import { Consent, consentBody, consentIdParameter, exampleConsent } from './consent.ts';

const names = (description: string) =>
  Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 64 }), {
      maxItems: 200,
      uniqueItems: true,
      description,
    }),
  );

export const ConsentNarrowing = Type.Object({
  removeAccountIds: names('Accounts that the app no longer sees.'),
  removePayingAccountIds: names('Accounts that the app goes on seeing, and no longer pays from.'),
  removeScopes: names('Scopes that the app loses.'),
});

export const narrowConsent = operation({
  operationId: 'narrowConsent',
  method: 'PATCH',
  path: '/auth/v2/consents/{consentId}',
  tag: 'Token',
  summary: 'Narrow a consent',
  description:
    'Takes scopes and accounts out of a consent of the member. The next request of the app is without them. Names that the consent does not have are ignored, so a repetition changes nothing. A consent for all accounts that loses one covers the others from then on, and no later ones. More rights need a new authorization.',
  token: 'member',
  scope: 'institution-users:write',
  params: consentIdParameter,
  body: {
    schema: ConsentNarrowing,
    mediaTypes: ['application/json'],
    examples: { account: { value: { removeAccountIds: ['a-1001-savings'] } } },
  },
  responses: {
    200: {
      description: 'The consent as it is now.',
      schema: Consent,
      examples: { narrowed: { value: exampleConsent } },
    },
  },
  problems: ['not_found', 'outcome_unknown'],
  async handle(services, { actor, params: { consentId }, body, origin }) {
    const narrowing = {
      scopes: body.removeScopes ?? [],
      accountIds: body.removeAccountIds ?? [],
      payingAccountIds: body.removePayingAccountIds ?? [],
    };
    return {
      status: 200,
      body: consentBody(await services.narrowConsent(actor, { consentId, narrowing, origin })),
    };
  },
});
