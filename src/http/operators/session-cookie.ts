import type { FastifyRequest } from 'fastify';
import { Problem } from '../../shared/problem.ts';
import { valuesOf } from '../sign-in/cookies.ts';

/**
 * The cookie of an operator's session, or of a sign-in that is under way at a provider. Over https its name begins with `__Host-`, so that no other host of the same domain can plant one
 * (RFC 6265bis section 4.1.3). Over http, which is for a demo on the same machine, browsers refuse that prefix.
 */
export class SessionCookie {
  readonly #name: string;
  readonly #attributes: string;
  readonly #origin: string;

  constructor(publicUrl: string, name: 'operator' | 'operator-flow' = 'operator') {
    const isSecure = publicUrl.startsWith('https:');
    this.#name = `${isSecure ? '__Host-' : ''}${name}`;
    this.#attributes = `Path=/; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`;
    this.#origin = new URL(publicUrl).origin;
  }

  /** The value of `Set-Cookie`; null deletes it. */
  toSet(secret: string | null): string {
    return secret === null
      ? `${this.#name}=; Max-Age=0; ${this.#attributes}`
      : `${this.#name}=${secret}; ${this.#attributes}`;
  }

  read(request: FastifyRequest): string | undefined {
    return valuesOf(request.headers.cookie).get(this.#name);
  }

  /**
   * The secret of the session: a bearer token of the command line, or the cookie of a browser. A browser sends the cookie on its own, so an
   * unsafe request with it must come from a page of this service. Problem `missing_token`.
   */
  secretOf(request: FastifyRequest): string {
    const { authorization } = request.headers;
    const [, token] = /^bearer +([\w.-]+)$/i.exec(authorization ?? '') ?? [];
    if (token !== undefined) return token;
    const secret = authorization === undefined ? this.read(request) : undefined;
    if (secret === undefined)
      throw new Problem(
        'missing_token',
        'Sign in as an operator at /operations/sign-in, or with `sharedraft login`.',
      );
    if (!['GET', 'HEAD'].includes(request.method)) this.refuseForeign(request);
    return secret;
  }

  /** Problem `missing_token` for a request that a page of another site caused. */
  refuseForeign({ headers }: FastifyRequest): void {
    const site = headers['sec-fetch-site'];
    const isOwn = site === undefined ? headers.origin === this.#origin : site === 'same-origin';
    if (!isOwn)
      throw new Problem('missing_token', 'A page of another site sent this. The session does not count.');
  }
}
