import { randomUUID } from 'node:crypto';
import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { Problem } from '../../shared/problem.ts';
import { problemAnswer } from '../problems.ts';

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/** Sent on one connection without a wait for the answers. Each is kept until its turn, and anybody can send them. */
const mostWaiting = 100;

/**
 * What becomes of several requests on one connection, and of what never became one: bytes that are not HTTP, headers too
 * large, a client too slow. Node hands over the bare connection for those, on which earlier requests may still be served: a
 * transfer just made must not be answered "400" because garbage followed it. So those finish first, then comes the
 * problem, then the end.
 */
export function connectionsWith(headers: Readonly<Record<string, string>>) {
  const exchanges = new WeakMap<Socket, Exchange[]>();

  return {
    watch(server: Server): void {
      server.prependListener('request', (request: IncomingMessage, response: ServerResponse) => {
        const { socket } = request;
        const open = exchanges.get(socket) ?? [];
        exchanges.set(socket, open);
        // What came in one packet is still handed over after this.
        if (open.length >= mostWaiting) socket.destroy();
        if (socket.destroyed) return;
        const exchange = { request, response };
        open.push(exchange);
        response.on('close', () => open.splice(open.indexOf(exchange), 1));
      });
      // Node would end the connection without a word.
      server.on('connect', (_request, socket: Socket) => {
        socket.on('error', () => {});
        this.answer(Object.assign(new Error(), { code: 'CONNECT' }), socket);
      });
      // What else is expected than 100-continue is nothing that we do, or need to refuse (RFC 9110, section 10.1.1).
      server.on('checkExpectation', (request, response) => server.emit('request', request, response));
    },

    /**
     * Requests that were sent without a wait for the answers are served one after another, as who sent them so must be able
     * to rely on (RFC 9112, section 9.3.2): a transfer may spend what the one before brings in. When the connection ends,
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

    answer(error: NodeJS.ErrnoException, socket: Socket): void {
      const open = exchanges.get(socket) ?? [];
      // One whose body is still coming is the broken one itself.
      const earlier = open.filter(({ request }) => request.complete).at(-1);
      if (earlier !== undefined) {
        earlier.response.once('close', () => this.answer(error, socket));
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
      socket.end(rawAnswer(problemOf(error), headers));
    },
  };
}

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

/** What the parser says, for whoever has to find out what is wrong. */
const details: Readonly<Record<string, string>> = {
  CONNECT: 'This is no proxy: there is nothing to connect to.',
  HPE_INVALID_METHOD: 'There is no such method, or what came is not HTTP.',
  HPE_INVALID_VERSION: 'The version is not HTTP/1.1.',
  HPE_INVALID_URL: 'The path holds what must be percent-encoded.',
  HPE_INVALID_HEADER_TOKEN: 'A header is malformed.',
  HPE_INVALID_CONTENT_LENGTH: 'Content-Length is not a number of bytes, or stands beside Transfer-Encoding.',
  HPE_UNEXPECTED_CONTENT_LENGTH: 'Content-Length stands twice.',
  HPE_INVALID_TRANSFER_ENCODING: 'Transfer-Encoding can only be chunked, without Content-Length.',
  HPE_INVALID_CHUNK_SIZE: 'The size of a chunk of the body is malformed.',
};

function rawAnswer(problem: Problem, headers: Readonly<Record<string, string>>): string {
  const transactionId = randomUUID();
  const answer = problemAnswer(problem, transactionId);
  const body = JSON.stringify(answer.body);
  const lines = Object.entries({
    ...headers,
    ...answer.headers,
    transactionId,
    date: new Date().toUTCString(),
    'content-length': String(Buffer.byteLength(body)),
    connection: 'close',
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${answer.status} ${STATUS_CODES[answer.status]}\r\n${lines.join('')}\r\n${body}`;
}
