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
    'Returns the one-time code of a registration by the id of its `member.registered` event, for the institution to deliver to the member. It can be read again until its delivery is acknowledged. A code that no longer activates (used, expired, tried too often, or replaced by a newer one) gets 404. The audit has each read.',
  token: 'client',
  scope: 'events:read',
  // The audit has each caller who received the code, and no one else.
  params: Type.Object({ eventId: line(64, { description: 'Id of a `member.registered` event.' }) }),
  responses: {
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
