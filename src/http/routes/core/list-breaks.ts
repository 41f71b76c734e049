import * as Type from 'typebox/type';
import { type BreakClass, breakClasses } from '../../../core-connection/index.ts';
import { operation } from '../../operation.ts';
import { nextLink, pageParameters, pageResponse, readPage } from '../../request/paging.ts';
import { Break, breakExample, presentBreak } from './break-shapes.ts';

export const listBreaks = operation({
  operationId: 'listBreaks',
  method: 'GET',
  path: '/digitalbanking/core/v1/breaks',
  tag: 'Core',
  summary: 'List breaks',
  description: "Returns the differences between the core's books and these, the oldest first.",
  token: 'client',
  scope: 'core:read',
  query: Type.Object({
    state: Type.Optional(
      Type.Unsafe<'OPEN' | 'ALL'>({ type: 'string', enum: ['OPEN', 'ALL'], description: 'Default: OPEN.' }),
    ),
    class: Type.Optional(
      Type.Unsafe<BreakClass>({
        type: 'string',
        enum: [...breakClasses],
        description: 'Only of this class.',
      }),
    ),
    olderThanSeconds: Type.Optional(
      Type.Integer({ minimum: 0, maximum: 1_000_000_000, description: 'Opened so long ago, or longer.' }),
    ),
    ...pageParameters,
  }),
  responses: {
    200: {
      description: 'A page of breaks.',
      headers: nextLink,
      schema: Type.Array(Break),
      examples: { one: { value: [breakExample] }, none: { summary: 'Nothing differs', value: [] } },
    },
  },
  async handle(services, { actor, url, query }) {
    const listRequest = { actor, url, query };
    const { state, class: wanted, olderThanSeconds } = query;
    const filter = { isOpen: state !== 'ALL', class: wanted, olderThanSeconds };
    const page = await services.breaks.list(actor, { filter, page: readPage(listRequest, 1) });
    return pageResponse(listRequest, page, presentBreak);
  },
});
