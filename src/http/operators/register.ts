import type { FastifyInstance, FastifyRequest } from 'fastify';
import {
  findOperator,
  type LiveStream,
  type OperatorDeps,
  originOf,
  requireRight,
  type SignedInOperator,
} from '../../operators/index.ts';
import type { Page } from '../../shared/page.ts';
import { Problem, type ProblemCode } from '../../shared/problem.ts';
import type { Admission } from '../limits/admission.ts';
import { requireAcceptable } from '../request/accept.ts';
import { plainAddress } from '../request/address/address.ts';
import { bodyParsers } from '../request/body/body-parsers.ts';
import { pageResponse, readPage } from '../request/paging.ts';
import { closedQuery, readScalars } from '../request/query-parameters.ts';
import { eventHeaders, eventsOf } from './event-stream.ts';
import { type OperatorOperation, operationsBase, type StreamReader } from './operation.ts';
import { operationsOfOperators } from './operations.ts';
import { idsOf, querySchemaOf } from './schemas-of.ts';
import { SessionCookie } from './session-cookie.ts';

declare module 'fastify' {
  interface FastifyRequest {
    operator: SignedInOperator | null;
  }
  interface FastifyContextConfig {
    /** The right that an operator lacks is named in the challenge. */
    right?: string;
    /** For the metrics. */
    isStream?: boolean;
  }
}

/** A header of requests that a page makes while nobody is at it. They are no use of the session, so it ends in time. */
const unattended = 'sharedraft-unattended';

/** Refusals of an act on a transfer that exists. */
const refusalsOfTransfer: readonly ProblemCode[] = ['act_refused', 'transfer_final', 'transfer_with_core'];

/** The operations of operators. Every one of them is checked here, before its body is read. */
export function registerOperatorOperations(
  app: FastifyInstance,
  deps: OperatorDeps,
  { publicUrl, admission }: { readonly publicUrl: string; readonly admission: Admission },
): void {
  app.decorateRequest('operator', null);
  const cookie = new SessionCookie(publicUrl);
  for (const operation of operationsOfOperators) {
    app.register(async (scope) => {
      const json = 'application/json';
      if (operation.body !== undefined)
        scope.addContentTypeParser(json, { parseAs: 'buffer' }, bodyParsers[json]);
      scope.addHook('onRequest', async (request, reply) => {
        const secret = cookie.secretOf(request);
        admission.admit('operators', reply);
        const isUse = operation.isStream === undefined && request.headers[unattended] === undefined;
        request.operator = await findOperator(deps, secret, isUse);
        if (operation.right !== 'any') requireOrNote(deps, request, operation.right);
        requireAcceptable(request.headers.accept, operation.isStream ? 'text/event-stream' : json);
      });
      const query = querySchemaOf(operation);
      scope.addHook('preValidation', async (request) => {
        request.query = readScalars(request.query as Record<string, unknown>, query);
      });
      scope.route({
        method: operation.method,
        url: `${operationsBase}${operation.path}`.replaceAll(/\{(\w+)\}/g, ':$1'),
        config: {
          operationId: operation.operationId,
          right: operation.right,
          isStream: operation.isStream === true,
        },
        schema: {
          params: idsOf(operation.path),
          querystring: closedQuery(query),
          ...(operation.body && { body: operation.body }),
        },
        handler: async (request, reply) => {
          const reader = readerOf(request, () => admission.stepAside(reply));
          if (operation.isStream && request.method === 'HEAD') return reply.headers(eventHeaders).send();
          const {
            status,
            headers = {},
            body,
          } = await respond(operation, deps, {
            ...{ request, publicUrl, reader },
          });
          if (operation.isStream) {
            const { events, cut } = eventsOf(body as LiveStream);
            cut.addEventListener('abort', () => reply.raw.destroy());
            return reply.headers(eventHeaders).send(events);
          }
          return reply.code(status).headers(headers).type(json).send(JSON.stringify(body, plainNumber));
        },
      });
    });
  }
}

/** Problems of `requireRight`. The audit counts the refusals of each operator. */
function requireOrNote(
  { clock, auth }: OperatorDeps,
  request: FastifyRequest,
  right: Exclude<OperatorOperation['right'], 'any'>,
): void {
  const operator = operatorOf(request);
  try {
    requireRight(operator, right, clock());
  } catch (error) {
    const origin = originOf(operator, requestOrigin(request));
    const entry = { action: 'operator.refused', outcome: 'refused', reason: right, origin } as const;
    auth.audit.note(operator.institutionId, entry);
    throw error;
  }
}

async function respond(
  operation: OperatorOperation,
  deps: OperatorDeps,
  {
    request,
    publicUrl,
    reader,
  }: { readonly request: FastifyRequest; readonly publicUrl: string; readonly reader: StreamReader },
): Promise<{ status: number; headers?: Readonly<Record<string, string>>; body: unknown }> {
  const operator = operatorOf(request);
  const { institutionId } = operator;
  const url = `${publicUrl}${request.url.split('?', 1)[0]}`;
  const query = request.query as Record<string, never>;
  const list = { actor: { institutionId }, url, query };
  const { positionWords } = operation;
  // For the log once the transfer is known to exist: the text of another id could be anything.
  const about = (request.params as { readonly transferId?: string }).transferId ?? null;
  const work = operation.handle(deps, {
    operator,
    institutionId,
    origin: { ...originOf(operator, requestOrigin(request)), statedReason: reasonIn(request.body) },
    params: request.params,
    query,
    body: request.body,
    page: positionWords === undefined ? { limit: 0, after: null } : readPage(list, positionWords),
    reader,
  });
  const found = await Promise.resolve(work).catch((error) => {
    if (error instanceof Problem && refusalsOfTransfer.includes(error.code)) request.transferId = about;
    throw error;
  });
  if (found === undefined) throw new Problem('not_found', 'There is nothing with this id.');
  request.transferId = about;
  if (positionWords === undefined) return { status: 200, body: found };
  const response = pageResponse(list, found as Page<object>, (item) => item);
  return 'body' in response ? response : { status: 200, body: [] };
}

/** The query has the id where a page opens a new stream itself: browsers send the header only when they reconnect. */
function readerOf({ headers, query }: FastifyRequest, stepAside: () => AbortSignal): StreamReader {
  const { lastEventId } = query as { readonly lastEventId?: string };
  return { lastId: headers['last-event-id']?.toString() ?? lastEventId, stepAside };
}

/** Every act with a reason has it in its audit entries. */
function reasonIn(body: unknown): string | undefined {
  const { reason } = Object(body) as { readonly reason?: unknown };
  return typeof reason === 'string' ? reason : undefined;
}

function operatorOf({ operator }: FastifyRequest): SignedInOperator {
  if (operator === null) throw new Problem('missing_token', 'Sign in as an operator.');
  return operator;
}

export function requestOrigin(request: FastifyRequest) {
  return {
    transactionId: request.id,
    address: request.callerAddress,
    isForwarded: request.callerAddress !== plainAddress(request.socket.remoteAddress),
  };
}

/** Numbers of entries and events are safe integers; amounts are text before they get here. */
function plainNumber(_name: string, value: unknown): unknown {
  return typeof value === 'bigint' ? Number(value) : value;
}
