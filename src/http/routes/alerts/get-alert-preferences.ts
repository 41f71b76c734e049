import { AlertPreferences, preferencesExample, presentPreferences } from '../../alert-shapes.ts';
import { operation } from '../../operation.ts';

export const getAlertPreferences = operation({
  operationId: 'getAlertPreferences',
  method: 'GET',
  path: '/digitalbanking/db-alerts/v1/preferences',
  tag: 'Alerts',
  summary: 'Get alert preferences',
  description:
    'Returns the alerts that the member wants, and the defaults for a member who set none. Rules about accounts that the member no longer holds are left out, and raise nothing.',
  token: 'member',
  scope: 'alertPref:read',
  responses: {
    200: {
      description: 'The preferences.',
      schema: AlertPreferences,
      examples: { some: { value: preferencesExample } },
    },
  },
  async handle(services, { actor }) {
    return { status: 200, body: presentPreferences(await services.alerts.preferences(actor)) };
  },
});
