import { AuthenticationError, ConnectionError, Sharedraft, TransferDeclinedError } from '@sharedraft/client';
import { SignedOutError } from '../common/signed-out-error.ts';
import { accessToken, forgetToken, member } from './session.ts';

const bank = new Sharedraft({ baseUrl: location.origin, auth: accessToken });

/**
 * Calls the service as the member. A refused token is renewed once; the service has done nothing for it. Without a session the sign-in screen
 * shows.
 */
export async function ask<Result>(work: (bank: Sharedraft) => PromiseLike<Result>): Promise<Result> {
  try {
    try {
      return await work(bank);
    } catch (error) {
      if (!(error instanceof AuthenticationError) || needsNewSignIn(error)) throw error;
      forgetToken();
      return await work(bank);
    }
  } catch (error) {
    if (error instanceof SignedOutError) member.value = null;
    throw error;
  }
}

/** The token is active, and the institution wants a more recent sign-in behind it (docs/sign-in.md). */
export function needsNewSignIn(error: unknown): error is AuthenticationError {
  return error instanceof AuthenticationError && error.code === 'insufficient_user_authentication';
}

/** A sentence for the member. */
export function sentenceOf(error: unknown): string {
  if (needsNewSignIn(error)) return 'For this transfer, sign in again. The order stays as it is.';
  if (error instanceof ConnectionError || error instanceof TypeError) {
    return 'The institution cannot be reached. Check your connection and try again.';
  }
  if (error instanceof TransferDeclinedError) return reasonOf(error.code);
  if (error instanceof Error && 'problem' in error) {
    const { detail } = error.problem as { readonly detail?: string };
    if (detail !== undefined) return detail;
  }
  return 'This did not work. Try again in a moment.';
}

const reasons: Readonly<Record<string, string>> = {
  insufficient_funds: 'The available balance does not cover this amount.',
  limit_exceeded: 'This is more than your limit for transfers allows.',
  account_closed: 'One of the accounts is closed.',
  account_restricted: 'One of the accounts does not allow this transfer.',
  account_not_found: 'There is no such account at this institution.',
  same_account: 'Choose two different accounts.',
  currency_mismatch: 'The accounts have different currencies.',
  exceeds_payoff: 'This is more than the payoff of the loan.',
  exceeds_contribution_limit: 'This is more than may be contributed to the account this year.',
  core_unavailable: 'The institution cannot carry out transfers at the moment. Try again later.',
  transfer_cancelled: 'The transfer was cancelled.',
  transfer_declined: 'The institution declined the transfer.',
  transfer_expired: 'The transfer expired before the institution decided.',
  core_rejected: 'The institution’s core system rejected the transfer.',
  cut_off: 'It is after today’s cut-off: the transfer posts on the next business day.',
  review: 'The institution looks at this transfer before it posts.',
  core: 'The transfer posts when the institution’s core system has accepted it.',
};

/** A sentence for a code of the service. Codes may be added, so there is one for each other. */
export function reasonOf(code: string): string {
  return reasons[code] ?? 'The institution does not allow this transfer.';
}
