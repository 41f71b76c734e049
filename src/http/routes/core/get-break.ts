import * as Type from 'typebox/type';
import { Problem } from '../../../shared/problem.ts';
import { operation } from '../../operation.ts';
import { Break, breakExample, breakParameter, presentBreak } from './break-shapes.ts';

export const getBreak = operation({
  operationId: 'getBreak',
  method: 'GET',
  path: '/digitalbanking/core/v1/breaks/{breakId}',
  tag: 'Core',
  summary: 'Get break',
  description: 'Returns a break with its story.',
  token: 'client',
  scope: 'core:read',
  params: Type.Object(breakParameter),
  responses: {
    200: {
      description: 'The break.',
      schema: Break,
      examples: {
        missing: {
          value: {
            ...breakExample,
            story: [{ at: '2026-11-20T06:10:00.000Z', note: 'The posting has not arrived here.' }],
          },
        },
      },
    },
  },
  problems: ['not_found'],
  async handle(services, { actor, params }) {
    const found = await services.breaks.get(actor, BigInt(params.breakId));
    if (found === undefined) throw new Problem('not_found', 'There is no such break.');
    return { status: 200, body: presentBreak(found) };
  },
});
