import { type Actor, coveredKeys } from '../institutions/index.ts';
import { headroomOut } from '../ledger/index.ts';
import { Problem } from '../shared/problem.ts';
import { coreStateOf, look } from './desk/settle.ts';
import type { TransferDesk } from './desk/transfer-desk.ts';
import { selectHeldAccountIds, selectNeighborAccountIds } from './reachable-account-queries.ts';
import { accountRefusal } from './rules/accounts/account-refusal.ts';
import { mayPayFrom, visibleSource } from './rules/accounts/authority.ts';
import { boundsOf } from './rules/accounts/loans.ts';
import { coreUnavailable, standInCap } from './rules/controls/core-path.ts';
import { type LimitUsage, least, usagesOf } from './rules/controls/limits.ts';
import { paymentOptionsOf, policyFor } from './rules/controls/policies.ts';
import { capsOn, failureOf, findPath } from './rules/decide.ts';
import type { Failure } from './rules/failure.ts';
import type { SubmittedOrder, TransferType } from './rules/transfer.ts';

/** A path from an account, with the most that may move along it. */
interface TransferOption {
  /** Null: any other deposit account of the institution. */
  readonly toAccountId: string | null;
  readonly transferType: TransferType | null;
  /** A loan that takes several payment options has one transfer option for each. */
  readonly paymentOption: SubmittedOrder['paymentOption'];
  readonly previousYearContribution: boolean | null;
  /** The most that may be moved now, in minor units; 0 if `refusal` is set. Null: no bound. */
  readonly maximumMinor: bigint | null;
  /** A larger amount is held for review. Null without such a bound, and for members, from whom reviews are hidden. */
  readonly reviewAboveMinor: bigint | null;
  /** Why nothing may be moved along this path. */
  readonly refusal: Failure | null;
}

export interface TransferOptions {
  readonly fromAccountId: string;
  readonly currencyCode: string;
  readonly options: readonly TransferOption[];
}

/**
 * Lists the destinations that the caller may pay from an account: each account that the caller holds, or with a client token
 * the members of the source hold, and any other deposit. The rules that decide orders decide these. Problem `not_found`.
 */
export async function listTransferOptions(
  desk: TransferDesk,
  actor: Actor,
  fromAccountId: string,
): Promise<TransferOptions> {
  const { institutionId } = actor;
  // The settings are read before the snapshot: inside it they would take a second connection of the pool.
  const settings = await desk.deps.settings(institutionId);
  const core = await coreStateOf(desk.deps, settings);
  return desk.database.snapshot(institutionId, async (tx) => {
    const reachable = await (actor.kind === 'member'
      ? selectHeldAccountIds(tx, actor.personKey, coveredKeys(actor))
      : selectNeighborAccountIds(tx, fromAccountId));
    const toAccountIds = reachable.filter((accountId) => accountId !== fromAccountId);
    const ground = await look(desk.deps, tx, {
      settings,
      core,
      actor,
      transferId: null,
      fromAccountId,
      toAccountIds,
    });
    const { facts, book, counters } = ground;
    const from = visibleSource(actor, fromAccountId, facts);
    if (from === undefined) throw new Problem('not_found', 'There is no such account.');
    const { currency } = from;
    const { policies } = facts.settings;
    const reviewAbove = (type: TransferType, usages: readonly LimitUsage[]) => {
      if (actor.kind === 'member') return null;
      const ofOne = policyFor(policies, type, currency)?.review?.aboveMinor ?? null;
      return usages.map((usage) => counters.unreviewedHeadroom(usage)).reduce(least, ofOne);
    };

    /** The least headroom, and the first cap without any. */
    const upTo = (
      bounds: ReturnType<typeof capsOn>,
      path: Parameters<typeof failureOf>[1],
    ): Pick<TransferOption, 'maximumMinor' | 'refusal'> => {
      const nothing = bounds.find(({ headroom }) => headroom === 0n);
      return {
        maximumMinor: bounds.map(({ headroom }) => headroom).reduce(least, null),
        refusal: nothing ? failureOf(nothing, path, { counters, actor, facts }) : null,
      };
    };

    const optionsTo = (toAccountId: string): TransferOption[] => {
      const to = facts.account(toAccountId);
      const loanOptions = paymentOptionsOf(policyFor(policies, 'LOAN_PAYMENT', currency));
      const variants =
        to?.diAccountType === 'RETIREMENT_IRA'
          ? [false, true].map((previousYear) => ({ paymentOption: null, previousYear }))
          : to?.loan
            ? loanOptions.map((paymentOption) => ({ paymentOption, previousYear: null }))
            : [{ paymentOption: null, previousYear: null }];
      return variants.map(({ paymentOption, previousYear }) => {
        const asked = {
          actor,
          from,
          to,
          currency,
          transferType: null,
          paymentOption,
          previousYearContribution: previousYear,
        };
        const path = findPath(asked, facts);
        const named = { toAccountId, paymentOption, previousYearContribution: previousYear };
        if ('code' in path) {
          return { ...named, transferType: null, maximumMinor: 0n, reviewAboveMinor: null, refusal: path };
        }
        const bounds = capsOn(path, ground);
        const { transferType } = path;
        const most = upTo(bounds, path);
        return { ...named, transferType, ...most, reviewAboveMinor: reviewAbove(transferType, path.usages) };
      });
    };

    const usages = usagesOf(facts.limits, {
      actor,
      from,
      transferType: 'INTRA_FI',
      currency,
      day: facts.day,
    });
    const anyone: Omit<TransferOption, 'maximumMinor' | 'refusal'> = {
      toAccountId: null,
      transferType: 'INTRA_FI',
      paymentOption: null,
      previousYearContribution: null,
      reviewAboveMinor: reviewAbove('INTRA_FI', usages),
    };
    const mayPay = mayPayFrom(actor, from, facts);
    const restricted = accountRefusal('option', { from, to: 'anyone', mayPay });
    const toAnyone = restricted
      ? { maximumMinor: 0n, refusal: restricted }
      : upTo(
          [
            {
              code: 'limit_exceeded',
              detail: 'A limit of the institution is used up.',
              headroom: usages.map((usage) => counters.headroom(usage)).reduce(least, null),
            },
            {
              code: 'insufficient_funds',
              detail: 'The source account has nothing available.',
              headroom: headroomOut(book.require(from.accountId), boundsOf(from)),
            },
            { ...coreUnavailable, headroom: standInCap({ from, transferType: 'INTRA_FI' }, ground) },
          ],
          { usages },
        );
    return {
      fromAccountId,
      currencyCode: currency,
      options: [...toAccountIds.flatMap(optionsTo), { ...anyone, ...toAnyone }],
    };
  });
}
