import { assertInContract } from './contract.ts';
import { fetchAtHost } from './fetch-at-host.ts';

export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The parsed body; undefined if it is missing or not JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into documents whose shape the contract has just checked
  readonly body: any;
}

export interface RequestOptions {
  readonly token?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly json?: unknown;
  /** Sent form-encoded. */
  readonly form?: Readonly<Record<string, string>>;
  /** Sent unchanged. */
  readonly body?: string | Uint8Array;
}

/** Calls a service over real HTTP, and throws if a response does not match openapi.json. */
export class Client {
  readonly #base: string;

  constructor(base: string) {
    this.#base = base;
  }

  get(path: string, options: RequestOptions = {}): Promise<Reply> {
    return this.request('GET', path, options);
  }

  post(path: string, options: RequestOptions = {}): Promise<Reply> {
    return this.request('POST', path, options);
  }

  patch(path: string, options: RequestOptions = {}): Promise<Reply> {
    return this.request('PATCH', path, options);
  }

  async request(method: string, path: string, options: RequestOptions = {}): Promise<Reply> {
    const { token, json, form, body } = options;
    const send = options.headers?.host === undefined ? fetch : fetchAtHost;
    const response = await send(`${this.#base}${path}`, {
      method,
      redirect: 'manual',
      headers: {
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(json !== undefined && { 'content-type': 'application/json' }),
        ...(form !== undefined && { 'content-type': 'application/x-www-form-urlencoded' }),
        ...options.headers,
      },
      ...(json !== undefined && { body: JSON.stringify(json) }),
      ...(form !== undefined && { body: new URLSearchParams(form).toString() }),
      ...(body !== undefined && { body: body as Uint8Array<ArrayBuffer> }),
    });
    const text = await response.text();
    const { status, headers } = response;
    assertInContract({ method, path, status, headers, text });
    const isJson = /^application\/(?:\w+\+)?json/.test(headers.get('content-type') ?? '');
    return { status, headers, text, body: isJson && text !== '' ? JSON.parse(text) : undefined };
  }

  /** Returns a token; throws if it is refused. */
  async token(parameters: Readonly<Record<string, string>>): Promise<string> {
    const reply = await this.post('/auth/v2/token', { json: parameters });
    if (reply.status !== 200) throw new Error(`no token: ${reply.text}`);
    return reply.body.access_token;
  }
}
