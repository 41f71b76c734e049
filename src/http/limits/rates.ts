import type { FastifyBaseLogger, FastifyReply, FastifyRequest } from 'fastify';
import type { Actor } from '../../institutions/index.ts';
import type { Services } from '../services.ts';
import { type Rate, rateLimit, rates, type Spent } from './rate-limit.ts';

/** Requests per minute in this process: per client for the first two, per user for the others. */
export type RateOptions = { readonly [Setting in (typeof rates)[Rate][0]]?: number } & {
  readonly nowMillis?: () => number;
};

export interface Rates {
  /** Counts a request of a client that proved its secret or key. Sets the headers. Throws Problem `too_many_requests`. */
  countClient(rate: Rate, clientId: string, reply: FastifyReply): void;
  /** Counts a request of a caller with a token. Sets the headers. Throws Problem `too_many_requests`. */
  count(rate: Rate, request: FastifyRequest, reply: FastifyReply): void;
  /**
   * Runs a request that counts only by its outcome, which `note` counts. At most as many requests of the caller run at once as
   * the caller has left; further ones wait. Sets no header. Throws Problem `too_many_requests` if none is left.
   */
  whileLeft<Result>(rate: Rate, request: FastifyRequest, act: () => Promise<Result>): Promise<Result>;
  /** Counts, and never refuses. */
  note(rate: Rate, request: FastifyRequest): void;
}

/** A client token acts for the whole institution, so its share only stops a runaway. */
const ofClientTokens = 600_000;

/** All rates of the service, each with its own count. A refused burst is logged once a minute, and audited. */
export function ratesOf(services: Services, options: RateOptions): Rates {
  const nowMillis = options.nowMillis ?? Date.now;
  const limits = new Map<Rate, ReturnType<typeof rateLimit>>();
  const limitOf = (rate: Rate) => {
    const limit = limits.get(rate) ?? rateLimit({ name: rate, nowMillis });
    limits.set(rate, limit);
    return limit;
  };
  const perMinute = (rate: Rate) => {
    const [setting, usual] = rates[rate];
    return options[setting] ?? usual;
  };

  const shareOf = (rate: Rate, actor: Actor) =>
    actor.kind === 'client' && rate !== 'registration' ? ofClientTokens : perMinute(rate);

  const refuse = (rate: Rate, { isFirstRefusal, refusal }: Spent, request: FastifyRequest) => {
    const { caller, callerAddress, id } = request;
    if (caller !== null) services.noteRate(caller.actor, rate, { transactionId: id, address: callerAddress });
    if (isFirstRefusal) tell(request.log, rate, caller?.actor);
    throw refusal;
  };

  return {
    countClient(rate, clientId, reply) {
      const spent = limitOf(rate).spend(clientId, perMinute(rate));
      reply.headers(spent.headers);
      if (spent.refusal) refuse(rate, spent, reply.request);
    },
    count(rate, request, reply) {
      const actor = actorOf(request);
      const spent = limitOf(rate).spend(keyOf(actor), shareOf(rate, actor));
      reply.headers(spent.headers);
      if (spent.refusal) refuse(rate, spent, request);
    },
    async whileLeft(rate, request, act) {
      const actor = actorOf(request);
      const key = keyOf(actor);
      const spent = await limitOf(rate).enter(key, shareOf(rate, actor));
      if (spent.refusal) refuse(rate, spent, request);
      try {
        return await act();
      } finally {
        limitOf(rate).leave(key);
      }
    },
    note(rate, request) {
      const actor = actorOf(request);
      limitOf(rate).spend(keyOf(actor), shareOf(rate, actor));
    },
  };
}

function actorOf({ caller }: FastifyRequest): Actor {
  if (caller === null) throw new Error('http: a rate is counted before the caller is known');
  return caller.actor;
}

/** A user has one share over all clients. A client id is unique in the service and contains no space. */
function keyOf(actor: Actor): string {
  return actor.kind === 'client' ? actor.clientId : `${actor.institutionId} ${actor.userId}`;
}

function tell(log: FastifyBaseLogger, rate: Rate, actor: Actor | undefined): void {
  const userId = actor?.kind === 'member' ? actor.userId : undefined;
  log.warn({ rate, clientId: actor?.clientId, userId }, 'rate limit reached');
}
