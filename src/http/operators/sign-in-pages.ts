import { isIP } from 'node:net';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import {
  demoOperators,
  findOperator,
  listDemoInstitutions,
  type OperatorDeps,
  originOf,
  signInToDemo,
  signOut,
} from '../../operators/index.ts';
import { Problem } from '../../shared/problem.ts';
import { type Html, html } from '../../shared/text/html.ts';
import { plainAddress } from '../request/address/address.ts';
import { bodyParsers } from '../request/body/body-parsers.ts';
import { styleUrl } from '../sign-in/style.ts';
import { requestOrigin } from './register.ts';
import { SessionCookie } from './session-cookie.ts';
import { texts } from './texts.ts';

const signInPaths = {
  page: '/operations/sign-in',
  demo: '/operations/sign-in/demo',
  /** As the buttons, for a program: recipes, tests. */
  demoSession: '/operations/v1/demo-session',
  signOut: '/operations/sign-out',
} as const;

/** The methods of the pages, for the other methods' refusals. */
export const operatorPages: readonly { readonly method: 'GET' | 'POST'; readonly path: string }[] = [
  { method: 'GET', path: signInPaths.page },
  { method: 'POST', path: signInPaths.demo },
  { method: 'POST', path: signInPaths.demoSession },
  { method: 'POST', path: signInPaths.signOut },
];

/** The page on which operators sign in, and its forms. */
export function registerOperatorPages(app: FastifyInstance, deps: OperatorDeps, publicUrl: string): void {
  const cookie = new SessionCookie(publicUrl);
  app.register(async (scope) => {
    const form = 'application/x-www-form-urlencoded';
    scope.addContentTypeParser(form, { parseAs: 'buffer' }, bodyParsers[form]);
    const json = 'application/json';
    scope.addContentTypeParser(json, { parseAs: 'buffer' }, bodyParsers[json]);
    scope.get(signInPaths.page, async (request, reply) => {
      const { next } = request.query as { next?: unknown };
      const demos = isOnThisMachine(request, publicUrl) ? await listDemoInstitutions(deps) : [];
      return sendPage(reply, 200, signInView(demos, targetOf(next)));
    });
    scope.post(signInPaths.demo, async (request, reply) => {
      cookie.refuseForeign(request);
      const secret = await beginDemo(deps, request, publicUrl);
      const { next } = fieldsOf(request);
      return reply
        .header('set-cookie', cookie.toSet(secret))
        .code(303)
        .header('location', targetOf(next))
        .send();
    });
    scope.post(signInPaths.demoSession, async (request, reply) => {
      const token = await beginDemo(deps, request, publicUrl);
      return reply.type('application/json').send(JSON.stringify({ token }));
    });
    scope.post(signInPaths.signOut, async (request, reply) => {
      cookie.refuseForeign(request);
      const secret = cookie.read(request);
      const operator =
        secret === undefined ? undefined : await findOperator(deps, secret).catch(() => undefined);
      if (operator !== undefined) await signOut(deps, operator, originOf(operator, requestOrigin(request)));
      return reply
        .header('set-cookie', cookie.toSet(null))
        .code(303)
        .header('location', signInPaths.page)
        .send();
    });
  });
}

/** Problem `not_found` for a browser elsewhere. */
async function beginDemo(deps: OperatorDeps, request: FastifyRequest, publicUrl: string): Promise<string> {
  if (!isOnThisMachine(request, publicUrl)) throw new Problem('not_found', 'There is no such demo.');
  const { institution = '', name = '' } = fieldsOf(request);
  const from = { origin: requestOrigin(request), userAgent: request.headers['user-agent'] };
  return signInToDemo(deps, { institution, name }, from);
}

const namesOfThisMachine = ['localhost', '127.0.0.1', '[::1]'];

/**
 * Whether the browser and the address of the service are both on this machine. A proxy on the same machine makes every peer look local, so
 * the public address counts too. So does the address that the browser shows: the name of another site may lead to this machine, and its
 * pages could read the response (DNS rebinding).
 */
function isOnThisMachine(request: FastifyRequest, publicUrl: string): boolean {
  const peer = plainAddress(request.socket.remoteAddress);
  const isLocal = (address: string | null) =>
    address !== null && isIP(address) !== 0 && (address === '::1' || address.startsWith('127.'));
  const shown = request.headers.host?.replace(/:[0-9]*$/, '') ?? '';
  return (
    [new URL(publicUrl).hostname, shown].every((name) => namesOfThisMachine.includes(name)) &&
    isLocal(peer) &&
    isLocal(request.callerAddress)
  );
}

/** A path of this service; anything else, like another host behind two slashes, leads to the console. */
function targetOf(next: unknown): string {
  const isOwn = typeof next === 'string' && /^\/(?:console|operations)(?:[/?][\w/?=&%.~-]*)?$/.test(next);
  return isOwn ? next : '/console';
}

function fieldsOf(request: FastifyRequest): Readonly<Record<string, string | undefined>> {
  const given = Object.entries(Object(request.body)).filter(([, value]) => typeof value === 'string');
  return Object.fromEntries(given) as Record<string, string>;
}

function signInView(demos: readonly { readonly code: string; readonly name: string }[], next: string): Html {
  const buttons = demos.map(
    (demo) => html`<fieldset><legend>${demo.name}</legend>
${demoOperators.map(
  ({ name }) => html`<form method="post" action="${signInPaths.demo}">
<input type="hidden" name="institution" value="${demo.code}"><input type="hidden" name="next" value="${next}">
<button class="quiet" name="name" value="${name}">${texts.continueAs(name)}</button></form>
`,
)}</fieldset>`,
  );
  return html`<h1>${texts.title}</h1>
<p class="lead">${texts.lead}</p>
${buttons.length === 0 ? html`<p>${texts.noWay}</p>` : html`<p class="note">${texts.demoOnly}</p>`}
${buttons}`;
}

function sendPage(reply: FastifyReply, status: number, content: Html): FastifyReply {
  const page = html`<!doctype html>
<html lang="${texts.language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${texts.title}</title>
<link rel="icon" href="/favicon.svg" type="image/svg+xml">
<link rel="stylesheet" href="${styleUrl}">
</head>
<body>
<main>${content}
</main>
</body>
</html>
`;
  return reply
    .code(status)
    .type('text/html; charset=utf-8')
    .header(
      'content-security-policy',
      "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    )
    .send(page.text);
}
