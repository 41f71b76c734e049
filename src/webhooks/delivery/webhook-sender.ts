import { randomUUID } from 'node:crypto';
import { repeatedly } from '../../shared/process/repeatedly.ts';
import type { InstitutionId } from '../../storage/index.ts';
import type { RenderEvent } from '../endpoints/endpoint.ts';
import type { WebhookDeps } from '../endpoints/endpoints.ts';
import { HttpsTransport, type SendOf } from '../https/https-transport.ts';
import { deliver } from './deliver.ts';
import { DeliveryNotes } from './delivery-notes.ts';
import { selectEndpointsToSend } from './delivery-queries.ts';
import { LoopTurns } from './loop-turns.ts';
import { SharedFeed } from './shared-feed.ts';

const lookMillis = 250;
/** Endpoints that one process sends to at a time. */
const mostEndpointsAtOnce = 128;
/** Requests that one turn of the event loop starts. */
const startsInTurn = 4;

export interface WebhookSender {
  /** Ends the requests under way, and waits until their outcome is noted. */
  stop(): Promise<void>;
}

/**
 * Sends webhooks in the background, to as many endpoints as have something to receive. Any number of processes may run it: each
 * endpoint has one sender at a time, by a lease that ends by itself if the process dies.
 */
export function startWebhookSender(
  deps: WebhookDeps & {
    readonly render: RenderEvent;
    /** The mail to members. */
    readonly mail: SendOf;
    readonly onError: (error: unknown, endpointId?: string) => void;
  },
): WebhookSender {
  const notes = new DeliveryNotes(deps, randomUUID());
  const https = new HttpsTransport(deps);
  const sendOf: SendOf = (institutionId, endpoint) =>
    endpoint.transport === 'SMTP'
      ? deps.mail(institutionId, endpoint)
      : https.sendOf(institutionId, endpoint);
  const { database, clock } = deps;
  const feed = new SharedFeed(database);
  const delivery = { database, clock, notes, feed, sendOf, turns: new LoopTurns(startsInTurn) };
  const underWay = new Map<string, Promise<void>>();
  let isStopped = false;
  const begin = (institutionId: InstitutionId, endpointId: string) => {
    const sent = deliver(delivery, institutionId, {
      endpointId,
      isStopping: () => isStopped,
    })
      .catch((error) => deps.onError(error, endpointId))
      .then(() => {
        underWay.delete(endpointId);
      });
    underWay.set(endpointId, sent);
  };
  const look = async () => {
    await notes.logSuccesses('due');
    const room = mostEndpointsAtOnce - underWay.size;
    if (room > 0) {
      const now = deps.clock();
      const found = await deps.database.directory((db) => selectEndpointsToSend(db, { now, most: room }));
      for (const { institution, endpoint } of found) {
        if (!underWay.has(endpoint) && underWay.size < mostEndpointsAtOnce) begin(institution, endpoint);
      }
    }
  };
  const looks = repeatedly(look, { everyMillis: lookMillis, onError: deps.onError });
  return {
    stop: async () => {
      isStopped = true;
      await looks.stop();
      await Promise.all(underWay.values());
      await notes.logSuccesses('all').catch((error) => deps.onError(error));
      https.close();
    },
  };
}
