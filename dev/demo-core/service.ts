import { createPrivateKey, type KeyObject, randomUUID, sign } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { dieNow, type Switches } from './faults.ts';
import type { Random } from './random.ts';

/** No answer: the service may have done the work or not. Every request of a connector may be sent again. */
export class NoAnswerError extends Error {}

export interface Answer {
  readonly status: number;
  readonly text: string;
  /** The path of the next page of a list. */
  readonly next?: string | undefined;
}

export interface Request {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body?: string | Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
  readonly patienceSeconds?: number;
}

const slowestMillis = 2_000;

/** The service's side of the wire: a token by private_key_jwt (RFC 7523), and requests with it. */
export class Service {
  readonly #url: string;
  readonly #clientId: string;
  readonly #key: KeyObject;
  readonly #switches: Switches;
  readonly #random: Random;
  #token: { readonly value: string; readonly until: number } | undefined;

  constructor(options: {
    readonly url: string;
    readonly clientId: string;
    /** PEM of a P-256 key. */
    readonly key: string;
    readonly switches: Switches;
    readonly random: Random;
  }) {
    this.#url = options.url.replace(/\/$/, '');
    this.#clientId = options.clientId;
    this.#key = createPrivateKey(options.key);
    this.#switches = options.switches;
    this.#random = options.random;
  }

  /** Throws NoAnswerError. A token that has ended is renewed once. */
  async send(request: Request): Promise<Answer> {
    await this.#beFaulty(request);
    const answer = await this.#sendWithToken(request);
    const final = answer.status === 401 ? await this.#sendAgain(request) : answer;
    if (this.#switches.isOn('answers-lost') && this.#random(2) === 0) {
      throw new NoAnswerError('the switch `answers-lost` is on');
    }
    return final;
  }

  #sendAgain(request: Request): Promise<Answer> {
    this.#token = undefined;
    return this.#sendWithToken(request);
  }

  async #sendWithToken(request: Request): Promise<Answer> {
    const authorization = `Bearer ${await this.#validToken()}`;
    return this.#fetch({ ...request, headers: { ...request.headers, authorization } });
  }

  async #validToken(): Promise<string> {
    if (this.#token !== undefined && this.#token.until > Date.now()) return this.#token.value;
    // The audience is the issuer, which may differ from the address that this process reaches it by.
    const { issuer } = JSON.parse(
      (await this.#fetch({ method: 'GET', path: '/.well-known/oauth-authorization-server' })).text,
    );
    const { status, text } = await this.#fetch({
      method: 'POST',
      path: '/auth/v2/token',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({
        grant_type: 'client_credentials',
        client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
        client_assertion: this.#assertion(issuer),
      }).toString(),
    });
    if (status !== 200) throw new NoAnswerError(`no token: ${status} ${text}`);
    const { access_token: value, expires_in: seconds } = JSON.parse(text);
    this.#token = { value, until: Date.now() + (seconds - 30) * 1_000 };
    return value;
  }

  #assertion(audience: string): string {
    const now = Math.floor(Date.now() / 1_000);
    const claims = { iss: this.#clientId, sub: this.#clientId, aud: audience, iat: now, exp: now + 60 };
    const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url');
    const content = `${encode({ alg: 'ES256', typ: 'JWT' })}.${encode({ ...claims, jti: randomUUID() })}`;
    const signature = sign('sha256', Buffer.from(content), { key: this.#key, dsaEncoding: 'ieee-p1363' });
    return `${content}.${signature.toString('base64url')}`;
  }

  async #fetch({ method, path, body, headers = {}, patienceSeconds = 30 }: Request): Promise<Answer> {
    try {
      const response = await fetch(`${this.#url}${path}`, {
        method,
        headers,
        ...(body !== undefined && { body: body as Uint8Array<ArrayBuffer> }),
        signal: AbortSignal.timeout(patienceSeconds * 1_000),
      });
      const [, next] = /^<([^>]+)>; rel="next"/.exec(response.headers.get('link') ?? '') ?? [];
      return { status: response.status, text: await response.text(), next };
    } catch (error) {
      throw new NoAnswerError(`no answer of ${this.#url}`, { cause: error });
    }
  }

  async #beFaulty({ path, body }: Request): Promise<void> {
    if (this.#switches.isOn('away')) throw new NoAnswerError('the switch `away` is on');
    if (this.#switches.isOn('slow')) await sleep(this.#random(slowestMillis));
    if (this.#switches.isOn('dies') && body instanceof Uint8Array) await this.#sendHalf(path, body);
  }

  async #sendHalf(path: string, body: Uint8Array): Promise<void> {
    const authorization = `Bearer ${await this.#validToken()}`;
    const half = new ReadableStream({
      async start(controller) {
        controller.enqueue(body.subarray(0, body.length / 2));
        await sleep(100);
        dieNow();
      },
    });
    const headers = { authorization, 'content-type': 'application/x-ndjson', 'content-encoding': 'gzip' };
    const request = { method: 'POST', headers, body: half, duplex: 'half' } as RequestInit;
    await fetch(`${this.#url}${path}`, request).catch((error) => {
      throw new NoAnswerError(`no answer of ${this.#url}`, { cause: error });
    });
  }
}
