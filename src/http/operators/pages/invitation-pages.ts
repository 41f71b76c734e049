import type { FastifyInstance } from 'fastify';
import { acceptInvitation, openInvitation } from '../../../operators/index.ts';
import { addressByName, isSafeOrigin } from '../../sign-in/origins.ts';
import { enter, fieldsOf, fromOf, type PageDeps, paths, sendPage } from './page.ts';
import { texts } from './texts.ts';
import { enrollmentView, invitationView } from './views.ts';

/** The pages on which an invited operator enters the code and makes the first passkey. */
export function registerInvitationPages(scope: FastifyInstance, page: PageDeps): void {
  const { deps, cookie, publicUrl } = page;
  const unsafe = isSafeOrigin(publicUrl) ? undefined : texts.unsafe;
  scope.get(paths.invitation, async (request, reply) => {
    const named = addressByName(publicUrl, request);
    if (named !== undefined) return reply.code(302).header('location', named).send();
    const { institution } = request.query as { institution?: unknown };
    const known = typeof institution === 'string' ? institution : '';
    return sendPage(reply, invitationView({ institution: known, refusal: unsafe }));
  });
  scope.post(paths.invitation, async (request, reply) => {
    cookie.refuseForeign(request);
    const { institution = '', code = '' } = fieldsOf(request);
    const opened =
      unsafe === undefined ? await openInvitation(deps, { institution, code }, fromOf(request)) : undefined;
    if (opened !== undefined) return sendPage(reply, enrollmentView(opened));
    return sendPage(reply, invitationView({ institution, refusal: unsafe ?? texts.invitation.refused }));
  });
  scope.post(paths.enroll, async (request, reply) => {
    cookie.refuseForeign(request);
    const { request: sealed = '', credential = '', name = '' } = fieldsOf(request);
    const secret = await acceptInvitation(deps, { request: sealed, credential, name }, fromOf(request));
    if (secret !== undefined) return enter(page, request, { reply, secret, to: '/console' });
    return sendPage(reply, invitationView({ institution: '', refusal: texts.enrollment.refused }));
  });
}
