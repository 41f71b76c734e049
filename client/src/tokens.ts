import { ApiError } from './errors.ts';
import { writeJson } from './json.ts';
import type { TokenResponse } from './schema.ts';
import { operations } from './tables.ts';
import type { Transport } from './transport.ts';

type Maybe<T> = T | Promise<T>;

/** How the client proves itself at the token endpoint. */
export type ClientCredentials = { readonly clientId: string } & (
  | { readonly clientSecret: string }
  /** A new assertion for each request (RFC 7523), for instance by `privateKeyJwt`. */
  | { readonly clientAssertion: () => Maybe<string> }
);

/** Parameters of a token request. */
export interface Grant {
  readonly parameters: () => Maybe<Readonly<Record<string, string>>>;
  /** Whether the parameters may be sent for a second token. */
  readonly isReusable: boolean;
}

export interface AuthOptions {
  /** A refresh token from an earlier run; it is used before the grant. */
  readonly refreshToken?: string | undefined;
  /** Called with each new refresh token. Store it before you resolve: the one before is used up. */
  readonly onRefreshToken?: ((refreshToken: string) => Maybe<void>) | undefined;
}

/** Where a client takes its access tokens from. */
export interface Auth extends AuthOptions {
  readonly client: ClientCredentials;
  readonly grant?: Grant | undefined;
}

/** The client acts for its institution. */
export function clientCredentials(client: ClientCredentials, { scope }: { scope?: string } = {}): Auth {
  return { client, grant: grantOf(true, { grant_type: 'client_credentials', ...scoped(scope) }) };
}

/** The client acts for a member who entered their username and password. Add `offline_access` for a refresh token. */
export function password(
  client: ClientCredentials,
  member: { readonly username: string; readonly password: string; readonly scope?: string },
  options: AuthOptions = {},
): Auth {
  const { username, password, scope } = member;
  const grant = grantOf(true, { grant_type: 'password', username, password, ...scoped(scope) });
  return { ...options, client, grant };
}

/** The client acts for the member of an earlier login. */
export function refreshToken(
  client: ClientCredentials,
  token: string,
  options: Omit<AuthOptions, 'refreshToken'> = {},
): Auth {
  return { ...options, client, refreshToken: token };
}

/** The client acts for a member whom a registered identity provider asserts, once. */
export function jwtBearer(
  client: ClientCredentials,
  { assertion, scope }: { readonly assertion: string; readonly scope?: string },
  options: AuthOptions = {},
): Auth {
  const grant_type = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
  return { ...options, client, grant: grantOf(false, { grant_type, assertion, ...scoped(scope) }) };
}

function grantOf(isReusable: boolean, parameters: Readonly<Record<string, string>>): Grant {
  return { isReusable, parameters: () => parameters };
}

function scoped(scope: string | undefined): { readonly scope?: string } {
  return scope === undefined ? {} : { scope };
}

/** Tokens are renewed this long before they expire, since clocks differ. */
const earlySeconds = 30;

/** Issues access tokens, one request at a time however many callers wait. */
export class TokenSource {
  readonly #transport: Transport;
  readonly #auth: Auth;
  #refreshToken: string | undefined;
  #current: { readonly token: string; readonly goodUntil: number } | undefined;
  #pending: Promise<string> | undefined;
  #isGrantUsed = false;

  constructor(transport: Transport, auth: Auth) {
    this.#transport = transport;
    this.#auth = auth;
    this.#refreshToken = auth.refreshToken;
  }

  async token(): Promise<string> {
    if (this.#current !== undefined && Date.now() < this.#current.goodUntil) return this.#current.token;
    this.#pending ??= this.#issue().finally(() => {
      this.#pending = undefined;
    });
    return this.#pending;
  }

  /** The service has refused the token; the next call gets another one. False if there is no way to another one. */
  renew(token: string): boolean {
    if (this.#current?.token === token) this.#current = undefined;
    return this.#refreshToken !== undefined || this.#mayUseGrant();
  }

  #mayUseGrant(): boolean {
    const { grant } = this.#auth;
    return grant !== undefined && (grant.isReusable || !this.#isGrantUsed);
  }

  async #issue(): Promise<string> {
    const { grant } = this.#auth;
    if (this.#refreshToken !== undefined) {
      try {
        return await this.#request({ grant_type: 'refresh_token', refresh_token: this.#refreshToken });
      } catch (error) {
        if (!(error instanceof ApiError) || error.code !== 'invalid_grant' || !this.#mayUseGrant())
          throw error;
        this.#refreshToken = undefined;
      }
    }
    if (grant === undefined || !this.#mayUseGrant()) {
      throw new Error('The login has ended, and there is no other way to a token. Sign the member in again.');
    }
    const parameters = await grant.parameters();
    this.#isGrantUsed = true;
    return this.#request(parameters);
  }

  async #request(parameters: Readonly<Record<string, string>>): Promise<string> {
    const { client } = this.#auth;
    const [method, path] = operations.issueToken;
    const { body } = await this.#transport.send({
      method,
      path,
      // Each attempt has an assertion of its own, since the service accepts one only once.
      body: async () => writeJson({ ...parameters, client_id: client.clientId, ...(await proofOf(client)) }),
      isRepeatable: parameters.assertion === undefined,
      options: {},
    });
    const issued = body as TokenResponse;
    const { access_token: token, expires_in: seconds, refresh_token: refreshed } = issued;
    if (refreshed !== undefined && refreshed !== this.#refreshToken) {
      this.#refreshToken = refreshed;
      await this.#auth.onRefreshToken?.(refreshed);
    }
    const goodSeconds = Math.max(seconds - earlySeconds, seconds / 2);
    this.#current = { token, goodUntil: Date.now() + goodSeconds * 1000 };
    return token;
  }
}

async function proofOf(client: ClientCredentials): Promise<Readonly<Record<string, string>>> {
  if ('clientSecret' in client) return { client_secret: client.clientSecret };
  return {
    client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
    client_assertion: await client.clientAssertion(),
  };
}

/** Signs client assertions (RFC 7523, `private_key_jwt`) with an ECDSA key of P-256. `issuer` is the service's PUBLIC_URL. */
export function privateKeyJwt(options: {
  readonly clientId: string;
  readonly issuer: string;
  readonly key: CryptoKey;
  readonly kid: string;
}): ClientCredentials {
  const { clientId, issuer, key, kid } = options;
  return {
    clientId,
    clientAssertion: async () => {
      const now = Math.floor(Date.now() / 1000);
      const header = { alg: 'ES256', typ: 'JWT', kid };
      const claims = {
        iss: clientId,
        sub: clientId,
        aud: issuer,
        iat: now,
        exp: now + 60,
        jti: crypto.randomUUID(),
      };
      const signed = `${base64Url(JSON.stringify(header))}.${base64Url(JSON.stringify(claims))}`;
      const algorithm = { name: 'ECDSA', hash: 'SHA-256' };
      const signature = await crypto.subtle.sign(algorithm, key, new TextEncoder().encode(signed));
      return `${signed}.${base64Url(new Uint8Array(signature))}`;
    },
  };
}

function base64Url(value: string | Uint8Array): string {
  const bytes = typeof value === 'string' ? new TextEncoder().encode(value) : value;
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');
}
