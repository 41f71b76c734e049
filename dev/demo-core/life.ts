import type { Account, Cents } from './books.ts';
import { addDays, type Day, isBusinessDay, isLastOfMonth, weekdayOf, weekNumber } from './local-time.ts';
import { billers, employers, landlords, type Merchant, merchants, payees } from './merchants.ts';
import { between, chance, pick, type Random, randomOf } from './random.ts';

/* The acts of the members. A day's plan depends on the seed, the day and the accounts, never on balances or on earlier runs. */

interface Posting {
  readonly does: 'post';
  readonly accountId: string;
  readonly cents: Cents;
  readonly kind: string;
  readonly description: string;
  readonly category?: string;
  readonly checkNumber?: string;
  /** An unpaid one costs a fee. */
  readonly isReturnedWithFee?: true;
}

interface Purchase {
  readonly does: 'authorize';
  readonly accountId: string;
  /** The amount held at first. */
  readonly cents: Cents;
  /** The amount posted at the end. */
  readonly finalCents: Cents;
  readonly merchant: Merchant;
  readonly ends: 'SETTLES' | 'CHANGES' | 'IS_RELEASED' | 'EXPIRES';
  readonly afterMinutes: number;
}

interface Move {
  readonly does: 'move';
  readonly fromAccountId: string;
  readonly toAccountId: string;
  /** `owed`: the whole debt of the destination. */
  readonly cents: Cents | 'owed';
  readonly kind: 'TRANSFER' | 'LOAN_PAYMENT';
  readonly description: string;
}

/** A deposit earns dividends, and a debt earns interest. */
interface Earning {
  readonly does: 'earn';
  readonly accountId: string;
  readonly kind: 'DIVIDEND' | 'INTEREST';
  readonly basisPoints: number;
  readonly description: string;
}

/** A member has another phone number. */
interface Call {
  readonly does: 'call';
  readonly personId: string;
  readonly phoneNumber: string;
}

/** A member opens an account and moves the first money to it. */
interface Opening {
  readonly does: 'open';
  readonly fromAccountId: string;
  readonly cents: Cents;
}

type Deed = Posting | Purchase | Move | Earning | Call | Opening;
export type Act = { readonly minutes: number } & Deed;

interface Household {
  readonly name: string;
  readonly checking: Account | undefined;
  readonly savings: Account | undefined;
  /** The account that the member opened with this core. */
  readonly club: Account | undefined;
  readonly card: Account | undefined;
  readonly loans: readonly Account[];
  readonly deposits: readonly Account[];
}

/** Facts of a member that stay the same all year. */
interface Habits {
  readonly employer: string;
  /** Every second Friday. */
  readonly pay: Cents;
  readonly payWeek: number;
  readonly rent: Cents;
  readonly landlord: string;
  readonly firstCheckNumber: number;
}

/** The acts of a day in the order of their minutes. Their place in the list is their number for ever. */
export function planDay(seed: string, day: Day, accounts: readonly Account[]): readonly Act[] {
  // Those of the day's beginning, so that a restart in the middle of the day makes the same plan.
  const known = accounts.filter(({ openedOn = '' }) => openedOn < day);
  const acts = households(known).flatMap((household) => actsOf(household, seed, day));
  return acts.sort((a, b) => a.minutes - b.minutes);
}

/** The balances with which the books begin, for accounts that no extract gives one. */
export function openingBalance(seed: string, account: Account): { cents: Cents; description: string } {
  const random = randomOf(`${seed} opening ${account.accountId}`);
  if (account.type === 'CHECKING') return deposit(between(random, 1_400, 4_600));
  if (account.type.endsWith('_LOAN')) {
    if (account.type === 'CREDIT_CARD_LOAN') return { cents: 0, description: '' };
    const most = account.type === 'MORTGAGE_LOAN' ? 310_000 : 19_000;
    return { cents: -between(random, most / 2, most) * 100, description: 'Loan brought forward' };
  }
  return deposit(between(random, 2_500, 14_000));
}

function deposit(dollars: number): { cents: Cents; description: string } {
  return { cents: dollars * 100, description: 'Balance brought forward' };
}

function households(accounts: readonly Account[]): Household[] {
  const byMember = Map.groupBy(
    accounts.filter(({ isClosed }) => !isClosed),
    ({ memberNumber }) => memberNumber,
  );
  return [...byMember].map(([name, own]) => {
    const first = (type: string) => own.find((account) => account.type === type);
    return {
      name,
      checking: first('CHECKING'),
      savings: first('SAVINGS'),
      club: own.find(({ openedOn }) => openedOn !== undefined),
      card: first('CREDIT_CARD_LOAN'),
      loans: own.filter(({ type }) => type === 'INSTALLMENT_LOAN' || type === 'MORTGAGE_LOAN'),
      deposits: own.filter(({ type }) => !type.endsWith('_LOAN')),
    };
  });
}

function habitsOf(seed: string, name: string): Habits {
  const random = randomOf(`${seed} habits ${name}`);
  const pay = between(random, 150_000, 245_000);
  return {
    employer: pick(random, employers),
    pay,
    payWeek: random(2),
    rent: Math.round(pay * (0.46 + random(18) / 100)),
    landlord: pick(random, landlords),
    firstCheckNumber: between(random, 1_010, 1_900),
  };
}

function actsOf(household: Household, seed: string, day: Day): Act[] {
  const { name, checking, savings, club, card, loans, deposits } = household;
  const random = randomOf(`${seed} ${day} ${name}`);
  const date = Number(day.slice(8));
  const acts: Act[] = [];
  const at = (minutes: number, deed: Deed) => {
    // The second keeps two members from acting in the same moment.
    acts.push({ minutes: minutes + random(60) / 60, ...deed });
  };

  if (checking !== undefined) {
    const habits = habitsOf(seed, name);
    for (const deed of income(checking, habits, day)) at(between(random, 300, 420), deed);
    for (const deed of bills(checking, habits, { seed, day, name })) at(between(random, 240, 420), deed);
    for (const deed of cash(checking, random)) at(between(random, 480, 1_260), deed);
    if (isBusinessDay(day) && chance(random, 6)) {
      const number = habits.firstCheckNumber + Math.floor(Date.parse(day) / 86_400_000 / 14);
      at(between(random, 600, 960), check(checking, random, number));
    }
    if (date === 3 && savings !== undefined) {
      at(400, move(checking, savings, between(random, 60, 240) * 100, 'Monthly saving'));
    }
    for (const [index, loan] of loans.entries()) {
      if (date !== 5 + index) continue;
      const cents = loan.type === 'MORTGAGE_LOAN' ? 128_500 : 28_750;
      at(430, { ...move(checking, loan, cents, 'Loan payment'), kind: 'LOAN_PAYMENT' });
    }
    if (date === 21 && card !== undefined) {
      at(440, { ...move(checking, card, 'owed', 'Card payment'), kind: 'LOAN_PAYMENT' });
    }
    for (const deed of paperwork({ checking, club }, { seed, day, name }))
      at(between(random, 540, 1_020), deed);
    const purchases = Math.max(0, between(random, 0, 6) - (chance(random, 35) ? 3 : 0));
    for (let count = 0; count < purchases; count += 1) {
      const payer = card !== undefined && chance(random, 40) ? card : checking;
      at(between(random, 420, 1_330), purchase(payer, random));
    }
  }
  if (isLastOfMonth(day)) {
    for (const account of deposits) {
      if (account.type === 'CHECKING') continue;
      at(1_410, earning(account, 'DIVIDEND', account.type === 'SAVINGS' ? 125 : 280));
    }
    for (const account of card === undefined ? loans : [...loans, card]) {
      at(1_411, earning(account, 'INTEREST', account === card ? 1_690 : 560));
    }
    if (checking !== undefined && savings === undefined) {
      at(1_412, { ...post(checking, -600, 'FEE', 'Monthly account fee'), category: 'FEES' });
    }
  }
  return acts;
}

function* income(account: Account, { employer, pay, payWeek }: Habits, day: Day): Generator<Posting> {
  if (weekdayOf(day) !== 5 || weekNumber(day) % 2 !== payWeek) return;
  yield { ...post(account, pay, 'ACH_CREDIT', `Payroll ${employer}`), category: 'INCOME' };
}

/** A bill that is due at a weekend is taken on the next business day. */
function* bills(
  account: Account,
  { rent, landlord }: Habits,
  { seed, day, name }: { readonly seed: string; readonly day: Day; readonly name: string },
): Generator<Posting> {
  if (!isBusinessDay(day)) return;
  const days = weekdayOf(day) === 1 ? [addDays(day, -2), addDays(day, -1), day] : [day];
  for (const due of days) {
    const date = Number(due.slice(8));
    if (date === 2) yield bill(account, rent, landlord, 'HOUSING');
    for (const [index, biller] of billers.entries()) {
      const random = randomOf(`${seed} ${due.slice(0, 7)} ${name} ${biller.name}`);
      if (date !== 8 + index * 4) continue;
      yield bill(
        account,
        between(random, biller.usual[0] * 100, biller.usual[1] * 100),
        biller.name,
        'BILLS',
      );
    }
  }
}

function bill(account: Account, cents: Cents, description: string, category: string): Posting {
  return { ...post(account, -cents, 'ACH_DEBIT', description), category, isReturnedWithFee: true };
}

function* cash(account: Account, random: Random): Generator<Posting> {
  if (chance(random, 11)) {
    yield post(account, -between(random, 2, 8) * 2_000, 'ATM', 'ATM withdrawal Main Street');
  }
  if (chance(random, 2)) {
    yield post(account, between(random, 2_000, 24_000), 'TELLER', 'Deposit at the branch');
  }
  if (random(300) === 0) {
    yield post(account, between(random, 15_000, 90_000), 'WIRE', 'Wire from a relative');
  }
}

/** From a random source of its own, so that it changes nothing else of the day. */
function* paperwork(
  { checking, club }: { readonly checking: Account; readonly club: Account | undefined },
  { seed, day, name }: { readonly seed: string; readonly day: Day; readonly name: string },
): Generator<Call | Opening | Move> {
  const random = randomOf(`${seed} ${day} ${name} paperwork`);
  const { personId } = checking;
  if (!isBusinessDay(day) || personId === undefined) return;
  if (random(120) === 0) {
    const phoneNumber = `+1303555${String(100 + random(100)).padStart(4, '0')}`;
    yield { does: 'call', personId, phoneNumber };
  }
  if (club === undefined) {
    if (random(90) === 0) yield { does: 'open', fromAccountId: checking.accountId, cents: 10_000 };
  } else if (weekdayOf(day) === 1) {
    yield move(checking, club, 2_500, 'Vacation saving');
  }
}

function check(account: Account, random: Random, number: number): Posting {
  const cents = -between(random, 2_500, 18_000);
  return {
    ...post(account, cents, 'CHECK', `Check ${number} ${pick(random, payees)}`),
    checkNumber: String(number),
    isReturnedWithFee: true,
  };
}

const totalWeight = merchants.reduce((sum, { weight }) => sum + weight, 0);

function purchase(account: Account, random: Random): Purchase {
  let place = random(totalWeight);
  const merchant =
    merchants.find(({ weight }) => {
      place -= weight;
      return place < 0;
    }) ?? merchants[0];
  const [least, most] = merchant.usual;
  // Small amounts are more frequent than large ones.
  const cents = least * 100 + Math.min(random((most - least) * 100), random((most - least) * 100));
  const fate = random(100);
  const isChanged = fate < 12 && merchant.isOpenEnded === true;
  const finalCents = isChanged ? Math.round(cents * (1.05 + random(20) / 100)) : cents;
  return {
    does: 'authorize',
    accountId: account.accountId,
    cents,
    finalCents,
    merchant,
    ends: isChanged ? 'CHANGES' : fate >= 97 ? 'EXPIRES' : fate >= 94 ? 'IS_RELEASED' : 'SETTLES',
    afterMinutes: between(random, 14 * 60, 62 * 60),
  };
}

function post(account: Account, cents: Cents, kind: string, description: string): Posting {
  return { does: 'post', accountId: account.accountId, cents, kind, description };
}

function move(from: Account, to: Account, cents: Cents | 'owed', description: string): Move {
  return {
    does: 'move',
    fromAccountId: from.accountId,
    toAccountId: to.accountId,
    cents,
    kind: 'TRANSFER',
    description,
  };
}

function earning(account: Account, kind: Earning['kind'], basisPoints: number): Earning {
  const description = kind === 'DIVIDEND' ? 'Dividend' : 'Interest charged';
  return { does: 'earn', accountId: account.accountId, kind, basisPoints, description };
}
