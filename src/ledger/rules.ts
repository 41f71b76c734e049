/** The ledger's state of one account, in minor units, credit positive. */
export interface AccountState {
  readonly accountKey: bigint;
  readonly accountId: string;
  readonly currency: string;
  readonly posted: bigint;
  /** Reserved to leave by pending transfers, >= 0. */
  readonly debitsPending: bigint;
  /** Reserved to arrive by pending transfers, >= 0. */
  readonly creditsPending: bigint;
  /** The number of the newest entry; 0 when there is none. */
  readonly seq: bigint;
  readonly lastAt: Date;
}

/** Bounds on new orders; null is unbounded. A deposit's floor is minus its overdraft, a debt's ceiling is 0. */
export interface Bounds {
  readonly floor: bigint | null;
  readonly ceiling: bigint | null;
}

export const unbounded: Bounds = { floor: null, ceiling: null };

/** A change of one account; an omitted member stays. */
export interface Change {
  readonly posted?: bigint;
  readonly debitsPending?: bigint;
  readonly creditsPending?: bigint;
}

export type Moved =
  | { readonly refused: 'below_floor' | 'above_ceiling' }
  | {
      readonly refused: null;
      readonly state: AccountState;
      /** The bounds that applied to this change; null if it moved away from the bound or not at all. */
      readonly decidedBy: Bounds;
    };

/**
 * The only rule of the ledger, pure. Bounds apply to new orders, not to facts: a change that lowers `posted - debitsPending`
 * must leave it at or above the floor, a change that raises `posted + creditsPending` must leave it at or below the ceiling.
 * A movement in the other direction, and settling an accepted hold (which moves neither figure), always pass, even if a core
 * has reported an account beyond its bound.
 */
export function move(state: AccountState, change: Change, bounds: Bounds): Moved {
  const posted = state.posted + (change.posted ?? 0n);
  const debitsPending = state.debitsPending + (change.debitsPending ?? 0n);
  const creditsPending = state.creditsPending + (change.creditsPending ?? 0n);
  if (debitsPending < 0n || creditsPending < 0n) throw new RangeError('more was released than is held');

  const lowers = posted - debitsPending < state.posted - state.debitsPending;
  const raises = posted + creditsPending > state.posted + state.creditsPending;
  const floor = lowers ? bounds.floor : null;
  const ceiling = raises ? bounds.ceiling : null;
  if (ceiling !== null && posted + creditsPending > ceiling) return { refused: 'above_ceiling' };
  if (floor !== null && posted - debitsPending < floor) return { refused: 'below_floor' };
  return {
    refused: null,
    state: { ...state, posted, debitsPending, creditsPending, seq: state.seq + 1n },
    decidedBy: { floor, ceiling },
  };
}

/** The most that may still leave an account by the rule of `move`, never negative; null: no bound. */
export function headroomOut(state: AccountState, bounds: Bounds): bigint | null {
  return bounds.floor === null ? null : fromZero(state.posted - state.debitsPending - bounds.floor);
}

/** The most that may still reach an account. */
export function headroomIn(state: AccountState, bounds: Bounds): bigint | null {
  return bounds.ceiling === null ? null : fromZero(bounds.ceiling - state.posted - state.creditsPending);
}

function fromZero(amount: bigint): bigint {
  return amount > 0n ? amount : 0n;
}
