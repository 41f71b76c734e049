import type { AuthDeps } from '../deps.ts';
import { requestActivation } from '../one-time-codes/request-activation.ts';
import type { Browser } from '../sessions/browser.ts';
import { activeClient, openPage, pageOf, type Step } from './authorize.ts';

/**
 * A member who forgot the password, on the way to an app. Without a username it shows the page that asks for it. With one it shows the
 * page of activation, with the same words whether the username exists or not.
 */
export async function forgottenPassword(
  deps: AuthDeps,
  sent: { readonly request: string; readonly username: string | undefined },
  browser: Browser,
): Promise<Step> {
  const { request } = openPage(deps, sent.request, browser);
  const { institutionId, clientId } = request;
  const client = await activeClient(deps, institutionId, clientId);
  const { username } = sent;
  if (username !== undefined)
    await requestActivation(deps, institutionId, { clientId, username, origin: browser.origin });
  const { cookies, ...page } = await pageOf(deps, { request, client, browser });
  if (username === undefined) return { kind: 'forgotten', ...page, username: request.loginHint, ...cookies };
  return { kind: 'activation', ...page, username, refusal: undefined, isCodeOnItsWay: true, ...cookies };
}
