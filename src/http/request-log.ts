import type { FastifyBaseLogger, FastifyInstance } from 'fastify';
import { traceparentOf } from './request/transaction-id.ts';

/** Logs one line for each response, with the pattern of the path: the path itself may contain an e-mail address. */
export function logResponses(app: FastifyInstance): void {
  app.addHook('onRequest', (request, reply, done) => {
    reply.raw.on('close', () => {
      const { operation } = request.routeOptions.config;
      // The server's logger, since most requests never create a logger of their own.
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
          // The caller left before the response.
          isOutputClosed: reply.raw.writableFinished ? undefined : true,
        },
        'answered',
      );
    });
    done();
  });
}

/** A request's own logger, created at its first line: most requests log none. */
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
