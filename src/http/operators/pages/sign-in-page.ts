import type { FastifyRequest } from 'fastify';
import { institutionOf, startPasskeySignIn } from '../../../operators/index.ts';
import { addressByName, isSafeOrigin } from '../../sign-in/origins.ts';
import { type OperatorView, operatorOf, type PageDeps, targetOf } from './page.ts';
import { signInView } from './views.ts';

interface Shown {
  readonly next: unknown;
  readonly demos?: readonly { readonly code: string; readonly name: string }[];
  readonly refusal?: { readonly status: 401 | 422; readonly text: string };
  readonly institution?: string;
}

/** The page of sign-in with a new challenge. It has the institution of a session whose provider is to vouch once more. */
export async function signInPage(
  page: PageDeps,
  request: FastifyRequest,
  { next, demos = [], refusal, institution }: Shown,
): Promise<OperatorView> {
  const { deps, publicUrl } = page;
  const byName = addressByName(publicUrl, request);
  const hasPasskeys = byName === undefined && isSafeOrigin(publicUrl);
  const passkey = hasPasskeys ? startPasskeySignIn(deps) : undefined;
  const known = institution ?? (await institutionOfSession(page, request));
  return signInView({
    next: targetOf(next),
    demos,
    passkey,
    byName,
    refusal,
    ...(known && { institution: known }),
  });
}

async function institutionOfSession(page: PageDeps, request: FastifyRequest): Promise<string | undefined> {
  const operator = await operatorOf(page, request);
  if (operator?.method !== 'provider') return undefined;
  return (await institutionOf(page.deps, operator.institutionId)).code;
}
