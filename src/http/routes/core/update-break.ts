import * as Type from 'typebox/type';
import { Problem } from '../../../shared/problem.ts';
import { operation } from '../../operation.ts';
import { line } from '../../schemas.ts';
import { Break, breakExample, breakParameter, presentBreak } from './break-shapes.ts';

export const BreakUpdate = Type.Object(
  {
    owner: Type.Optional(line(128, { description: 'The person who looks after it, by name.' })),
    note: Type.Optional(line(256, { description: 'A line for its story.' })),
  },
  { additionalProperties: false, description: 'A new owner, a note, or both.' },
);

export const updateBreak = operation({
  operationId: 'updateBreak',
  method: 'PATCH',
  path: '/digitalbanking/core/v1/breaks/{breakId}',
  tag: 'Core',
  summary: 'Update break',
  description:
    'Gives a break an owner, or its story a note. A closed break takes notes only. Nothing else of a break can be changed: it closes when both books agree.',
  token: 'client',
  scope: 'core:write',
  params: Type.Object(breakParameter),
  body: {
    schema: BreakUpdate,
    mediaTypes: ['application/json'],
    examples: {
      owner: { value: { owner: 'Ines Varga', note: 'Asked the card processor for the file of Friday.' } },
    },
  },
  responses: {
    200: {
      description: 'The break.',
      schema: Break,
      examples: { owned: { value: { ...breakExample, owner: 'Ines Varga' } } },
    },
  },
  problems: ['not_found', 'outcome_unknown'],
  async handle(services, { actor, params, body, origin }) {
    const changed = await services.breaks.change(actor, {
      breakKey: BigInt(params.breakId),
      change: body,
      origin,
    });
    if (changed === undefined) throw new Problem('not_found', 'There is no such break.');
    if (changed === 'closed') {
      throw new Problem('invalid_request', 'The break is closed.', {
        errors: [{ pointer: '/owner', detail: 'Must be left out: a closed break takes notes only.' }],
      });
    }
    return { status: 200, body: presentBreak(changed) };
  },
});
