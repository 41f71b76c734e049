import {
  type ClientRequest,
  Agent as HttpAgent,
  request as httpRequest,
  type IncomingMessage,
} from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { pipeline } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Problem } from '../../shared/problem.ts';
import { clientCertHeader } from '../request/client-cert.ts';

/** A cell that does not take the connection in this time is away. */
const connectMillis = 2_000;
/** Shorter than the 72 s for which a cell keeps a connection, so that none is used that it is about to close. */
const idleMillis = 30_000;
const mostIdle = 64;

/** RFC 9110 section 7.6.1. They belong to one connection. */
const hopByHop = new Set([
  ...['connection', 'keep-alive', 'proxy-authenticate', 'proxy-authorization', 'proxy-connection'],
  ...['te', 'trailer', 'transfer-encoding', 'upgrade', 'expect'],
]);

export interface NextHop {
  /** Like http://10.0.0.7:8080 */
  readonly address: string;
  readonly cell: string;
  /** Added, in place of those of the caller. */
  readonly headers: Readonly<Record<string, string>>;
  /** The body, if it was read already. */
  readonly body: Buffer | undefined;
}

/** Sends requests to other cells over connections that are kept. */
export class Forwarder {
  readonly #http = new HttpAgent({ keepAlive: true, maxFreeSockets: mostIdle, timeout: idleMillis });
  readonly #https = new HttpsAgent({ keepAlive: true, maxFreeSockets: mostIdle, timeout: idleMillis });

  /**
   * Streams the request to the other cell, and its response back. Resolves when the response has begun; the reply is not Fastify's from then
   * on. Problem `database_unavailable` if nothing was done there, `outcome_unknown` if that cannot be known.
   */
  async send(request: FastifyRequest, reply: FastifyReply, hop: NextHop): Promise<void> {
    const { raw } = request;
    const outgoing = this.#open(request, hop);
    const left = () => outgoing.destroy();
    reply.raw.once('close', left);
    // Its connection may serve another request by then.
    outgoing.once('close', () => reply.raw.off('close', left));
    try {
      const response = await responseTo(outgoing, () => {
        if (hop.body !== undefined) outgoing.end(hop.body);
        else if (hasBody(raw)) pipeline(raw, outgoing, () => {});
        else outgoing.end();
      });
      if (response.statusCode === 421) {
        response.resume();
        throw unavailable(
          `The cell "${hop.cell}" does not serve the institution, although the directory says so.`,
        );
      }
      reply.hijack();
      reply.raw.writeHead(response.statusCode ?? 502, passedOn(response.rawHeaders));
      // The first bytes of a stream may come much later.
      reply.raw.flushHeaders();
      pipeline(response, reply.raw, (error) => {
        if (error !== undefined && error !== null) reply.raw.destroy();
      });
    } catch (error) {
      outgoing.destroy();
      if (error instanceof Problem) throw error;
      const isSafe = raw.method === 'GET' || raw.method === 'HEAD';
      if (error instanceof NeverConnectedError || isSafe)
        throw unavailable(`The cell "${hop.cell}" cannot be reached. Nothing was written.`, error);
      throw new Problem(
        'outcome_unknown',
        'The answer of the other cell was lost: it may or may not have happened. Repeating the same request is safe.',
        { cause: error },
      );
    }
  }

  close(): void {
    this.#http.destroy();
    this.#https.destroy();
  }

  #open({ raw }: FastifyRequest, { address, headers, body }: NextHop): ClientRequest {
    const { protocol, hostname, port } = new URL(address);
    const isTls = protocol === 'https:';
    return (isTls ? httpsRequest : httpRequest)({
      hostname: hostname.replace(/^\[(.*)\]$/, '$1'),
      ...(port !== '' && { port }),
      method: raw.method,
      path: raw.url?.replace(/^https?:\/\/[^/]*/i, '') || '/',
      agent: isTls ? this.#https : this.#http,
      setDefaultHeaders: false,
      headers: headersFor(raw, headers, body),
    });
  }
}

/** The other cell was not reached, so nothing was done there. */
class NeverConnectedError extends Error {
  override readonly name = 'NeverConnectedError';
}

/** `begin` sends the body once there is a connection. */
function responseTo(outgoing: ClientRequest, begin: () => void): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    let isConnected = false;
    const patience = setTimeout(() => outgoing.destroy(new Error('no connection in time')), connectMillis);
    const connected = () => {
      clearTimeout(patience);
      isConnected = true;
      begin();
    };
    outgoing.once('socket', (socket) => {
      if (!socket.connecting) connected();
      else socket.once('connect', connected);
    });
    outgoing.once('response', resolve);
    outgoing.once('close', () => {
      clearTimeout(patience);
      reject(new Error('the other cell ended the connection'));
    });
    outgoing.on('error', (cause) => {
      clearTimeout(patience);
      reject(isConnected ? cause : new NeverConnectedError(cause.message, { cause }));
    });
  });
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

function headersFor(
  { headers, rawHeaders }: IncomingMessage,
  added: Readonly<Record<string, string>>,
  body: Buffer | undefined,
): string[] {
  const named = new Set(Object.keys(added));
  // Added again if this cell believes it.
  named.add(clientCertHeader);
  const kept = passedOn(rawHeaders).filter((_text, at, all) => !named.has(nameAt(all, at)));
  const framing =
    body === undefined && headers['transfer-encoding'] !== undefined ? ['transfer-encoding', 'chunked'] : [];
  return [...kept, ...Object.entries(added).flat(), ...framing, 'connection', 'keep-alive'];
}

/** The name at an even place or before an odd one, in a flat list of names and values. */
function nameAt(list: readonly string[], at: number): string {
  return (list[at - (at % 2)] as string).toLowerCase();
}

/** The flat list of headers without those of the connection. */
function passedOn(rawHeaders: readonly string[]): string[] {
  const named = rawHeaders.flatMap((text, at) =>
    at % 2 === 1 && nameAt(rawHeaders, at) === 'connection'
      ? text.split(',').map((name) => name.trim().toLowerCase())
      : [],
  );
  return rawHeaders.filter((_text, at) => {
    const name = nameAt(rawHeaders, at);
    return !hopByHop.has(name) && !named.includes(name);
  });
}

/** To a client it is as if the database of the institution were away: nothing was written, and the request is safe to repeat. */
function unavailable(detail: string, cause?: unknown): Problem {
  return new Problem('database_unavailable', detail, { cause, retryAfterSeconds: 1 });
}
