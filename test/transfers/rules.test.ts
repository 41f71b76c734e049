import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { ownOrigin } from '../../src/events/index.ts';
import { saveTransferRules } from '../../src/transfers/index.ts';
import { clientOf, type DemoCaller, memberOf, paths } from '../support/demo.ts';
import { deskOf, eventually, manualClock, type TestDesk } from '../support/desk.ts';
import { commandOf } from '../support/operator.ts';
import { startTestService, type TestService } from '../support/service.ts';

/* Rules beyond the balance: limits, loans, IRAs, restrictions. Tuesday, on a clock that stands. */

const hand = manualClock('2026-03-03T15:00:00Z');
let service: TestService;
let beside: TestService;
let bank: DemoCaller;
let desk: TestDesk;
before(async () => {
  service = await startTestService({ clock: hand.clock });
  beside = await startTestService({ clock: hand.clock, beside: service });
  bank = await clientOf(service);
  desk = await deskOf(service);
});
after(async () => {
  await desk[Symbol.asyncDispose]();
  await beside.close();
  await service.close();
});

let ids = 0;
const order = (fromAccountId: string, toAccountId: string, amount: number, more = {}) => ({
  id: `rules-${++ids}`,
  fromAccountId,
  toAccountId,
  amount,
  ...more,
});
const initiate = (
  caller: DemoCaller,
  fromAccountId: string,
  toAccountId: string,
  amount: number,
  more = {},
) => caller.post(paths.transfers, order(fromAccountId, toAccountId, amount, more));

const noRules = { policies: [], limits: [], businessDays: [], contributionLimits: [] };
const limit = {
  limitKey: 1,
  subject: 'USER',
  period: 'DAY',
  transferType: null,
  sourceType: null,
  currency: 'USD',
  maxPerTransfer: null,
  maxAmount: null,
  maxCount: null,
  reviewAbove: null,
} as const;
/** Saved instead of earlier ones, and read by both processes. */
async function lay(rules: Partial<Parameters<typeof saveTransferRules>[2]['rules']>): Promise<void> {
  await saveTransferRules(desk, desk.institutionId, { rules: noRules, origin: ownOrigin() });
  for (const table of ['limit_counters', 'limit_keys']) {
    await service.db.superuser(`delete from ${table} where institution_id = $1 and limit_key > 0`, [
      desk.institutionId,
    ]);
  }
  await saveTransferRules(desk, desk.institutionId, { rules: { ...noRules, ...rules }, origin: ownOrigin() });
  await new Promise((resolve) => setTimeout(resolve, 1_100));
}

async function counter(limitKey: number): Promise<{ amount: bigint; transfers: number } | undefined> {
  const [row] = await service.db.superuser<{ amount: bigint; transfers: number }>(
    'select amount, transfers from limit_counters where institution_id = $1 and limit_key = $2 and transfers > 0',
    [desk.institutionId, limitKey],
  );
  return row;
}

describe('limits', () => {
  test('64 simultaneous orders through two processes use a day’s limit exactly, to the cent', async () => {
    await lay({ limits: [{ ...limit, maxAmount: 50_00n }] });
    const callers = await Promise.all(
      [service, beside].map((one) => memberOf(one, 'demo.member', 'demo-member-password')),
    );
    const answers = await Promise.all(
      Array.from({ length: 64 }, (_, index) =>
        initiate(callers[index % 2] as DemoCaller, 'a-1001-checking', 'a-1001-savings', 1.25),
      ),
    );
    const done = answers.filter((answer) => answer.status === 201).length;
    const refused = answers.filter((answer) => answer.body.code === 'limit_exceeded').length;
    assert.equal(done, 40, 'exactly 50.00 in parts of 1.25');
    assert.equal(refused, 24);
    assert.deepEqual(await counter(1), { amount: 50_00n, transfers: 40 });
  });

  test('counts a day’s transfers, and starts the next day from zero', async () => {
    await lay({ limits: [{ ...limit, maxCount: 3 }] });
    const member = () => memberOf(service, 'demo.member', 'demo-member-password');
    const pay = async () => (await initiate(await member(), 'a-1001-checking', 'a-1001-savings', 1)).status;
    assert.deepEqual([await pay(), await pay(), await pay(), await pay()], [201, 201, 201, 422]);
    const spent = order('a-1001-checking', 'a-1001-savings', 1);
    const caller = await member();
    const refused = await caller.post(paths.transfers, spent);
    const daily = {
      appliesTo: 'USER',
      period: 'DAY',
      remainingAmount: 0,
      currencyCode: 'USD',
      resetsAt: '2026-03-04T05:00:00.000Z',
    };
    assert.deepEqual(refused.body.limit, daily);
    const again = await caller.post(paths.transfers, spent);
    assert.deepEqual(
      { ...again.body, instance: '' },
      { ...refused.body, instance: '' },
      'repeated word for word',
    );
    const listed = await caller.get(`${paths.transfers}/options?fromAccountId=a-1001-checking`);
    assert.deepEqual(listed.body.options.at(-1).reason.limit, daily);
    // A second before midnight in New York, then midnight.
    hand.set('2026-03-04T04:59:59Z');
    assert.equal(await pay(), 422);
    hand.set('2026-03-04T05:00:00Z');
    assert.equal(await pay(), 201);
    bank = await clientOf(service);
  });

  test('a limit counts pending transfers, not failed ones, and gives back cancelled ones', async () => {
    await lay({
      policies: [
        {
          transferType: 'INTRA_FI',
          currency: 'USD',
          // Two days: the transfers still pending on the next one are not due yet.
          review: {
            aboveMinor: 10_00n,
            secondApprovalAboveMinor: null,
            seconds: 172_800,
            onReviewTimeout: 'EXPIRE',
          },
          cutOff: null,
          paymentOptions: ['DEFAULT'],
        },
      ],
      limits: [{ ...limit, subject: 'CUSTOMER', maxAmount: 30_00n }],
    });
    const held = await initiate(bank, 'a-1001-checking', 'a-1003-checking', 20);
    assert.equal(held.body.status, 'PENDING', held.text);
    const failed = await initiate(bank, 'a-1001-checking', 'a-1009-savings', 5);
    assert.equal(failed.body.code, 'account_closed');
    const over = await initiate(bank, 'a-1001-checking', 'a-1003-checking', 10.01);
    assert.equal(over.body.code, 'limit_exceeded');
    // The membership's other accounts count here too: a client sees them all; a member may not.
    const daily = {
      appliesTo: 'CUSTOMER',
      period: 'DAY',
      currencyCode: 'USD',
      resetsAt: '2026-03-05T05:00:00.000Z',
    };
    assert.deepEqual(over.body.limit, { ...daily, remainingAmount: 10 });
    const member = await memberOf(service, 'demo.member', 'demo-member-password');
    const asked = order('a-1001-checking', 'a-1001-savings', 10.01);
    const dry = await member.post(`${paths.transfers}/dry-run`, asked);
    assert.deepEqual(dry.body.reasons[0].limit, daily);
    assert.deepEqual(await counter(1), { amount: 20_00n, transfers: 1 });
    // A cancellation on the next day gives the amount back to the day of the order.
    hand.set('2026-03-05T05:00:01Z');
    bank = await clientOf(service);
    assert.equal((await bank.post(`${paths.transfers}/${held.body.id}/cancel`, {})).status, 200);
    assert.equal(await counter(1), undefined);
    hand.set('2026-03-04T05:00:00Z');
    assert.equal((await initiate(bank, 'a-1001-checking', 'a-1003-checking', 10)).status, 201);
  });

  test('a monthly count of one savings account includes every orderer', async () => {
    await lay({
      limits: [{ ...limit, subject: 'ACCOUNT', period: 'MONTH', sourceType: 'SAVINGS', maxCount: 2 }],
    });
    const member = await memberOf(service, 'demo.member', 'demo-member-password');
    const out = (caller: DemoCaller) => initiate(caller, 'a-1001-savings', 'a-1001-checking', 1);
    assert.equal((await out(member)).status, 201);
    assert.equal((await out(bank)).status, 201);
    assert.equal((await out(member)).body.code, 'limit_exceeded');
    assert.equal(
      (await initiate(bank, 'a-1003-savings', 'a-1003-checking', 1)).status,
      201,
      'another account',
    );
    hand.set('2026-04-01T04:00:00Z');
    bank = await clientOf(service);
    assert.equal((await out(bank)).status, 201, 'another month');
  });
});

describe('loans', () => {
  const dues = async () => {
    const [row] = await service.db.superuser<Record<string, bigint>>(
      `select l.fees_due, l.accrued_interest, l.amount_due from loans l
       join accounts a using (institution_id, account_key) where a.account_id = $1 and a.institution_id = $2`,
      ['a-1008-carloan', desk.institutionId],
    );
    return [row?.fees_due, row?.accrued_interest, row?.amount_due];
  };
  const loan = async () => (await bank.get(`${paths.accounts}/a-1008-carloan`)).body;

  test('each loan payment option pays its parts, and only if the institution accepts it', async () => {
    await lay({});
    const pay = (amount: number, paymentOption: string) =>
      initiate(bank, 'a-1008-checking', 'a-1008-carloan', amount, { paymentOption });
    assert.equal((await pay(1, 'PRINCIPAL_ONLY')).body.code, 'account_restricted');
    await lay({
      policies: [
        {
          transferType: 'LOAN_PAYMENT',
          currency: 'USD',
          review: null,
          cutOff: null,
          paymentOptions: ['DEFAULT', 'PRINCIPAL_ONLY', 'INTEREST_ONLY', 'EXCESS_TO_PRINCIPAL'],
        },
      ],
    });
    assert.deepEqual(await dues(), [35_00n, 118_02n, 420_00n]);
    assert.equal((await pay(10, 'PRINCIPAL_ONLY')).status, 201);
    assert.deepEqual(await dues(), [35_00n, 118_02n, 420_00n]);
    assert.equal((await pay(18.02, 'INTEREST_ONLY')).status, 201);
    assert.deepEqual(await dues(), [35_00n, 100_00n, 401_98n]);
    assert.equal((await pay(100.01, 'INTEREST_ONLY')).body.code, 'exceeds_payoff');
    assert.equal((await loan()).accountStatus.delinquent, true);
    assert.equal((await pay(35, 'DEFAULT')).status, 201);
    assert.deepEqual(await dues(), [0n, 100_00n, 366_98n]);
    // The amount due, and 33.02 more: interest 100, principal 266.98 and then 33.02.
    assert.equal((await pay(400, 'EXCESS_TO_PRINCIPAL')).status, 201);
    assert.deepEqual(await dues(), [0n, 0n, 0n]);
    const paid = await loan();
    assert.equal(paid.accountStatus.delinquent, false, 'the amount due is met');
    assert.equal(paid.balance.currentBalance.amount, 6200 - 10 - 300);
    assert.equal((await pay(0.01, 'INTEREST_ONLY')).body.code, 'exceeds_payoff');
    const elsewhere = await initiate(bank, 'a-1008-checking', 'a-1001-checking', 1, {
      paymentOption: 'DEFAULT',
    });
    assert.equal(elsewhere.body.code, 'transfer_type_mismatch');
  });

  test('the database refuses parts of a loan payment that do not add up', async () => {
    await assert.rejects(
      service.db.superuser(
        `insert into loan_payments (institution_id, account_key, seq, to_fees, to_interest, to_principal, to_due)
         select institution_id, account_key, seq, 1, 0, 0, 0 from entries where amount <> 1 limit 1`,
      ),
      { code: 'SD008' },
    );
  });
});

describe('contributions to an IRA', () => {
  const contribute = (toAccountId: string, amount: number, more = {}) =>
    initiate(bank, 'a-1019-checking', toAccountId, amount, more);

  test('the yearly limit covers all IRAs of the owner, and a reversal gives back', async () => {
    hand.set('2026-06-01T15:00:00Z');
    bank = await clientOf(service);
    await lay({ contributionLimits: [{ year: 2026, limitCents: 500_00n, catchUpCents: 100_00n }] });
    await service.db.superuser(
      `update persons p set birth_date = '1990-01-01' from holders h join accounts a using (institution_id, account_key)
       where a.account_id = 'a-1019-ira' and h.person_key = p.person_key and p.institution_id = h.institution_id`,
    );
    // A second IRA of the same owner.
    await service.db.superuser(
      `with source as (select * from accounts where account_id = 'a-1019-ira' and institution_id = $1),
       made as (insert into accounts (institution_id, account_id, customer_key, account_number, di_account_type, category,
                                      description, currency)
                select institution_id, 'a-1019-roth', customer_key, '100019-41', di_account_type, category, 'Roth IRA',
                       currency from source returning institution_id, account_key, account_id, currency)
       insert into holders (institution_id, account_key, person_key, role, may_pay)
       select made.institution_id, made.account_key, h.person_key, h.role, h.may_pay
       from made, source join holders h using (institution_id, account_key)`,
      [desk.institutionId],
    );
    await service.db.superuser(
      `insert into balances (institution_id, account_key, account_id, currency, posted, debits_pending, credits_pending, seq, last_at)
       select institution_id, account_key, account_id, currency, 0, 0, 0, 0, '2026-01-01' from accounts
       where account_id = 'a-1019-roth'`,
    );
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, index) => contribute(index % 2 ? 'a-1019-ira' : 'a-1019-roth', 20)),
    );
    assert.equal(answers.filter((answer) => answer.status === 201).length, 25);
    assert.equal(
      answers.filter((answer) => answer.body.code === 'exceeds_contribution_limit').length,
      answers.length - 25,
    );
    const { reverseTransfer } = await import('../../src/transfers/index.ts');
    const done = answers.find((answer) => answer.status === 201);
    const reversed = await reverseTransfer(desk.desk, desk.institutionId, {
      originalId: done?.body.id,
      transferId: 'ira-back',
      origin: commandOf('Ops One'),
    });
    assert.ok(reversed.kind === 'new' && reversed.transfer.status === 'COMPLETED');
    assert.equal((await contribute('a-1019-ira', 20.01)).body.code, 'exceeds_contribution_limit');
    assert.equal((await contribute('a-1019-ira', 20)).status, 201);
  });

  test('a person who turns 50 by the end of the year may add the catch-up', async () => {
    await service.db.superuser(
      `update persons p set birth_date = '1976-12-31' from holders h join accounts a using (institution_id, account_key)
       where a.account_id = 'a-1019-ira' and h.person_key = p.person_key and p.institution_id = h.institution_id`,
    );
    assert.equal((await contribute('a-1019-roth', 100.01)).body.code, 'exceeds_contribution_limit');
    assert.equal((await contribute('a-1019-roth', 100)).status, 201);
  });

  test('a contribution for the year before is accepted until the end of the filing date, and counts for that year', async () => {
    const late = await contribute('a-1019-ira', 1, { previousYearContribution: true });
    assert.equal(late.body.code, 'exceeds_contribution_limit', 'in June');
    // The filing date of 2027 is Thursday 15 April; a second before and after its midnight in New York.
    hand.set('2027-04-16T03:59:59Z');
    bank = await clientOf(service);
    const intime = await contribute('a-1019-ira', 5, { previousYearContribution: true });
    assert.equal(intime.body.code, 'exceeds_contribution_limit', '2026 is used up');
    assert.equal((await contribute('a-1019-ira', 5)).status, 201, '2027 is not');
    await lay({ contributionLimits: [{ year: 2026, limitCents: 505_00n, catchUpCents: 100_00n }] });
    assert.equal((await contribute('a-1019-ira', 5, { previousYearContribution: true })).status, 201);
    hand.set('2027-04-16T04:00:00Z');
    const over = await contribute('a-1019-ira', 1, { previousYearContribution: true });
    assert.equal(over.body.code, 'exceeds_contribution_limit');
    const filedLater = { year: 2026, limitCents: 506_00n, catchUpCents: 100_00n, filingDate: '2027-04-20' };
    await lay({ contributionLimits: [filedLater] });
    hand.set('2027-04-21T03:59:59Z');
    bank = await clientOf(service);
    assert.equal((await contribute('a-1019-ira', 1, { previousYearContribution: true })).status, 201);
    hand.set('2027-04-21T04:00:00Z');
    await lay({ contributionLimits: [{ ...filedLater, limitCents: 600_00n }] });
    const tooLate = await contribute('a-1019-ira', 1, { previousYearContribution: true });
    assert.equal(tooLate.body.code, 'exceeds_contribution_limit');
    const elsewhere = await initiate(bank, 'a-1001-checking', 'a-1001-savings', 1, {
      previousYearContribution: true,
    });
    assert.equal(elsewhere.body.code, 'transfer_type_mismatch');
  });
});

describe('restrictions by the core', () => {
  test('EXCLUDE_AS_FROM, EXCLUDE_AS_TO and EXCLUDE_ALL restrict an account’s transfers', async () => {
    const restrict = (restriction: string | null) =>
      service.db.superuser(
        `update accounts set transfer_restriction = $1 where account_id = 'a-1003-savings' and institution_id = $2`,
        [restriction, desk.institutionId],
      );
    const codes = async () => [
      (await initiate(bank, 'a-1003-savings', 'a-1003-checking', 1)).body.code,
      (await initiate(bank, 'a-1003-checking', 'a-1003-savings', 1)).body.code,
    ];
    const restricted = 'account_restricted';
    await restrict('EXCLUDE_AS_FROM');
    assert.deepEqual(await codes(), [restricted, undefined]);
    await restrict('EXCLUDE_AS_TO');
    assert.deepEqual(await codes(), [undefined, restricted]);
    await restrict('EXCLUDE_ALL');
    assert.deepEqual(await codes(), [restricted, restricted]);
    await restrict(null);
    assert.deepEqual(await codes(), [undefined, undefined]);
  });
});

test('the demo’s rules stay after they are saved again, and take effect within a second', async () => {
  await lay({ limits: [{ ...limit, subject: 'CUSTOMER', maxPerTransfer: 5_00n }] });
  await eventually(
    () => initiate(bank, 'a-1001-checking', 'a-1001-savings', 5.01),
    (answer) => answer.body.code === 'limit_exceeded',
  );
});
