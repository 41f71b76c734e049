import * as Type from 'typebox/type';
import { activationCodeExample, memberEventExample } from '../../openapi/examples.ts';
import { operation } from '../../operation.ts';
import { ActivationCode, line } from '../../schemas.ts';

export const getActivationCode = operation({
  operationId: 'getActivationCode',
  method: 'GET',
  path: '/digitalbanking/db-events/v1/events/{eventId}/activation-code',
  tag: 'Events',
  summary: 'Get activation code',
  description:
    'The one-time code of a registration, for the institution to give to its member; by the id of the `member.registered` event. It may be asked for again until it is acknowledged as delivered. A code that would not activate any more (used, expired, tried too often, or replaced by a newer one) is not there. Each time is in the audit.',
  token: 'client',
  scope: 'events:read',
  // The audit tells of whoever has the code, and of nobody else.
  verifies: 'first',
  params: Type.Object({ eventId: line(64, { description: 'Of a `member.registered` event.' }) }),
  answers: {
    200: {
      description: 'The code.',
      schema: ActivationCode,
      examples: {
        code: {
          value: {
            activationCode: activationCodeExample,
            userId: memberEventExample.userId,
            expiresAt: '2026-11-23T15:06:00.000Z',
          },
        },
      },
    },
  },
  problems: ['not_found'],
  async handle(services, { actor, params, origin }) {
    const { expiresAt, ...code } = await services.getActivationCode(actor, params.eventId, origin);
    return { status: 200, body: { ...code, expiresAt: expiresAt.toISOString() } };
  },
});
