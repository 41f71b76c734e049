import { acknowledgeCode } from '../../code-handover.ts';

export const acknowledgeEmailCode = acknowledgeCode({
  operationId: 'acknowledgeEmailCode',
  code: 'email',
  event: 'member.email_confirmation_requested',
  summary: 'Acknowledge e-mail code',
  description:
    'The institution has sent the code: the service deletes its copy and returns it no more. The code still confirms. A repeated request gets the same response.',
});
