import { readCode } from '../../code-handover.ts';
import { emailCodeExample } from '../../openapi/examples.ts';
import { EmailCode } from '../../schemas.ts';

export const getEmailCode = readCode({
  operationId: 'getEmailCode',
  code: 'email',
  event: 'member.email_confirmation_requested',
  summary: 'Get e-mail code',
  description:
    'Returns the one-time code that confirms an e-mail address, by the id of its `member.email_confirmation_requested` event, for the institution to send to that address and to no other. It can be read again until its delivery is acknowledged. A code that no longer confirms (used, expired, tried too often, or replaced by a newer one) gets 404. The audit has each read.',
  member: 'emailCode',
  schema: EmailCode,
  example: { code: emailCodeExample, expiresAt: '2026-11-21T15:06:00.000Z' },
});
