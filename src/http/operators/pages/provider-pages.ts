import type { FastifyInstance } from 'fastify';
import { finishProviderSignIn, startProviderSignIn } from '../../../operators/index.ts';
import { isSafeOrigin } from '../../sign-in/origins.ts';
import { SessionCookie } from '../session-cookie.ts';
import { enter, fieldsOf, fromOf, operatorOf, type PageDeps, paths, sendPage, targetOf } from './page.ts';
import { signInPage } from './sign-in-page.ts';
import { texts } from './texts.ts';
import { leavingView } from './views.ts';

/** The way to the institution's OpenID provider and back. */
export function registerProviderPages(scope: FastifyInstance, page: PageDeps): void {
  const { deps, cookie, publicUrl } = page;
  const flowCookie = new SessionCookie(publicUrl, 'operator-flow');
  scope.post(paths.providerSignIn, async (request, reply) => {
    cookie.refuseForeign(request);
    const { institution = '', next } = fieldsOf(request);
    // A browser that is signed in comes for an act that needs a recent proof.
    const isFresh = (await operatorOf(page, request)) !== undefined;
    const asked = { institution, next: targetOf(next), isFresh };
    const started = isSafeOrigin(publicUrl)
      ? await startProviderSignIn(deps, asked, fromOf(request))
      : undefined;
    if (started !== undefined)
      return sendPage(
        reply.header('set-cookie', flowCookie.toSet(started.flow)),
        leavingView(started.location),
      );
    const refusal = { status: 422, text: texts.signIn.noProvider } as const;
    return sendPage(reply, await signInPage(page, request, { next, refusal, institution }));
  });
  scope.get<{ Params: { institution: string } }>(
    paths.callback.replace('{institution}', ':institution'),
    async (request, reply) => {
      const { institution } = request.params;
      const parameters = request.query as Readonly<Record<string, unknown>>;
      const flow = flowCookie.read(request) ?? '';
      const finished = await finishProviderSignIn(deps, { institution, flow, parameters }, fromOf(request));
      reply.header('set-cookie', flowCookie.toSet(null));
      if (finished !== undefined)
        return enter(page, request, { reply, secret: finished.secret, to: finished.next });
      const refusal = { status: 401, text: texts.signIn.refusedByProvider } as const;
      return sendPage(reply, await signInPage(page, request, { next: undefined, refusal, institution }));
    },
  );
}
