import { multiFactor, type StepUpAct, stepUpActs } from '../../institutions/index.ts';
import type { InstitutionId } from '../../storage/index.ts';
import { OAuthError } from '../tokens/oauth-error.ts';
import { grantScopes, memberScopes, type Scope } from '../tokens/scopes.ts';
import { AuthorizationError } from './authorization-error.ts';

export const prompts = ['none', 'login', 'consent', 'select_account'] as const;
type Prompt = (typeof prompts)[number];

/** Reasons to sign in although there is a session, or that only the app can know. The page has a sentence for each. */
export type AskedFor = StepUpAct | 'security' | 'passkey' | 'two_factors' | 'fresh';

/** A valid request for authorization. It travels sealed in the page, so that no row is written before the member signs in. */
export interface AuthorizationRequest {
  /** One code at most comes of a request. */
  readonly requestId: string;
  readonly institutionId: InstitutionId;
  readonly clientId: string;
  readonly redirectUri: string;
  readonly scopes: readonly Scope[];
  readonly state?: string | undefined;
  readonly nonce?: string | undefined;
  /** S256 of the verifier (RFC 7636). */
  readonly codeChallenge: string;
  /** The key that the tokens are to be bound to (RFC 9449 section 10). */
  readonly keyThumbprint?: string | undefined;
  readonly prompts: readonly Prompt[];
  readonly maxAgeSeconds?: number | undefined;
  /** The app asks for a sign-in with a passkey (`acr_values` with `phr`). */
  readonly wantsPasskey?: boolean;
  /** The app asks for two factors (`acr_values`). A passkey is two. */
  readonly wantsTwoFactors?: boolean;
  readonly loginHint?: string | undefined;
  /** The act that the app wants a sign-in for; the page names it. */
  readonly stepUp?: StepUpAct | undefined;
  /** The reason why a member with a session signs in again. No parameter of the request: `proceed` finds it. */
  readonly askedFor?: AskedFor | undefined;
  /** The member goes to the page of security, and no code comes of the request. */
  readonly isForSecurityPage?: true;
}

/** Reads one parameter; undefined if it is absent or empty. Throws OAuthError `invalid_request` for NUL. */
type Parameter = (name: string) => string | undefined;

type Named = 'requestId' | 'institutionId' | 'clientId' | 'redirectUri';

const longestText = 2_048;
const longestNonce = 512;

/** The parameters beyond client and address, validated. Throws AuthorizationError. */
export function readAuthorizationRequest(
  parameter: Parameter,
  client: { readonly scopes: readonly string[]; readonly grants: readonly string[] },
): Omit<AuthorizationRequest, Named> {
  for (const name of ['request', 'registration'] as const) {
    if (parameter(name) !== undefined)
      throw new AuthorizationError(`${name}_not_supported`, `${name} is not supported.`);
  }
  const responseType = parameter('response_type');
  if (responseType === undefined) throw invalid('response_type is missing.');
  if (responseType !== 'code') {
    throw new AuthorizationError('unsupported_response_type', 'response_type must be code.');
  }
  if (!client.grants.includes('authorization_code')) {
    throw new AuthorizationError('unauthorized_client', 'The client may not use authorization_code.');
  }
  if ((parameter('response_mode') ?? 'query') !== 'query') throw invalid('response_mode must be query.');
  const acrValues = parameter('acr_values')?.split(' ') ?? [];
  return {
    scopes: readScopes(parameter('scope'), client.scopes),
    state: text(parameter, 'state', longestText),
    nonce: text(parameter, 'nonce', longestNonce),
    codeChallenge: readChallenge(parameter),
    keyThumbprint: readKeyThumbprint(parameter),
    prompts: readPrompts(parameter('prompt')),
    maxAgeSeconds: readMaxAge(parameter('max_age')),
    // Voluntary (OpenID Connect Core 1.0 section 3.1.2.1): values that we do not know are ignored.
    wantsPasskey: acrValues.includes('phr'),
    wantsTwoFactors: acrValues.includes(multiFactor),
    loginHint: text(parameter, 'login_hint', 254),
    stepUp: stepUpActs.find((act) => act === parameter('step_up')),
  };
}

function text(parameter: Parameter, name: string, longest: number): string | undefined {
  const value = parameter(name);
  if (value !== undefined && value.length > longest) throw invalid(`${name} is longer than ${longest}.`);
  return value;
}

/** Only S256: `plain` is the verifier itself, and a request without a challenge gives the code to anyone who sees it. */
function readChallenge(parameter: Parameter): string {
  const challenge = parameter('code_challenge');
  if (challenge === undefined) throw invalid('code_challenge is missing (RFC 7636).');
  if (parameter('code_challenge_method') !== 'S256') throw invalid('code_challenge_method must be S256.');
  if (!/^[A-Za-z0-9_-]{43}$/.test(challenge)) throw invalid('code_challenge must be a SHA-256 in base64url.');
  return challenge;
}

function readKeyThumbprint(parameter: Parameter): string | undefined {
  const thumbprint = parameter('dpop_jkt');
  if (thumbprint === undefined || /^[A-Za-z0-9_-]{43}$/.test(thumbprint)) return thumbprint;
  throw invalid('dpop_jkt must be a SHA-256 in base64url.');
}

function readScopes(requested: string | undefined, registered: readonly string[]): Scope[] {
  try {
    const granted = grantScopes(requested, registered).filter((scope) => memberScopes.includes(scope));
    if (granted.length > 0) return granted;
  } catch (error) {
    if (error instanceof OAuthError) throw new AuthorizationError('invalid_scope', error.description);
    throw error;
  }
  throw new AuthorizationError('invalid_scope', 'Nothing of the scope can be granted to a member.');
}

/** Unknown prompts are refused, since the app relies on them. `none` stands alone (OpenID Connect Core 1.0 section 3.1.2.1). */
function readPrompts(given: string | undefined): Prompt[] {
  const names = new Set(given?.split(' ').filter((name) => name !== ''));
  const known = prompts.filter((name) => names.has(name));
  if (known.length < names.size) throw invalid(`prompt must be some of ${prompts.join(', ')}.`);
  if (known.includes('none') && known.length > 1) throw invalid('prompt none must stand alone.');
  return known;
}

function readMaxAge(given: string | undefined): number | undefined {
  if (given === undefined) return undefined;
  if (!/^[0-9]{1,9}$/.test(given)) throw invalid('max_age must be a number of seconds.');
  return Number(given);
}

function invalid(description: string): AuthorizationError {
  return new AuthorizationError('invalid_request', description);
}
