import type { FastifyInstance, FastifyReply } from 'fastify';
import { FairShare } from '../../shared/fair-share.ts';
import { Problem } from '../../shared/problem.ts';

export interface Admission {
  /** Takes a place of this client's until there is an answer. Problem `overloaded`. */
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
  const enter = (kind: keyof typeof inside, reply: FastifyReply) => {
    if (inside[kind] >= most) throw overloaded();
    inside[kind] += 1;
    whenAnswered(reply, () => {
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
  // Anybody may bring the body of a token request, as slowly as they like: it takes a place when it is here.
  app.addHook('preValidation', (request, reply, done) => {
    if (request.routeOptions.config.operation?.oauth) enter('tokens', reply);
    done();
  });
  return {
    admit(client, reply) {
      // Whoever has gone while the token was verified closes no more.
      if (reply.raw.closed) return;
      if (!places.take(client)) throw overloaded();
      whenAnswered(reply, () => places.free(client));
    },
  };
}

/** The answer is handed over, or whoever asked has gone. One who does not read it has no more to be done for. */
function whenAnswered({ raw }: FastifyReply, leave: () => void): void {
  let left = false;
  const once = () => {
    if (!left) leave();
    left = true;
  };
  raw.on('prefinish', once).on('close', once);
}

function overloaded(): Problem {
  return new Problem('overloaded', 'The service has more to do than it can. Nothing was written.', {
    retryAfterSeconds: 1,
  });
}
