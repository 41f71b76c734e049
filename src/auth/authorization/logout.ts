import type { InstitutionId } from '../../storage/index.ts';
import { selectAuthorizingClient } from '../clients/authorizing-client.ts';
import type { AuthDeps } from '../deps.ts';
import type { Browser } from '../sessions/browser.ts';
import { findSessionToLeave, leaveSession } from '../sessions/sessions.ts';
import { readIdTokenHint } from '../tokens/id-token.ts';
import type { Parameters } from './authorize.ts';
import { withParameters } from './redirect-uri.ts';

/** `ask`: the member confirms on a page, since any site can send a browser here. */
export type Logout =
  | { readonly kind: 'ask' }
  | {
      readonly kind: 'left';
      readonly to: string | undefined;
      readonly institutionIds: readonly InstitutionId[];
    };

/**
 * OpenID Connect RP-Initiated Logout 1.0. With an ID token of the member who is signed in, the session ends at once, and the member returns to
 * an address that is registered for the app.
 */
export async function logOut(deps: AuthDeps, { values }: Parameters, browser: Browser): Promise<Logout> {
  const text = (name: string) => (typeof values[name] === 'string' ? values[name] : undefined);
  const hint = text('id_token_hint');
  const known = hint === undefined ? undefined : await readIdTokenHint(deps, hint);
  const institutionOfHint = known && (await deps.clientDirectory.institutionOf(known.clientId));
  // A key of another cell speaks for the institutions that came from there only.
  const isItsKey = institutionOfHint && deps.keys.signsFor(known.kid, institutionOfHint);
  const institutionId = isItsKey ? institutionOfHint : undefined;
  const namedClient = text('client_id');
  if (!known || !institutionId || (namedClient !== undefined && namedClient !== known.clientId)) {
    return { kind: 'ask' };
  }
  const session = await findSessionToLeave(deps, institutionId, browser);
  if (session !== undefined && session.userId !== known.userId) return { kind: 'ask' };
  if (session !== undefined) await leaveSession(deps, institutionId, { session, browser });
  const client = await deps.database.read(institutionId, (db) => selectAuthorizingClient(db, known.clientId));
  const wanted = text('post_logout_redirect_uri');
  const isKnown = wanted !== undefined && client?.logoutUris.includes(wanted);
  const to = isKnown ? withParameters(wanted, { state: text('state') }) : undefined;
  return { kind: 'left', to, institutionIds: [institutionId] };
}

/** The member confirmed: every session of the browser ends. */
export async function logOutEverywhere(
  deps: AuthDeps,
  institutionIds: readonly InstitutionId[],
  browser: Browser,
): Promise<Logout> {
  for (const institutionId of institutionIds) {
    const session = await findSessionToLeave(deps, institutionId, browser);
    if (session !== undefined) await leaveSession(deps, institutionId, { session, browser });
  }
  return { kind: 'left', to: undefined, institutionIds };
}
