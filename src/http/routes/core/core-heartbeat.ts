import * as Type from 'typebox/type';
import { operation } from '../../operation.ts';
import { Heartbeat } from '../../schemas.ts';

export const coreHeartbeat = operation({
  operationId: 'coreHeartbeat',
  method: 'POST',
  path: '/digitalbanking/core/v1/heartbeat',
  tag: 'Core',
  summary: 'Heartbeat',
  description:
    'Shows that the core is there. Every request of the core counts as well, so that only a connector with nothing else to say needs this.',
  token: 'client',
  scope: 'core:read',
  body: {
    schema: Type.Object({}, { additionalProperties: false, description: 'No field is needed.' }),
    mediaTypes: ['application/json'],
    examples: { nothing: { value: {} } },
    optional: true,
  },
  responses: {
    200: {
      description: 'Noted.',
      schema: Heartbeat,
      examples: { noted: { value: { noted: true } } },
    },
  },
  async handle(services, { actor }) {
    await services.heardFromCore(actor);
    return { status: 200, body: { noted: true } };
  },
});
