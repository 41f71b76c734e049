import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { CommandOrigin } from '../../../events/index.ts';
import {
  addOwnPasskey,
  openOwnPasskeys,
  originOf,
  removeOwnPasskey,
  type SignedInOperator,
} from '../../../operators/index.ts';
import { Problem } from '../../../shared/problem.ts';
import { requestOrigin } from '../register.ts';
import {
  fieldsOf,
  type PageDeps,
  paths,
  redirectTo,
  sendPage,
  signedInOperator,
  signInFirst,
} from './page.ts';
import { type PasskeysOutcome, passkeysView } from './views.ts';

type Change = (operator: SignedInOperator, origin: CommandOrigin) => Promise<PasskeysOutcome>;

/** The page of an operator's own passkeys. Without a recent sign-in it leads to the page of sign-in, and back. */
export function registerPasskeyPages(scope: FastifyInstance, page: PageDeps): void {
  const { deps } = page;
  scope.get(paths.passkeys, (request, reply) => answer(page, { request, reply }));
  scope.post(paths.passkeys, async (request, reply) => {
    const { request: sealed = '', credential = '', name = '' } = fieldsOf(request);
    const add: Change = async (operator, origin) =>
      (await addOwnPasskey(deps, operator, { request: sealed, credential, name, origin }))
        ? 'added'
        : 'refused';
    return answer(page, { request, reply }, add);
  });
  scope.post(paths.removePasskey, async (request, reply) => {
    const { passkey: passkeyId = '' } = fieldsOf(request);
    const remove: Change = async (operator, origin) =>
      (await removeOwnPasskey(deps, operator, { passkeyId, origin })) ? 'removed' : 'refused';
    return answer(page, { request, reply }, remove);
  });
}

async function answer(
  page: PageDeps,
  { request, reply }: { readonly request: FastifyRequest; readonly reply: FastifyReply },
  change?: Change,
): Promise<FastifyReply> {
  try {
    const { deps } = page;
    const operator = await signedInOperator(page, request);
    const origin = originOf(operator, requestOrigin(request));
    const outcome = await change?.(operator, origin).catch(onlyPasskey);
    return sendPage(reply, passkeysView(await openOwnPasskeys(deps, operator), outcome));
  } catch (error) {
    if (!(error instanceof Problem) || !signInFirst.has(error.code)) throw error;
    return redirectTo(reply, `${paths.signIn}?next=${paths.passkeys}`);
  }
}

function onlyPasskey(error: unknown): PasskeysOutcome {
  if (error instanceof Problem && error.code === 'act_refused') return 'only';
  throw error;
}
