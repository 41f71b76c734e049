/**
 * Webhooks: the events of the feed, sent to the addresses that clients registered. Owns webhook_endpoints, webhook_keys,
 * webhook_deliveries and webhook_attempts.
 *
 * Invariants: an event is sent at least once and has the same id at each attempt; it is sent after every earlier event of its
 * accounts, unless that one is parked; an endpoint that fails or is disabled loses nothing, since its position is kept; no request
 * goes to an address inside.
 */
export { type Attempt, expireAttempts } from './delivery/attempt-queries.ts';
export { listAttempts, listDeliveries, type WaitingEvent } from './delivery/delivery-log.ts';
export { pingWebhook } from './delivery/ping.ts';
export { type Replay, replayWebhook } from './delivery/replay.ts';
export { startWebhookSender } from './delivery/webhook-sender.ts';
export {
  type Endpoint,
  type EndpointSettings,
  endpointStatuses,
  orderings,
  payloads,
} from './endpoints/endpoint.ts';
export { selectEndOfFeed } from './endpoints/endpoint-queries.ts';
export {
  changeWebhook,
  createWebhook,
  deleteWebhook,
  type EndpointCaller,
  type EndpointKeys,
  getWebhook,
  listWebhooks,
  rotateWebhookKeys,
  rulesOf,
  type ShownEndpoint,
  type WebhookChange,
  type WebhookDeps,
} from './endpoints/endpoints.ts';
export { closeMailEndpoint, openMailEndpoint } from './endpoints/mail-endpoint.ts';
export { firstKeyPlace, resealWebhookKeys } from './endpoints/reseal-webhook-keys.ts';
export type { SendOf } from './https/https-transport.ts';
export { type Posted, Sender } from './https/post.ts';
export { secretText, signatureHeaders } from './https/signature.ts';
export { type TargetRules, targetRefusal } from './https/target.ts';
