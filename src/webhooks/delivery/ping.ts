import { randomUUID } from 'node:crypto';
import { selectEndpoint } from '../endpoints/endpoint-queries.ts';
import {
  type EndpointCaller,
  record,
  refuseMail,
  refuseUnknown,
  rulesOf,
  type WebhookDeps,
} from '../endpoints/endpoints.ts';
import { KeyRing } from '../https/key-ring.ts';
import { Sender } from '../https/post.ts';
import { signatureHeaders } from '../https/signature.ts';
import { type Attempt, insertAttempts } from './attempt-queries.ts';
import { loggedAttempt } from './outcome.ts';

/** Sends a signed event of type `webhook.ping` at once, also to an endpoint that is not active. Problem `not_found`. */
export async function pingWebhook(
  deps: WebhookDeps,
  { institutionId, clientId, origin }: EndpointCaller,
  endpointId: string,
): Promise<Attempt> {
  const endpoint = await deps.database.read(institutionId, (db) =>
    selectEndpoint(db, { endpointId, clientId }),
  );
  if (endpoint === undefined) refuseUnknown();
  refuseMail(endpoint);
  const rules = await rulesOf(deps, institutionId);
  const at = deps.clock();
  const event = { number: null, eventId: `ping-${randomUUID()}`, eventType: 'webhook.ping' };
  const body = JSON.stringify({
    eventId: event.eventId,
    eventType: event.eventType,
    timestamp: at.toISOString(),
    accounts: [],
  });
  const keys = await new KeyRing(deps).of(institutionId, endpointId);
  const sender = new Sender(rules);
  try {
    const headers = signatureHeaders({ id: event.eventId, at, body }, keys);
    const attempt = loggedAttempt(event, {
      posted: await sender.post({ url: endpoint.url, headers, body }),
      at,
    });
    const { delivered, status, error } = attempt;
    const changes = { after: { delivered, status, error } };
    await deps.database.transaction(institutionId, async (tx) => {
      await insertAttempts(tx, [{ endpointId, ...attempt }]);
      await record(deps, tx, { action: 'webhook.pinged', endpoint, origin, changes });
    });
    return attempt;
  } finally {
    sender.close();
  }
}
