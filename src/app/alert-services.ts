import {
  type AlertDeps,
  getAlertPreferences,
  listAlerts,
  markAlert,
  replaceAlertPreferences,
} from '../alerts/index.ts';
import type { AlertServices } from '../http/index.ts';

/** The use cases of alerts for the HTTP edge, each for the calling member. */
export function alertServicesOf(deps: AlertDeps): AlertServices {
  return {
    preferences: (actor) => getAlertPreferences(deps, actor),
    replacePreferences: (actor, wanted, origin) => replaceAlertPreferences(deps, actor, { wanted, origin }),
    list: (actor, wanted) => listAlerts(deps, actor, wanted),
    mark: (actor, wanted) => markAlert(deps, actor, wanted),
  };
}
