import type { FastifyInstance, FastifyReply } from 'fastify';
import { FairShare } from '../fair-share.ts';
import { Problem } from '../problem.ts';

export interface Admission {
  /** Takes a place of this client's until the reply is closed. Problem `overloaded`. */
  admit(client: string, reply: FastifyReply): void;
}

/**
 * At most so many requests are served at once, and of them no client takes the places that others need. What could
 * only be kept waiting is sent away at once, before its body or the database is read; probes are let through, for they
 * ask how it is.
 */
export function admissionOf(app: FastifyInstance, most: number): Admission {
  const places = new FairShare(most);
  // Token requests are counted apart: logins wait for their turn at hashing, and must not keep others out.
  const inside = { tokens: 0, others: 0 };
  app.addHook('onRequest', (request, reply, done) => {
    const { operation } = request.routeOptions.config;
    if (operation?.tag === 'Service') return done();
    const kind = operation?.oauth ? 'tokens' : 'others';
    if (inside[kind] >= most) throw overloaded();
    inside[kind] += 1;
    reply.raw.on('close', () => {
      inside[kind] -= 1;
    });
    done();
  });
  return {
    admit(client, reply) {
      // Whoever has gone while the token was verified closes no more.
      if (reply.raw.closed) return;
      if (!places.take(client)) throw overloaded();
      reply.raw.on('close', () => places.free(client));
    },
  };
}

function overloaded(): Problem {
  return new Problem('overloaded', 'The service has more to do than it can. Nothing was written.', {
    retryAfterSeconds: 1,
  });
}
