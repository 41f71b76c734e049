import type { Queryable } from '../storage/index.ts';
import { insertBalances } from './queries.ts';
import type { AccountState } from './rules.ts';

/** An account that was inserted in this transaction. */
export interface NewBalance {
  readonly accountKey: bigint;
  readonly accountId: string;
  readonly currency: string;
}

export function zeroBalance({ accountKey, accountId, currency }: NewBalance, at: Date): AccountState {
  return {
    accountKey,
    accountId,
    currency,
    posted: 0n,
    debitsPending: 0n,
    creditsPending: 0n,
    seq: 0n,
    lastAt: at,
  };
}

/** Inserts balances of zero. Throws unless each of them was inserted. */
export async function openBalances(db: Queryable, accounts: readonly NewBalance[], at: Date): Promise<void> {
  const states = accounts.map((account) => zeroBalance(account, at));
  const inserted = await insertBalances(db, states, at);
  if (inserted !== accounts.length) {
    throw new Error(`${inserted} of ${accounts.length} balances were written`);
  }
}
