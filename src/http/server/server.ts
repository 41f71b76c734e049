import { METHODS } from 'node:http';
import { Readable } from 'node:stream';
import {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  fastify,
  LogController,
} from 'fastify';
import { stdTimeFunctions } from 'pino';
import type { Caller, Identified } from '../../auth/index.ts';
import type { Actor } from '../../institutions/index.ts';
import type { Basis } from '../../memory/index.ts';
import { type DatabaseFailure, databaseFailureOf, describeError } from '../../shared/describe-error.ts';
import { Problem } from '../../shared/problem.ts';
import type { CallerFacts } from '../../shared/seams.ts';
import { fdxErrorResponse, interactionHeader, interactionIdOf } from '../fdx/fdx-error.ts';
import { forOneAddress, type OtherCells, registerForwarding } from '../forwarding/register.ts';
import { type Admission, admissionOf } from '../limits/admission.ts';
import { type Connections, connectionsWith } from '../limits/connections.ts';
import { type RateOptions, type Rates, ratesOf } from '../limits/rates.ts';
import type { Operation, OperationResponse, Page } from '../operation.ts';
import { operations } from '../operations.ts';
import { operationsBase } from '../operators/operation.ts';
import { operationsOfOperators } from '../operators/operations.ts';
import { operatorPages, registerOperatorPages } from '../operators/pages/sign-in-pages.ts';
import { registerOperatorOperations } from '../operators/register.ts';
import { pages } from '../pages/pages.ts';
import {
  asOAuthError,
  type ErrorResponse,
  oauthErrorResponse,
  pathNotFound,
  problemResponse,
  toProblem,
} from '../problems.ts';
import { requireAcceptable } from '../request/accept.ts';
import { plainAddress } from '../request/address/address.ts';
import { callerAddressReader } from '../request/address/caller-address.ts';
import { type BodyFacts, bodyParsers, noBodyFacts } from '../request/body/body-parsers.ts';
import { byteStreamOf } from '../request/body/byte-stream.ts';
import { readLeniently } from '../request/body/lenient-body.ts';
import { clientCertHeader, clientCertReader } from '../request/client-cert.ts';
import { closedQuery, readScalars } from '../request/query-parameters.ts';
import { recognizerOf } from '../request/recognize.ts';
import { traceparentOf, transactionIdOf } from '../request/transaction-id.ts';
import { refuseInvalid } from '../request/validation.ts';
import type { Services } from '../services.ts';
import { browserRoutes } from '../sign-in/browser-routes.ts';
import { registerSignInPages } from '../sign-in/register.ts';
import { authenticate, authorize, challengeOf } from './authenticate.ts';
import { corsHeaders, preflightHeaders } from './cors.ts';
import { hostFinder } from './host-finder.ts';
import { answeredUrl, rememberAnswer, sendAnswer } from './remembered-answer.ts';
import { RequestLog, watchRequests } from './request-log.ts';
import { onlyByTls, securityHeaders } from './security-headers.ts';
import { callerVerifier } from './verify-caller.ts';

export interface ServerOptions extends RateOptions {
  /** Base URL of the service as callers see it. */
  readonly publicUrl: string;
  /** The client of the member's app at `/app`. */
  readonly appClientId: string;
  /** Origins whose pages may call. */
  readonly corsOrigins: readonly string[];
  readonly logLevel: string;
  /** Receives the log, a JSON document per line. */
  readonly logStream: { write(line: string): void };
  /** How long a whole request may take to arrive. */
  readonly requestTimeoutSeconds: number;
  /** Closes a connection without traffic after this time, which is longer than any request takes. */
  readonly silenceSeconds?: number;
  /** Networks (CIDR) of proxies whose `X-Forwarded-For` is trusted. */
  readonly trustedProxies?: readonly string[];
  /** Networks (CIDR) of proxies whose `Client-Cert` is trusted. */
  readonly clientCertProxies?: readonly string[];
  /** Base URL at which the proxy asks for certificates of clients. */
  readonly mtlsUrl?: string | undefined;
  /** Limit of requests in flight. */
  readonly maxInFlight?: number;
  /** Requests of institutions that other cells serve are sent on to these. */
  readonly cells?: OtherCells | undefined;
}

declare module 'fastify' {
  interface FastifyRequest {
    caller: Caller | null;
    /** Set for a remembered caller whose token the operation verifies itself. An error waits for the verification. */
    unverified: Identified | null;
    /** The services at the host name of an institution; null at PUBLIC_URL. */
    atHost: Services | null;
    /** The caller's address, before any trusted proxy. */
    callerAddress: string | null;
    /** The header `Client-Cert` of a trusted proxy. */
    clientCert: string | null;
    bodyFacts: BodyFacts | null;
    /** For the log. */
    problemCode: string | null;
    /** For the log: the caller of a request without a token or an operator's session. */
    recognized: CallerFacts | null;
    /** For the log: the transfer that the response shows, or that an operator's request is about. */
    transferId: string | null;
    /** For the log: the failed statement behind the response. */
    failure: DatabaseFailure | null;
    /** Runs a function in the context of the request, if somebody traces. */
    resumeContext: ((work: () => void) => void) | null;
  }
  interface FastifyContextConfig {
    operation?: Operation;
    /** Of an operation of operators. */
    operationId?: string;
  }
}

const noBytes: AsyncIterable<Uint8Array> = Readable.from([]);
const maxHeaderBytes = 16 * 1024;

/** The HTTP edge, ready to listen, with every operation and page. */
export async function createServer(services: Services, options: ServerOptions): Promise<FastifyInstance> {
  const headers = securityHeaders(options.publicUrl);
  const allowedOrigins = new Set(options.corsOrigins);
  const { app, connections } = bareServer(options, headers, allowedOrigins);
  app.decorateRequest('caller', null);
  app.decorateRequest('unverified', null);
  app.decorateRequest('atHost', null);
  app.decorateRequest('callerAddress', null);
  app.decorateRequest('clientCert', null);
  app.decorateRequest('isSentOn', false);
  app.decorateRequest('bodyFacts', null);
  app.decorateRequest('problemCode', null);
  app.decorateRequest('transferId', null);
  app.decorateRequest('recognized', null);
  app.decorateRequest('failure', null);
  app.decorateRequest('resumeContext', null);
  const addressOf = callerAddressReader(options.trustedProxies ?? []);
  const clientCertOf = clientCertReader(options.clientCertProxies ?? []);
  // Hooks are plain functions: an async hook costs each request a promise and a turn of the queue.
  app.addHook('onRequest', (request, _reply, done) => {
    const forwardedFor = request.headers['x-forwarded-for']?.toString();
    const { remoteAddress } = request.socket;
    request.callerAddress = addressOf(remoteAddress, forwardedFor);
    request.clientCert = clientCertOf(remoteAddress, request.headers[clientCertHeader]?.toString());
    done();
  });
  watchRequests(app, ['trace', 'debug', 'info'].includes(options.logLevel));
  addHeaders(app, headers, allowedOrigins);
  const admission = admissionOf(app, options.maxInFlight ?? 1_024);
  app.addHook('onRequest', ({ is404, raw }, _reply, done) => {
    if (raw.httpVersion === '1.1' && raw.headers.host === undefined) {
      throw new Problem('invalid_request', 'The Host header is missing.');
    }
    if (countHosts(raw.rawHeaders) > 1) {
      throw new Problem('invalid_request', 'The Host header is repeated.');
    }
    // Refused here, before the body is read.
    if (is404) throw pathNotFound();
    done();
  });
  const { cells } = options;
  if (cells !== undefined) registerForwarding(app, cells, connections);
  app.addHook('onRequest', hostFinder(services, [options.publicUrl, options.mtlsUrl ?? options.publicUrl]));
  app.setErrorHandler(async (failure, request, reply) => {
    // An inactive token takes precedence over any other error.
    const found =
      (await request.unverified?.verify().then(
        () => failure,
        (refusal) => refusal,
      )) ?? failure;
    const error = cells === undefined || request.isSentOn ? found : forOneAddress(found);
    const oauth = request.routeOptions.config.operation?.oauth ? asOAuthError(error) : undefined;
    if (oauth === undefined) return sendProblem(request, reply, toProblem(error));
    request.problemCode = oauth.error;
    return sendError(reply, oauthErrorResponse(oauth));
  });

  app.removeAllContentTypeParsers();
  app.addHook('onSend', ({ headers: { authorization = '', dpop } }, reply, _payload, done) => {
    // RFC 9449 section 8.2: the nonce of the next proof.
    if (dpop !== undefined || /^dpop /i.test(authorization))
      reply.header('dpop-nonce', services.proofNonce());
    done();
  });
  const rates = ratesOf(services, options);
  for (const operation of operations)
    registerOperation(app, services, operation, { ...options, rates, admission, connections });
  for (const page of pages) registerPage(app, page, { ...options, findLogo: services.findLogo });
  registerOperatorOperations(app, services.operators, { ...options, admission });
  registerOperatorPages(app, services.operators, options.publicUrl);
  registerSignInPages(app, services, options.publicUrl);
  registerOtherMethods(app, allowedOrigins);
  await app.ready();
  return app;
}

/** Limits, timeouts, the log, and responses to bytes that never became a request. */
function bareServer(
  options: ServerOptions,
  headers: Readonly<Record<string, string>>,
  allowedOrigins: ReadonlySet<string>,
): { readonly app: FastifyInstance; readonly connections: Connections } {
  const connections = connectionsWith(headers, options.requestTimeoutSeconds * 1000);
  const app = fastify({
    logger: {
      level: options.logLevel,
      base: null,
      timestamp: stdTimeFunctions.isoTime,
      stream: options.logStream,
    },
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'transactionId' }),
    genReqId: ({ headers: given }) => transactionIdOf(given),
    childLoggerFactory: (logger, bindings, childOptions, request) =>
      new RequestLog(() => {
        const traceparent = traceparentOf(request.headers);
        return logger.child(
          traceparent === undefined ? bindings : { ...bindings, traceparent },
          childOptions,
        );
      }) as unknown as FastifyBaseLogger,
    bodyLimit: 64 * 1024,
    // limits/connections.ts has a deadline for each request.
    requestTimeout: 0,
    // Otherwise a caller that does not read its response would keep it, and the connection, forever.
    connectionTimeout: (options.silenceSeconds ?? options.requestTimeoutSeconds + 60) * 1000,
    keepAliveTimeout: 72_000,
    http: {
      maxHeaderSize: maxHeaderBytes,
      headersTimeout: Math.min(options.requestTimeoutSeconds, 10) * 1000,
      connectionsCheckingInterval: 1_000,
      // A repeated Authorization or Content-Type is refused, instead of silently dropped.
      joinDuplicateHeaders: true,
      // A hook requires Host, so that the refusal is a problem document.
      requireHostHeader: false,
    },
    // As long as a path can be: the schema refuses an id that is too long, after authentication.
    routerOptions: { maxParamLength: maxHeaderBytes },
    // While the server closes, requests on open connections are still served, with Connection: close.
    return503OnClosing: false,
    ajv: {
      customOptions: { coerceTypes: false, removeAdditional: false, useDefaults: false, allErrors: true },
    },
    schemaErrorFormatter: refuseInvalid,
    clientErrorHandler: (error, socket) => connections.refuse(error, socket),
    // Hooks do not run for these errors.
    frameworkErrors: (error, request, reply) => {
      reply.headers(headers).header('transactionId', request.id);
      reply.headers(corsHeaders(request.headers.origin, allowedOrigins));
      if (allowedOrigins.size > 0) reply.header('vary', 'Origin');
      sendError(reply, problemResponse(toProblem(error), request.id));
    },
  });
  connections.watch(app.server);
  app.addHook('onRequest', ({ raw }, _reply, done) => connections.inTurn(raw, done));
  return { app, connections };
}

function addHeaders(
  app: FastifyInstance,
  headers: Readonly<Record<string, string>>,
  allowedOrigins: ReadonlySet<string>,
): void {
  let closing = false;
  app.addHook('preClose', async () => {
    closing = true;
  });
  const always = Object.entries(headers);
  app.addHook('onSend', (request, reply, _payload, done) => {
    for (const [name, value] of always) {
      if (!reply.hasHeader(name)) reply.header(name, value);
    }
    if (request.atHost !== null) reply.headers(onlyByTls);
    reply.headers(corsHeaders(request.headers.origin, allowedOrigins)).header('transactionId', request.id);
    if (allowedOrigins.size > 0) {
      const varies = reply.getHeader('vary');
      reply.header('vary', varies === undefined ? 'Origin' : `${varies}, Origin`);
    }
    if (closing) reply.header('connection', 'close');
    done();
  });
}

/** Registers the operation in a scope of its own, with only the media types of its body. */
function registerOperation(
  app: FastifyInstance,
  services: Services,
  operation: Operation,
  {
    publicUrl,
    mtlsUrl,
    rates,
    admission,
    connections,
  }: Pick<ServerOptions, 'publicUrl' | 'mtlsUrl'> & {
    readonly rates: Rates;
    readonly admission: Admission;
    readonly connections: Connections;
  },
): void {
  const responseType = Object.values(operation.responses).find(({ mediaType }) => mediaType)?.mediaType;
  const { memory } = services;
  const urlOf = urlReader(publicUrl, mtlsUrl);
  app.register(async (scope) => {
    for (const mediaType of operation.body?.mediaTypes ?? []) {
      if (operation.body?.streamed || mediaType === 'application/x-ndjson') {
        scope.addContentTypeParser(mediaType, (request, payload, done) => {
          connections.liftDeadline(request.raw);
          done(null, payload);
        });
        continue;
      }
      const parse = bodyParsers[mediaType];
      // Many clients send a Content-Type without a body.
      const parseSome: typeof parse = async (request, body) =>
        body.length === 0 ? undefined : parse(request, body);
      scope.addContentTypeParser(
        mediaType,
        { parseAs: 'buffer' },
        operation.body?.optional ? parseSome : parse,
      );
    }
    const admit = (request: FastifyRequest, reply: FastifyReply, caller: Caller) => {
      request.caller = caller;
      authorize(caller, operation);
      if (operation.rate !== undefined) rates.count(operation.rate, request, reply);
      requireAcceptable(request.headers.accept, responseType ?? 'application/json');
    };
    const verifyFirst = callerVerifier(
      memory,
      {
        remembers: operation.remembers === true,
        asksForPosition: operation.isHistory === true && services.hasStandbys,
      },
      admit,
    );
    scope.addHook('onRequest', (request, reply, done) => {
      if (operation.token === 'none') {
        requireAcceptable(request.headers.accept, 'application/json');
        return done();
      }
      const { authorization, dpop } = request.headers;
      const url = urlOf(request);
      const proof = { text: dpop?.toString() ?? '', method: request.method, url };
      const certificate = request.clientCert ?? undefined;
      const identified = authenticate(
        request.atHost ?? services,
        { authorization, proof, certificate },
        (client) => admission.admit(client, reply),
      );
      const { remembered, proven, verify } = identified;
      if (remembered === undefined || proven !== undefined || operation.verifiesItself === undefined) {
        verifyFirst(request, reply, identified, done);
        return;
      }
      request.unverified = identified;
      admit(request, reply, remembered.value);
      // A body that was sent with its head is complete in the next turn. The server does not wait for a slower one on behalf
      // of a caller whose token may be inactive.
      setImmediate(() => {
        if (request.raw.complete) done();
        else verify().then(() => done(), done);
      });
    });
    if (operation.fdx) {
      scope.addHook('onSend', (request, reply, _payload, done) => {
        const given = request.headers[interactionHeader]?.toString();
        reply.header(interactionHeader, interactionIdOf(given, request.id));
        done();
      });
    }
    if (operation.query !== undefined) {
      scope.addHook('preValidation', (request, _reply, done) => {
        request.query = readScalars(request.query as Record<string, unknown>, operation.query);
        done();
      });
    }
    if (operation.body?.optional) {
      scope.addHook('preValidation', (request, _reply, done) => {
        request.body ??= {};
        done();
      });
    }
    const { body } = operation;
    if (body !== undefined && !body.streamed && !operation.oauth) {
      scope.addHook('preValidation', (request, _reply, done) => {
        const read = readLeniently(request.body, request.bodyFacts ?? noBodyFacts, body);
        request.body = read.body;
        request.bodyFacts = read.facts;
        done();
      });
    }
    scope.route({
      method: operation.method,
      url: toPattern(operation.path),
      config: { operation },
      schema: {
        ...(operation.params && { params: operation.params }),
        ...(operation.token !== 'none' && { querystring: closedQuery(operation.query) }),
        ...(operation.body &&
          !operation.body.streamed &&
          !operation.oauth && { body: operation.body.schema }),
      },
      handler: async (request, reply) => {
        if (operation.scope?.startsWith('core:') && request.caller?.actor.kind === 'client')
          // The next request of the core tries again.
          services.heardFromCore(request.caller.actor).catch(() => {});
        const actor = request.caller?.actor as Actor;
        const basis = operation.remembers && memory.begin(actor.institutionId);
        const seen = operation.isHistory ? memory.logPosition : null;
        const response = await operation.handle(request.atHost ?? services, {
          actor: actor as never,
          scopes: request.caller?.scopes ?? [],
          basis: basis as Basis,
          seen,
          verifyCaller: async () => request.unverified?.verify(),
          origin: {
            transactionId: request.id,
            address: request.callerAddress,
            isForwarded: request.callerAddress !== plainAddress(request.socket.remoteAddress),
          },
          certificate: request.clientCert ?? undefined,
          url: urlOf(request),
          params: request.params as Record<string, never>,
          query: request.query as Record<string, never>,
          body: request.body,
          bytes: operation.body?.streamed ? byteStreamOf(request, request.body as Readable) : noBytes,
          ...(request.bodyFacts ?? noBodyFacts),
          countFor: (clientId) => {
            if (operation.rate !== undefined) rates.countClient(operation.rate, clientId, reply);
          },
          count: (rate) => rates.count(rate, request, reply),
          whileLeft: (rate, act) => rates.whileLeft(rate, request, act),
          note: (rate) => rates.note(rate, request),
          stepAside: () => admission.stepAside(reply),
          recognize: recognizerOf(request),
          log: request.log,
          header: (name) => request.headers[name]?.toString(),
        });
        if (basis === undefined || !('body' in response)) return sendResponse(request, reply, response);
        const url = answeredUrl(request);
        return sendAnswer(request, reply, rememberAnswer(memory, { actor, basis, url }, response));
      },
    });
  });
}

/** Returns the requested URL as the caller sees it, without the query. */
function urlReader(publicUrl: string, mtlsUrl: string | undefined): (request: FastifyRequest) => string {
  const mtlsHost = mtlsUrl && new URL(mtlsUrl).host;
  return ({ atHost, headers, url }) => {
    const own = mtlsUrl && headers.host?.toLowerCase() === mtlsHost ? mtlsUrl : publicUrl;
    return `${atHost?.authorizationServer.issuer ?? own}${pathOf(url)}`;
  };
}

/** The path without the query; of the absolute form (RFC 9112, section 3.2.2) the path alone. */
function pathOf(target: string): string {
  return target.split('?', 1)[0]?.replace(/^https?:\/\/[^/]*/i, '') ?? '';
}

/** Counts the Host headers as sent. Node's parsed headers keep the first one only. */
function countHosts(rawHeaders: readonly string[]): number {
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] as string;
    if (name.length === 4 && name.toLowerCase() === 'host') hosts += 1;
  }
  return hosts;
}

function registerPage(
  app: FastifyInstance,
  page: Page,
  {
    publicUrl,
    appClientId,
    findLogo,
  }: Pick<ServerOptions, 'publicUrl' | 'appClientId'> & Pick<Services, 'findLogo'>,
): void {
  app.get(toPattern(page.path), async (request, reply) => {
    const { status, headers, body } = await page.handle({
      publicUrl: request.atHost?.authorizationServer.issuer ?? publicUrl,
      appClientId,
      params: request.params as Record<string, string>,
      header: (name) => request.headers[name]?.toString(),
      findLogo,
    });
    return reply
      .code(status ?? 200)
      .headers(headers)
      .send(body);
  });
}

/** Registers the other methods of each path: OPTIONS lists the allowed methods, and all others get 405. */
function registerOtherMethods(app: FastifyInstance, allowedOrigins: ReadonlySet<string>): void {
  for (const method of METHODS) {
    if (method !== 'CONNECT' && !app.supportedMethods.includes(method)) app.addHttpMethod(method);
  }
  const routes = [
    ...operations,
    ...browserRoutes,
    ...operatorPages,
    ...operationsOfOperators.map(({ path, method }) => ({ path: `${operationsBase}${path}`, method })),
    ...pages.map(({ path }) => ({ path, method: 'GET' })),
  ];
  for (const [path, together] of Map.groupBy(routes, (route) => route.path)) {
    const own = together.flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
    const allow = [...own, 'OPTIONS'].join(', ');
    app.options(toPattern(path), async ({ headers }, reply) => {
      const isPreflight = headers['access-control-request-method'] !== undefined;
      if (isPreflight && allowedOrigins.has(headers.origin ?? ''))
        reply.headers(preflightHeaders(own.join(', ')));
      return reply.code(204).header('allow', allow).send();
    });
    app.route({
      method: app.supportedMethods.filter((method) => method !== 'OPTIONS' && !own.includes(method)),
      url: toPattern(path),
      onRequest: async (_request, reply) => {
        reply.header('allow', allow);
        throw new Problem('method_not_allowed', `This path allows ${allow}.`);
      },
      handler: () => {},
    });
  }
}

function toPattern(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, ':$1');
}

function sendResponse(
  request: FastifyRequest,
  reply: FastifyReply,
  response: OperationResponse,
): FastifyReply {
  if (response.headers !== undefined) reply.headers(response.headers);
  request.transferId = response.transferId ?? null;
  if ('problem' in response) return sendProblem(request, reply, response.problem);
  if ('stream' in response) {
    return reply.code(response.status).type('application/x-ndjson').send(Readable.from(response.stream));
  }
  // JSON.stringify writes exact numbers; a serializer made from the schema does not.
  return reply.code(response.status).type('application/json').send(JSON.stringify(response.body));
}

function sendProblem(request: FastifyRequest, reply: FastifyReply, problem: Problem): FastifyReply {
  request.problemCode = problem.code;
  request.transferId ??= transferIdOf(problem);
  request.failure = databaseFailureOf(problem) ?? null;
  const { authorization } = request.headers;
  const { operation, right } = request.routeOptions.config;
  const challenge = challengeOf(problem, { authorization, scope: operation?.scope ?? right });
  if (challenge !== undefined) reply.header('www-authenticate', challenge);
  // The response tells no caller why.
  if (problem.code === 'invalid_token' && ['debug', 'trace'].includes(request.server.log.level)) {
    const reason = problem.cause instanceof Error ? problem.cause.message : problem.cause;
    request.log.debug({ event: 'token_refused', reason: reason ?? problem.detail }, 'token refused');
  }
  const response = operation?.fdx
    ? fdxErrorResponse(problem, request.id)
    : problemResponse(problem, request.id);
  // A process that is told to stop reports it to its proxy each second; that is no failure.
  if (response.status >= 500 && problem.code !== 'shutting_down')
    request.log.error(
      { code: problem.code, ...request.failure, error: describeError(problem) },
      problem.detail,
    );
  return sendError(reply, response);
}

/** A declined order, or one without an outcome. */
function transferIdOf({ code, members }: Problem): string | null {
  if (code === 'outcome_unknown') return typeof members.id === 'string' ? members.id : null;
  const { transfer } = members as { readonly transfer?: { readonly id: string } };
  return transfer?.id ?? null;
}

function sendError(reply: FastifyReply, { status, headers, body }: ErrorResponse): FastifyReply {
  return reply.code(status).headers(headers).send(JSON.stringify(body));
}
