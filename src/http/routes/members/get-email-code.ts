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
    'The one-time code that confirms an e-mail address, for the institution to send to that address and nowhere else; by the id of the `member.email_confirmation_requested` event. It may be asked for again until it is acknowledged as delivered. A code that would not confirm any more (used, expired, tried too often, or replaced by a newer one) is not there. Each time is in the audit.',
  token: 'client',
  scope: 'events:read',
  // The audit has each caller who received the code, and no one else.
  verifies: 'first',
  params: Type.Object({
    eventId: line(64, { description: 'Of a `member.email_confirmation_requested` event.' }),
  }),
  answers: {
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
