import type { WebhookServices } from '../http/index.ts';
import {
  changeWebhook,
  createWebhook,
  deleteWebhook,
  getWebhook,
  listAttempts,
  listDeliveries,
  listWebhooks,
  pingWebhook,
  replayWebhook,
  rotateWebhookKeys,
  type WebhookDeps,
} from '../webhooks/index.ts';

/** The use cases of webhooks for the HTTP edge, each for the calling client. */
export function webhookServicesOf(deps: WebhookDeps): WebhookServices {
  return {
    create: ({ institutionId, clientId }, settings, origin) =>
      createWebhook(deps, { institutionId, clientId, origin }, settings),
    list: (actor) => listWebhooks(deps, actor),
    get: (actor, endpointId) => getWebhook(deps, actor, endpointId),
    change: async ({ institutionId, clientId }, wanted, origin) => {
      const caller = { institutionId, clientId, origin };
      await changeWebhook(deps, caller, wanted);
      return getWebhook(deps, caller, wanted.endpointId);
    },
    rotate: ({ institutionId, clientId }, wanted, origin) =>
      rotateWebhookKeys(deps, { institutionId, clientId, origin }, wanted),
    delete: ({ institutionId, clientId }, endpointId, origin) =>
      deleteWebhook(deps, { institutionId, clientId, origin }, endpointId),
    ping: ({ institutionId, clientId }, endpointId, origin) =>
      pingWebhook(deps, { institutionId, clientId, origin }, endpointId),
    replay: ({ institutionId, clientId }, wanted, origin) =>
      replayWebhook(deps, { institutionId, clientId, origin }, wanted),
    attempts: (actor, wanted) => listAttempts(deps, actor, wanted),
    deliveries: (actor, wanted) => listDeliveries(deps, actor, wanted),
  };
}
