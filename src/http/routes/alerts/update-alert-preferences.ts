import {
  AlertPreferences,
  AlertPreferencesUpdate,
  preferencesExample,
  presentPreferences,
  readPreferences,
} from '../../alert-shapes.ts';
import { operation } from '../../operation.ts';

export const updateAlertPreferences = operation({
  operationId: 'updateAlertPreferences',
  method: 'PUT',
  path: '/digitalbanking/db-alerts/v1/preferences',
  tag: 'Alerts',
  summary: 'Update alert preferences',
  description:
    'Replaces all preferences of the member. An alert is raised when a balance crosses its threshold, once for each crossing: a balance that is beyond it already raises none until it comes back and crosses again.',
  token: 'member',
  scope: 'alertPref:write',
  body: {
    schema: AlertPreferencesUpdate,
    mediaTypes: ['application/json'],
    examples: { some: { value: preferencesExample }, none: { value: { alerts: [] } } },
  },
  responses: {
    200: {
      description: 'The new preferences.',
      schema: AlertPreferences,
      examples: { some: { value: preferencesExample } },
    },
  },
  problems: ['outcome_unknown'],
  async handle(services, { actor, body, numbers, origin }) {
    const wanted = readPreferences(body, numbers);
    const replaced = await services.alerts.replacePreferences(actor, wanted, origin);
    return { status: 200, body: presentPreferences(replaced) };
  },
});
