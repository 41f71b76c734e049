import type { FastifyInstance, FastifyReply } from 'fastify';
import { FairShare } from '../../shared/fair-queue.ts';
import { Problem } from '../../shared/problem.ts';

export interface Admission {
  /** Takes one of the client's slots until the response is sent. Throws Problem `overloaded`. */
  admit(client: string, reply: FastifyReply): void;
  /**
   * Gives back the slots of a request that does nothing but wait, for the rest of its life. Its signal is aborted when the
   * caller has left; and from the start if too many requests wait already.
   */
  stepAside(reply: FastifyReply): AbortSignal;
}

/** The most requests that wait without a slot at once; each keeps its connection. */
const mostAside = 4_096;

/**
 * Limits the requests in flight, and gives each client a fair share of them. A request beyond the limit gets 503 at once,
 * before its body or the database is read. Probes always pass.
 */
export function admissionOf(app: FastifyInstance, most: number): Admission {
  const places = new FairShare(most);
  // Token requests have their own count: logins wait for a hashing thread, and must not keep other requests out.
  const inside = { tokens: 0, others: 0 };
  const enter = (kind: keyof typeof inside, reply: FastifyReply) => {
    if (inside[kind] >= most) throw overloaded();
    inside[kind] += 1;
    whenResponded(reply, () => {
      inside[kind] -= 1;
    });
  };
  app.addHook('onRequest', (request, reply, done) => {
    const { operation } = request.routeOptions.config;
    if (operation?.tag === 'Service') return done();
    if (!operation?.oauth) enter('others', reply);
    else if (inside.tokens >= most) throw overloaded();
    done();
  });
  // A stranger may send the body of a token request as slowly as they like, so the request takes a slot once it is complete.
  app.addHook('preValidation', (request, reply, done) => {
    if (request.routeOptions.config.operation?.oauth) enter('tokens', reply);
    done();
  });
  let aside = 0;
  return {
    stepAside(reply) {
      const left = new AbortController();
      if (reply.raw.closed || aside >= mostAside) left.abort();
      else {
        aside += 1;
        for (const leave of slots.get(reply.raw) ?? []) leave();
        whenResponded(reply, () => {
          aside -= 1;
          left.abort();
        });
      }
      return left.signal;
    },
    admit(client, reply) {
      // If the caller left while the token was verified, no `close` event follows that would free a slot.
      if (reply.raw.closed) return;
      if (!places.take(client)) throw overloaded();
      whenResponded(reply, () => places.free(client));
    },
  };
}

/** The functions that free the place of each request, called at its end. */
const slots = new WeakMap<FastifyReply['raw'], (() => void)[]>();

/** Calls `leave` once, when the response is handed to the socket, the caller has left, or the request steps aside. */
function whenResponded({ raw }: FastifyReply, leave: () => void): void {
  let left = false;
  const once = () => {
    if (!left) leave();
    left = true;
  };
  slots.set(raw, [...(slots.get(raw) ?? []), once]);
  raw.on('prefinish', once).on('close', once);
}

function overloaded(): Problem {
  return new Problem('overloaded', 'The service has more to do than it can. Nothing was written.', {
    retryAfterSeconds: 1,
  });
}
