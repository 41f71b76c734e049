import { lookup } from 'node:dns';
import http from 'node:http';
import https from 'node:https';
import type { LookupFunction } from 'node:net';
import { type DeliveryMessage, seams } from '../../shared/seams.ts';
import { mayConnectTo, type TargetRules, targetRefusal } from './target.ts';

/** The outcome of one request. No part of the response is trusted, and little of it is kept. */
export interface Posted {
  /** Undefined if no response came. */
  readonly status: number | undefined;
  /** A word of ours; undefined if the receiver accepted. */
  readonly error: string | undefined;
  /** The receiver will never accept it, so it is not sent again. */
  readonly isFinal?: boolean;
  /** The first 256 bytes, with everything escaped that is not visible ASCII. */
  readonly response: string;
  readonly retryAfterSeconds: number | undefined;
  readonly durationMillis: number;
}

/** An outcome with the response as it came, up to the limit of the request. */
interface Reply extends Posted {
  readonly body: Buffer;
}

export interface Post {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Default: POST. */
  readonly method?: 'GET' | 'POST';
  /** Default: 15 seconds. */
  readonly deadlineMillis?: number;
  /** Default: 4 KB. The rest of a longer response is not read. */
  readonly mostBytes?: number;
}

const defaultDeadlineMillis = 15_000;
const usuallyMostBytes = 4_096;
const keptResponseBytes = 256;

/** Node looks up no literal, so those are refused beforehand. Addresses are checked at each connection, not at registration. */
class AddressRefusedError extends Error {
  override readonly name = 'AddressRefusedError';
}

interface SenderOptions {
  /** The kind of its requests, for metrics and traces. */
  readonly kind?: string;
  readonly resolve?: typeof lookup;
  /** Connections at once. */
  readonly mostSockets?: number;
}

/** The connections to one endpoint, which no other endpoint shares. */
export class Sender {
  readonly #agents: { readonly http: http.Agent; readonly https: https.Agent };
  readonly #lookup: LookupFunction;
  readonly #rules: TargetRules;

  readonly #kind: string;

  constructor(
    rules: TargetRules,
    { kind = 'webhook', resolve = lookup, mostSockets = 8 }: SenderOptions = {},
  ) {
    this.#rules = rules;
    this.#kind = kind;
    this.#lookup = guardedLookup(rules, resolve);
    const options = { keepAlive: true, maxSockets: mostSockets, timeout: 30_000 };
    this.#agents = { http: new http.Agent(options), https: new https.Agent(options) };
  }

  close(): void {
    this.#agents.http.destroy();
    this.#agents.https.destroy();
  }

  /** Never rejects, and follows no redirect. */
  async post(post: Post): Promise<Reply> {
    const url = URL.parse(post.url);
    if (!seams.delivery.hasSubscribers || url === null) return this.#send(post);
    const { method = 'POST' } = post;
    const message: DeliveryMessage = { kind: this.#kind, method, url, headers: {} };
    return seams.delivery.tracePromise(async () => {
      const posted = await this.#send({ ...post, headers: { ...post.headers, ...message.headers } });
      const { status, error: outcome = 'accepted', durationMillis } = posted;
      Object.assign(message, { status, outcome, seconds: durationMillis / 1000 });
      return posted;
    }, message);
  }

  #send(post: Post, isRepeated = false): Promise<Reply> {
    const { url, headers, body, method = 'POST' } = post;
    const { deadlineMillis = defaultDeadlineMillis, mostBytes = usuallyMostBytes } = post;
    const started = performance.now();
    const ended = (part: Partial<Reply>): Reply => ({
      status: undefined,
      error: undefined,
      response: '',
      body: Buffer.alloc(0),
      retryAfterSeconds: undefined,
      ...part,
      durationMillis: Math.round(performance.now() - started),
    });
    const refusal = targetRefusal(url, this.#rules);
    if (refusal !== undefined) return Promise.resolve(ended({ error: 'address_not_allowed' }));
    const isSecure = url.startsWith('https:');
    return new Promise((resolve) => {
      const request = (isSecure ? https : http).request(url, {
        method,
        agent: isSecure ? this.#agents.https : this.#agents.http,
        lookup: this.#lookup,
        headers: {
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(body),
          'user-agent': 'Sharedraft-Webhooks/1',
          ...headers,
        },
      });
      const timer = setTimeout(() => request.destroy(new Error('timeout')), deadlineMillis);
      const end = (part: Partial<Reply>) => {
        clearTimeout(timer);
        resolve(ended(part));
      };
      request.on('error', (error: NodeJS.ErrnoException) => {
        // The receiver closed an idle connection at the moment of its next use. One that had read the request gets it twice.
        const isStale = !isRepeated && request.reusedSocket && error.code === 'ECONNRESET';
        if (!isStale) return end({ error: wordFor(error) });
        clearTimeout(timer);
        void this.#send(post, true).then(resolve);
      });
      request.on('response', (response) => {
        const { statusCode: status = 0, headers } = response;
        const chunks: Buffer[] = [];
        let bytes = 0;
        const finish = () => {
          const received = Buffer.concat(chunks);
          end({
            status,
            error: status >= 200 && status < 300 ? undefined : `status_${status}`,
            response: escaped(received.subarray(0, keptResponseBytes)),
            body: received,
            retryAfterSeconds: secondsOf(headers['retry-after']),
          });
        };
        response.on('data', (chunk: Buffer) => {
          chunks.push(chunk.subarray(0, mostBytes - bytes));
          bytes += chunk.length;
          if (bytes >= mostBytes) response.destroy();
        });
        response.on('end', finish);
        // The status has come, and counts. Only the deadline makes an unfinished response a failure.
        response.on('close', finish);
        response.on('error', () => {});
      });
      request.end(body);
    });
  }
}

/** Resolves a name, and refuses it unless every one of its addresses may be connected to. */
function guardedLookup(rules: TargetRules, resolve: typeof lookup): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname, { ...options, all: true }, (error, addresses) => {
      if (error !== null) return callback(error, []);
      if (addresses.length === 0 || addresses.some(({ address }) => !mayConnectTo(address, rules))) {
        return callback(new AddressRefusedError(), []);
      }
      if (options.all === true) return callback(null, addresses);
      const [first] = addresses;
      callback(null, first?.address ?? '', first?.family);
    });
  };
}

/** A few words of ours. The text of an error could show an address inside. */
function wordFor(error: Error & { code?: string }): string {
  if (error instanceof AddressRefusedError) return 'address_not_allowed';
  if (error.message === 'timeout') return 'timeout';
  if (error.code === 'ENOTFOUND' || error.code === 'EAI_AGAIN') return 'name_not_found';
  if (/CERT|TLS|SSL|self.signed|ALTNAME|EPROTO/i.test(`${error.code} ${error.message}`)) return 'tls';
  return 'connection';
}

function escaped(bytes: Buffer): string {
  let text = '';
  for (const byte of bytes) {
    text +=
      byte >= 0x20 && byte < 0x7f && byte !== 0x5c
        ? String.fromCharCode(byte)
        : `\\x${byte.toString(16).padStart(2, '0')}`;
  }
  return text;
}

function secondsOf(retryAfter: string | undefined): number | undefined {
  if (retryAfter === undefined) return undefined;
  const seconds = /^\d{1,9}$/.test(retryAfter)
    ? Number(retryAfter)
    : (Date.parse(retryAfter) - Date.now()) / 1000;
  return seconds > 0 ? Math.ceil(seconds) : undefined;
}
