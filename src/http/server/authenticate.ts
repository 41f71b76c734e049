import {
  type Caller,
  type Identified,
  type ProofOfRequest,
  proofAlgorithms,
  type Scope,
} from '../../auth/index.ts';
import { Problem } from '../../shared/problem.ts';
import type { TokenKind } from '../operation.ts';
import type { Services } from '../services.ts';

/** RFC 6750, section 2.1; the scheme's case does not count (RFC 9110, section 11.1). */
const bearer = /^bearer +([A-Za-z0-9._~+/-]+=*)$/i;
/** RFC 9449 section 7.1. */
const dpop = /^dpop +([A-Za-z0-9._~+/-]+=*)$/i;
const realm = 'realm="sharedraft"';

/**
 * Identifies the caller by the access token in the Authorization header, its only place. A token of the scheme DPoP has a proof beside it, and
 * a bearer token may be bound to the certificate of the connection.
 * `admit` receives the client's name before the database is read, and may throw.
 *
 * Problems: `missing_token`, also for another scheme; `invalid_token`, `invalid_dpop_proof` and `use_dpop_nonce`, also of `verify`.
 */
export function authenticate(
  services: Services,
  {
    authorization,
    proof,
    certificate,
  }: {
    readonly authorization: string | undefined;
    readonly proof: ProofOfRequest;
    readonly certificate: string | undefined;
  },
  admit: (client: string) => void,
): Identified {
  if (authorization === undefined || !/^(?:bearer|dpop)(?: |$)/i.test(authorization)) {
    throw new Problem('missing_token', 'An access token is needed: Authorization: Bearer <ACCESS_TOKEN>.');
  }
  const token = bearer.exec(authorization)?.[1];
  if (token !== undefined) return services.identify(token, admit, { certificate });
  const bound = dpop.exec(authorization)?.[1];
  if (bound === undefined) throw new Problem('invalid_token', 'The access token is malformed.');
  return services.identify(bound, admit, { proof, certificate });
}

/** Problems: `insufficient_scope`, `client_token_required`, `member_token_required`, `consent_required`. */
export function authorize(
  caller: Caller,
  needed: { readonly token: TokenKind; readonly scope?: Scope | undefined },
): void {
  // The kind of token first: a member's token can never get the scope of an operation for clients.
  if (needed.token === 'client' && caller.actor.kind !== 'client') {
    throw new Problem('client_token_required', 'A member’s token cannot do this, only a client’s.');
  }
  if (needed.token === 'member' && caller.actor.kind !== 'member') {
    throw new Problem(
      'member_token_required',
      'Only a member’s token can do this. A client’s token acts for no single member.',
    );
  }
  if (needed.token === 'consented' && (caller.actor.kind !== 'member' || !caller.actor.consent)) {
    throw new Problem(
      'consent_required',
      'Only a token that an app got by the consent of a member can do this.',
    );
  }
  if (needed.scope !== undefined && !caller.scopes.includes(needed.scope)) {
    throw new Problem('insufficient_scope', `The access token lacks the scope ${needed.scope}.`);
  }
}

/**
 * `WWW-Authenticate` of a problem with the token, for the scheme that the request used (RFC 6750 section 3; RFC 9449 section 7.1; RFC 9470
 * section 3); undefined for other problems.
 */
export function challengeOf(
  { code, members }: Problem,
  {
    authorization,
    scope,
  }: { readonly authorization: string | undefined; readonly scope: string | undefined },
): string | undefined {
  const scheme = /^dpop(?: |$)/i.test(authorization ?? '') ? 'DPoP' : 'Bearer';
  const challenge = parametersOf(code, members, scope);
  if (challenge === undefined) return undefined;
  const algs = scheme === 'DPoP' ? `, algs="${proofAlgorithms.join(' ')}"` : '';
  return `${scheme} ${challenge}${algs}`;
}

function parametersOf(
  code: Problem['code'],
  members: Problem['members'],
  scope: string | undefined,
): string | undefined {
  switch (code) {
    // Without an error code, since no token was sent (RFC 6750 section 3.1).
    case 'missing_token':
      return realm;
    case 'invalid_token':
    case 'invalid_dpop_proof':
    case 'use_dpop_nonce':
      return `${realm}, error="${code}"`;
    case 'insufficient_scope':
      return `${realm}, error="${code}", scope="${scope}"`;
    case 'insufficient_user_authentication':
      return `${realm}, error="${code}", error_description="A more recent login is needed", max_age="${members.max_age}"${members.acr_values === undefined ? '' : `, acr_values="${members.acr_values}"`}`;
    default:
      return undefined;
  }
}
