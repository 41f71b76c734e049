import * as Type from 'typebox/type';
import { memberEventExample } from '../../openapi/examples.ts';
import { operation } from '../../operation.ts';
import { line } from '../../schemas.ts';

export const CodeDelivery = Type.Object({
  eventId: Type.String(),
  delivered: Type.Boolean({ description: '`true`.' }),
});

export const acknowledgeActivationCode = operation({
  operationId: 'acknowledgeActivationCode',
  method: 'POST',
  path: '/digitalbanking/db-events/v1/events/{eventId}/activation-code/delivered',
  tag: 'Events',
  summary: 'Acknowledge activation code',
  description:
    'The institution has the code of a registration: the service wipes its own and hands it over no more. The code still activates. Said again, the answer is the same.',
  token: 'client',
  scope: 'events:read',
  params: Type.Object({ eventId: line(64, { description: 'Of a `member.registered` event.' }) }),
  body: {
    schema: Type.Object({}, { additionalProperties: false, description: 'Nothing is needed.' }),
    mediaTypes: ['application/json'],
    examples: { nothing: { value: {} } },
    optional: true,
  },
  answers: {
    200: {
      description: 'Nobody is handed the code any more.',
      schema: CodeDelivery,
      examples: { delivered: { value: { eventId: memberEventExample.eventId, delivered: true } } },
    },
  },
  problems: ['not_found', 'outcome_unknown'],
  async handle(services, { actor, params: { eventId }, origin }) {
    await services.acknowledgeActivationCode(actor, eventId, origin);
    return { status: 200, body: { eventId, delivered: true } };
  },
});
