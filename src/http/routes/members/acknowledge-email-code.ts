import * as Type from 'typebox/type';
import { memberEventExample } from '../../openapi/examples.ts';
import { operation } from '../../operation.ts';
import { line } from '../../schemas.ts';
import { CodeDelivery } from './acknowledge-activation-code.ts';

export const acknowledgeEmailCode = operation({
  operationId: 'acknowledgeEmailCode',
  method: 'POST',
  path: '/digitalbanking/db-events/v1/events/{eventId}/email-code/delivered',
  tag: 'Events',
  summary: 'Acknowledge e-mail code',
  description:
    'The institution has sent the code: the service deletes its copy and returns it no more. The code still confirms. A repeated request gets the same response.',
  token: 'client',
  scope: 'events:read',
  params: Type.Object({
    eventId: line(64, { description: 'Id of a `member.email_confirmation_requested` event.' }),
  }),
  body: {
    schema: Type.Object({}, { additionalProperties: false, description: 'No field is needed.' }),
    mediaTypes: ['application/json'],
    examples: { nothing: { value: {} } },
    optional: true,
  },
  responses: {
    200: {
      description: 'The service no longer returns the code.',
      schema: CodeDelivery,
      examples: { delivered: { value: { eventId: memberEventExample.eventId, delivered: true } } },
    },
  },
  problems: ['not_found', 'outcome_unknown'],
  async handle(services, { actor, params: { eventId }, origin }) {
    await services.acknowledgeEmailCode(actor, eventId, origin);
    return { status: 200, body: { eventId, delivered: true } };
  },
});
