import type { JSONWebKeySet } from 'jose';
import { Sender, type TargetRules, targetRefusal } from '../../webhooks/index.ts';

/** The provider did not do its part. The reason is a word of ours for the audit. */
export class ProviderError extends Error {
  override readonly name = 'ProviderError';
  readonly reason: string;

  constructor(reason: string, options?: ErrorOptions) {
    super(`operators: the provider failed: ${reason}`, options);
    this.reason = reason;
  }
}

/** The parts of a provider's metadata that a sign-in needs (OpenID Connect Discovery 1.0 section 3). */
export interface ProviderMetadata {
  readonly authorizationEndpoint: string;
  readonly tokenEndpoint: string;
  readonly jwksUri: string;
  /** Its authorization responses name their issuer (RFC 9207 section 3). */
  readonly isIssuerInResponse: boolean;
}

/** RFC 9700 section 4.15 and ADR 57: staff sign in seldom, so each sign-in reads metadata and keys anew, and no copy of them can be old. */
const deadlineMillis = 5_000;
const mostBytes = 65_536;
const userAgent = 'Sharedraft/1';

/** Requests to the provider of one institution, for one sign-in, through the guard of all requests that the service sends. */
export class ProviderConnection {
  readonly #rules: TargetRules;
  readonly #sender: Sender;

  constructor(rules: TargetRules) {
    this.#rules = rules;
    this.#sender = new Sender(rules, { kind: 'operators-provider', mostSockets: 2 });
  }

  close(): void {
    this.#sender.close();
  }

  /** Throws ProviderError unless the document is that of the issuer, character by character (section 4.3). */
  async discover(issuer: string): Promise<ProviderMetadata> {
    const document = await this.#json({
      url: `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`,
    });
    if (document.issuer !== issuer) throw new ProviderError('provider_issuer');
    return {
      authorizationEndpoint: this.#address(document.authorization_endpoint),
      tokenEndpoint: this.#address(document.token_endpoint),
      jwksUri: this.#address(document.jwks_uri),
      isIssuerInResponse: document.authorization_response_iss_parameter_supported === true,
    };
  }

  async keys(jwksUri: string): Promise<JSONWebKeySet> {
    const { keys } = await this.#json({ url: jwksUri });
    if (!Array.isArray(keys)) throw new ProviderError('provider_keys');
    return { keys };
  }

  /** The ID token for a code (OpenID Connect Core 1.0 section 3.1.3). */
  async redeem(
    tokenEndpoint: string,
    { form, authorization }: { readonly form: URLSearchParams; readonly authorization: string | undefined },
  ): Promise<string> {
    const headers = {
      'content-type': 'application/x-www-form-urlencoded',
      ...(authorization !== undefined && { authorization }),
    };
    const { id_token: idToken } = await this.#json({
      url: tokenEndpoint,
      method: 'POST',
      headers,
      body: form.toString(),
    });
    if (typeof idToken !== 'string') throw new ProviderError('provider_token');
    return idToken;
  }

  #address(value: unknown): string {
    if (typeof value !== 'string' || targetRefusal(value, this.#rules) !== undefined)
      throw new ProviderError('provider_metadata');
    return value;
  }

  async #json({
    url,
    method = 'GET',
    headers = {},
    body = '',
  }: {
    readonly url: string;
    readonly method?: 'GET' | 'POST';
    readonly headers?: Readonly<Record<string, string>>;
    readonly body?: string;
  }): Promise<Readonly<Record<string, unknown>>> {
    const all = { accept: 'application/json', 'user-agent': userAgent, ...headers };
    const reply = await this.#sender.post({ url, method, headers: all, body, deadlineMillis, mostBytes });
    if (reply.error !== undefined) throw new ProviderError(`provider_${reply.error}`);
    try {
      return Object(JSON.parse(reply.body.toString('utf8')));
    } catch (cause) {
      throw new ProviderError('provider_response', { cause });
    }
  }
}
