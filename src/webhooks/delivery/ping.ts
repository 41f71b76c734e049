import { randomUUID } from 'node:crypto';
import { selectEndpoint } from '../endpoints/endpoint-queries.ts';
import {
  type EndpointCaller,
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

type Caller = Omit<EndpointCaller, 'origin'>;

/** Sends a signed event of type `webhook.ping` at once, also to an endpoint that is not active. Problem `not_found`. */
export async function pingWebhook(deps: WebhookDeps, caller: Caller, endpointId: string): Promise<Attempt> {
  const { institutionId, clientId } = caller;
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
    await deps.database.transaction(institutionId, (tx) => insertAttempts(tx, [{ endpointId, ...attempt }]));
    return attempt;
  } finally {
    sender.close();
  }
}
