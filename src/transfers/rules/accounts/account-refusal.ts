import type { Failure } from '../failure.ts';
import type { AccountFacts } from './account.ts';

type State = Pick<AccountFacts, 'closed' | 'diAccountType' | 'transferRestriction'>;

/** An occasion on which the state of the two accounts decides. */
export type Occasion =
  | 'order'
  /** The option that stands for any other account of the institution, which names no destination. */
  | 'option'
  /** A pending transfer is about to post. */
  | 'posting'
  /** The accounts of the reversal: its source received the money. */
  | 'reversal';

/** The accounts of a transfer. A missing account counts as closed. */
export interface Ends {
  readonly from: State | undefined;
  readonly to: State | undefined | 'anyone';
  /** The caller may pay from the source; true also if no caller pays. */
  readonly mayPay: boolean;
}

interface Rule {
  readonly code: 'account_closed' | 'account_restricted';
  readonly refuses: (ends: Ends) => boolean;
  /** The sentence for each occasion; null: the rule does not bind it. */
  readonly details: Readonly<Record<Occasion, string | null>>;
}

const wasRestricted = 'An account was restricted while the transfer was pending.';

/** In order of precedence. */
const rules: readonly Rule[] = [
  {
    code: 'account_closed',
    refuses: ({ from, to }) => from?.closed !== false || (to !== 'anyone' && to?.closed !== false),
    details: {
      order: 'The source or the destination account is closed.',
      option: 'The source account is closed.',
      posting: 'An account was closed while the transfer was pending.',
      reversal: 'An account of the transfer is closed.',
    },
  },
  {
    code: 'account_restricted',
    refuses: ({ from, mayPay }) => from !== undefined && !(paysOut(from) && mayPay),
    details: {
      order: 'The source account does not allow this payment.',
      option: 'The source account does not allow this payment.',
      posting: wasRestricted,
      // An order of the institution, which may take back money that the account does not pay out.
      reversal: null,
    },
  },
  {
    code: 'account_restricted',
    refuses: ({ to }) => to !== undefined && to !== 'anyone' && !mayReceive(to),
    details: {
      order: 'The destination account does not allow this payment.',
      option: null,
      posting: wasRestricted,
      reversal: null,
    },
  },
];

/** The first reason in the state of the accounts why a transfer may not move; null: none. */
export function accountRefusal(occasion: Occasion, ends: Ends): Failure | null {
  for (const { code, refuses, details } of rules) {
    const detail = details[occasion];
    if (detail !== null && refuses(ends)) return { code, detail };
  }
  return null;
}

const payingTypes: ReadonlySet<string> = new Set(['SAVINGS', 'CHECKING', 'MONEY_MARKET']);

/** Only these account types pay out, for clients too, and only if the core has not restricted the account. */
function paysOut({ diAccountType, transferRestriction }: State): boolean {
  const excluded = transferRestriction === 'EXCLUDE_ALL' || transferRestriction === 'EXCLUDE_AS_FROM';
  return payingTypes.has(diAccountType) && !excluded;
}

function mayReceive({ transferRestriction }: State): boolean {
  return transferRestriction !== 'EXCLUDE_ALL' && transferRestriction !== 'EXCLUDE_AS_TO';
}
