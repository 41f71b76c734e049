import { acrOf } from '../tokens/id-token.ts';
import type { AskedFor, AuthorizationRequest } from './authorization-request.ts';

/** The facts that decide how a request for authorization goes on. */
export interface StepFacts {
  readonly request: Pick<
    AuthorizationRequest,
    'scopes' | 'prompts' | 'maxAgeSeconds' | 'wantsPasskey' | 'wantsTwoFactors' | 'stepUp'
  >;
  /** An app of the institution itself needs no consent. */
  readonly isFirstParty: boolean;
  /** Neither a secret nor the address proves which program asks (RFC 8252 section 8.6). */
  readonly isUnprovenApp: boolean;
  readonly session: { readonly authenticatedAt: Date; readonly methods: readonly string[] } | undefined;
  /** The member signed in on the page of this request, which satisfies every age and prompt. */
  readonly isFreshSignIn: boolean;
  readonly consent: { readonly scopes: readonly string[]; readonly expiresAt: Date } | undefined;
  readonly now: Date;
}

export type NextStep = 'sign_in' | 'consent' | 'grant' | 'login_required' | 'consent_required';

/** The next step of a member on the way to a code; with prompt `none` the error in its place (OpenID Connect Core 1.0 section 3.1.2.6). */
export function nextStep(facts: StepFacts): NextStep {
  const isSilent = facts.request.prompts.includes('none');
  if (mustSignIn(facts)) return isSilent ? 'login_required' : 'sign_in';
  if (mustConsent(facts)) return isSilent ? 'consent_required' : 'consent';
  return 'grant';
}

function mustSignIn(facts: StepFacts): boolean {
  return facts.session === undefined || weaknessOf(facts) !== undefined;
}

/** The reason for a sign-in that the page names; undefined for a first one. An act without `max_age` or `acr_values` explains nothing. */
export function askedFor(facts: StepFacts): AskedFor | undefined {
  const { stepUp, maxAgeSeconds, wantsPasskey, wantsTwoFactors } = facts.request;
  const wantsMore = maxAgeSeconds !== undefined || wantsPasskey === true || wantsTwoFactors === true;
  return stepUp !== undefined && wantsMore ? stepUp : weaknessOf(facts);
}

/** The shortcoming of the member's session for this request. */
function weaknessOf({ request, session, isFreshSignIn, now }: StepFacts): AskedFor | undefined {
  if (session === undefined || isFreshSignIn) return undefined;
  if (request.wantsPasskey === true && acrOf(session.methods) !== 'phr') return 'passkey';
  if (request.wantsTwoFactors === true && acrOf(session.methods) === undefined) return 'two_factors';
  if (request.prompts.includes('login') || request.prompts.includes('select_account')) return 'fresh';
  const { maxAgeSeconds } = request;
  if (maxAgeSeconds === undefined) return undefined;
  return now.getTime() - session.authenticatedAt.getTime() >= maxAgeSeconds * 1000 ? 'fresh' : undefined;
}

function mustConsent({
  request,
  isFirstParty,
  isUnprovenApp,
  isFreshSignIn,
  consent,
  now,
}: StepFacts): boolean {
  if (request.prompts.includes('consent')) return true;
  // Another program may pretend to be the app, so no code leaves without an act of the member on a page that names it.
  if (isUnprovenApp && !isFreshSignIn) return true;
  if (isFirstParty) return false;
  if (consent === undefined || consent.expiresAt <= now) return true;
  return !request.scopes.every((scope) => consent.scopes.includes(scope));
}
