import type { Origin } from '../../events/index.ts';
import type { CallerFacts } from '../../shared/seams.ts';
import type { ProofOfRequest } from '../dpop/proof.ts';
import { OAuthError } from './oauth-error.ts';

/** An unchecked token request: parameters from a form or a JSON object, and the Authorization header. */
export interface RawTokenRequest {
  readonly parameters: Readonly<Record<string, unknown>>;
  /** Names that occur more than once in a form. */
  readonly repeated: readonly string[];
  readonly authorization: string | undefined;
  /** Undefined without the header DPoP. */
  readonly proof?: ProofOfRequest | undefined;
  /** The header `Client-Cert` of a trusted proxy (RFC 9440); undefined without one. */
  readonly certificate?: string | undefined;
  readonly origin: Origin;
  /** Called with the authenticated client. Problem `too_many_requests` beyond the client's rate. */
  readonly countFor?: (clientId: string) => void;
  /** Called for the log with the authenticated client, and with the member once one is certain. */
  readonly recognize?: ((facts: CallerFacts) => void) | undefined;
}

export class TokenRequest {
  readonly authorization: string | undefined;
  readonly proof: ProofOfRequest | undefined;
  readonly certificate: string | undefined;
  readonly origin: Origin;
  readonly recognize: RawTokenRequest['recognize'];
  readonly #parameters: Readonly<Record<string, unknown>>;

  /** RFC 6749 section 3.2: a parameter must not appear twice. */
  constructor(raw: RawTokenRequest) {
    if (raw.repeated.length > 0)
      throw new OAuthError('invalid_request', 'A parameter appears more than once.');
    this.#parameters = raw.parameters;
    this.authorization = raw.authorization;
    this.proof = raw.proof;
    this.certificate = raw.certificate;
    this.origin = raw.origin;
    this.recognize = raw.recognize;
  }

  /** Undefined for an empty parameter too (RFC 6749 section 3.2). */
  text(name: string): string | undefined {
    const value = Object.hasOwn(this.#parameters, name) ? this.#parameters[name] : undefined;
    if (value === undefined || value === null || value === '') return undefined;
    if (typeof value !== 'string') throw new OAuthError('invalid_request', `${name} must be a string.`);
    // RFC 6749 appendix A allows it in no parameter, and PostgreSQL rejects it.
    if (value.includes('\0')) throw new OAuthError('invalid_request', `${name} must not hold NUL.`);
    return value;
  }

  require(name: string): string {
    const value = this.text(name);
    if (value === undefined) throw new OAuthError('invalid_request', `${name} is missing.`);
    return value;
  }
}
