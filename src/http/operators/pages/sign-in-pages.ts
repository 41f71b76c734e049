import type { FastifyInstance } from 'fastify';
import { listDemoInstitutions, type OperatorDeps, signInWithPasskey } from '../../../operators/index.ts';
import { bodyParsers } from '../../request/body/body-parsers.ts';
import { SessionCookie } from '../session-cookie.ts';
import { beginDemo, isOnThisMachine } from './demo.ts';
import { registerDevicePages } from './device-pages.ts';
import { registerInvitationPages } from './invitation-pages.ts';
import {
  enter,
  fieldsOf,
  fromOf,
  leave,
  type PageDeps,
  paths,
  redirectTo,
  sendPage,
  targetOf,
} from './page.ts';
import { registerPasskeyPages } from './passkey-pages.ts';
import { registerProviderPages } from './provider-pages.ts';
import { signInPage } from './sign-in-page.ts';
import { texts } from './texts.ts';

/** The methods of the pages, for the other methods' refusals. */
export const operatorPages: readonly { readonly method: 'GET' | 'POST'; readonly path: string }[] = [
  { method: 'GET', path: paths.signIn },
  { method: 'POST', path: paths.demo },
  { method: 'POST', path: paths.demoSession },
  { method: 'POST', path: paths.passkeySignIn },
  { method: 'POST', path: paths.providerSignIn },
  { method: 'GET', path: paths.callback },
  { method: 'POST', path: paths.signOut },
  { method: 'POST', path: paths.endSession },
  { method: 'GET', path: paths.device },
  { method: 'POST', path: paths.device },
  { method: 'POST', path: paths.decideDevice },
  { method: 'POST', path: paths.deviceAuthorization },
  { method: 'POST', path: paths.token },
  { method: 'GET', path: paths.invitation },
  { method: 'POST', path: paths.invitation },
  { method: 'POST', path: paths.enroll },
  { method: 'GET', path: paths.passkeys },
  { method: 'POST', path: paths.passkeys },
  { method: 'POST', path: paths.removePasskey },
];

/** The pages on which operators accept an invitation, sign in and manage their passkeys, and their forms. */
export function registerOperatorPages(app: FastifyInstance, deps: OperatorDeps, publicUrl: string): void {
  const page: PageDeps = { deps, cookie: new SessionCookie(publicUrl), publicUrl };
  app.register(async (scope) => {
    const form = 'application/x-www-form-urlencoded';
    scope.addContentTypeParser(form, { parseAs: 'buffer' }, bodyParsers[form]);
    const json = 'application/json';
    scope.addContentTypeParser(json, { parseAs: 'buffer' }, bodyParsers[json]);
    registerSignInPages(scope, page);
    registerProviderPages(scope, page);
    registerInvitationPages(scope, page);
    registerPasskeyPages(scope, page);
    registerDevicePages(scope, page);
  });
}

function registerSignInPages(scope: FastifyInstance, page: PageDeps): void {
  const { deps, cookie, publicUrl } = page;
  scope.get(paths.signIn, async (request, reply) => {
    const { next } = request.query as { next?: unknown };
    const demos = isOnThisMachine(request, publicUrl) ? await listDemoInstitutions(deps) : [];
    return sendPage(reply, await signInPage(page, request, { next, demos }));
  });
  scope.post(paths.passkeySignIn, async (request, reply) => {
    cookie.refuseForeign(request);
    const { request: sealed = '', credential = '', next } = fieldsOf(request);
    const secret = await signInWithPasskey(deps, { request: sealed, credential }, fromOf(request));
    if (secret !== undefined) return enter(page, request, { reply, secret, to: targetOf(next) });
    const refusal = { status: 401, text: texts.signIn.refused } as const;
    return sendPage(reply, await signInPage(page, request, { next, refusal }));
  });
  scope.post(paths.demo, async (request, reply) => {
    cookie.refuseForeign(request);
    const secret = await beginDemo(deps, request, publicUrl);
    const { next } = fieldsOf(request);
    return redirectTo(reply.header('set-cookie', cookie.toSet(secret)), targetOf(next));
  });
  scope.post(paths.demoSession, async (request, reply) => {
    const token = await beginDemo(deps, request, publicUrl);
    return reply.type('application/json').send(JSON.stringify({ token }));
  });
  scope.post(paths.signOut, async (request, reply) => {
    cookie.refuseForeign(request);
    await leave(page, request);
    return redirectTo(reply.header('set-cookie', cookie.toSet(null)), paths.signIn);
  });
}
