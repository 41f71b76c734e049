import { formatMinor } from '../../ledger/index.ts';
import type { ChangedBreak, EndedBreak, FoundBreak, OpenBreak } from './break.ts';
import type { DifferingAccount, DifferingPosting } from './compare-queries.ts';

/** The results of a comparison, before any of them is written. */
export interface Comparison {
  readonly asOf: Date;
  readonly accounts: readonly DifferingAccount[];
  readonly postings: readonly DifferingPosting[];
  /** By account, two postings that look alike and of which one would explain the difference. */
  readonly twins: ReadonlyMap<bigint, { readonly coreId: string; readonly twinId: string }>;
  readonly open: readonly OpenBreak[];
  /** Whether the delivery compares the account. */
  readonly isCompared: (accountId: string) => boolean;
}

export interface Decision {
  readonly found: readonly FoundBreak[];
  readonly changed: readonly ChangedBreak[];
  readonly ended: readonly EndedBreak[];
  /** Accounts whose difference is that of instructions under way. */
  readonly inFlight: number;
  /** Accounts whose difference is a break, or the sum of named ones. */
  readonly differing: number;
}

/** Gives each difference its class, and compares it with the breaks that are open. docs/core.md has the rules in words. */
export function decideBreaks(comparison: Comparison): Decision {
  const { asOf, accounts, postings, open } = comparison;
  const named = postings.map((posting) => foundPosting(posting, asOf));
  const namedSum = sumsBy(named);
  const otherSum = sumsBy(open.filter(({ subject }) => !subject.startsWith('account:')));
  const found: FoundBreak[] = [...named];
  const flying = new Set<string>();
  const differingIds = new Set<string>();
  for (const account of accounts) {
    const rest = differenceOf(account) - (namedSum.get(account.accountId) ?? 0n);
    if (account.accountKey !== null && account.coreMinor !== null) {
      if (isSumOfSome(account.uncertain, rest)) {
        flying.add(account.accountId);
        continue;
      }
      differingIds.add(account.accountId);
      // Breaks of single things have named this difference already, now or earlier.
      if (rest === 0n || differenceOf(account) === otherSum.get(account.accountId)) continue;
    } else differingIds.add(account.accountId);
    found.push(foundAccount(account, rest, comparison));
  }
  const bySubject = new Map(open.map((one) => [one.subject, one]));
  const subjects = new Set(found.map(({ subject }) => subject));
  const changed = found.flatMap((one): ChangedBreak[] => {
    const before = bySubject.get(one.subject);
    const isSame =
      before?.class === one.class &&
      before.differenceMinor === one.differenceMinor &&
      before.asOf?.getTime() === asOf.getTime();
    return before === undefined || isSame ? [] : [{ breakKey: before.breakKey, found: one }];
  });
  const ended = open
    .filter(
      ({ subject, accountId, differenceMinor }) =>
        differenceMinor !== 0n &&
        !subjects.has(subject) &&
        comparison.isCompared(accountId) &&
        (!differingIds.has(accountId) || subject.startsWith('account:')),
    )
    .map(({ breakKey, subject, accountId }): EndedBreak => {
      const isNamed = subject.startsWith('account:') && differingIds.has(accountId);
      const note = isNamed
        ? `As of ${asOf.toISOString()} the breaks of single postings and transfers are the whole difference.`
        : `The balances agree as of ${asOf.toISOString()}${flying.has(accountId) ? ', with instructions under way' : ''}.`;
      return { breakKey, closedBy: 'AGREED', note };
    });
  return {
    found: found.filter(({ subject }) => !bySubject.has(subject)),
    changed,
    ended,
    inFlight: flying.size,
    differing: differingIds.size,
  };
}

function sumsBy(
  breaks: readonly { readonly accountId: string; readonly differenceMinor: bigint }[],
): ReadonlyMap<string, bigint> {
  const sums = new Map<string, bigint>();
  for (const { accountId, differenceMinor } of breaks) {
    sums.set(accountId, (sums.get(accountId) ?? 0n) + differenceMinor);
  }
  return sums;
}

export function differenceOf({ coreMinor, oursMinor }: DifferingAccount): bigint {
  return (coreMinor ?? 0n) - oursMinor;
}

function foundPosting(posting: DifferingPosting, asOf: Date): FoundBreak {
  const { coreId, accountId, accountKey, currency, amountMinor, isHere, twinId } = posting;
  const amount = moneyOf(amountMinor, currency);
  const note = isHere
    ? twinId === null
      ? `The posting ${coreId} of ${amount} is here. The core's list as of ${asOf.toISOString()} does not have it.`
      : `The posting ${coreId} of ${amount} is here beside ${twinId} with the same content. The core's list as of ${asOf.toISOString()} has only ${twinId}.`
    : `The core's list as of ${asOf.toISOString()} has the posting ${coreId} of ${amount}. It has not arrived here.`;
  return {
    class: isHere
      ? twinId === null
        ? 'MISSING_THERE'
        : 'DUPLICATE'
      : accountKey === null
        ? 'UNKNOWN_ACCOUNT'
        : 'MISSING_HERE',
    subject: `posting:${coreId}`,
    accountId,
    accountKey,
    accountSeq: null,
    coreId,
    transferKey: null,
    currency,
    differenceMinor: isHere ? -amountMinor : amountMinor,
    asOf,
    note,
  };
}

function foundAccount(account: DifferingAccount, rest: bigint, { asOf, twins }: Comparison): FoundBreak {
  const { accountId, accountKey, accountSeq, currency, coreMinor, oursMinor, laterMinor } = account;
  const moment = asOf.toISOString();
  const ours = moneyOf(oursMinor, currency);
  const common = {
    subject: `account:${accountId}`,
    accountId,
    accountKey,
    accountSeq,
    coreId: null,
    transferKey: null,
    currency,
    differenceMinor: rest,
    asOf,
  };
  if (coreMinor === null) {
    const note = `This service has ${ours} as of ${moment}. The core's balances do not have the account.`;
    return { ...common, class: 'MISSING_THERE', note };
  }
  const core = moneyOf(coreMinor, currency);
  if (accountKey === null) {
    const note = `The core has ${core} as of ${moment}. There is no such account in ${currency} here.`;
    return { ...common, class: 'UNKNOWN_ACCOUNT', note };
  }
  const difference = `As of ${moment} the core has ${core}, this service ${ours}.`;
  if (laterMinor !== 0n && rest === laterMinor) {
    const note = `${difference} The core's balance has its postings of ${moneyOf(laterMinor, currency)} after that moment.`;
    return { ...common, class: 'TIMING', note };
  }
  const twin = twins.get(accountKey);
  if (twin !== undefined) {
    const { coreId, twinId } = twin;
    const note = `${difference} The postings ${twinId} and ${coreId} have the same content; without one of them the balances agree.`;
    return { ...common, class: 'DUPLICATE', coreId, note };
  }
  return { ...common, class: 'AMOUNT', note: difference };
}

export function moneyOf(minor: bigint, currency: string): string {
  return `${formatMinor(minor, currency)} ${currency}`;
}

const mostTried = 12;

/** Whether some of the amounts, or none, add up to the sum. Of more than twelve, whether the sum lies between the extremes. */
export function isSumOfSome(amounts: readonly bigint[], sum: bigint): boolean {
  if (amounts.length > mostTried) {
    const least = amounts.reduce((total, one) => (one < 0n ? total + one : total), 0n);
    const most = amounts.reduce((total, one) => (one > 0n ? total + one : total), 0n);
    return sum >= least && sum <= most;
  }
  let sums = new Set([0n]);
  for (const amount of amounts) sums = new Set([...sums, ...[...sums].map((one) => one + amount)]);
  return amounts.length > 0 && sums.has(sum);
}
