import type { AuthDeps } from '../deps.ts';
import { type CodeAttempt, proveCode } from '../second-factor/prove-code.ts';
import { type Browser, browserHash } from '../sessions/browser.ts';
import { UnsafeRequestError } from './authorization-error.ts';
import { activeClient, codePage, type Step, signedIn, signInPage, sourcesOf } from './authorize.ts';
import { openRequest } from './sealed-request.ts';

/**
 * The second step of a sign-in by password. A wrong code shows its page again, for the rest of the five minutes. If the password or the
 * authenticator changed meanwhile, the member signs in anew.
 */
export async function signInWithCode(
  deps: AuthDeps,
  sent: { readonly request: string; readonly typed: CodeAttempt['typed'] },
  browser: Browser,
): Promise<Step> {
  const { request, half, expiresAtMillis, secret } = openCodePage(deps, sent.request, browser);
  const { institutionId, clientId } = request;
  const client = await activeClient(deps, institutionId, clientId);
  const { origin } = browser;
  const device = { kind: 'browser', secret, userAgent: browser.userAgent } as const;
  const sources = sourcesOf(request, browser);
  const attempt = { institutionId, clientId, half, typed: sent.typed, origin, device, sources };
  const proof = await proveCode(deps, attempt);
  const way = { request, client, browser: { ...browser, secret } };
  if (proof.kind === 'proven') return signedIn(deps, { ...way, member: proof.member });
  if (proof.kind === 'start_anew') return signInPage(deps, way);
  return codePage(deps, { ...way, half, expiresAtMillis, isRefused: true });
}

/** Throws UnsafeRequestError for a page of another browser, and for one that waited too long. */
function openCodePage(deps: AuthDeps, text: string, { secret, recognize }: Browser) {
  const { vault, clock } = deps;
  const page = openRequest(deps, text, { kind: 'code', nowMillis: clock().getTime() });
  if (page === undefined || secret === undefined || page.browser !== browserHash(vault, secret)) {
    throw new UnsafeRequestError('This page has expired. Go back to the app and start again.');
  }
  const { institutionId, clientId } = page.request;
  recognize?.({ institutionId, clientId });
  const { userKey, userId, userEpoch } = page;
  return { ...page, half: { userKey: BigInt(userKey), userId, userEpoch }, secret };
}
