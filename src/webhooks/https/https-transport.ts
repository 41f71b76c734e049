import type { FeedEvent } from '../../feed/index.ts';
import type { InstitutionId } from '../../storage/index.ts';
import { bodyOf, type Endpoint, type Payload, type RenderEvent } from '../endpoints/endpoint.ts';
import { rulesOf, type WebhookDeps } from '../endpoints/endpoints.ts';
import { KeyRing } from './key-ring.ts';
import { type Posted, Sender } from './post.ts';
import { signatureHeaders } from './signature.ts';

/** Makes one attempt to send an event. Never rejects. Undefined: nothing was to be sent. */
type Send = (event: FeedEvent, at: Date) => Promise<Posted | undefined>;

/** The way to an endpoint, for one batch. */
export type SendOf = (institutionId: InstitutionId, endpoint: Endpoint) => Promise<Send>;

/** Signed requests to the addresses of clients. */
export class HttpsTransport {
  readonly #deps: WebhookDeps & { readonly render: RenderEvent };
  readonly #keys: KeyRing;
  readonly #senders = new Map<string, Sender>();
  /** Endpoints that share an event share its bytes. */
  readonly #bodies: Readonly<Record<Payload, WeakMap<FeedEvent, string>>> = {
    THIN: new WeakMap(),
    FULL: new WeakMap(),
  };

  constructor(deps: WebhookDeps & { readonly render: RenderEvent }) {
    this.#deps = deps;
    this.#keys = new KeyRing(deps);
  }

  readonly sendOf: SendOf = async (institutionId, { endpointId, payload, url }) => {
    const [sender, keys] = await Promise.all([
      this.#senderOf(institutionId, endpointId),
      this.#keys.of(institutionId, endpointId),
    ]);
    return (event, at) => {
      const body = this.#bodyOf(payload, event);
      return sender.post({ url, headers: signatureHeaders({ id: event.eventId, at, body }, keys), body });
    };
  };

  close(): void {
    for (const sender of this.#senders.values()) sender.close();
  }

  /** The connections to one endpoint. */
  async #senderOf(institutionId: InstitutionId, endpointId: string): Promise<Sender> {
    const known = this.#senders.get(endpointId) ?? new Sender(await rulesOf(this.#deps, institutionId));
    this.#senders.set(endpointId, known);
    return known;
  }

  #bodyOf(payload: Payload, event: FeedEvent): string {
    const body = this.#bodies[payload].get(event) ?? bodyOf(payload, event, this.#deps.render);
    this.#bodies[payload].set(event, body);
    return body;
  }
}
