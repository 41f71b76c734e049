import {
  type Browser,
  type Logout,
  type NewCookies,
  type Step,
  UnsafeRequestError,
} from '../../auth/index.ts';
import type { InstitutionId } from '../../institutions/index.ts';
import { Problem } from '../../shared/problem.ts';
import type { Services } from '../services.ts';
import { authenticatorView, codeView, recoveryCodesView } from './second-factor-views.ts';
import { texts } from './texts.ts';
import {
  activationView,
  consentDays,
  consentView,
  forgottenView,
  paths,
  refusedView,
  securityView,
  signedOutView,
  signInView,
  signOutView,
  unsubscribedView,
  unsubscribeView,
  type View,
} from './views.ts';

/** The use cases behind the pages. */
export type BrowserServices = Pick<Services, 'signIn' | 'unsubscribe'>;

/** A request of a browser for a page of a member. */
interface BrowserRequest {
  /** The query of a GET, the form of a POST. */
  readonly parameters: {
    readonly values: Readonly<Record<string, unknown>>;
    readonly repeated: readonly string[];
  };
  /** The query, also of a POST. */
  readonly query: Readonly<Record<string, unknown>>;
  readonly browser: Browser;
  /** The institutions at which the browser has a session's cookie. */
  readonly institutions: readonly InstitutionId[];
  /** The header `Sec-Fetch-Site`. */
  readonly site: string | undefined;
}

export type BrowserResponse = { readonly cookies?: readonly NewCookies[] } & (
  | { readonly view: View }
  | { readonly redirect: string }
);

export interface BrowserRoute {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  handle(services: BrowserServices, request: BrowserRequest): Promise<BrowserResponse>;
}

const startAuthorization = async ({ signIn }: BrowserServices, { parameters, browser }: BrowserRequest) =>
  responseOf(await signIn.authorize(parameters, browser));

/** OpenID Connect Core 1.0 section 3.1.2.1 asks for both methods of authorization and of logout. */
export const browserRoutes: readonly BrowserRoute[] = [
  { method: 'GET', path: paths.authorize, handle: startAuthorization },
  { method: 'POST', path: paths.authorize, handle: startAuthorization },
  {
    method: 'POST',
    path: paths.signIn,
    handle: async (services, sent) => {
      refuseForeignForm(sent);
      const [request, username, password] = ['request', 'username', 'password'].map((name) =>
        fieldOf(sent, name),
      );
      return responseOf(
        await services.signIn.signIn(
          { request: request ?? '', username: username ?? '', password: password ?? '' },
          sent.browser,
        ),
      );
    },
  },
  {
    method: 'POST',
    path: paths.passkeySignIn,
    handle: async (services, sent) => {
      refuseForeignForm(sent);
      const { request, credential } = passkeyOf(sent);
      return responseOf(await services.signIn.signInWithPasskey({ request, credential }, sent.browser));
    },
  },
  {
    method: 'POST',
    path: paths.codeSignIn,
    handle: async (services, sent) => {
      refuseForeignForm(sent);
      const [request = '', code, recoveryCode] = ['request', 'code', 'recovery'].map((name) =>
        fieldOf(sent, name),
      );
      const typed =
        code === undefined
          ? ({ kind: 'recovery_code', text: recoveryCode ?? '' } as const)
          : ({ kind: 'code', text: code } as const);
      return responseOf(await services.signIn.signInWithCode({ request, typed }, sent.browser));
    },
  },
  {
    // The sign-in page sends the request alone, and gets the form.
    method: 'POST',
    path: paths.forgotten,
    handle: async (services, sent) => {
      refuseForeignForm(sent);
      const [request = '', username] = ['request', 'username'].map((name) => fieldOf(sent, name));
      return responseOf(await services.signIn.forgottenPassword({ request, username }, sent.browser));
    },
  },
  {
    // Likewise.
    method: 'POST',
    path: paths.activate,
    handle: async (services, sent) => {
      refuseForeignForm(sent);
      const [activationCode, username = '', password = ''] = ['code', 'username', 'password'].map((name) =>
        fieldOf(sent, name),
      );
      const form = activationCode === undefined ? undefined : { activationCode, username, password };
      const request = fieldOf(sent, 'request') ?? '';
      return responseOf(await services.signIn.activate({ request, form }, sent.browser));
    },
  },
  {
    method: 'GET',
    path: paths.security,
    handle: async (services, { parameters, browser }) =>
      responseOf(await services.signIn.openSecurityPage(parameters, browser)),
  },
  {
    method: 'POST',
    path: paths.addPasskey,
    handle: async (services, sent) => {
      refuseForeignForm(sent);
      const name = fieldOf(sent, 'name') ?? '';
      return responseOf(await services.signIn.addPasskey({ ...passkeyOf(sent), name }, sent.browser));
    },
  },
  {
    method: 'POST',
    path: paths.removePasskey,
    handle: async (services, sent) => {
      refuseForeignForm(sent);
      const request = fieldOf(sent, 'request') ?? '';
      const passkeyId = fieldOf(sent, 'passkey') ?? '';
      return responseOf(await services.signIn.removePasskey({ request, passkeyId }, sent.browser));
    },
  },
  ...(['beginAuthenticator', 'removeAuthenticator', 'renewRecoveryCodes'] as const).map(
    (name): BrowserRoute => ({
      method: 'POST',
      path: paths[name],
      handle: async (services, sent) => {
        refuseForeignForm(sent);
        const request = fieldOf(sent, 'request') ?? '';
        return responseOf(await services.signIn[name]({ request }, sent.browser));
      },
    }),
  ),
  {
    method: 'POST',
    path: paths.confirmAuthenticator,
    handle: async (services, sent) => {
      refuseForeignForm(sent);
      const [request = '', code = '', name = ''] = ['request', 'code', 'name'].map((field) =>
        fieldOf(sent, field),
      );
      return responseOf(await services.signIn.confirmAuthenticator({ request, code, name }, sent.browser));
    },
  },
  {
    method: 'POST',
    path: paths.endAccess,
    handle: async (services, sent) => {
      refuseForeignForm(sent);
      const request = fieldOf(sent, 'request') ?? '';
      const access = fieldOf(sent, 'access') ?? '';
      return responseOf(await services.signIn.endAccess({ request, access }, sent.browser));
    },
  },
  {
    method: 'POST',
    path: paths.narrowConsent,
    handle: async (services, sent) => {
      refuseForeignForm(sent);
      const request = fieldOf(sent, 'request') ?? '';
      const removed = fieldOf(sent, 'removed') ?? '';
      return responseOf(await services.signIn.narrowConsent({ request, removed }, sent.browser));
    },
  },
  {
    method: 'POST',
    path: paths.consent,
    handle: async (services, sent) => {
      refuseForeignForm(sent);
      const days = consentDays.find((one) => String(one) === fieldOf(sent, 'days'));
      const isAllowed = fieldOf(sent, 'answer') === 'allow';
      if (isAllowed && days === undefined)
        throw new UnsafeRequestError('The duration is not one of the choices.');
      const answer = {
        request: fieldOf(sent, 'request') ?? '',
        consentDays: isAllowed ? days : undefined,
        choice: {
          all: fieldOf(sent, 'accounts') === 'all',
          see: tickedOf(sent, 'see '),
          pay: tickedOf(sent, 'pay '),
        },
      };
      return responseOf(await services.signIn.answerConsent(answer, sent.browser));
    },
  },
  { method: 'GET', path: paths.logout, handle: startLogout },
  { method: 'POST', path: paths.logout, handle: startLogout },
  {
    method: 'POST',
    path: paths.confirmLogout,
    handle: async (services, sent) => {
      refuseForeignForm(sent);
      return afterLogout(await services.signIn.logOutEverywhere(sent.institutions, sent.browser));
    },
  },
  {
    method: 'GET',
    path: paths.unsubscribe,
    handle: async ({ unsubscribe }, { query }) => {
      const token = tokenOf(query);
      const page = unsubscribe.pageOf(token);
      return {
        view: page === undefined ? refusedView(400, texts.unknownLink) : unsubscribeView(page, token),
      };
    },
  },
  {
    // The page's form, or the member's mail program (RFC 8058): the link itself is the permission, so any site may send it.
    method: 'POST',
    path: paths.unsubscribe,
    handle: async ({ unsubscribe }, { query, browser }) => {
      const token = tokenOf(query);
      const page = unsubscribe.pageOf(token);
      if (page === undefined) return { view: refusedView(400, texts.unknownLink) };
      await unsubscribe.stop(token, browser.origin);
      return { view: unsubscribedView(page) };
    },
  },
];

function tokenOf({ token }: BrowserRequest['query']): string {
  return typeof token === 'string' ? token : '';
}

async function startLogout({ signIn }: BrowserServices, { parameters, browser }: BrowserRequest) {
  return afterLogout(await signIn.logOut(parameters, browser));
}

/** The page for an error; undefined for one that is none of the caller's. */
export function errorView(error: unknown): View | undefined {
  if (error instanceof UnsafeRequestError) return refusedView(400, error.message);
  if (error instanceof Problem && error.code === 'overloaded') return refusedView(503, texts.busy);
  return undefined;
}

/** Beside the hidden field and the cookie, which another site does not know. */
function refuseForeignForm({ site }: BrowserRequest): void {
  if (site !== undefined && site !== 'same-origin') throw new UnsafeRequestError(texts.foreign);
}

function fieldOf({ parameters: { values, repeated } }: BrowserRequest, name: string): string | undefined {
  const value = Object.hasOwn(values, name) ? values[name] : undefined;
  return typeof value === 'string' && !repeated.includes(name) && !value.includes('\0') ? value : undefined;
}

/** The rest of the names that begin so. A box of its own for each thing: a repeated name has one value only. */
function tickedOf({ parameters: { values } }: BrowserRequest, start: string): string[] {
  return Object.keys(values).flatMap((name) => (name.startsWith(start) ? name.slice(start.length) : []));
}

function passkeyOf(sent: BrowserRequest) {
  return { request: fieldOf(sent, 'request') ?? '', credential: fieldOf(sent, 'credential') ?? '' };
}

function viewOf(step: Exclude<Step, { kind: 'redirect' }>): View {
  switch (step.kind) {
    case 'sign_in':
      return signInView(step);
    case 'code':
      return codeView(step);
    case 'activation':
      return activationView(step);
    case 'forgotten':
      return forgottenView(step);
    case 'consent':
      return consentView(step);
    case 'security':
      return securityView(step);
    case 'authenticator':
      return authenticatorView(step);
    case 'recovery_codes':
      return recoveryCodesView(step);
  }
}

function responseOf(step: Step): BrowserResponse {
  const cookies = step.cookies && { cookies: [step.cookies] };
  if (step.kind === 'redirect') return { redirect: step.to, ...cookies };
  return { view: viewOf(step), ...cookies };
}

function afterLogout(logout: Logout): BrowserResponse {
  if (logout.kind === 'ask') return { view: signOutView() };
  const cookies = logout.institutionIds.map((institutionId) => ({
    session: { institutionId, secret: null },
  }));
  return logout.to === undefined ? { view: signedOutView(), cookies } : { redirect: logout.to, cookies };
}
