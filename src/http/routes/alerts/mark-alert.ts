import * as Type from 'typebox/type';
import { AlertMark, alertExample, alertParameter, MemberAlert, presentAlert } from '../../alert-shapes.ts';
import { operation } from '../../operation.ts';

export const markAlert = operation({
  operationId: 'markAlert',
  method: 'PATCH',
  path: '/digitalbanking/db-alerts/v1/alerts/{alertId}',
  tag: 'Alerts',
  summary: 'Mark alert',
  description: 'Marks an alert of the inbox as read, or as unread again.',
  token: 'member',
  scope: 'alertPref:write',
  params: Type.Object(alertParameter),
  body: {
    schema: AlertMark,
    mediaTypes: ['application/json'],
    examples: { read: { value: { read: true } } },
  },
  responses: {
    200: {
      description: 'The alert.',
      schema: MemberAlert,
      examples: { read: { value: { ...alertExample, read: true } } },
    },
  },
  problems: ['not_found', 'outcome_unknown'],
  async handle(services, { actor, params: { alertId }, body, origin }) {
    const marked = await services.alerts.mark(actor, { alertId, isRead: body.read, origin });
    return { status: 200, body: presentAlert(marked) };
  },
});
