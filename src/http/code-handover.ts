import * as Type from 'typebox/type';
import { memberEventExample } from './openapi/examples.ts';
import { type Operation, operation } from './operation.ts';
import { line } from './schemas.ts';
import type { CodeName } from './services.ts';

export const CodeDelivery = Type.Object({
  eventId: Type.String(),
  delivered: Type.Boolean({ description: '`true`.' }),
});

interface CodeOperation {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly code: CodeName;
  /** The kind of event that announces the code. */
  readonly event: string;
}

const common = ({ operationId, summary, description, event }: CodeOperation) =>
  ({
    operationId,
    summary,
    description,
    tag: 'Events',
    token: 'client',
    scope: 'events:read',
    params: Type.Object({ eventId: line(64, { description: `Id of a \`${event}\` event.` }) }),
  }) as const;

const pathOf = (code: CodeName) => `/digitalbanking/db-events/v1/events/{eventId}/${code}-code`;

/** Returns a one-time code by its event. `member`: the name of the code in the response. */
export function readCode(
  described: CodeOperation & {
    readonly member: 'activationCode' | 'emailCode';
    readonly schema: Type.TSchema;
    readonly example: { readonly code: string; readonly expiresAt: string };
  },
): Operation {
  const { code: kind, member, schema, example } = described;
  const { code, expiresAt } = example;
  const value = { [member]: code, userId: memberEventExample.userId, expiresAt };
  return operation({
    ...common(described),
    method: 'GET',
    path: pathOf(kind),
    // The audit has each caller who received the code, and no one else.
    responses: { 200: { description: 'The code.', schema, examples: { code: { value } } } },
    problems: ['not_found'],
    async handle(services, { actor, params, origin }) {
      const { code, userId, expiresAt } = await services.getCode(kind, actor, params.eventId, origin);
      return { status: 200, body: { [member]: code, userId, expiresAt: expiresAt.toISOString() } };
    },
  });
}

/** Deletes the service's copy of a delivered code. */
export function acknowledgeCode(described: CodeOperation): Operation {
  return operation({
    ...common(described),
    method: 'POST',
    path: `${pathOf(described.code)}/delivered`,
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
      await services.acknowledgeCode(described.code, actor, eventId, origin);
      return { status: 200, body: { eventId, delivered: true } };
    },
  });
}
