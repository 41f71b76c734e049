import * as Type from 'typebox/type';
import { memberEventExample, transferEventExample } from '../../openapi/examples.ts';
import { operation } from '../../operation.ts';
import { presentEvent } from '../../presenters.ts';
import { answerPage, pageParameters, readPage } from '../../request/paging.ts';
import { Event } from '../../schemas.ts';

export const readEvents = operation({
  operationId: 'readEvents',
  method: 'GET',
  path: '/digitalbanking/db-events/v1/events',
  tag: 'Events',
  summary: 'Read events',
  description:
    'What happened at the institution, oldest first, from its first event on or after a position. `Link` always has the next position; where nothing is new the answer is empty and the link stays the same: ask again later. No event is skipped, and none is shown twice. An event is shown once every transaction that began to write before its own has ended, as a rule at once. Keep the link, not the time.',
  token: 'client',
  scope: 'events:read',
  query: Type.Object(pageParameters),
  answers: {
    200: {
      description: 'Events, oldest first.',
      headers: { Link: '`<…>; rel="next"`: what comes after these. Always there.' },
      schema: Type.Array(Event),
      examples: {
        two: { value: [transferEventExample, memberEventExample] },
        none: { summary: 'Nothing new', value: [] },
      },
    },
  },
  async handle(services, { actor, url, query }) {
    const asked = { actor, url, query };
    return answerPage(asked, await services.readEvents(actor, readPage(asked, 3)), presentEvent);
  },
});
