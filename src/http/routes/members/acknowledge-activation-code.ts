import { acknowledgeCode } from '../../code-handover.ts';

export const acknowledgeActivationCode = acknowledgeCode({
  operationId: 'acknowledgeActivationCode',
  code: 'activation',
  event: 'member.registered',
  summary: 'Acknowledge activation code',
  description:
    'The institution has delivered the code of a registration: the service deletes its copy and returns it no more. The code still activates. A repeated request gets the same response.',
});
