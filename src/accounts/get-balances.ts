import type { Actor } from '../institutions/index.ts';
import { Problem } from '../shared/problem.ts';
import type { Clock, Reads } from '../storage/index.ts';
import { accountBalances } from './account.ts';
import { selectFiguresBefore } from './balance-queries.ts';
import { findAccount } from './find-account.ts';

/** In minor units of `currency`, as an account shows them. */
export interface Balances {
  readonly accountId: string;
  readonly asOf: Date;
  readonly currency: string;
  readonly currentMinor: bigint;
  readonly availableMinor: bigint;
}

/**
 * Returns the balances of an account at a moment (null: now), from its entries up to then. The ledger keeps no history of
 * interest, fees and credit lines: a loan's current balance is the whole debt, and a credit line's available balance is
 * computed with the line of today.
 *
 * Throws Problem `not_found` for an account that does not exist or that the caller may not see, and `invalid_request` for a
 * moment in the future or before the account's first entry.
 */
export async function getBalances(
  { database, clock }: { readonly database: Reads; readonly clock: Clock },
  actor: Actor,
  accountId: string,
  moment: Date | null,
): Promise<Balances> {
  const { institutionId } = actor;
  return database.read(institutionId, async (db) => {
    const account = await findAccount(db, actor, accountId);
    if (account === undefined) throw new Problem('not_found', 'There is no such account.');
    const now = clock();
    if (moment !== null && moment > now) throw outside('Must not be in the future.');
    const asOf = moment ?? now;
    // Times are whole milliseconds: "before the next one" includes this one. For now, every entry counts.
    const before = new Date(moment === null ? 8_640_000_000_000_000 : asOf.getTime() + 1);
    const figures = await selectFiguresBefore(db, account.accountKey, before);
    if (figures === undefined) throw outside('Must not be before the account’s first entry.');
    const { category, currency, creditLimit } = account;
    const balances = accountBalances({ ...figures, category, creditLimit, accruedInterest: 0n, feesDue: 0n });
    return { accountId, asOf, currency, ...balances };
  });
}

function outside(detail: string): Problem {
  return new Problem('invalid_request', 'The account has no balance at that moment.', {
    errors: [{ pointer: 'asOf', detail }],
  });
}
