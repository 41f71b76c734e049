import type { Caller, Identified, Scope } from '../auth/index.ts';
import { Problem } from '../shared/problem.ts';
import type { TokenKind } from './operation.ts';
import type { Services } from './services.ts';

/** RFC 6750, section 2.1; the scheme's case does not count (RFC 9110, section 11.1). */
const bearer = /^bearer +([A-Za-z0-9._~+/-]+=*)$/i;
const realm = 'Bearer realm="sharedraft"';

/**
 * Who calls: the bearer of the token in the Authorization header, the one place where it is looked for. `challenge` is
 * called with what `WWW-Authenticate` must say before a Problem is thrown for which it must say something. `admit` hears
 * which client it is before the database is asked, and may throw.
 *
 * Problems: `missing_token` (also for another scheme, which gives no error code away: RFC 6750, section 3.1); and of
 * `known`, `invalid_token`.
 */
export function authenticate(
  services: Services,
  authorization: string | undefined,
  challenge: (value: string) => void,
  admit: (client: string) => void,
): Identified {
  if (authorization === undefined || !/^bearer(?: |$)/i.test(authorization)) {
    challenge(realm);
    throw new Problem('missing_token', 'An access token is needed: Authorization: Bearer <ACCESS_TOKEN>.');
  }
  const refuse = (error: unknown): never => {
    if (error instanceof Problem && error.code === 'invalid_token') {
      challenge(`${realm}, error="invalid_token"`);
    }
    throw error;
  };
  const token = bearer.exec(authorization)?.[1];
  if (token === undefined) return refuse(new Problem('invalid_token', 'The access token is malformed.'));
  const { known, ...identified } = services.identify(token, admit);
  return { ...identified, known: () => known().catch(refuse) };
}

/** Problems: `insufficient_scope`, `client_token_required`, `member_token_required`. */
export function authorize(
  caller: Caller,
  needed: { readonly token: TokenKind; readonly scope?: Scope | undefined },
  challenge: (value: string) => void,
): void {
  // The kind of token first: a member's token can never get the scope of an operation for clients.
  if (needed.token === 'client' && caller.actor.kind !== 'client') {
    throw new Problem('client_token_required', 'A member’s token cannot do this, only a client’s.');
  }
  if (needed.token === 'member' && caller.actor.kind !== 'member') {
    throw new Problem(
      'member_token_required',
      'Only a member’s token can do this. A client’s token acts for nobody in person.',
    );
  }
  if (needed.scope !== undefined && !caller.scopes.includes(needed.scope)) {
    challenge(`${realm}, error="insufficient_scope", scope="${needed.scope}"`);
    throw new Problem('insufficient_scope', `The access token lacks the scope ${needed.scope}.`);
  }
}
