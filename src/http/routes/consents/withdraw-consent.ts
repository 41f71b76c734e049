import * as Type from 'typebox/type';
import { operation } from '../../operation.ts';
import { consentIdParameter } from './consent.ts';

export const ConsentEnd = Type.Object({
  consentId: Type.String({ format: 'uuid', description: 'The id of the consent.' }),
  ended: Type.Boolean({ description: 'Always true.' }),
});

export const withdrawConsent = operation({
  operationId: 'withdrawConsent',
  method: 'DELETE',
  path: '/auth/v2/consents/{consentId}',
  tag: 'Token',
  summary: 'Withdraw a consent',
  description:
    'Ends a consent of the member, with all tokens and refresh tokens that came of it. The next request with one of them gets 401.',
  token: 'member',
  scope: 'institution-users:write',
  params: consentIdParameter,
  responses: {
    200: {
      description: 'The consent has ended.',
      schema: ConsentEnd,
      examples: { ended: { value: { consentId: '7a0e2d6c-4b1f-4f0e-9c55-0a6d3f5b8e21', ended: true } } },
    },
  },
  problems: ['not_found', 'outcome_unknown'],
  async handle(services, { actor, params, origin }) {
    await services.withdrawConsent(actor, params.consentId, origin);
    return { status: 200, body: { consentId: params.consentId, ended: true } };
  },
});
