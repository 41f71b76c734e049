import { reduceLoanDues } from '../../accounts/index.ts';
import {
  type AuditEntry,
  auditToAppend,
  eventsToAppend,
  type NewEvent,
  nameOf,
  namesOf,
  type Operator,
} from '../../events/index.ts';
import type { Actor } from '../../institutions/index.ts';
import { type Book, type Bounds, unbounded } from '../../ledger/index.ts';
import type { InstitutionId, Write } from '../../storage/index.ts';
import type { Instruction } from '../instructions/instruction-queries.ts';
import { insertCounters, updateCounters } from '../limits/counter-queries.ts';
import { deleteLimitUses, insertLimitUses } from '../limits/usage-queries.ts';
import { accountRefusal } from '../rules/accounts/account-refusal.ts';
import { maySee, mayUseId } from '../rules/accounts/authority.ts';
import { boundsOf, type LoanPayment } from '../rules/accounts/loans.ts';
import { apply, changeDues, postHeld, releaseHeld } from '../rules/apply.ts';
import { corePathAfterHold } from '../rules/controls/core-path.ts';
import { Counters, contributionKey, type RecordedUsage } from '../rules/controls/limits.ts';
import type { PendingTerms } from '../rules/controls/policies.ts';
import type { Screening } from '../rules/controls/screening.ts';
import type { OrderSignIn } from '../rules/controls/step-up.ts';
import { type Judgement, judge } from '../rules/decide.ts';
import type { Ground } from '../rules/facts.ts';
import type { Failure } from '../rules/failure.ts';
import { repeated, reservedId } from '../rules/repeated.ts';
import {
  type ActOutcome,
  type CoreAct,
  type DeskOrder,
  type Outcome,
  personOf,
  type SubmittedOrder,
  type TransferStatus,
  type Unchanged,
} from '../rules/transfer.ts';
import { actInTime, transitionOf } from '../rules/transition.ts';
import {
  type AskedTransferRow,
  finishTransfers,
  insertTransfers,
  type OrderedTransferRow,
  type SeenTransferRow,
  type TransferRow,
} from '../transfer-queries.ts';
import { type Approvals, auditOf } from './audit-of.ts';
import { BatchInstructions, type CoreChange } from './batch-instructions.ts';
import { insertLoanPayments } from './loan-payment-queries.ts';
import {
  type Approval,
  insertApprovals,
  insertPending,
  type PendingRow,
  updatePending,
} from './pending-queries.ts';
import { insertConsents, insertScreenings, insertSignIns } from './proof-queries.ts';

/** The locked and read state that a batch decides on (settle.ts). */
export interface BatchGround extends Ground {
  /** The time of the clock, even if the institution has a business time of its own. */
  readonly auditedAt: Date;
  /** The transfers of the used ids, each as its caller may see it. */
  readonly existing: readonly AskedTransferRow[];
  readonly pending: readonly PendingRow[];
  readonly usages: readonly RecordedUsage[];
  readonly paymentsOf: ReadonlyMap<string, LoanPayment>;
  readonly reversedKeys: ReadonlySet<bigint>;
  /** The locked instructions of the transfers that the orders change. */
  readonly instructions: readonly Instruction[];
}

type Initiation = Extract<DeskOrder, { kind: 'initiate' }>;
type TransitionOrder = Extract<DeskOrder, { kind: 'transition' }>;
type Reversal = Extract<DeskOrder, { kind: 'reverse' }>;

/** Takes the orders of one transaction in turn, and collects their changes until all are written at once. */
export class Batch {
  readonly #ground: BatchGround;
  /** The transfers by id, with the changes of this batch. */
  readonly #transfers: Map<string, TransferRow>;
  readonly #pending: Map<bigint, PendingRow>;
  readonly #added: OrderedTransferRow[] = [];
  readonly #finished: TransferRow[] = [];
  readonly #held: (PendingTerms & { readonly transferKey: bigint })[] = [];
  readonly #postponed = new Map<bigint, PendingRow>();
  readonly #approvals: Approval[] = [];
  readonly #signIns: (OrderSignIn & { readonly transferKey: bigint })[] = [];
  readonly #consents: { readonly transferKey: bigint; readonly consentId: string }[] = [];
  readonly #screenings: (Screening & { readonly transferKey: bigint })[] = [];
  readonly #loanPayments: LoanPayment[] = [];
  /** Payments on loans by the id of the paying transfer. A batch may reverse a payment of its own, so these are among them. */
  readonly #paymentsOf: Map<string, LoanPayment>;
  readonly #usagesAdded: RecordedUsage[] = [];
  readonly #usagesGivenBack: RecordedUsage[] = [];
  readonly #events: NewEvent[] = [];
  readonly #audit: AuditEntry[] = [];
  readonly #instructions: BatchInstructions;

  constructor(ground: BatchGround) {
    this.#ground = ground;
    this.#transfers = new Map(ground.existing.map((row) => [row.id, row]));
    this.#pending = new Map(ground.pending.map((row) => [row.transferKey, row]));
    this.#paymentsOf = new Map(ground.paymentsOf);
    this.#instructions = new BatchInstructions(ground.instructions, ground.facts);
  }

  take(order: DeskOrder, postingKey: bigint): Outcome | ActOutcome {
    switch (order.kind) {
      case 'initiate':
        return this.#initiate(order, postingKey);
      case 'transition':
        return this.#audited(order, () => this.#change(order, postingKey));
      case 'reverse':
        return this.#audited(order, () => this.#reverse(order, postingKey));
    }
  }

  #audited<Told extends Outcome | ActOutcome>(order: TransitionOrder | Reversal, act: () => Told): Told {
    const before = this.#approvedBy(order.transferId);
    const outcome = act();
    const after = this.#approvedBy(order.transferId);
    const approvals: Approvals | undefined = before && after && { before, after };
    const entry = auditOf(order, outcome, approvals);
    if (entry !== undefined) this.#audit.push(entry);
    return outcome;
  }

  #approvedBy(transferId: string): PendingRow['approvedBy'] | undefined {
    const transfer = this.#transfers.get(transferId);
    return transfer && this.#pending.get(transfer.transferKey)?.approvedBy;
  }

  #initiate(order: Initiation, postingKey: bigint): Outcome {
    const { facts } = this.#ground;
    const first = this.#seen(order.transferId, order.actor);
    if (first !== undefined && maySee(order.actor, first)) return repeated(order, first);
    if (!mayUseId(order, facts.settings.idPrefixes)) return reservedId;
    const judgement = judge(order, this.#ground);
    if ('malformed' in judgement) {
      return { kind: 'malformed', pointer: judgement.pointer, detail: judgement.detail };
    }
    const transfer = toTransfer(order, judgement, { transferKey: postingKey, at: facts.at });
    // Uses up no id: else a member could take ids without an account.
    if (judgement.from === undefined) return { kind: 'new', transfer };
    // Revealed only if a free id would have been used up: otherwise a caller could test ids without a trace.
    if (first !== undefined) return repeated(order, first);
    if (judgement.failure === null) this.#perform(transfer, judgement, postingKey);
    if (order.signIn !== undefined) this.#signIns.push({ transferKey: postingKey, ...order.signIn });
    if (order.actor.kind === 'member' && order.actor.consent !== undefined)
      this.#consents.push({ transferKey: postingKey, consentId: order.actor.consent.consentId });
    if (judgement.screening !== null)
      this.#screenings.push({ transferKey: postingKey, ...judgement.screening });
    this.#add({ ...transfer, origin: order.origin });
    return { kind: 'new', transfer, awaitsCore: judgement.pending?.heldFor === 'CORE' };
  }

  #perform(transfer: TransferRow, judgement: Judgement, postingKey: bigint): void {
    const { pending, usages, amountMinor, core } = judgement;
    const payment = apply(judgement, postingKey, this.#ground);
    if (payment !== null) this.#pay(transfer, payment);
    if (pending !== null) this.#held.push({ transferKey: postingKey, ...pending });
    const isHeldFirst = pending !== null && pending.heldFor !== 'CORE';
    if (core !== null && !isHeldFirst) this.#instructions.issue(transfer, core.mode);
    for (const usage of usages) {
      const mayBeGivenBack = pending !== null || usage.limitKey === contributionKey;
      if (!mayBeGivenBack || !Counters.counts(usage)) continue;
      const { limitKey, subjectKey, periodStart } = usage;
      this.#usagesAdded.push({
        transferKey: transfer.transferKey,
        limitKey,
        subjectKey,
        periodStart,
        amount: amountMinor,
      });
    }
  }

  #pay(transfer: TransferRow, payment: LoanPayment): void {
    this.#loanPayments.push(payment);
    this.#paymentsOf.set(transfer.id, payment);
  }

  #change(order: TransitionOrder, postingKey: bigint): ActOutcome {
    const { facts } = this.#ground;
    const { act: asked } = order;
    if (asked.kind === 'core_accepted' || asked.kind === 'core_rejected')
      return this.#decide(order.transferId, asked, postingKey);
    const transfer = this.#seen(order.transferId, asked.kind === 'cancel' ? asked.actor : null);
    if (transfer === undefined) return { kind: 'unknown' };
    const unchanged = (why: Unchanged): ActOutcome => ({ kind: 'unchanged', why, transfer });
    if (asked.kind === 'cancel') {
      if (!maySee(asked.actor, transfer)) return { kind: 'unknown' };
      if (!this.#mayCancel(asked.actor, transfer)) return unchanged('not_allowed');
    }
    const terms = this.#pending.get(transfer.transferKey);
    if (transfer.status !== 'PENDING' || terms === undefined) return unchanged('final');

    // A transfer that does not post by the clock waits for a person, who is never too late.
    const isForPersons = terms.isOrdererShutOut && terms.whenDue === 'POST';
    const act = isForPersons ? asked : actInTime(asked, terms, facts.at);
    const operator = act.kind === 'approve' || act.kind === 'decline' ? nameOf(act.origin.operator) : null;
    const isWithCore = this.#instructions.isWithCore(transfer.transferKey);
    const transition = transitionOf(act, { ...terms, isWithCore }, facts.at);
    if (transition.to === 'nothing') return unchanged(transition.why);
    if (isForPersons && transition.to === 'posted' && act.kind === 'due')
      return unchanged('orderer_shut_out');
    if (act.kind === 'approve') this.#approve(terms, act.origin.operator);
    if (transition.to === 'pending') {
      this.#wait({ ...terms, ...transition.terms });
      return unchanged(transition.why);
    }
    const failure = transition.to === 'failed' ? transition.failure : this.#stoppedMeanwhile(transfer);
    const core = failure === null ? this.#corePathAfterHold(transfer) : null;
    if (core !== null) this.#instructions.issue(transfer, core.mode);
    if (core?.terms) {
      const { heldFor, dueAt, whenDue } = core.terms;
      this.#wait({ ...terms, heldFor, dueAt, whenDue });
      return unchanged('waits_for_core');
    }
    if (failure !== null) this.#instructions.withdraw(transfer.transferKey);
    const finished: TransferRow = {
      ...transfer,
      status: failure === null ? 'COMPLETED' : 'FAILED',
      failureCode: failure?.code ?? null,
      failureDetail: failure?.detail ?? null,
      operator,
    };
    this.#finish(finished);
    return { kind: 'changed', transfer: finished };
  }

  #corePathAfterHold({ transferType, fromAccountId, toAccountId, amountMinor }: TransferRow) {
    const { facts } = this.#ground;
    const [from, to] = [facts.account(fromAccountId), facts.account(toAccountId)];
    if (from === undefined || to === undefined || transferType === null)
      throw new Error('transfers: a pending transfer without accounts');
    return corePathAfterHold({ from, to, transferType, amountMinor }, facts);
  }

  /**
   * The outcome that the core reports for an instruction. Its word counts, whatever happened to the accounts and the orderer
   * meanwhile.
   */
  #decide(transferId: string, act: CoreAct, postingKey: bigint): ActOutcome {
    const transfer = this.#transfers.get(transferId);
    const instruction = transfer && this.#instructions.get(transfer.transferKey);
    if (transfer === undefined || instruction === undefined) return { kind: 'unknown' };
    if (instruction.state !== 'OPEN') {
      const isSame = instruction.state === (act.kind === 'core_accepted' ? 'ACCEPTED' : 'REJECTED');
      return { kind: 'unchanged', why: isSame ? 'decided_so' : 'decided_otherwise', transfer };
    }
    this.#instructions.decide(transfer.transferKey, act);
    if (transfer.status === 'COMPLETED') {
      return {
        kind: 'changed',
        transfer: act.kind === 'core_rejected' ? this.#refused(transfer, act, postingKey) : transfer,
      };
    }
    const terms = this.#pending.get(transfer.transferKey);
    if (terms === undefined) throw new Error('transfers: an open instruction without its hold');
    const transition = transitionOf(act, { ...terms, isWithCore: true }, this.#ground.facts.at);
    const failure = transition.to === 'failed' ? transition.failure : null;
    const finished: TransferRow = {
      ...transfer,
      status: failure === null ? 'COMPLETED' : 'FAILED',
      failureCode: failure?.code ?? null,
      failureDetail: failure?.detail ?? null,
    };
    this.#finish(finished);
    return { kind: 'changed', transfer: finished };
  }

  /**
   * The core refuses a transfer that has completed here. The money goes back, even if that takes the payee below their floor:
   * at the core it never moved. A reversal that the core refuses stays, for a person to settle.
   */
  #refused(transfer: TransferRow, act: Extract<CoreAct, { kind: 'core_rejected' }>, postingKey: bigint) {
    const { facts, book } = this.#ground;
    const { id, transferKey, reversesKey, amountMinor } = transfer;
    const refusal = { code: act.code, ...(act.reason !== null && { reason: act.reason }) };
    if (reversesKey !== null) {
      this.#events.push({ kind: 'transfer.core_rejected', subjectKey: transferKey, data: refusal });
      return transfer;
    }
    const payee = facts.account(transfer.toAccountId);
    if (payee === undefined) throw new Error('transfers: a completed transfer without its destination');
    const { posted, debitsPending } = book.require(payee.accountId);
    const left = posted - debitsPending - amountMinor;
    const { floor, ceiling } = boundsOf(payee);
    const isBelowFloor = floor !== null && left < floor;
    const reversal = this.#takeBack(transfer, {
      id: act.reversalId,
      postingKey,
      bounds: { floor: isBelowFloor ? left : floor, ceiling },
      clientId: act.clientId,
      operator: act.origin.operator === undefined ? null : nameOf(act.origin.operator),
      origin: act.origin,
      refusal: null,
    });
    this.#addReversal(transfer, reversal, { ...refusal, ...(isBelowFloor && { belowFloor: true }) });
    return { ...transfer, reversedBy: reversal.id, id };
  }

  /** The user who ordered it, a person who may pay from its source, or a client of the institution. */
  #mayCancel(actor: Actor, transfer: TransferRow): boolean {
    if (actor.kind === 'client' || transfer.userKey === actor.userKey) return true;
    const { fromKey } = transfer;
    if (actor.consent?.payingKeys?.some((key) => key === fromKey) === false) return false;
    return fromKey !== null && this.#ground.facts.holding(fromKey, actor.personKey)?.mayPay === true;
  }

  /** An account that the core closed or restricted meanwhile neither pays nor receives. */
  #stoppedMeanwhile({ fromAccountId, toAccountId }: TransferRow) {
    const { facts } = this.#ground;
    const [from, to] = [facts.account(fromAccountId), facts.account(toAccountId)];
    return accountRefusal('posting', { from, to, mayPay: true });
  }

  #approve(terms: PendingRow, operator: Operator): void {
    this.#approvals.push({ transferKey: terms.transferKey, operator });
    const approvedBy = [...terms.approvedBy, namesOf(operator)];
    this.#pending.set(terms.transferKey, { ...terms, approvedBy });
  }

  #wait(terms: PendingRow): void {
    const { approvedBy } = this.#pending.get(terms.transferKey) ?? terms;
    const now = { ...terms, approvedBy };
    this.#pending.set(terms.transferKey, now);
    this.#postponed.set(terms.transferKey, now);
  }

  #finish(transfer: TransferRow): void {
    const { book, facts, counters, usages } = this.#ground;
    const { transferKey, toAccountId } = transfer;
    const mine = usages.filter((usage) => usage.transferKey === transferKey);
    if (transfer.status === 'COMPLETED') {
      const to = facts.account(toAccountId);
      if (to === undefined) throw new Error('transfers: a pending transfer without its destination');
      const payment = postHeld(transfer, to, book);
      if (payment !== null) this.#pay(transfer, payment);
      // Its amounts count permanently, except that a contribution can still be reversed.
      this.#usagesGivenBack.push(...mine.filter((usage) => usage.limitKey !== contributionKey));
    } else {
      releaseHeld(transfer, book);
      // It may wait for the core since. Only a review needs approvals.
      const wasReviewed = (this.#pending.get(transferKey)?.approvalsNeeded ?? 0) > 0;
      for (const usage of mine) counters.giveBack(usage, wasReviewed);
      this.#usagesGivenBack.push(...mine);
    }
    this.#finished.push(transfer);
    this.#postponed.delete(transferKey);
    this.#transfers.set(transfer.id, transfer);
    this.#events.push(toEvent(transfer, book, true));
  }

  /**
   * Takes a completed transfer back by a new one in the other direction, at most once. It is an order of the institution:
   * no limits and no review, but the payee must still have the money.
   */
  #reverse(order: Reversal, postingKey: bigint): Outcome | ActOutcome {
    const { facts } = this.#ground;
    const original = this.#transfers.get(order.originalId);
    if (original === undefined) return { kind: 'unknown' };
    const used = this.#transfers.get(order.transferId);
    if (used !== undefined) {
      return used.reversesKey === original.transferKey
        ? { kind: 'replayed', transfer: used }
        : { kind: 'id_reused', differs: null };
    }
    if (original.status !== 'COMPLETED' || original.reversesKey !== null || this.#isReversed(original)) {
      return { kind: 'unchanged', why: 'not_reversible', transfer: original };
    }
    if (this.#instructions.isOpen(original.transferKey)) {
      return { kind: 'unchanged', why: 'with_core', transfer: original };
    }
    const [from, to] = [facts.account(original.toAccountId), facts.account(original.fromAccountId)];
    const transfer = this.#takeBack(original, {
      id: order.transferId,
      postingKey,
      bounds: from === undefined ? unbounded : boundsOf(from),
      clientId: null,
      operator: nameOf(order.origin.operator),
      origin: order.origin,
      refusal: accountRefusal('reversal', { from, to, mayPay: true }),
    });
    if (transfer.status === 'COMPLETED' && facts.core !== null) this.#instructions.issue(transfer, 'MEMO');
    this.#addReversal(original, transfer, {});
    return { kind: 'new', transfer: { ...transfer, reverses: original.id } };
  }

  /** Posts an amount back, unless `refusal` or the bounds of the payee forbid it. */
  #takeBack(
    original: TransferRow,
    reversal: Pick<OrderedTransferRow, 'id' | 'clientId' | 'operator' | 'origin'> & {
      readonly postingKey: bigint;
      readonly bounds: Bounds;
      readonly refusal: Failure | null;
    },
  ): OrderedTransferRow {
    const { facts, book, counters, usages } = this.#ground;
    const { postingKey, bounds, id, clientId, operator, origin } = reversal;
    const from = facts.account(original.toAccountId);
    const to = facts.account(original.fromAccountId);
    if (from === undefined || to === undefined)
      throw new Error('transfers: a completed transfer without accounts');

    const { amountMinor } = original;
    const refusal =
      reversal.refusal ??
      (book.apply(
        postingKey,
        'TRANSFER',
        { accountId: from.accountId, change: { posted: -amountMinor }, bounds },
        { accountId: to.accountId, change: { posted: amountMinor }, bounds: unbounded },
      ) === null
        ? null
        : ({ code: 'insufficient_funds', detail: 'The payee has less available now.' } as const));
    const transfer: OrderedTransferRow = {
      ...original,
      transferKey: postingKey,
      id,
      fromAccountId: from.accountId,
      toAccountId: to.accountId,
      fromKey: from.accountKey,
      toKey: to.accountKey,
      status: refusal === null ? 'COMPLETED' : 'FAILED',
      failureCode: refusal?.code ?? null,
      failureDetail: refusal?.detail ?? null,
      createdAt: facts.at,
      memo: null,
      exceededLimit: null,
      reversesKey: original.transferKey,
      clientId,
      userKey: null,
      operator,
      origin,
    };
    if (refusal === null) {
      const payment = this.#paymentsOf.get(original.id);
      if (payment !== undefined && from.loan !== null) {
        const { toFees, toInterest, toPrincipal, toDue } = payment;
        const back = { toFees: -toFees, toInterest: -toInterest, toPrincipal: -toPrincipal, toDue: -toDue };
        this.#loanPayments.push(changeDues(from, book, back));
      }
      for (const usage of usages) {
        if (usage.transferKey !== original.transferKey || usage.limitKey !== contributionKey) continue;
        counters.giveBack(usage, false);
        this.#usagesGivenBack.push(usage);
      }
    }
    return transfer;
  }

  #addReversal(original: TransferRow, reversal: OrderedTransferRow, data: object): void {
    this.#add(reversal, { reverses: original.id, operator: reversal.operator, ...data });
  }

  #isReversed(original: TransferRow): boolean {
    const here = this.#added.some(
      (row) => row.reversesKey === original.transferKey && row.status !== 'FAILED',
    );
    return here || this.#ground.reversedKeys.has(original.transferKey);
  }

  #add(transfer: OrderedTransferRow, data?: object): void {
    this.#added.push(transfer);
    this.#transfers.set(transfer.id, transfer);
    const event = toEvent(transfer, this.#ground.book, false);
    this.#events.push(data === undefined ? event : { ...event, data });
  }

  /** The transfer that has the id, from an earlier batch or from this one, as the caller may see it. */
  #seen(transferId: string, actor: Actor | null): SeenTransferRow | undefined {
    const transfer = this.#transfers.get(transferId);
    if (transfer === undefined) return undefined;
    const personKey = actor === null ? null : personOf(actor);
    const { fromKey, toKey, reversesKey } = transfer;
    // Read with its own source account, which an order under a used id may not name.
    const before = this.#ground.existing.find((row) => row.id === transferId && row.personKey === personKey);
    const sources = reversesKey === null ? [fromKey] : [fromKey, toKey];
    const holds = sources.some(
      (key) => key !== null && personKey !== null && this.#ground.facts.holding(key, personKey),
    );
    return { ...transfer, sourceHeld: before?.sourceHeld ?? holds };
  }

  get coreChange(): CoreChange {
    return { hasIssued: this.#instructions.hasIssued, ended: this.#finished };
  }

  /** The writes of the orders so far. The order matters: a trigger finds only rows that were written before. */
  writes(institutionId: InstitutionId): readonly Write[] {
    const { book, counters, facts } = this.#ground;
    const { at } = facts;
    const recordedLater = book.recordedLater(at);
    return [
      ...book.writes(at),
      ...this.#instructions.writes(institutionId),
      ...insertSignIns(institutionId, this.#signIns),
      ...insertScreenings(institutionId, this.#screenings),
      ...insertTransfers(institutionId, this.#added, { at, recordedLater }),
      ...insertConsents(institutionId, this.#consents),
      ...insertPending(institutionId, this.#held),
      ...insertApprovals(institutionId, this.#approvals, at),
      ...updatePending(institutionId, [...this.#postponed.values()]),
      ...finishTransfers(institutionId, this.#finished, { at, recordedLater }),
      ...insertLoanPayments(institutionId, this.#loanPayments),
      ...reduceLoanDues(institutionId, this.#loanPayments),
      ...insertCounters(institutionId, counters.added()),
      ...updateCounters(institutionId, counters.changed()),
      ...insertLimitUses(institutionId, this.#usagesAdded),
      ...deleteLimitUses(institutionId, this.#usagesGivenBack),
      ...eventsToAppend(institutionId, this.#events, at),
      ...auditToAppend(
        institutionId,
        this.#audit.map((entry) => ({ ...entry, at: this.#ground.auditedAt, times: 1 })),
      ),
    ];
  }
}

/** An order as the transfer that it becomes by a judgement. */
export function toTransfer(
  order: SubmittedOrder,
  judgement: Judgement,
  { transferKey, at }: { readonly transferKey: bigint; readonly at: Date },
): TransferRow {
  const { failure, pending } = judgement;
  const status: TransferStatus = failure !== null ? 'FAILED' : pending !== null ? 'PENDING' : 'COMPLETED';
  return {
    transferKey,
    id: order.transferId,
    transferType: judgement.transferType ?? null,
    fromAccountId: order.fromAccountId,
    toAccountId: order.toAccountId,
    fromKey: judgement.from?.accountKey ?? null,
    toKey: judgement.to?.accountKey ?? null,
    amountMinor: judgement.amountMinor,
    currencyCode: judgement.currency,
    status,
    failureCode: failure?.code ?? null,
    failureDetail: failure?.detail ?? null,
    clientId: order.actor.clientId,
    userKey: order.actor.kind === 'member' ? order.actor.userKey : null,
    createdAt: at,
    paymentOption: judgement.paymentOption,
    previousYearContribution: judgement.previousYearContribution,
    memo: order.memo,
    exceededLimit: failure?.limit ?? null,
    reversesKey: null,
    operator: null,
  };
}

/** Carries the numbers of its entries, so that a reader of one account's events sees no gap. */
function toEvent(transfer: TransferRow, book: Book, wasPending: boolean): NewEvent {
  const { transferKey: subjectKey, status } = transfer;
  if (status === 'FAILED' && !wasPending) return { kind: 'transfer.failed', subjectKey };
  const from = book.require(transfer.fromAccountId);
  const to = book.require(transfer.toAccountId);
  return {
    kind: `transfer.${status.toLowerCase()}`,
    subjectKey,
    fromKey: from.accountKey,
    fromSeq: from.seq,
    toKey: to.accountKey,
    toSeq: to.seq,
  };
}
