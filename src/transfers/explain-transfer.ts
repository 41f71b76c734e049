import type { Actor } from '../institutions/index.ts';
import { roomOut } from '../ledger/index.ts';
import { Problem } from '../shared/problem.ts';
import type { Database } from '../storage/index.ts';
import { repeated, reservedId, toTransfer } from './desk/batch.ts';
import { look } from './desk/settle.ts';
import type { TransferDesk } from './desk/transfer-desk.ts';
import { selectHeldAccountIds, selectNeighbourAccountIds } from './queries.ts';
import { mayPayFrom, mayUseId, paysOut, visibleSource } from './rules/authority.ts';
import { boundsOn, type Failure, failureOf, findWay, judge, maySee } from './rules/decide.ts';
import { least, type Use, usesOf } from './rules/limits.ts';
import { boundsOf } from './rules/loans.ts';
import { type PendingTerms, paymentOptionsOf, policyFor, termsForMember } from './rules/policies.ts';
import type {
  RepeatedOutcome,
  SubmittedOrder,
  Transfer,
  TransferOrder,
  TransferType,
} from './rules/transfer.ts';
import type { TransferSettings } from './settings/settings.ts';

/** Why an order would fail or be held. */
interface Reason {
  readonly code: Failure['code'] | 'review' | 'cut_off';
  readonly detail: string;
  readonly limit?: Failure['limit'];
}

/** What an order would become now: the transfer as it would stand, and why it would not post at once. */
export interface Decision {
  readonly kind: 'decision';
  readonly transfer: Transfer;
  readonly reasons: readonly Reason[];
}

/**
 * The dry run of an order: the same reading and the same rules as the real one's, and nothing moved, stored or used up.
 * Members are not told of reviews: who could ask would order just below what is reviewed.
 * An order under the id of a transfer that the caller may see gives that transfer; of others it tells nothing.
 */
export async function explainTransfer(
  desk: TransferDesk,
  database: Database,
  actor: Actor,
  order: TransferOrder,
): Promise<Decision | RepeatedOutcome> {
  const submitted: SubmittedOrder = { ...order, actor };
  const settings = await settingsFor(desk, actor);
  return database.snapshot(actor.institutionId, async (tx) => {
    const { facts, book, counters, existing } = await look(desk.deps, tx, settings, {
      actor,
      transferId: order.transferId,
      fromAccountId: order.fromAccountId,
      toAccountIds: [order.toAccountId],
    });
    if (existing !== undefined && maySee(actor, existing)) return repeated(submitted, existing);
    if (!mayUseId(submitted, facts.settings.idPrefixes)) return reservedId;
    const judgement = judge(submitted, facts, book, counters);
    if ('malformed' in judgement) {
      return { kind: 'malformed', pointer: judgement.pointer, detail: judgement.detail };
    }
    const { failure } = judgement;
    const pending = actor.kind === 'member' ? termsForMember(judgement.pending) : judgement.pending;
    return {
      kind: 'decision',
      transfer: toTransfer(submitted, 0n, { ...judgement, pending }, facts.at),
      reasons: failure !== null ? [failure] : pending !== null ? whyHeld(pending) : [],
    };
  });
}

/** Read before the snapshot: inside it they would take a second connection of the pool. */
function settingsFor({ deps }: TransferDesk, { institutionId }: Actor): Promise<TransferSettings> {
  return deps.settings(institutionId);
}

function whyHeld({ heldFor, dueAt, whenDue, approvalsNeeded, notBefore }: PendingTerms): Reason[] {
  const reasons: Reason[] = [];
  if (heldFor === 'REVIEW') {
    const becomes = whenDue === 'POST' ? 'it posts by itself' : 'it expires';
    const persons = approvalsNeeded === 2 ? 'Two persons' : 'A person';
    reasons.push({
      code: 'review',
      detail: `${persons} at the institution must review it; without that ${becomes} at ${dueAt.toISOString()}.`,
    });
  }
  if (notBefore !== null) {
    reasons.push({
      code: 'cut_off',
      detail: `It is processed on the next business day, not before ${notBefore.toISOString()}.`,
    });
  }
  return reasons;
}

/** One way that money may take from an account, or may not. */
interface TransferOption {
  /** Null: any other deposit account of the institution. */
  readonly toAccountId: string | null;
  readonly transferType: TransferType | null;
  /** With a loan that takes several, one option each. */
  readonly paymentOption: SubmittedOrder['paymentOption'];
  readonly previousYearContribution: boolean | null;
  /** The most that may be moved now, in minor units; 0 where it may not be. Null: without a bound. */
  readonly maximumMinor: bigint | null;
  /** More than this is held for review; null also for a member, who is not told. */
  readonly reviewAboveMinor: bigint | null;
  /** Why nothing may be moved this way. */
  readonly refusal: Failure | null;
}

export interface TransferOptions {
  readonly fromAccountId: string;
  readonly currencyCode: string;
  readonly options: readonly TransferOption[];
}

/**
 * Where the caller may move money from an account: to each account that they, or with a client token the source's
 * members, hold, and to anybody else's deposit. Decided by the rules that decide orders. Problem `not_found`.
 */
export async function listTransferOptions(
  desk: TransferDesk,
  database: Database,
  actor: Actor,
  fromAccountId: string,
): Promise<TransferOptions> {
  const { institutionId } = actor;
  const settings = await settingsFor(desk, actor);
  return database.snapshot(institutionId, async (tx) => {
    const reachable = await (actor.kind === 'member'
      ? selectHeldAccountIds(tx, institutionId, actor.personKey)
      : selectNeighbourAccountIds(tx, institutionId, fromAccountId));
    const toAccountIds = reachable.filter((accountId) => accountId !== fromAccountId);
    const { facts, book, counters } = await look(desk.deps, tx, settings, {
      actor,
      transferId: null,
      fromAccountId,
      toAccountIds,
    });
    const from = visibleSource(actor, fromAccountId, facts);
    if (from === undefined) throw new Problem('not_found', 'There is no such account.');
    const { currency } = from;
    const { policies } = facts.settings;
    const reviewAbove = (type: TransferType, uses: readonly Use[]) => {
      if (actor.kind === 'member') return null;
      const ofOne = policyFor(policies, type, currency)?.review?.aboveMinor ?? null;
      return uses.map((use) => counters.unreviewedHeadroom(use)).reduce(least, ofOne);
    };

    /** The least of the bounds, and the first that leaves nothing. */
    const upTo = (
      bounds: ReturnType<typeof boundsOn>,
      way: Parameters<typeof failureOf>[1],
    ): Pick<TransferOption, 'maximumMinor' | 'refusal'> => {
      const nothing = bounds.find(({ room }) => room === 0n);
      return {
        maximumMinor: bounds.map(({ room }) => room).reduce(least, null),
        refusal: nothing ? failureOf(nothing, way, counters, actor, facts) : null,
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
          currency,
          transferType: null,
          paymentOption,
          previousYearContribution: previousYear,
        };
        const way = findWay(asked, from, to, facts);
        const named = { toAccountId, paymentOption, previousYearContribution: previousYear };
        if ('code' in way) {
          return { ...named, transferType: null, maximumMinor: 0n, reviewAboveMinor: null, refusal: way };
        }
        const bounds = boundsOn(way, book, counters);
        const { transferType } = way;
        const most = upTo(bounds, way);
        return { ...named, transferType, ...most, reviewAboveMinor: reviewAbove(transferType, way.uses) };
      });
    };

    const uses = usesOf(facts.limits, { actor, from, transferType: 'INTRA_FI', currency, day: facts.day });
    const anybody: Omit<TransferOption, 'maximumMinor' | 'refusal'> = {
      toAccountId: null,
      transferType: 'INTRA_FI',
      paymentOption: null,
      previousYearContribution: null,
      reviewAboveMinor: reviewAbove('INTRA_FI', uses),
    };
    const restricted = from.closed
      ? { code: 'account_closed' as const, detail: 'The source account is closed.' }
      : paysOut(from) && mayPayFrom(actor, from, facts)
        ? null
        : { code: 'account_restricted' as const, detail: 'The source account does not allow this payment.' };
    const toAnybody = restricted
      ? { maximumMinor: 0n, refusal: restricted }
      : upTo(
          [
            {
              code: 'limit_exceeded',
              detail: 'A limit of the institution is used up.',
              room: uses.map((use) => counters.room(use)).reduce(least, null),
            },
            {
              code: 'insufficient_funds',
              detail: 'The source account has nothing available.',
              room: roomOut(book.require(from.accountId), boundsOf(from)),
            },
          ],
          { uses },
        );
    return {
      fromAccountId,
      currencyCode: currency,
      options: [...toAccountIds.flatMap(optionsTo), { ...anybody, ...toAnybody }],
    };
  });
}
