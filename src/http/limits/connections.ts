import { randomUUID } from 'node:crypto';
import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { Problem } from '../../shared/problem.ts';
import { problemResponse } from '../problems.ts';

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Ends a request that does not arrive in time. */
  readonly deadline: NodeJS.Timeout;
}

/** Sent on one connection without a wait for the responses. Each is kept until its turn, and anybody can send them. */
const mostWaiting = 100;

/**
 * Handles several requests on one connection, and input that never becomes a request: bytes that are not HTTP, headers that
 * are too large, a client that is too slow. For such input Node passes the bare socket, on which earlier requests may still
 * be served. They finish first, then the problem is sent, then the connection closes; otherwise a completed transfer could
 * get the 400 of the garbage that followed it.
 */
export function connectionsWith(headers: Readonly<Record<string, string>>, requestTimeoutMillis: number) {
  const exchanges = new WeakMap<Socket, Exchange[]>();

  return {
    watch(server: Server): void {
      server.prependListener('request', (request: IncomingMessage, response: ServerResponse) => {
        const { socket } = request;
        const open = exchanges.get(socket) ?? [];
        exchanges.set(socket, open);
        // Requests of the same packet still arrive after this.
        if (open.length >= mostWaiting) socket.destroy();
        if (socket.destroyed) return;
        // Node's own limit is off, because it would also end a streamed body.
        const deadline = setTimeout(() => {
          if (!request.complete)
            this.refuse(Object.assign(new Error(), { code: 'ERR_HTTP_REQUEST_TIMEOUT' }), socket);
        }, requestTimeoutMillis);
        const exchange = { request, response, deadline };
        open.push(exchange);
        response.on('close', () => {
          clearTimeout(deadline);
          open.splice(open.indexOf(exchange), 1);
        });
      });
      // Without this listener Node closes the connection without a response.
      server.on('connect', (_request, socket: Socket) => {
        socket.on('error', () => {});
        this.refuse(Object.assign(new Error(), { code: 'CONNECT' }), socket);
      });
      // Other expectations than 100-continue are ignored, as RFC 9110, section 10.1.1 allows.
      server.on('checkExpectation', (request, response) => server.emit('request', request, response));
    },

    /**
     * Requests that were sent without a wait for the responses are served one after another, in the order sent (RFC 9112,
     * section 9.3.2): a transfer may spend the money of the one before it. When the connection ends,
     * those whose turn has not come are not served.
     */
    inTurn(request: IncomingMessage, serve: () => void): void {
      const { socket } = request;
      if (socket.destroyed) return;
      const open = exchanges.get(socket);
      const before = open?.[open.findIndex((exchange) => exchange.request === request) - 1];
      if (before === undefined) serve();
      else before.response.once('close', () => socket.destroyed || serve());
    },

    /** The body of this request may take as long as it arrives; the silence of its connection still ends it. */
    liftDeadline(request: IncomingMessage): void {
      const exchange = exchanges.get(request.socket)?.find((one) => one.request === request);
      clearTimeout(exchange?.deadline);
    },

    refuse(error: NodeJS.ErrnoException, socket: Socket): void {
      const open = exchanges.get(socket) ?? [];
      // A request with an incomplete body is the broken one itself.
      const earlier = open.filter(({ request }) => request.complete).at(-1);
      if (earlier !== undefined) {
        earlier.response.once('close', () => this.refuse(error, socket));
        return;
      }
      if (
        error.code === 'ECONNRESET' ||
        !socket.writable ||
        open.some(({ response }) => response.headersSent)
      ) {
        socket.destroy();
        return;
      }
      socket.end(rawResponse(problemOf(error), headers));
    },
  };
}

export type Connections = ReturnType<typeof connectionsWith>;

function problemOf({ code = '' }: NodeJS.ErrnoException): Problem {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return new Problem('headers_too_large', 'The request line and headers may have at most 16,384 bytes.');
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new Problem('request_timeout', 'The request did not arrive in time.');
    default:
      return new Problem('invalid_request', details[code] ?? 'The request is not HTTP/1.1.');
  }
}

/** Details by the parser's code. */
const details: Readonly<Record<string, string>> = {
  CONNECT: 'The service is not a proxy; CONNECT is not supported.',
  HPE_INVALID_METHOD: 'The method does not exist, or the bytes are not HTTP.',
  HPE_INVALID_VERSION: 'The version is not HTTP/1.1.',
  HPE_INVALID_URL: 'The path contains a character that must be percent-encoded.',
  HPE_INVALID_HEADER_TOKEN: 'A header is malformed.',
  HPE_INVALID_CONTENT_LENGTH: 'Content-Length is not a number of bytes, or Transfer-Encoding is sent too.',
  HPE_UNEXPECTED_CONTENT_LENGTH: 'Content-Length is repeated.',
  HPE_INVALID_TRANSFER_ENCODING: 'Transfer-Encoding can only be chunked, without Content-Length.',
  HPE_INVALID_CHUNK_SIZE: 'The size of a chunk of the body is malformed.',
};

function rawResponse(problem: Problem, headers: Readonly<Record<string, string>>): string {
  const transactionId = randomUUID();
  const response = problemResponse(problem, transactionId);
  const body = JSON.stringify(response.body);
  const lines = Object.entries({
    ...headers,
    ...response.headers,
    transactionId,
    date: new Date().toUTCString(),
    'content-length': String(Buffer.byteLength(body)),
    connection: 'close',
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${response.status} ${STATUS_CODES[response.status]}\r\n${lines.join('')}\r\n${body}`;
}
