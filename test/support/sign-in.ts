import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { type AuthDeps, authorize, type Browser, signIn } from '../../src/auth/index.ts';
import { ownOrigin } from '../../src/events/index.ts';
import { fetchAtHost } from './fetch-at-host.ts';

/** A browser without scripts: it keeps cookies, sends forms, and stops at redirects. */
export class TestBrowser {
  readonly #address: string;
  readonly #headers: Readonly<Record<string, string>>;
  readonly cookies = new Map<string, string>();

  /** `headers` go with each request: `host`, for the pages of an institution's host name. */
  constructor(address: string, headers: Readonly<Record<string, string>> = {}) {
    this.#address = address;
    this.#headers = headers;
  }

  async get(path: string, headers: Record<string, string> = {}): Promise<TestPage> {
    return this.#send(path, { headers });
  }

  /** As a form of our own page. */
  async post(
    path: string,
    form: Readonly<Record<string, string>>,
    headers: Record<string, string> = {},
  ): Promise<TestPage> {
    return this.#send(path, {
      method: 'POST',
      headers: { 'sec-fetch-site': 'same-origin', ...headers },
      body: new URLSearchParams(form),
    });
  }

  async #send(
    path: string,
    init: { method?: string; headers: Record<string, string>; body?: URLSearchParams },
  ): Promise<TestPage> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const headers = { ...this.#headers, ...init.headers, ...(cookie !== '' && { cookie }) };
    const send = 'host' in headers ? fetchAtHost : fetch;
    const response = await send(this.#address + path, { ...init, headers, redirect: 'manual' });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (/max-age=0/i.test(line)) this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
    return new TestPage(response, await response.text());
  }
}

export class TestPage {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;

  constructor(response: Response, text: string) {
    this.status = response.status;
    this.headers = response.headers;
    this.text = text;
  }

  /** The hidden field of the form. */
  get request(): string {
    return /name="request" value="([^"]+)"/.exec(this.text)?.[1] ?? '';
  }

  get title(): string {
    return /<h1>([^<]*)<\/h1>/.exec(this.text)?.[1] ?? '';
  }

  /** Where a redirect leads. */
  get location(): URL {
    return new URL(this.headers.get('location') ?? 'none:');
  }
}

export interface Pkce {
  readonly verifier: string;
  readonly challenge: string;
}

export function pkce(): Pkce {
  const verifier = randomBytes(32).toString('base64url');
  return { verifier, challenge: createHash('sha256').update(verifier).digest('base64url') };
}

const authorizePath = '/auth/v2/authorize';

export function authorizeUrl(parameters: Readonly<Record<string, string | undefined>>): string {
  const given = Object.entries(parameters).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  return `${authorizePath}?${new URLSearchParams(given)}`;
}

/** The secrets of a sign-in at the use cases, without pages: for an app that needs no consent. */
export async function signInWithoutPages(
  auth: AuthDeps,
  app: { readonly clientId: string; readonly redirectUri: string; readonly scope: string },
  member: { readonly username: string; readonly password: string },
) {
  const { verifier, challenge } = pkce();
  const values = {
    client_id: app.clientId,
    response_type: 'code',
    redirect_uri: app.redirectUri,
    scope: app.scope,
    code_challenge: challenge,
    code_challenge_method: 'S256',
  };
  const stranger: Browser = {
    secret: undefined,
    sessionSecret: () => undefined,
    userAgent: undefined,
    origin: ownOrigin(),
  };
  const page = await authorize(auth, { values, repeated: [] }, stranger);
  assert.equal(page.kind, 'sign_in');
  const browserSecret = page.cookies?.browser ?? '';
  const step = await signIn(
    auth,
    { ...member, request: page.request },
    { ...stranger, secret: browserSecret },
  );
  assert.equal(step.kind, 'redirect');
  const code = new URL(step.to).searchParams.get('code') ?? '';
  return { code, verifier, browserSecret, sessionSecret: step.cookies?.session?.secret ?? '' };
}
