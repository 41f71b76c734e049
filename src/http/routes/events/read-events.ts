import * as Type from 'typebox/type';
import { Problem } from '../../../shared/problem.ts';
import { memberEventExample, transferEventExample } from '../../openapi/examples.ts';
import { operation } from '../../operation.ts';
import { presentEvent } from '../../presenters.ts';
import { pageParameters, pageResponse, readPage } from '../../request/paging.ts';
import { Event } from '../../schemas.ts';

export const readEvents = operation({
  operationId: 'readEvents',
  method: 'GET',
  path: '/digitalbanking/db-events/v1/events',
  tag: 'Events',
  summary: 'Read events',
  description:
    'Returns the events of the institution, oldest first, from the first one or after a position. `Link` always has the next position. If nothing is new, the response is empty and the link stays the same: poll it again later. No event is skipped, and none is returned twice. An event appears once every transaction that began to write before its own has ended, usually at once. Store the link, not the time.',
  token: 'client',
  scope: 'events:read',
  query: Type.Object({
    from: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: Number.MAX_SAFE_INTEGER,
        description: 'From the event with this `sequence`. Not with `after`.',
      }),
    ),
    ...pageParameters,
  }),
  responses: {
    200: {
      description: 'Events, oldest first.',
      headers: { Link: '`<…>; rel="next"`: the position after these events. Always present.' },
      schema: Type.Array(Event),
      examples: {
        two: { value: [transferEventExample, memberEventExample] },
        none: { summary: 'Nothing new', value: [] },
      },
    },
  },
  async handle(services, { actor, url, query }) {
    const { from, ...pageQuery } = query;
    if (from !== undefined && query.after !== undefined) {
      throw new Problem('invalid_request', 'The feed is read from one place.', {
        errors: [{ pointer: 'from', detail: 'Must not be given together with after.' }],
      });
    }
    // The position in the link needs no `from` any more.
    const listRequest = { actor, url, query: pageQuery };
    // Links of versions before 0.3 have three numbers.
    const { limit, after } = readPage(listRequest, 4, 3);
    const start = from === undefined ? { after } : { from: BigInt(from) };
    return pageResponse(listRequest, await services.readEvents(actor, { ...start, limit }), presentEvent);
  },
});
