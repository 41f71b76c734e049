import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ClientActor, MemberActor } from '../../institutions/index.ts';
import { Book } from '../../ledger/index.ts';
import type { InstitutionId } from '../../storage/index.ts';
import type { AccountFacts } from './accounts/account.ts';
import type { LoanPayment } from './accounts/loans.ts';
import { apply } from './apply.ts';
import { Counters, type Limit } from './controls/limits.ts';
import { defaultCorePolicy } from './controls/policies.ts';
import { type Judgement, judge } from './decide.ts';
import type { Facts } from './facts.ts';
import { type FailureCode, failureCodes, type SubmittedOrder, transferTypes } from './transfer.ts';

/* A member pays 100.00 from checking on their own loan, and every rule allows it; each case breaks some rules. */

/** The parts of a world; a case names its differences from `untroubled`. */
interface World {
  readonly order: SubmittedOrder;
  readonly source: AccountFacts;
  readonly destination: AccountFacts;
  /** The member's holder record on the source; null without one. */
  readonly holding: { readonly mayPay: boolean } | null;
  readonly posted: { readonly source: bigint; readonly destination: bigint };
  /** The only limit, and its counter of today. */
  readonly limit: Limit;
  readonly counted: { readonly amount: bigint; readonly transfers: number };
  /** The IRA owner's contributions for the year. */
  readonly contributed: { readonly amount: bigint };
  readonly core: { readonly isAway: boolean };
}
type Change = { readonly [Part in keyof World]?: Partial<World[Part]> | null };

const institutionId = 1 as InstitutionId;
const member: MemberActor = {
  kind: 'member',
  institutionId,
  clientId: 'app',
  userId: 'ada',
  userKey: 7n,
  personKey: 70n,
};
const client: ClientActor = { kind: 'client', institutionId, clientId: 'app' };

const source: AccountFacts = {
  accountKey: 1n,
  accountId: 'checking',
  customerKey: 5n,
  diAccountType: 'CHECKING',
  category: 'DEPOSIT',
  currency: 'USD',
  closed: false,
  overdraftLimit: 0n,
  transferRestriction: null,
  loan: null,
  owner: null,
};
const at = new Date('2026-03-02T17:00:00Z');
const untroubled: World = {
  order: {
    transferId: 'order-1',
    fromAccountId: 'checking',
    toAccountId: 'loan',
    amount: { digits: 100n, decimals: 0 },
    currencyCode: null,
    transferType: null,
    paymentOption: null,
    previousYearContribution: null,
    memo: null,
    actor: member,
  },
  source,
  destination: {
    ...source,
    accountKey: 2n,
    accountId: 'loan',
    diAccountType: 'AUTOMOBILE_LOAN',
    category: 'LOAN',
    loan: { fees: 10_00n, interest: 20_00n, amountDue: 50_00n },
  },
  holding: { mayPay: true },
  posted: { source: 500_00n, destination: -900_00n },
  limit: {
    limitKey: 1,
    subject: 'USER',
    period: 'DAY',
    transferType: null,
    sourceType: null,
    currency: 'USD',
    maxPerTransfer: 1_000_00n,
    maxAmount: 1_000_00n,
    maxCount: 10,
    reviewAbove: null,
  },
  counted: { amount: 0n, transfers: 0 },
  contributed: { amount: 0n },
  core: { isAway: false },
};

/** The untroubled world with these changes; later ones win. */
function changed(...changes: readonly Change[]): World {
  // Cloned, because deciding a payment reduces the amount due of the loan.
  const parts = Object.entries(untroubled).map(([part, value]) => {
    const given = changes.flatMap((change) => (part in change ? [change[part as keyof World]] : []));
    return [part, given.includes(null) ? null : structuredClone(Object.assign({}, value, ...given))];
  });
  return Object.fromEntries(parts);
}

/** The judgment, the postings on source and destination once it is applied, and the number of changed counters. */
async function decided(world: World): Promise<{
  decision: Judgement & { readonly loanPayment: LoanPayment | null };
  after: readonly [source: bigint, destination: bigint, counters: number];
}> {
  const accounts = [world.source, world.destination];
  const balances = accounts.map((account) => ({
    accountKey: account.accountKey,
    accountId: account.accountId,
    currency: account.currency,
    posted: account === world.source ? world.posted.source : world.posted.destination,
    debitsPending: 0n,
    creditsPending: 0n,
    seq: 1n,
    lastAt: new Date(0),
  }));
  const answer = async () => ({ rows: balances as never[], rowCount: balances.length, command: 'SELECT' });
  const book = await Book.lock({ institutionId, over: false, query: answer, commitWith: async () => {} }, []);
  const facts: Facts = {
    core: world.core.isAway ? world.core : null,
    settings: {
      institution: {
        institutionId,
        code: 'fictional',
        name: 'Fictional Credit Union',
        currency: 'USD',
        timeZone: 'America/New_York',
        enrollment: 'closed',
        openingDepositMinor: 0n,
        passwordMinLength: 15,
        demo: false,
        record: 'ledger',
        host: null,
        brandColor: null,
        logoHash: null,
        clockAheadSeconds: 0n,
        served: 'here',
        otherCell: null,
        moves: 0,
        policies: {
          contactChangeMaxAgeSeconds: 0,
          registrationBirthDate: false,
          openingsPerDay: 1_000,
          openingDepositsPerDayMinor: 100_000_000n,
          transferStepUpMaxAgeSeconds: 0,
          transferStepUpAboveMinor: 0n,
          transferStepUpNewDestination: false,
          transferStepUpPasskey: false,
        },
      },
      policies: transferTypes.map((transferType) => ({
        transferType,
        currency: 'USD',
        review: null,
        cutOff: null,
        paymentOptions: ['DEFAULT'],
        core: { ...defaultCorePolicy, standIn: 'DECLINE' },
      })),
      calendar: { timeZone: 'America/New_York', opensAt: '00:00', exceptions: new Map() },
      contributionLimits: [],
      recentLimits: [],
      idPrefixes: [],
      screening: null,
    },
    at,
    day: '2026-03-02',
    limits: [world.limit],
    account: (accountId) => accounts.find((account) => account.accountId === accountId),
    holding: (accountKey) => (accountKey === 1n ? (world.holding ?? undefined) : { mayPay: true }),
    usersOf: () => new Set([member.personKey]),
  };
  const { limitKey, subject } = world.limit;
  const subjectKey = subject === 'USER' ? member.userKey : world.source.customerKey;
  const unlimited = { maxAmount: null, maxTransfers: null, reviewed: 0n, reviewAbove: null };
  const locked = [
    { limitKey, subjectKey, periodStart: '2026-03-02', ...world.counted, ...unlimited },
    {
      limitKey: 0,
      subjectKey: 70n,
      periodStart: '2026-01-01',
      transfers: 1,
      ...world.contributed,
      ...unlimited,
    },
  ];
  const counters = new Counters(locked, locked);
  const judgement = judge(world.order, { facts, book, counters });
  assert.ok(!('malformed' in judgement), 'well formed');
  const loanPayment = judgement.failure === null ? apply(judgement, 900n, { book, counters }) : null;
  const decision = { ...judgement, loanPayment };
  const posted = (accountId: string) => book.require(accountId).posted;
  return {
    decision,
    after: [posted(world.source.accountId), posted(world.destination.accountId), counters.changed().length],
  };
}

/** For each rule, in order of precedence, a change that breaks it. It combines with the changes of the rules below it. */
const rules: readonly (readonly [FailureCode, Change])[] = [
  ['account_not_found', { holding: null }],
  ['same_account', { order: { toAccountId: 'checking' } }],
  ['account_closed', { source: { closed: true } }],
  ['account_restricted', { holding: { mayPay: false } }],
  ['currency_mismatch', { order: { currencyCode: 'EUR' }, limit: { currency: 'EUR' } }],
  ['transfer_type_mismatch', { order: { transferType: 'INTRA_FI' } }],
  ['limit_exceeded', { limit: { maxPerTransfer: 99_99n } }],
  ['exceeds_payoff', { posted: { destination: -99_99n } }],
  [
    'exceeds_contribution_limit',
    {
      destination: {
        diAccountType: 'RETIREMENT_IRA',
        category: 'DEPOSIT',
        loan: null,
        owner: { personKey: 70n, birthDate: '1990-05-05' },
      },
      contributed: { amount: 7_400_01n },
    },
  ],
  ['insufficient_funds', { posted: { source: 99_99n } }],
  ['core_unavailable', { core: { isAway: true } }],
];

/** These codes end pending transfers, and refuse no order. */
const ends: readonly FailureCode[] = [
  'transfer_cancelled',
  'transfer_declined',
  'transfer_expired',
  'core_rejected',
];

test('has a row in order of precedence for each failure code', () => {
  assert.deepEqual(
    rules.map(([code]) => code),
    failureCodes.filter((code) => !ends.includes(code)),
  );
});

for (const [index, [code]] of rules.entries()) {
  test(`returns ${code} before every failure code of lower precedence`, async () => {
    // A destination is a loan or an IRA, so only one of these two rules can be broken at a time.
    const below = rules
      .slice(index)
      .filter(([other]) => code !== 'exceeds_payoff' || other !== 'exceeds_contribution_limit');
    const world = changed(...below.map(([, change]) => change));
    const { decision, after } = await decided(world);
    assert.equal(decision.failure?.code, code);
    assert.equal(decision.loanPayment, null);
    assert.deepEqual(after, [world.posted.source, world.posted.destination, 0], 'nothing moved or counted');
  });
}

test('moves the money, splits a loan payment and counts the order when no rule is broken', async () => {
  const { decision, after } = await decided(changed());
  assert.equal(decision.failure, null);
  assert.equal(decision.transferType, 'LOAN_PAYMENT');
  assert.equal(decision.amountMinor, 100_00n);
  assert.deepEqual(decision.loanPayment, {
    accountKey: 2n,
    seq: 2n,
    toFees: 10_00n,
    toInterest: 20_00n,
    toPrincipal: 70_00n,
    toDue: 50_00n,
    meetsDue: true,
  });
  assert.deepEqual(after, [400_00n, -800_00n, 1]);
});

const euros = { source: { currency: 'EUR' }, destination: { currency: 'EUR' } };
const savings = {
  destination: { diAccountType: 'SAVINGS', category: 'DEPOSIT', loan: null },
  posted: { destination: 0n },
};
const card = { diAccountType: 'CREDIT_CARD_LOAN', category: 'CREDIT', loan: null };

/** Other changes that break one rule alone, and cases just on the allowed side. */
const ways: readonly (readonly [way: string, Change, outcome: FailureCode | 'COMPLETED'])[] = [
  ['a missing source', { order: { fromAccountId: 'x' } }, 'account_not_found'],
  ['a missing destination', { order: { toAccountId: 'x' } }, 'account_not_found'],
  ['a client token needs no holder record', { order: { actor: client }, holding: null }, 'COMPLETED'],
  [
    'a client token needs no right to pay',
    { order: { actor: client }, holding: { mayPay: false } },
    'COMPLETED',
  ],
  ['a closed destination', { destination: { closed: true } }, 'account_closed'],
  ['a certificate does not pay out', { source: { diAccountType: 'CERTIFICATE' } }, 'account_restricted'],
  [
    'a certificate, for a client token',
    { order: { actor: client }, source: { diAccountType: 'CERTIFICATE' } },
    'account_restricted',
  ],
  ['money market pays out', { source: { diAccountType: 'MONEY_MARKET' } }, 'COMPLETED'],
  ['savings pays out', { source: { diAccountType: 'SAVINGS' } }, 'COMPLETED'],
  ['a destination in another currency', { destination: { currency: 'EUR' } }, 'currency_mismatch'],
  [
    'accounts in another currency than the order',
    { ...euros, order: { currencyCode: 'USD' } },
    'currency_mismatch',
  ],
  ["the accounts' currency, not stated", euros, 'COMPLETED'],
  ["the accounts' currency, stated", { ...euros, order: { currencyCode: 'EUR' } }, 'COMPLETED'],
  ['the right type, stated', { order: { transferType: 'LOAN_PAYMENT' } }, 'COMPLETED'],
  ['another type, stated', { ...savings, order: { transferType: 'LOAN_PAYMENT' } }, 'transfer_type_mismatch'],
  ['as much as a transfer may have', { limit: { maxPerTransfer: 100_00n } }, 'COMPLETED'],
  ['the last cent of the day', { counted: { amount: 900_00n } }, 'COMPLETED'],
  ['one cent more', { counted: { amount: 900_01n } }, 'limit_exceeded'],
  ['the last transfer of the day', { counted: { transfers: 9 } }, 'COMPLETED'],
  ['one transfer more', { counted: { transfers: 10 } }, 'limit_exceeded'],
  [
    "a user's limit does not bind a client token",
    { order: { actor: client }, counted: { transfers: 10 } },
    'COMPLETED',
  ],
  [
    "the membership's does",
    { order: { actor: client }, limit: { subject: 'CUSTOMER' }, counted: { transfers: 10 } },
    'limit_exceeded',
  ],
  [
    "the membership's binds its members",
    { limit: { subject: 'CUSTOMER' }, counted: { transfers: 10 } },
    'limit_exceeded',
  ],
  [
    'the limit of another type',
    { limit: { transferType: 'STANDARD' }, counted: { transfers: 10 } },
    'COMPLETED',
  ],
  [
    'the limit of this type',
    { limit: { transferType: 'LOAN_PAYMENT' }, counted: { transfers: 10 } },
    'limit_exceeded',
  ],
  ['the limit of another currency', { limit: { currency: 'EUR' }, counted: { transfers: 10 } }, 'COMPLETED'],
  ['the whole payoff', { posted: { destination: -100_00n } }, 'COMPLETED'],
  [
    'one cent more than a card owes',
    { destination: card, posted: { destination: -99_99n } },
    'exceeds_payoff',
  ],
  ['any amount into savings', savings, 'COMPLETED'],
  ['the last cent', { posted: { source: 100_00n } }, 'COMPLETED'],
  [
    'the last cent of an overdraft line',
    { source: { overdraftLimit: 60_00n }, posted: { source: 40_00n } },
    'COMPLETED',
  ],
  ['one cent more', { source: { overdraftLimit: 60_00n }, posted: { source: 39_99n } }, 'insufficient_funds'],
];

for (const [way, change, outcome] of ways) {
  test(`decides ${outcome}: ${way}`, async () => {
    const { decision } = await decided(changed(change));
    assert.equal(decision.failure?.code ?? 'COMPLETED', outcome);
  });
}
