import type { Acr, Institution } from '../../../institutions/index.ts';

/** The sign-in behind a member's order, when its age was checked. */
export interface OrderSignIn {
  readonly signedInAt: Date;
  readonly acr: Acr | null;
  readonly checkedAt: Date;
}

/** An institution's policy on the sign-ins behind transfers. */
export type StepUpPolicy = Pick<
  Institution['policies'],
  | 'transferStepUpMaxAgeSeconds'
  | 'transferStepUpAboveMinor'
  | 'transferStepUpNewDestination'
  | 'transferStepUpPasskey'
>;

/** Whether the sign-in is as recent and as strong as the policy demands; undefined: none is known. */
export function isFresh(signIn: OrderSignIn | undefined, policy: StepUpPolicy): boolean {
  if (signIn === undefined) return false;
  const ageMillis = signIn.checkedAt.getTime() - signIn.signedInAt.getTime();
  if (ageMillis > policy.transferStepUpMaxAgeSeconds * 1000) return false;
  return !policy.transferStepUpPasskey || signIn.acr === 'phr';
}

/** Whether an amount needs a fresh sign-in, whatever its destination. */
export function isAboveStepUp(
  { amountMinor, currency }: { readonly amountMinor: bigint; readonly currency: string },
  { policies, ...institution }: Pick<Institution, 'currency' | 'policies'>,
): boolean {
  return currency !== institution.currency || amountMinor > policies.transferStepUpAboveMinor;
}
