/*
 * The expected outcome of a transfer, written from the rules and not from the code: slow and obvious. It keeps only
 * the list of events, and computes each result by reading that list from its beginning. Amounts are minor units,
 * credit positive: a debt is negative.
 */

export type ModelType = 'STANDARD' | 'CROSS_MEMBER' | 'IRA_CONTRIBUTION' | 'LOAN_PAYMENT' | 'INTRA_FI';
type ModelOption = 'DEFAULT' | 'PRINCIPAL_ONLY' | 'INTEREST_ONLY' | 'EXCESS_TO_PRINCIPAL';

export interface WorldPolicy {
  readonly type: ModelType;
  readonly currency: string;
  readonly review: {
    readonly above: bigint;
    readonly secondAbove: bigint | null;
    readonly seconds: number;
    readonly onReviewTimeout: 'POST' | 'EXPIRE';
  } | null;
  /** HH:MM:SS in the institution's zone. */
  readonly cutOff: string | null;
  readonly options: readonly ModelOption[];
}

export interface WorldLimit {
  readonly key: number;
  readonly subject: 'USER' | 'CUSTOMER' | 'ACCOUNT';
  readonly period: 'DAY' | 'MONTH';
  readonly type: ModelType | null;
  readonly sourceType: string | null;
  readonly currency: string;
  readonly maxPerTransfer: bigint | null;
  readonly maxAmount: bigint | null;
  readonly maxCount: number | null;
  /** The total above which orders are reviewed; without it none is. */
  readonly reviewAbove?: bigint | null;
}

export interface WorldPerson {
  readonly name: string;
  readonly birthDate: string | null;
  readonly hasLogin: boolean;
}

export interface WorldMembership {
  readonly name: string;
  readonly people: readonly string[];
}

export interface WorldHolder {
  readonly person: string;
  readonly role: 'PRIMARY' | 'JOINT' | 'AUTHORIZED_SIGNER';
  readonly mayPay: boolean;
}

export interface WorldAccount {
  readonly id: string;
  readonly membership: string;
  readonly diAccountType: string;
  readonly category: 'DEPOSIT' | 'LOAN' | 'CREDIT' | 'INVESTMENT';
  readonly currency: string;
  closed: boolean;
  readonly delinquent: boolean;
  readonly restriction: 'EXCLUDE_ALL' | 'EXCLUDE_AS_FROM' | 'EXCLUDE_AS_TO' | null;
  readonly overdraft: bigint;
  readonly opening: bigint;
  readonly loan: { readonly interest: bigint; readonly fees: bigint; readonly due: bigint } | null;
  readonly holders: readonly WorldHolder[];
}

export interface World {
  readonly timeZone: string;
  readonly currency: string;
  /** Days that the institution opens or closes against the calendar. */
  readonly exceptions: ReadonlyMap<string, 'OPEN' | 'CLOSED'>;
  readonly policies: readonly WorldPolicy[];
  readonly limits: readonly WorldLimit[];
  readonly ownContributionLimits: readonly {
    readonly year: number;
    readonly base: bigint;
    readonly catchUp: bigint;
  }[];
  readonly people: readonly WorldPerson[];
  readonly memberships: readonly WorldMembership[];
  readonly accounts: readonly WorldAccount[];
}

/** The orderer: the institution's client, or a person by their login. */
export type ModelActor = 'client' | { readonly person: string };

export interface ModelOrder {
  readonly id: string;
  readonly from: string;
  readonly to: string;
  /** In source form: 1.5 is [15, 1]. */
  readonly amount: readonly [digits: bigint, decimals: number];
  readonly currency: string | null;
  readonly type: ModelType | null;
  readonly option: ModelOption | null;
  readonly previousYear: boolean | null;
}

/** One transfer, and everything that happened to it. */
export interface Life {
  readonly id: string;
  readonly by: ModelActor;
  readonly from: string;
  readonly to: string;
  readonly amount: bigint;
  readonly currency: string;
  readonly type: ModelType | undefined;
  readonly option: ModelOption | null;
  readonly previousYear: boolean | null;
  readonly orderedAt: Date;
  status: 'PENDING' | 'COMPLETED' | 'FAILED';
  code: string | null;
  waits: {
    readonly review: boolean;
    readonly approvals: number;
    readonly notBefore: Date | null;
    dueAt: Date;
    whenDue: 'POST' | 'EXPIRE';
    readonly approvedBy: string[];
  } | null;
  /** The completed transfer that this one reverses. */
  readonly reverses: Life | null;
}

interface Dues {
  interest: bigint;
  fees: bigint;
  due: bigint;
}

interface Parts {
  readonly toFees: bigint;
  readonly toInterest: bigint;
  readonly toPrincipal: bigint;
  readonly toDue: bigint;
}

const decimalsOf: Readonly<Record<string, number>> = { USD: 2, EUR: 2, JPY: 0 };

export class SlowBank {
  readonly world: World;
  /** In the order in which they were ordered. */
  readonly lives: Life[] = [];
  /** In the order in which they were posted. */
  readonly #posted: Life[] = [];

  constructor(world: World) {
    this.world = world;
  }

  // ------------------------------------------------------------------------------------------- orders

  initiate(actor: ModelActor, order: ModelOrder, now: Date): string {
    const first = this.lives.find((life) => life.id === order.id);
    if (first !== undefined && this.#sees(actor, first)) return this.#again(order, first);

    const source = this.#sourceSeenBy(actor, order.from);
    const destination = this.#destinationSeenBy(actor, order.to);
    const currency = order.currency ?? source?.currency ?? this.world.currency;
    const amount = inMinor(order.amount, currency);
    if (amount === null) return 'malformed';
    // Reported only where a free id would have been used up.
    if (first !== undefined && source !== undefined) return 'id_reused';

    const type = source && destination && this.#typeOf(actor, source, destination);
    const life: Life = {
      id: order.id,
      by: actor,
      from: order.from,
      to: order.to,
      amount,
      currency,
      type: order.type ?? type,
      option: type === 'LOAN_PAYMENT' ? (order.option ?? 'DEFAULT') : order.option,
      previousYear: type === 'IRA_CONTRIBUTION' ? (order.previousYear ?? false) : order.previousYear,
      orderedAt: now,
      status: 'FAILED',
      code: null,
      waits: null,
      reverses: null,
    };
    // Only an order that would use up a free id learns that another user has used it.
    if (first !== undefined && source !== undefined) return 'id_reused';
    life.code = this.#whyNot(actor, order, life, source, destination, now);
    if (life.code === null) {
      life.waits = this.#whatItWaitsFor(life, now);
      life.status = life.waits === null ? 'COMPLETED' : 'PENDING';
    }
    // An order from a source that its caller does not see leaves nothing, not even the id.
    if (source !== undefined) this.lives.push(life);
    if (life.status === 'COMPLETED') this.#posted.push(life);
    return `new ${summary(life)}`;
  }

  #again(order: ModelOrder, first: Life): string {
    const differs: string[] = [];
    if (order.from !== first.from) differs.push('fromAccountId');
    if (order.to !== first.to) differs.push('toAccountId');
    if (inMinor(order.amount, first.currency) !== first.amount) differs.push('amount');
    if (order.currency !== null && order.currency !== first.currency) differs.push('currencyCode');
    if (order.type !== null && order.type !== first.type) differs.push('transferType');
    if (order.option !== null && order.option !== first.option) differs.push('paymentOption');
    if (order.previousYear !== null && order.previousYear !== (first.previousYear ?? false)) {
      differs.push('previousYearContribution');
    }
    return differs.length > 0 ? `id_reused ${differs.toSorted().join(' ')}` : `replayed ${summary(first)}`;
  }

  /** The first reason, in their order of precedence. */
  #whyNot(
    actor: ModelActor,
    order: ModelOrder,
    life: Life,
    source: WorldAccount | undefined,
    destination: WorldAccount | undefined,
    now: Date,
  ): string | null {
    if (source === undefined || destination === undefined) return 'account_not_found';
    if (source.id === destination.id) return 'same_account';
    if (source.closed || destination.closed) return 'account_closed';
    if (!['SAVINGS', 'CHECKING', 'MONEY_MARKET'].includes(source.diAccountType)) return 'account_restricted';
    if (source.restriction === 'EXCLUDE_ALL' || source.restriction === 'EXCLUDE_AS_FROM') {
      return 'account_restricted';
    }
    if (actor !== 'client' && !holderOf(source, actor.person)?.mayPay) return 'account_restricted';
    if (destination.restriction === 'EXCLUDE_ALL' || destination.restriction === 'EXCLUDE_AS_TO') {
      return 'account_restricted';
    }
    if (source.currency !== life.currency || destination.currency !== life.currency) {
      return 'currency_mismatch';
    }
    const type = this.#typeOf(actor, source, destination);
    if (order.type !== null && order.type !== type) return 'transfer_type_mismatch';
    if (order.option !== null && type !== 'LOAN_PAYMENT') return 'transfer_type_mismatch';
    if (order.previousYear === true && type !== 'IRA_CONTRIBUTION') return 'transfer_type_mismatch';
    if (type === 'LOAN_PAYMENT' && order.option !== null && order.option !== 'DEFAULT') {
      const taken = destination.loan === null ? [] : (this.#policy(life)?.options ?? []);
      if (!taken.includes(order.option)) return 'account_restricted';
    }
    if (this.#overLimit(life, source)) return 'limit_exceeded';
    if (this.#overPayoff(life, destination)) return 'exceeds_payoff';
    if (type === 'IRA_CONTRIBUTION' && life.currency === 'USD') {
      if (this.#overContribution(life, destination, now)) return 'exceeds_contribution_limit';
    }
    const spendable = this.posted(source.id) - this.debitsPending(source.id) + source.overdraft;
    return life.amount > spendable ? 'insufficient_funds' : null;
  }

  // ------------------------------------------------------------------------------------------- visibility

  #account(id: string): WorldAccount | undefined {
    return this.world.accounts.find((account) => account.id === id);
  }

  #sourceSeenBy(actor: ModelActor, id: string): WorldAccount | undefined {
    const account = this.#account(id);
    if (account === undefined || actor === 'client') return account;
    return holderOf(account, actor.person) === undefined ? undefined : account;
  }

  #destinationSeenBy(actor: ModelActor, id: string): WorldAccount | undefined {
    const own = this.#sourceSeenBy(actor, id);
    if (own !== undefined) return own;
    const account = this.#account(id);
    const openToAll =
      account?.category === 'DEPOSIT' && account.diAccountType !== 'RETIREMENT_IRA' && !account.closed;
    return openToAll ? account : undefined;
  }

  #sees(actor: ModelActor, life: Life): boolean {
    if (actor === 'client') return true;
    if (sameActor(life.by, actor)) return true;
    if (life.status === 'FAILED') return false;
    // Holders of the original's source also see the reversal.
    const sources = life.reverses === null ? [life.from] : [life.from, life.to];
    return sources.some((id) => {
      const account = this.#account(id);
      return account !== undefined && holderOf(account, actor.person) !== undefined;
    });
  }

  #typeOf(actor: ModelActor, source: WorldAccount, destination: WorldAccount): ModelType {
    if (destination.diAccountType === 'RETIREMENT_IRA') return 'IRA_CONTRIBUTION';
    if (destination.category === 'LOAN' || destination.category === 'CREDIT') return 'LOAN_PAYMENT';
    if (source.membership === destination.membership) return 'STANDARD';
    const inBoth = this.world.people.filter(
      (person) =>
        person.hasLogin &&
        this.#belongsTo(person.name, source.membership) &&
        this.#belongsTo(person.name, destination.membership),
    );
    const theirs = actor === 'client' ? inBoth : inBoth.filter((person) => person.name === actor.person);
    return theirs.length > 0 ? 'CROSS_MEMBER' : 'INTRA_FI';
  }

  #belongsTo(person: string, membership: string): boolean {
    return this.world.memberships.some((one) => one.name === membership && one.people.includes(person));
  }

  // ------------------------------------------------------------------------------------------- balances

  posted(id: string): bigint {
    let posted = this.#account(id)?.opening ?? 0n;
    for (const life of this.#posted) {
      if (life.from === id) posted -= life.amount;
      if (life.to === id) posted += life.amount;
    }
    return posted;
  }

  debitsPending(id: string): bigint {
    return sumOf(this.lives.filter((life) => life.status === 'PENDING' && life.from === id));
  }

  creditsPending(id: string): bigint {
    return sumOf(this.lives.filter((life) => life.status === 'PENDING' && life.to === id));
  }

  // ------------------------------------------------------------------------------------------- limits

  #overLimit(life: Life, source: WorldAccount): boolean {
    const bind = (limit: WorldLimit, one: Life) => {
      const from = this.#account(one.from);
      return (
        limit.currency === one.currency &&
        (limit.type === null || limit.type === one.type) &&
        (limit.sourceType === null || limit.sourceType === from?.diAccountType)
      );
    };
    return this.world.limits.some((limit) => {
      if (!bind(limit, life)) return false;
      if (limit.subject === 'USER' && life.by === 'client') return false;
      if (limit.maxPerTransfer !== null && life.amount > limit.maxPerTransfer) return true;
      const same = this.lives.filter((before) => {
        if (before.status === 'FAILED' || before.reverses !== null || !bind(limit, before)) return false;
        const [day, today] = [this.#dayOf(before.orderedAt), this.#dayOf(life.orderedAt)];
        if (limit.period === 'DAY' ? day !== today : day.slice(0, 7) !== today.slice(0, 7)) return false;
        if (limit.subject === 'USER') return sameActor(before.by, life.by);
        if (limit.subject === 'ACCOUNT') return before.from === life.from;
        return this.#account(before.from)?.membership === source.membership;
      });
      return (
        (limit.maxCount !== null && same.length + 1 > limit.maxCount) ||
        (limit.maxAmount !== null && sumOf(same) + life.amount > limit.maxAmount)
      );
    });
  }

  // ------------------------------------------------------------------------------------------- loans

  #overPayoff(life: Life, destination: WorldAccount): boolean {
    if (destination.category !== 'LOAN' && destination.category !== 'CREDIT') return false;
    const payoff = -this.posted(destination.id) - this.creditsPending(destination.id);
    if (life.amount > payoff) return true;
    const dues = this.dues(destination.id);
    if (life.option === 'INTEREST_ONLY') return life.amount > dues.interest;
    if (life.option === 'PRINCIPAL_ONLY') return life.amount > payoff - dues.interest - dues.fees;
    return false;
  }

  /** True until a payment has covered the amount due. A reversal of the payment does not make it true again. */
  delinquent(id: string): boolean {
    return (this.#account(id)?.delinquent ?? false) && !this.#dueHistory(id).met;
  }

  /** The amount due on a loan after all its postings. */
  dues(id: string): Dues {
    return this.#dueHistory(id).dues;
  }

  #dueHistory(id: string): { readonly dues: Dues; readonly met: boolean } {
    const loan = this.#account(id)?.loan;
    const dues: Dues = loan ? { ...loan } : { interest: 0n, fees: 0n, due: 0n };
    let met = false;
    if (!loan) return { dues, met };
    let owed = -(this.#account(id)?.opening ?? 0n);
    const paid = new Map<Life, Parts>();
    for (const life of this.#posted) {
      if (life.to === id) {
        const parts = split(life.amount, life.option ?? 'DEFAULT', dues, owed);
        paid.set(life, parts);
        take(dues, parts, 1n);
        if (parts.toDue > 0n && dues.due === 0n) met = true;
        owed -= life.amount;
      } else if (life.from === id && life.reverses !== null) {
        take(dues, paid.get(life.reverses) as Parts, -1n);
        owed += life.amount;
      }
    }
    return { dues, met };
  }

  // ------------------------------------------------------------------------------------------- retirement

  #overContribution(life: Life, destination: WorldAccount, now: Date): boolean {
    const today = this.#dayOf(now);
    const thisYear = Number(today.slice(0, 4));
    if (life.previousYear && today > (filingDates[thisYear] ?? '')) return true;
    const year = life.previousYear ? thisYear - 1 : thisYear;
    const owner = ownerOf(destination);
    if (owner === undefined) return true;
    const contributed = this.lives.filter((before) => {
      const ira = this.#account(before.to);
      const counts =
        before.type === 'IRA_CONTRIBUTION' && before.currency === 'USD' && before.reverses === null;
      if (!counts || before.status === 'FAILED' || !ira || ownerOf(ira) !== owner) return false;
      if (this.lives.some((later) => later.reverses === before && later.status === 'COMPLETED')) return false;
      const orderedIn = Number(this.#dayOf(before.orderedAt).slice(0, 4));
      return (before.previousYear ? orderedIn - 1 : orderedIn) === year;
    });
    return sumOf(contributed) + life.amount > this.#contributionLimit(year, owner);
  }

  #contributionLimit(year: number, owner: string): bigint {
    const known = [
      ...this.world.ownContributionLimits,
      { year: 2025, base: 7_000_00n, catchUp: 1_000_00n },
      { year: 2026, base: 7_500_00n, catchUp: 1_100_00n },
    ];
    let limit = known.find((row) => row.year === year);
    for (let before = year; limit === undefined; before--) limit = known.find((row) => row.year === before);
    const born = this.world.people.find((person) => person.name === owner)?.birthDate;
    const age = born === null || born === undefined ? 0 : year - Number(born.slice(0, 4));
    return age >= 50 ? limit.base + limit.catchUp : limit.base;
  }

  // ------------------------------------------------------------------------------------------- pending transfers

  #policy(life: Life): WorldPolicy | undefined {
    return this.world.policies.find((one) => one.type === life.type && one.currency === life.currency);
  }

  #whatItWaitsFor(life: Life, now: Date): Life['waits'] {
    const policy = this.#policy(life);
    if (policy === undefined) return null;
    const opening = policy.cutOff === null ? null : this.#openingWaitedFor(now, policy.cutOff);
    if (policy.review !== null && life.amount > policy.review.above) {
      const { secondAbove, seconds, onReviewTimeout } = policy.review;
      const end = new Date(now.getTime() + seconds * 1_000);
      return {
        review: true,
        approvals: secondAbove !== null && life.amount > secondAbove ? 2 : 1,
        notBefore: opening,
        dueAt: onReviewTimeout === 'POST' && opening !== null && opening > end ? opening : end,
        whenDue: onReviewTimeout,
        approvedBy: [],
      };
    }
    if (opening === null) return null;
    return {
      review: false,
      approvals: 0,
      notBefore: opening,
      dueAt: opening,
      whenDue: 'POST',
      approvedBy: [],
    };
  }

  #openingWaitedFor(now: Date, cutOff: string): Date | null {
    const [today = '', time = ''] = onTheClock(now, this.world.timeZone).split(' ');
    const inTime = time < cutOff || (time === cutOff && now.getTime() % 1_000 === 0);
    if (this.#isBusinessDay(today) && inTime) return null;
    // Continues until a business day begins; clock changes are at multiples of a quarter of an hour.
    let at = new Date(Math.ceil((now.getTime() + 1) / 900_000) * 900_000);
    for (;;) {
      const [day = ''] = onTheClock(at, this.world.timeZone).split(' ');
      if (day !== today && this.#isBusinessDay(day)) return at;
      at = new Date(at.getTime() + 900_000);
    }
  }

  #isBusinessDay(day: string): boolean {
    const exception = this.world.exceptions.get(day);
    if (exception !== undefined) return exception === 'OPEN';
    const weekday = new Date(`${day}T12:00:00Z`).getUTCDay();
    return weekday !== 0 && weekday !== 6 && !holidays.has(day);
  }

  #dayOf(at: Date): string {
    return onTheClock(at, this.world.timeZone).slice(0, 10);
  }

  // ------------------------------------------------------------------------------------------- acts

  cancel(actor: ModelActor, id: string): string {
    const life = this.lives.find((one) => one.id === id);
    if (life === undefined || !this.#sees(actor, life)) return 'unknown';
    const source = this.#account(life.from);
    const mayPay = actor !== 'client' && source && holderOf(source, actor.person)?.mayPay;
    if (actor !== 'client' && !sameActor(life.by, actor) && !mayPay) return `not_allowed ${summary(life)}`;
    if (life.status !== 'PENDING') return `final ${summary(life)}`;
    return this.#fail(life, 'transfer_cancelled');
  }

  decline(id: string): string {
    const life = this.lives.find((one) => one.id === id);
    if (life === undefined) return 'unknown';
    if (life.status !== 'PENDING') return `final ${summary(life)}`;
    return this.#fail(life, 'transfer_declined');
  }

  approve(operator: string, id: string, now: Date): string {
    const life = this.lives.find((one) => one.id === id);
    if (life === undefined) return 'unknown';
    const { waits } = life;
    if (life.status !== 'PENDING' || waits === null) return `final ${summary(life)}`;
    if (!waits.review) return `not_in_review ${summary(life)}`;
    if (now >= waits.dueAt) return this.due(id, now);
    if (waits.approvedBy.includes(operator)) return `approved_before ${summary(life)}`;
    const isEarly = waits.notBefore !== null && waits.notBefore > now;
    if (isEarly && waits.approvedBy.length >= waits.approvals) return `not_in_review ${summary(life)}`;
    waits.approvedBy.push(operator);
    if (waits.approvedBy.length < waits.approvals) return `waits_for_approval ${summary(life)}`;
    if (waits.notBefore === null || waits.notBefore <= now) return this.#post(life);
    waits.dueAt = waits.notBefore;
    waits.whenDue = 'POST';
    return `waits_for_time ${summary(life)}`;
  }

  /** Its time has come, or a process believes so. */
  due(id: string, now: Date): string {
    const life = this.lives.find((one) => one.id === id);
    if (life === undefined) return 'unknown';
    if (life.status !== 'PENDING' || life.waits === null) return `final ${summary(life)}`;
    if (now < life.waits.dueAt) return `not_due ${summary(life)}`;
    return life.waits.whenDue === 'POST' ? this.#post(life) : this.#fail(life, 'transfer_expired');
  }

  /** The money moves back by a new transfer under its own id; the payee must still have it. */
  reverse(id: string, originalId: string, now: Date): string {
    const original = this.lives.find((one) => one.id === originalId);
    if (original === undefined) return 'unknown';
    const used = this.lives.find((one) => one.id === id);
    if (used !== undefined) return used.reverses === original ? `replayed ${summary(used)}` : 'id_reused';
    const taken = this.lives.some((one) => one.reverses === original && one.status === 'COMPLETED');
    if (original.status !== 'COMPLETED' || original.reverses !== null || taken) {
      return `not_reversible ${summary(original)}`;
    }
    const payer = this.#account(original.to);
    const isDebt = payer?.category === 'LOAN' || payer?.category === 'CREDIT';
    const has = this.posted(original.to) - this.debitsPending(original.to) + (payer?.overdraft ?? 0n);
    const closed = payer?.closed || this.#account(original.from)?.closed;
    const life: Life = {
      ...original,
      id,
      from: original.to,
      to: original.from,
      orderedAt: now,
      status: 'COMPLETED',
      waits: null,
      by: 'client',
      reverses: original,
    };
    if (closed) this.#fail(life, 'account_closed');
    else if (!isDebt && original.amount > has) this.#fail(life, 'insufficient_funds');
    else this.#posted.push(life);
    this.lives.push(life);
    return `new ${summary(life)}`;
  }

  /** The core closes the account. */
  close(id: string): void {
    const account = this.#account(id);
    if (account !== undefined) account.closed = true;
  }

  #post(life: Life): string {
    if (this.#account(life.from)?.closed || this.#account(life.to)?.closed) {
      return this.#fail(life, 'account_closed');
    }
    life.status = 'COMPLETED';
    this.#posted.push(life);
    return `changed ${summary(life)}`;
  }

  #fail(life: Life, code: string): string {
    life.status = 'FAILED';
    life.code = code;
    return `changed ${summary(life)}`;
  }
}

/** A life in a line, as callers see it. */
function summary(life: Life): string {
  const { id, status, code, type, from, to, amount, currency } = life;
  return `${id} ${code ?? status} ${type ?? '-'} ${from} ${to} ${amount} ${currency}`;
}

function holderOf(account: WorldAccount, person: string): WorldHolder | undefined {
  return account.holders.find((holder) => holder.person === person);
}

function ownerOf(account: WorldAccount): string | undefined {
  return account.holders.find((holder) => holder.role === 'PRIMARY')?.person;
}

function sameActor(a: ModelActor, b: ModelActor): boolean {
  return a !== 'client' && b !== 'client' && a.person === b.person;
}

function sumOf(lives: readonly Life[]): bigint {
  return lives.reduce((sum, life) => sum + life.amount, 0n);
}

/** Null: more decimals than the currency has, or no such currency. */
function inMinor([digits, decimals]: readonly [bigint, number], currency: string): bigint | null {
  const has = decimalsOf[currency];
  if (has === undefined || decimals > has) return null;
  return digits * 10n ** BigInt(has - decimals);
}

/** A payment's parts, counted cent by cent. */
function split(amount: bigint, option: ModelOption, dues: Dues, owed: bigint): Parts {
  const principal = owed - dues.interest - dues.fees > 0n ? owed - dues.interest - dues.fees : 0n;
  const lay = (piles: readonly ['fees' | 'interest' | 'principal', bigint][]): Parts => {
    const laid = { fees: 0n, interest: 0n, principal: 0n };
    let left = amount;
    for (const [pile, most] of piles) {
      const coins = left < most ? left : most;
      laid[pile] += coins;
      left -= coins;
    }
    // More than the debt is possible only if others paid meanwhile: it is the member's credit on the loan.
    laid.principal += left;
    const toDue = amount < dues.due ? amount : dues.due;
    return { toFees: laid.fees, toInterest: laid.interest, toPrincipal: laid.principal, toDue };
  };
  const usual = () =>
    lay([
      ['fees', dues.fees],
      ['interest', dues.interest],
      ['principal', principal],
    ]);
  if (option === 'PRINCIPAL_ONLY' && amount <= principal) {
    return { ...lay([['principal', principal]]), toDue: 0n };
  }
  if (option === 'INTEREST_ONLY' && amount <= dues.interest) return lay([['interest', dues.interest]]);
  if (option === 'EXCESS_TO_PRINCIPAL' && amount <= dues.fees + dues.interest + principal) {
    const dueFees = dues.due < dues.fees ? dues.due : dues.fees;
    const dueInterest = dues.due - dueFees < dues.interest ? dues.due - dueFees : dues.interest;
    return lay([
      ['fees', dueFees],
      ['interest', dueInterest],
      ['principal', principal],
      ['fees', dues.fees - dueFees],
      ['interest', dues.interest - dueInterest],
    ]);
  }
  return usual();
}

function take(dues: Dues, parts: Parts, sign: bigint): void {
  dues.fees -= sign * parts.toFees;
  dues.interest -= sign * parts.toInterest;
  dues.due -= sign * parts.toDue;
}

const clocks = new Map<string, Intl.DateTimeFormat>();

/** The local time of a zone: `2026-11-25 17:00:01`. */
function onTheClock(at: Date, timeZone: string): string {
  let clock = clocks.get(timeZone);
  if (clock === undefined) {
    clock = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' });
    clocks.set(timeZone, clock);
  }
  return clock.format(at);
}

/** Days on which the Federal Reserve Banks are closed, as published; the model covers 2026 and 2027. */
const holidays: ReadonlySet<string> = new Set([
  ...['2026-01-01', '2026-01-19', '2026-02-16', '2026-05-25', '2026-06-19', '2026-09-07', '2026-10-12'],
  ...['2026-11-11', '2026-11-26', '2026-12-25'],
  ...['2027-01-01', '2027-01-18', '2027-02-15', '2027-05-31', '2027-07-05', '2027-09-06', '2027-10-11'],
  ...['2027-11-11', '2027-11-25'],
]);

/** The end of contributions for the year before. */
const filingDates: Readonly<Record<number, string>> = { 2026: '2026-04-15', 2027: '2027-04-15' };
