import { readCode } from '../../code-handover.ts';
import { activationCodeExample } from '../../openapi/examples.ts';
import { ActivationCode } from '../../schemas.ts';

export const getActivationCode = readCode({
  operationId: 'getActivationCode',
  code: 'activation',
  event: 'member.registered',
  summary: 'Get activation code',
  description:
    'Returns the one-time code of a registration or of a forgotten password by the id of its `member.registered` or `member.activation_requested` event, for the institution to deliver to the member. It can be read again until its delivery is acknowledged. A code that no longer activates (used, expired, tried too often, or replaced by a newer one) gets 404. The audit has each read.',
  member: 'activationCode',
  schema: ActivationCode,
  example: { code: activationCodeExample, expiresAt: '2026-11-23T15:06:00.000Z' },
});
