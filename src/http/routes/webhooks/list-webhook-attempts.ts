import * as Type from 'typebox/type';
import { operation } from '../../operation.ts';
import { nextLink, pageParameters, pageResponse, readPage } from '../../request/paging.ts';
import { attemptExample, endpointParameter, presentAttempt, WebhookAttempt } from '../../webhook-shapes.ts';

export const listWebhookAttempts = operation({
  operationId: 'listWebhookAttempts',
  method: 'GET',
  path: '/digitalbanking/db-webhooks/v1/endpoints/{endpointId}/attempts',
  tag: 'Webhooks',
  summary: 'List webhook attempts',
  description:
    'Returns the attempts, the newest first: every failure of the last thirty days, and the last hundred successes.',
  token: 'client',
  scope: 'webhooks:manage',
  params: Type.Object(endpointParameter),
  query: Type.Object(pageParameters),
  responses: {
    200: {
      description: 'A page of attempts.',
      headers: nextLink,
      schema: Type.Array(WebhookAttempt),
      examples: { failed: { value: [attemptExample] }, none: { value: [] } },
    },
  },
  problems: ['not_found'],
  async handle(services, { actor, params: { endpointId }, url, query }) {
    const listRequest = { actor, url, query };
    const page = await services.webhooks.attempts(actor, { endpointId, page: readPage(listRequest, 1) });
    return pageResponse(listRequest, page, presentAttempt);
  },
});
