import { AsyncLocalStorage } from 'node:async_hooks';
import type { FastifyBaseLogger, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type CallerFacts, type RequestMessage, seams } from '../../shared/seams.ts';
import { traceparentOf } from '../request/transaction-id.ts';

/**
 * Logs one line for each response, if `logsResponses`, with the pattern of the path: the path itself may contain an e-mail address.
 * Publishes the request on its seam, if it has a subscriber.
 */
export function watchRequests(app: FastifyInstance, logsResponses: boolean): void {
  app.addHook('onRequest', (request, reply, done) => {
    if (request.log instanceof RequestLog) request.log.about = request;
    const { start, asyncEnd } = seams.request;
    const begun = start.hasSubscribers ? messageOf(request) : undefined;
    if (begun !== undefined || asyncEnd.hasSubscribers || logsResponses) {
      reply.raw.on('close', () => {
        if (asyncEnd.hasSubscribers) publishEnd(begun ?? messageOf(request), request, reply);
        if (logsResponses) logResponse(app.log, request, reply);
      });
    }
    if (begun === undefined) return done();
    start.runStores(begun, () => {
      request.resumeContext = AsyncLocalStorage.snapshot();
      done();
    });
  });
  // The events of a body come in the context of the socket, not in that of the request.
  app.addHook('preValidation', (request, _reply, done) => {
    if (request.resumeContext === null) done();
    else request.resumeContext(done);
  });
}

function messageOf(request: FastifyRequest): RequestMessage {
  const { url, config } = request.routeOptions;
  return {
    method: request.method,
    route: url,
    operation: config.operation?.operationId ?? config.operationId,
    headers: request.headers,
    transactionId: request.id,
    status: 0,
    code: undefined,
    seconds: 0,
    isHangUp: false,
    isStream: config.isStream === true,
    transferId: undefined,
    caller: {},
  };
}

function publishEnd(message: RequestMessage, request: FastifyRequest, reply: FastifyReply): void {
  message.status = reply.statusCode;
  message.code = request.problemCode ?? undefined;
  message.seconds = reply.elapsedTime / 1000;
  message.isHangUp = !reply.raw.writableFinished;
  message.transferId = request.transferId ?? undefined;
  message.caller = callerOf(request);
  seams.request.asyncEnd.publish(message);
}

function logResponse(log: FastifyBaseLogger, request: FastifyRequest, reply: FastifyReply): void {
  // The server's logger, since most requests never create a logger of their own.
  log.info(
    {
      transactionId: request.id,
      traceparent: traceparentOf(request.headers),
      method: request.method,
      route: request.routeOptions.url,
      status: reply.statusCode,
      code: request.problemCode ?? undefined,
      millis: Math.round(reply.elapsedTime * 10) / 10,
      ...factsOf(request),
      ...request.failure,
      address: request.callerAddress ?? undefined,
      // The caller left before the response.
      isOutputClosed: reply.raw.writableFinished ? undefined : true,
    },
    'answered',
  );
}

/** The facts that each line of a request has, as far as they are known by then. Keys and ids only, no personal data. */
function factsOf(request: FastifyRequest): object {
  const { config } = request.routeOptions;
  return {
    operation: config.operation?.operationId ?? config.operationId,
    ...callerOf(request),
    transferId: request.transferId ?? undefined,
  };
}

/** The bearer of the token, the operator of the session, or the caller that a use case recognized on its way. */
function callerOf({ caller, operator, recognized }: FastifyRequest): CallerFacts {
  if (caller !== null) {
    const { actor } = caller;
    const { institutionId, clientId } = actor;
    return { institutionId, clientId, userKey: actor.kind === 'member' ? String(actor.userKey) : undefined };
  }
  if (operator !== null) return { institutionId: operator.institutionId, operatorId: operator.operatorId };
  return recognized ?? {};
}

/** A request's own logger. Most requests log no line of their own, so it is made at a line. */
export class RequestLog {
  readonly #make: () => FastifyBaseLogger;
  about: FastifyRequest | undefined;

  constructor(make: () => FastifyBaseLogger) {
    this.#make = make;
  }

  get made(): FastifyBaseLogger {
    const logger = this.#make();
    return this.about === undefined ? logger : logger.child(factsOf(this.about));
  }
}
for (const method of ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'child'] as const) {
  Object.defineProperty(RequestLog.prototype, method, {
    value(this: RequestLog, ...line: [never]) {
      return this.made[method](...line);
    },
  });
}
