import type { Origin } from '../../events/index.ts';
import type { ClientActor } from '../../institutions/index.ts';
import { Problem } from '../../shared/problem.ts';
import type { AuthDeps } from '../deps.ts';
import type { Browser } from '../sessions/browser.ts';
import { type ActivationRefusal, activationRefusals } from './activation-refusals.ts';
import { activeClient, openPage, pageOf, type Step, signIn, type Way } from './authorize.ts';

/** The member's words on the page. */
export interface ActivationForm {
  readonly activationCode: string;
  readonly username: string;
  readonly password: string;
}

/** Gives the member the username and the password, and audits a refusal. Problems as `activateMember`. */
export type Activate = (
  actor: ClientActor,
  form: ActivationForm & { readonly origin: Origin },
) => Promise<unknown>;

/**
 * First activation with the code of a registration, on the way to an app: from the page of sign-in, and back to it signed in. Without a
 * form it shows the page. A refusal shows it again with its reason, and a wrong code looks like one that was used or has expired.
 */
export async function activateOnPage(
  deps: AuthDeps,
  activate: Activate,
  sent: { readonly request: string; readonly form: ActivationForm | undefined },
  browser: Browser,
): Promise<Step> {
  const { request } = openPage(deps, sent.request, browser);
  const { institutionId, clientId } = request;
  const client = await activeClient(deps, institutionId, clientId);
  const way = { request, client, browser };
  const { form } = sent;
  if (form === undefined) return activationPage(deps, way, {});
  const actor = { kind: 'client', institutionId, clientId } as const;
  try {
    await activate(actor, { ...form, origin: browser.origin });
  } catch (error) {
    const code = error instanceof Problem ? activationRefusals.find((one) => one === error.code) : undefined;
    if (code === undefined) throw error;
    return activationPage(deps, way, { username: form.username, refusal: code });
  }
  const { username, password } = form;
  return signIn(deps, { request: sent.request, username, password }, browser);
}

async function activationPage(
  deps: AuthDeps,
  way: Way,
  shown: { readonly username?: string; readonly refusal?: ActivationRefusal },
): Promise<Step> {
  const { cookies, ...page } = await pageOf(deps, way);
  return { kind: 'activation', ...page, username: shown.username, refusal: shown.refusal, ...cookies };
}
