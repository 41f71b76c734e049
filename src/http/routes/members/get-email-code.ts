import * as Type from 'typebox/type';
import { emailCodeExample, memberEventExample } from '../../openapi/examples.ts';
import { operation } from '../../operation.ts';
import { EmailCode, line } from '../../schemas.ts';

export const getEmailCode = operation({
  operationId: 'getEmailCode',
  method: 'GET',
  path: '/digitalbanking/db-events/v1/events/{eventId}/email-code',
  tag: 'Events',
  summary: 'Get e-mail code',
  description:
    'Returns the one-time code that confirms an e-mail address, by the id of its `member.email_confirmation_requested` event, for the institution to send to that address and to no other. It can be read again until its delivery is acknowledged. A code that no longer confirms (used, expired, tried too often, or replaced by a newer one) gets 404. The audit has each read.',
  token: 'client',
  scope: 'events:read',
  // The audit has each caller who received the code, and no one else.
  params: Type.Object({
    eventId: line(64, { description: 'Id of a `member.email_confirmation_requested` event.' }),
  }),
  responses: {
    200: {
      description: 'The code.',
      schema: EmailCode,
      examples: {
        code: {
          value: {
            emailCode: emailCodeExample,
            userId: memberEventExample.userId,
            expiresAt: '2026-11-21T15:06:00.000Z',
          },
        },
      },
    },
  },
  problems: ['not_found'],
  async handle(services, { actor, params, origin }) {
    const { expiresAt, ...code } = await services.getEmailCode(actor, params.eventId, origin);
    return { status: 200, body: { ...code, expiresAt: expiresAt.toISOString() } };
  },
});
