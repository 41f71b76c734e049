import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Clue } from '../../cell-directory/index.ts';
import { Problem } from '../../shared/problem.ts';
import type { Connections } from '../limits/connections.ts';
import { clientCertHeader } from '../request/client-cert.ts';
import { cluesOfForm, cluesOfHead } from './clues.ts';
import { forwardedHeader, openHop, sealHop } from './forwarded-by.ts';
import { Forwarder } from './send-on.ts';

/** The other cells, as the edge asks for them. */
export interface OtherCells {
  /** The issuer of our own tokens. */
  readonly issuer: string;
  /** Of the header between cells. */
  readonly key: Uint8Array;
  now(): Date;
  /** Whether the clue names an institution that this cell serves, as far as this process knows without asking. */
  isHere(clue: Clue): boolean;
  /**
   * The other cell that serves the institution of the first clue that is known. Undefined for one of this cell, and for a request that no
   * cell knows. Problem `institution_moving`, `database_unavailable`.
   */
  find(clues: readonly Clue[]): Promise<{ readonly cell: string; readonly address: string } | undefined>;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Another cell sent it on, or says so. It takes no second hop. */
    isSentOn: boolean;
    /** Clues of the head, for a request whose body has surer ones. */
    cluesOfHead: readonly Clue[] | null;
  }
}

/** Responses of one process. */
const ofThisProcess = new Set(['livez', 'readyz', 'version']);
const mostFormBytes = 64 * 1024;

/**
 * Sends the requests of institutions that another cell serves on to that cell: before the body is read, or for a token request behind its
 * form. A request of this cell's own institutions costs a look at its token, and asks no directory.
 */
export function registerForwarding(app: FastifyInstance, cells: OtherCells, connections: Connections): void {
  const forwarder = new Forwarder();
  app.decorateRequest('cluesOfHead', null);
  app.addHook('onClose', async () => forwarder.close());

  const sendOn = async (
    request: FastifyRequest,
    reply: FastifyReply,
    { clues, body }: { readonly clues: readonly Clue[]; readonly body?: Buffer },
  ): Promise<boolean> => {
    const found = await cells.find(clues);
    if (found === undefined) return false;
    const { method, raw } = request;
    const address = request.callerAddress ?? '';
    const clientCert = request.clientCert ?? undefined;
    const hop = { method, url: raw.url ?? '', address, clientCert };
    const headers = {
      [forwardedHeader]: sealHop(cells.key, hop, cells.now()),
      'x-forwarded-for': address,
      ...(clientCert !== undefined && { [clientCertHeader]: clientCert }),
      transactionid: request.id,
    };
    // A body that streams for hours is the other cell's to limit.
    if (request.routeOptions.config.operation?.body?.streamed) connections.liftDeadline(raw);
    await forwarder.send(request, reply, { ...found, headers, body });
    return true;
  };

  app.addHook('onRequest', (request, reply, done) => {
    const { headers, method, raw } = request;
    const { operation } = request.routeOptions.config;
    const given = headers[forwardedHeader]?.toString();
    if (given !== undefined) {
      request.isSentOn = true;
      const clientCert = headers[clientCertHeader]?.toString();
      const hop = { method, url: raw.url ?? '', clientCert, now: cells.now() };
      const address = openHop(cells.key, given, hop);
      if (address !== undefined) {
        request.callerAddress = address || null;
        request.clientCert = clientCert ?? null;
      }
      return done();
    }
    if (operation !== undefined && ofThisProcess.has(operation.operationId)) return done();
    const [, query] = raw.url?.split('?', 2) ?? [];
    const clues = cluesOfHead(
      { authorization: headers.authorization, host: headers.host, query },
      cells.issuer,
    );
    const [surest] = clues;
    if (
      operation?.oauth &&
      operation.body !== undefined &&
      (surest === undefined || surest.kind === 'host')
    ) {
      request.cluesOfHead = clues;
      return done();
    }
    if (surest === undefined || cells.isHere(surest)) return done();
    sendOn(request, reply, { clues }).then((isSent) => isSent || done(), done);
  });

  app.addHook('preParsing', async (request, reply, payload) => {
    const { cluesOfHead: before } = request;
    if (before === null) return payload;
    const { chunks, isWhole } = await readForm(payload);
    const body = Buffer.concat(chunks);
    const clues = [...(isWhole ? cluesOfForm(body, cells.issuer) : []), ...before];
    // A hook that has sent the reply returns it, and nothing runs behind it.
    if (isWhole && clues.length > 0 && (await sendOn(request, reply, { clues, body }))) return reply as never;
    return Object.assign(Readable.from(isWhole ? [body] : rest(chunks, payload)), {
      receivedEncodedLength: isWhole ? body.length : 0,
    });
  });
}

/** The error as a client reads it that knows one address only: the process is behind by a moment, and a second request is sent on. */
export function forOneAddress(error: unknown): unknown {
  if (!(error instanceof Problem && error.code === 'institution_elsewhere')) return error;
  return new Problem(
    'institution_moving',
    'The institution has just moved to another cell. Nothing was written.',
    { cause: error, retryAfterSeconds: 1 },
  );
}

async function readForm(
  payload: AsyncIterable<Buffer>,
): Promise<{ readonly chunks: Buffer[]; readonly isWhole: boolean }> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  const iterator = payload[Symbol.asyncIterator]();
  for (let next = await iterator.next(); !next.done; next = await iterator.next()) {
    chunks.push(next.value);
    bytes += next.value.length;
    if (bytes > mostFormBytes) return { chunks, isWhole: false };
  }
  return { chunks, isWhole: true };
}

/** The parser refuses it for its length. */
async function* rest(chunks: readonly Buffer[], payload: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  yield* chunks;
  yield* payload;
}
