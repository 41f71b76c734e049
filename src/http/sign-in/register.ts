import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { InstitutionId } from '../../institutions/index.ts';
import { plainAddress } from '../request/address/address.ts';
import { bodyParsers } from '../request/body/body-parsers.ts';
import { parseForm } from '../request/body/form.ts';
import { recognizerOf } from '../request/recognize.ts';
import {
  type BrowserResponse,
  type BrowserRoute,
  type BrowserServices,
  browserRoutes,
  errorView,
} from './browser-routes.ts';
import { Cookies } from './cookies.ts';
import { policyOf } from './document.ts';
import { addressByName, isSafeOrigin } from './origins.ts';
import { texts } from './texts.ts';
import { refusedView, type View } from './views.ts';

/** The pages on which members sign in, consent and stop mail, and their forms. */
export function registerSignInPages(
  app: FastifyInstance,
  services: BrowserServices,
  publicUrl: string,
): void {
  const ownCookies = new Cookies(publicUrl);
  const isOwnSafe = isSafeOrigin(publicUrl);
  // Members reach the host name of an institution over https only.
  const hostCookies = new Cookies('https:');
  app.register(async (scope) => {
    const form = 'application/x-www-form-urlencoded';
    scope.addContentTypeParser(form, { parseAs: 'buffer' }, bodyParsers[form]);
    for (const route of browserRoutes) {
      scope.route({
        method: route.method,
        url: route.path,
        handler: async (request, reply) => {
          const { atHost } = request;
          const cookies = atHost === null ? ownCookies : hostCookies;
          if (atHost === null && !isOwnSafe) return sendView(reply, refusedView(400, texts.unsafe));
          const named = route.method === 'GET' ? addressByName(publicUrl, request) : undefined;
          if (named !== undefined) return reply.code(302).header('location', named).send();
          const response = await respond(route, atHost ?? services, { request, cookies }).catch(
            (error): BrowserResponse => {
              const view = errorView(error);
              if (view === undefined) throw error;
              return { view };
            },
          );
          const set = response.cookies?.flatMap((one) => cookies.toSet(one)) ?? [];
          if (set.length > 0) reply.header('set-cookie', set);
          if ('view' in response) return sendView(reply, response.view);
          // 303 turns the POST of a form into a GET; 302 would let a browser send the password on (RFC 9700 section 4.12).
          return reply.code(303).header('location', response.redirect).send();
        },
      });
    }
  });
}

function respond(
  route: BrowserRoute,
  services: BrowserServices,
  { request, cookies }: { readonly request: FastifyRequest; readonly cookies: Cookies },
): Promise<BrowserResponse> {
  const { headers, url } = request;
  const { cookie } = headers;
  const query = parseForm(url.split('?', 2)[1] ?? '');
  const form = { value: Object(request.body), repeated: request.bodyFacts?.repeated ?? [] };
  const { value: values, repeated } = route.method === 'GET' ? query : form;
  return route.handle(services, {
    parameters: { values, repeated },
    query: query.value,
    institutions: cookies.institutions(cookie),
    site: headers['sec-fetch-site']?.toString(),
    browser: {
      secret: cookies.browser(cookie),
      sessionSecret: (institutionId: InstitutionId) => cookies.session(cookie, institutionId),
      userAgent: headers['user-agent'],
      recognize: recognizerOf(request),
      origin: {
        transactionId: request.id,
        address: request.callerAddress,
        isForwarded: request.callerAddress !== plainAddress(request.socket.remoteAddress),
      },
    },
  });
}

function sendView(reply: FastifyReply, { status, html, leadsTo, hasScript }: View): FastifyReply {
  const formTarget = leadsTo && sourceOf(leadsTo);
  return reply
    .code(status)
    .type('text/html; charset=utf-8')
    .header('content-security-policy', policyOf({ hasScript, formTarget }))
    .send(html);
}

/** The source of a policy that allows the address: its origin, or the private scheme of an app. */
function sourceOf(address: string): string {
  const { protocol, origin } = new URL(address);
  return protocol === 'https:' || protocol === 'http:' ? origin : protocol;
}
