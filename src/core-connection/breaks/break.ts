export const breakClasses = [
  'MISSING_HERE',
  'MISSING_THERE',
  'AMOUNT',
  'DUPLICATE',
  'TIMING',
  'UNKNOWN_ACCOUNT',
  'AMOUNT_MISMATCH',
  'BELOW_FLOOR',
  'REVERSAL_REJECTED',
] as const;
export type BreakClass = (typeof breakClasses)[number];

/** The reason why a break is closed. */
export type BreakEnd = 'ARRIVED' | 'AGREED' | 'DECIDED' | 'RECOVERED' | 'ADJUSTED';

/** A difference between the core's books and these. */
export interface Break {
  readonly breakKey: bigint;
  readonly class: BreakClass;
  readonly accountId: string;
  /** Of the core's posting; null if the difference is not one of a posting. */
  readonly coreId: string | null;
  readonly transferId: string | null;
  readonly currency: string;
  /** The core's amount minus the one here, in minor units. */
  readonly differenceMinor: bigint;
  /** The moment of the balances compared. */
  readonly asOf: Date | null;
  readonly owner: string | null;
  readonly openedAt: Date;
  readonly closedAt: Date | null;
  readonly closedBy: BreakEnd | null;
}

/** A line of a break's story. */
export interface BreakNote {
  readonly at: Date;
  /** The client or the operator. Null: the service. */
  readonly author: string | null;
  readonly note: string;
}

/** A difference that was found. */
export interface FoundBreak {
  readonly class: BreakClass;
  /** The thing that differs. It has at most one open break. */
  readonly subject: string;
  readonly accountId: string;
  readonly accountKey: bigint | null;
  /** The newest entry of the account when it was compared. */
  readonly accountSeq: bigint | null;
  readonly coreId: string | null;
  readonly transferKey: bigint | null;
  readonly currency: string;
  readonly differenceMinor: bigint;
  readonly asOf: Date | null;
  /** The first line of its story. */
  readonly note: string;
}

/** An open break, as far as a comparison needs it. */
export interface OpenBreak {
  readonly breakKey: bigint;
  readonly class: BreakClass;
  readonly subject: string;
  readonly accountId: string;
  readonly differenceMinor: bigint;
  readonly asOf: Date | null;
}

/** An open break whose difference has another class or amount now. */
export interface ChangedBreak {
  readonly breakKey: bigint;
  readonly found: FoundBreak;
}

/** A break that an operator wants to adjust, locked. */
export interface LockedBreak extends Break {
  readonly accountKey: bigint | null;
  /** The posted balance is the one that was compared, but for postings that the core dated after the moment. */
  readonly isCurrent: boolean;
}

/** A break that ends. */
export interface EndedBreak {
  readonly breakKey: bigint;
  readonly closedBy: BreakEnd;
  readonly note: string;
}
