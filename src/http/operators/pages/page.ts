import type { FastifyReply, FastifyRequest } from 'fastify';
import {
  callbackPath,
  findOperator,
  type OperatorDeps,
  originOf,
  type SignedInOperator,
  type SignInFrom,
  signOut,
} from '../../../operators/index.ts';
import type { Html } from '../../../shared/text/html.ts';
import { recognizerOf } from '../../request/recognize.ts';
import { brandStyleUrl } from '../../sign-in/brand.ts';
import { documentOf, policyOf } from '../../sign-in/document.ts';
import { requestOrigin } from '../register.ts';
import type { SessionCookie } from '../session-cookie.ts';
import { texts } from './texts.ts';

export const paths = {
  signIn: '/operations/sign-in',
  demo: '/operations/sign-in/demo',
  /** As the buttons, for a program: recipes, tests. */
  demoSession: '/operations/v1/demo-session',
  passkeySignIn: '/operations/sign-in/passkey',
  providerSignIn: '/operations/sign-in/provider',
  callback: `${callbackPath}/{institution}`,
  device: '/operations/device',
  decideDevice: '/operations/device/decide',
  /** RFC 8628 sections 3.1 and 3.4, for the command line. */
  deviceAuthorization: '/operations/device-authorization',
  token: '/operations/token',
  signOut: '/operations/sign-out',
  /** As the form, for the command line. */
  endSession: '/operations/v1/end-session',
  invitation: '/operations/invitation',
  enroll: '/operations/invitation/passkey',
  passkeys: '/operations/passkeys',
  removePasskey: '/operations/passkeys/remove',
} as const;

/** Everything that the pages stand on. */
export interface PageDeps {
  readonly deps: OperatorDeps;
  readonly cookie: SessionCookie;
  readonly publicUrl: string;
}

export interface OperatorView {
  readonly status?: number;
  readonly title: string;
  readonly body: Html;
  /** The page loads the module of passkeys. */
  readonly hasScript?: boolean;
  /** The color of the institution, if the page knows it. */
  readonly brandColor?: string | null;
  /** The browser goes on there by itself. A redirect of a form would need the address in `form-action`. */
  readonly goesTo?: string;
}

export function sendPage(
  reply: FastifyReply,
  { status = 200, title, body, hasScript = false, brandColor, goesTo }: OperatorView,
): FastifyReply {
  const { language } = texts;
  const brandStyle = brandColor ? brandStyleUrl(brandColor) : undefined;
  return reply
    .code(status)
    .type('text/html; charset=utf-8')
    .header('content-security-policy', policyOf({ hasScript }))
    .send(documentOf({ language, title, body, hasScript, brandStyle, goesTo }));
}

/** 303 turns the POST of a form into a GET. */
export function redirectTo(reply: FastifyReply, location: string): FastifyReply {
  return reply.code(303).header('location', location).send();
}

/** A path of this service; anything else, like another host behind two slashes, leads to the console. */
export function targetOf(next: unknown): string {
  const isOwn = typeof next === 'string' && /^\/(?:console|operations)(?:[/?][\w/?=&%.~-]*)?$/.test(next);
  return isOwn ? next : '/console';
}

export function fieldsOf(request: FastifyRequest): Readonly<Record<string, string | undefined>> {
  const given = Object.entries(Object(request.body)).filter(([, value]) => typeof value === 'string');
  return Object.fromEntries(given) as Record<string, string>;
}

export function fromOf(request: FastifyRequest): SignInFrom {
  const userAgent = request.headers['user-agent'];
  return { origin: requestOrigin(request), userAgent, recognize: recognizerOf(request) };
}

/** The operator of the session. Problems `missing_token` and `invalid_token`. */
export async function signedInOperator(
  { deps, cookie }: PageDeps,
  request: FastifyRequest,
): Promise<SignedInOperator> {
  return noted(request, await findOperator(deps, cookie.secretOf(request)));
}

/** The operator whom the browser's cookie signs in. */
export async function operatorOf(
  { deps, cookie }: PageDeps,
  request: FastifyRequest,
): Promise<SignedInOperator | undefined> {
  const secret = cookie.read(request);
  if (secret === undefined) return undefined;
  const operator = await findOperator(deps, secret).catch(() => undefined);
  return operator && noted(request, operator);
}

/** An operator who has just signed in is named by the log in place of the one before. */
function noted(request: FastifyRequest, operator: SignedInOperator): SignedInOperator {
  const { institutionId, operatorId } = operator;
  request.recognized ??= { institutionId, operatorId };
  return operator;
}

/** Ends the session of the browser, if it has one. */
export async function leave(page: PageDeps, request: FastifyRequest): Promise<void> {
  const operator = await operatorOf(page, request);
  if (operator !== undefined) await signOut(page.deps, operator, originOf(operator, requestOrigin(request)));
}

/** Gives the browser its new session in place of the one before, also after a sign-in that an act asked for. */
export async function enter(
  page: PageDeps,
  request: FastifyRequest,
  { reply, secret, to }: { readonly reply: FastifyReply; readonly secret: string; readonly to: string },
): Promise<FastifyReply> {
  await leave(page, request);
  return redirectTo(reply.header('set-cookie', page.cookie.toSet(secret)), to);
}

/** Problems after which a page leads to the sign-in and back. */
export const signInFirst: ReadonlySet<string> = new Set([
  'missing_token',
  'invalid_token',
  'insufficient_user_authentication',
]);
