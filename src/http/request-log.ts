import type { FastifyBaseLogger, FastifyInstance } from 'fastify';
import { traceparentOf } from './request/transaction-id.ts';

/** One line for each answer. The path's pattern, not the path: an e-mail address may stand in that. */
export function logAnswers(app: FastifyInstance): void {
  app.addHook('onRequest', (request, reply, done) => {
    reply.raw.on('close', () => {
      const { operation } = request.routeOptions.config;
      // Not by the request's own logger, which would have to be made for it.
      app.log.info(
        {
          transactionId: request.id,
          traceparent: traceparentOf(request.headers),
          method: request.method,
          route: request.routeOptions.url,
          operation: operation?.operationId,
          status: reply.statusCode,
          code: request.problemCode ?? undefined,
          millis: Math.round(reply.elapsedTime * 10) / 10,
          clientId: request.caller?.actor.clientId,
          address: request.callerAddress ?? undefined,
          // Whoever asked has gone, and does not know.
          unheard: reply.raw.writableFinished ? undefined : true,
        },
        'answered',
      );
    });
    done();
  });
}

/** A request's own logger, made when something is said of it: mostly nothing is. */
export class RequestLog {
  readonly #make: () => FastifyBaseLogger;
  #made: FastifyBaseLogger | undefined;

  constructor(make: () => FastifyBaseLogger) {
    this.#make = make;
  }

  get made(): FastifyBaseLogger {
    this.#made ??= this.#make();
    return this.#made;
  }
}
for (const method of ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'child'] as const) {
  Object.defineProperty(RequestLog.prototype, method, {
    value(this: RequestLog, ...line: [never]) {
      return this.made[method](...line);
    },
  });
}
