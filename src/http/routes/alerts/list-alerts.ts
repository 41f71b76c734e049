import * as Type from 'typebox/type';
import { alertExample, MemberAlert, presentAlert } from '../../alert-shapes.ts';
import { operation } from '../../operation.ts';
import { nextLink, pageParameters, pageResponse, readPage } from '../../request/paging.ts';

export const listAlerts = operation({
  operationId: 'listAlerts',
  method: 'GET',
  path: '/digitalbanking/db-alerts/v1/alerts',
  tag: 'Alerts',
  summary: 'List alerts',
  description:
    'Returns the member’s inbox, the newest first: alerts with the channel INBOX, of the last 400 days. Alerts about an account that the member no longer holds are left out.',
  token: 'member',
  scope: 'alertHist:read',
  query: Type.Object({
    unread: Type.Optional(
      Type.Unsafe<'true' | 'false'>({
        type: 'string',
        enum: ['true', 'false'],
        description: '`true`: only those not read.',
      }),
    ),
    ...pageParameters,
  }),
  responses: {
    200: {
      description: 'A page of alerts.',
      headers: nextLink,
      schema: Type.Array(MemberAlert),
      examples: { one: { value: [alertExample] }, none: { value: [] } },
    },
  },
  async handle(services, { actor, url, query }) {
    const listRequest = { actor, url, query };
    const wanted = { unreadOnly: query.unread === 'true', page: readPage(listRequest, 1) };
    return pageResponse(listRequest, await services.alerts.list(actor, wanted), presentAlert);
  },
});
