import type { Origin } from '../../events/index.ts';
import { OAuthError } from './oauth-error.ts';

/** A token request as it came in: parameters from a form or a JSON object, and the Authorization header. */
export interface RawTokenRequest {
  readonly parameters: Readonly<Record<string, unknown>>;
  /** Names that a form gave more than once. */
  readonly repeated: readonly string[];
  readonly authorization: string | undefined;
  readonly origin: Origin;
  /** Told which client it is, once that is proven. Problem `too_many_requests` when it has had its share. */
  readonly countFor?: (clientId: string) => void;
}

export class TokenRequest {
  readonly authorization: string | undefined;
  readonly origin: Origin;
  readonly #parameters: Readonly<Record<string, unknown>>;

  /** RFC 6749 section 3.2: a parameter must not appear twice. */
  constructor(raw: RawTokenRequest) {
    if (raw.repeated.length > 0)
      throw new OAuthError('invalid_request', 'A parameter appears more than once.');
    this.#parameters = raw.parameters;
    this.authorization = raw.authorization;
    this.origin = raw.origin;
  }

  /** An empty parameter counts as left out (RFC 6749 section 3.2). */
  text(name: string): string | undefined {
    const value = Object.hasOwn(this.#parameters, name) ? this.#parameters[name] : undefined;
    if (value === undefined || value === null || value === '') return undefined;
    if (typeof value !== 'string') throw new OAuthError('invalid_request', `${name} must be a string.`);
    // RFC 6749 appendix A has it in no parameter, and no database would take it.
    if (value.includes('\0')) throw new OAuthError('invalid_request', `${name} must not hold NUL.`);
    return value;
  }

  require(name: string): string {
    const value = this.text(name);
    if (value === undefined) throw new OAuthError('invalid_request', `${name} is missing.`);
    return value;
  }
}
