import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type * as Accounts from '../../src/accounts/account.ts';
import type * as IdempotencyKey from '../../src/http/request/idempotency-key.ts';
import type * as Calendar from '../../src/institutions/calendar.ts';
import type { Actor } from '../../src/institutions/index.ts';
import type * as Ledger from '../../src/ledger/index.ts';
import type * as Json from '../../src/shared/text/json.ts';
import type * as Storage from '../../src/storage/index.ts';
import { Database } from '../../src/storage/index.ts';
import type * as BatchQueues from '../../src/transfers/desk/batch-queue.ts';
import type * as CounterQueries from '../../src/transfers/limits/counter-queries.ts';

import { type TestDatabase, testDatabase } from '../support/database.ts';
import { waitUntilLocked } from '../support/locks.ts';
import { type Mutation, mutate, type Program, unchangedProgram } from '../support/mutant.ts';
import { plantWorld } from '../support/random-world.ts';
import { limit, policy, smallWorld, Teller } from '../support/teller.ts';
import { aToken } from '../support/tokens.ts';

/*
 * Defects of real services like this one, put one by one into a copy of the source. The check named beside each must
 * catch it, and passes on the unchanged program.
 */

let db: TestDatabase;
/** A pool of its own: it holds a lock while an order of the program waits for it. */
let holder: Storage.Database;
before(async () => {
  db = await testDatabase();
  holder = new Database({ connection: db.connection, maxConnections: 2 });
});
after(async () => {
  await holder.close();
  await db.close();
});

type Check = (program: Program) => Promise<void>;

/** Every transfer of the type is held for a review of an hour, and expires. */
function reviewed(type: 'STANDARD' | 'LOAN_PAYMENT' | 'IRA_CONTRIBUTION', secondAbove: bigint | null = null) {
  const review = { above: 0n, secondAbove, seconds: 3_600, onReviewTimeout: 'EXPIRE' as const };
  return policy({ type, review });
}

const toSavings = { from: 'ada-checking', to: 'ada-savings' } as const;
const toBen = { from: 'ada-checking', to: 'ben-checking' } as const;
const toLoan = { from: 'ada-checking', to: 'ada-loan' } as const;
const toIra = { from: 'ada-savings', to: 'ada-ira' } as const;

const checks = {
  'only the available balance can be spent': async (program) => {
    await using teller = await Teller.of(program, db, { policies: [reviewed('STANDARD')] });
    assert.equal(await teller.order('ada', { ...toSavings, amount: '600.00' }), 'PENDING');
    assert.equal(await teller.balance('ada-checking'), '100000 60000 0');
    assert.equal(await teller.order('ada', { ...toBen, amount: '400.01' }), 'insufficient_funds');
    assert.equal(await teller.order('ada', { ...toBen, amount: '400.00' }), 'COMPLETED');
    assert.equal(await teller.balance('ada-checking'), '60000 60000 0');
  },

  'an overdraft line may be spent to its end': async (program) => {
    await using teller = await Teller.of(program, db);
    const order = { from: 'ben-checking', to: 'ada-checking' };
    assert.equal(await teller.order('ben', { ...order, amount: '1050.01' }), 'insufficient_funds');
    assert.equal(await teller.order('ben', { ...order, amount: '1050.00' }), 'COMPLETED');
    assert.equal(await teller.balance('ben-checking'), '-5000 0 0');
  },

  'two payments together cannot pay more than the debt': async (program) => {
    await using teller = await Teller.of(program, db, { policies: [reviewed('LOAN_PAYMENT')] });
    const order = { from: 'ada-savings', to: 'ada-loan' };
    assert.equal(await teller.order('ada', { ...order, amount: '1000.01' }), 'exceeds_payoff');
    assert.equal(await teller.order('ada', { ...order, amount: '600.00' }), 'PENDING');
    assert.equal(await teller.order('ada', { ...order, amount: '400.01' }), 'exceeds_payoff');
    assert.equal(await teller.order('ada', { ...order, amount: '400.00' }), 'PENDING');
  },

  'an id identifies one order permanently': async (program) => {
    await using teller = await Teller.of(program, db);
    const order = { ...toBen, id: 'rent', amount: '10.00' };
    assert.equal(await teller.order('ada', order), 'COMPLETED');
    assert.equal(await teller.order('ada', order), 'replayed COMPLETED');
    assert.equal(
      await teller.order('ada', { ...order, currency: 'USD', type: 'INTRA_FI' }),
      'replayed COMPLETED',
    );
    assert.equal(await teller.order('ada', { ...order, amount: '10.01' }), 'id_reused amount');
    assert.equal(await teller.order('ada', { ...order, to: 'ada-savings' }), 'id_reused toAccountId');
    assert.equal(await teller.balance('ada-checking'), '99000 0 0');
    assert.equal(await teller.order('ben', { ...order, from: 'ben-checking' }), 'id_reused fromAccountId');
  },

  'a failed id stays failed': async (program) => {
    await using teller = await Teller.of(program, db);
    const order = { ...toBen, id: 'rent', amount: '1200.00' };
    assert.equal(await teller.order('ada', order), 'insufficient_funds');
    await teller.order('ada', { from: 'ada-savings', to: 'ada-checking', amount: '500.00' });
    assert.equal(await teller.order('ada', order), 'replayed insufficient_funds');
    assert.equal(await teller.balance('ada-checking'), '150000 0 0');
  },

  'another user learns nothing of an id': async (program) => {
    await using teller = await Teller.of(program, db);
    const order = { from: 'ada-savings', to: 'ada-checking', id: 'own', amount: '10.00' };
    assert.equal(await teller.order('ada', order), 'COMPLETED');
    assert.equal(await teller.order('ben', order), 'account_not_found');
    const asked = { from: 'ben-checking', to: 'ada-checking', id: 'own', amount: '10.00' };
    assert.equal(await teller.order('ben', asked), 'id_reused');
    assert.equal(await teller.dryRun('ben', asked), 'COMPLETED');
    const unseen = { from: 'ada-savings', to: 'ben-checking', id: 'free', amount: '10.00' };
    assert.equal(await teller.order('ben', unseen), 'account_not_found');
    assert.equal(await teller.order('ada', unseen), 'COMPLETED');
    assert.equal(await teller.read('ben', 'own'), 'problem not_found');
    assert.equal(
      await teller.order('ada', { ...toBen, id: 'failed', amount: '5000.00' }),
      'insufficient_funds',
    );
    assert.equal(await teller.read('ben', 'failed'), 'problem not_found', 'a holder of the source');
  },

  'a holder record decides visibility and the right to pay': async (program) => {
    await using teller = await Teller.of(program, db);
    const amount = '1.00';
    assert.equal(
      await teller.order('ben', { from: 'ada-checking', to: 'ben-checking', amount }),
      'account_restricted',
    );
    assert.equal(
      await teller.order('ben', { from: 'ada-savings', to: 'ben-checking', amount }),
      'account_not_found',
    );
    assert.equal(
      await teller.order('ben', { from: 'ben-checking', to: 'ada-loan', amount }),
      'account_not_found',
    );
    assert.equal(
      await teller.order('ben', { from: 'ben-checking', to: 'ada-ira', amount }),
      'account_not_found',
    );
    assert.equal(
      await teller.order('ben', { from: 'ben-checking', to: 'ada-closed', amount }),
      'account_not_found',
    );
    assert.equal(await teller.order('client', { from: 'ada-savings', to: 'ada-loan', amount }), 'COMPLETED');
  },

  'accounts pay and receive only allowed transfers': async (program) => {
    await using teller = await Teller.of(program, db);
    const order = (from: string, to: string) => teller.order('ada', { from, to, amount: '1.00' });
    assert.equal(await order('ada-checking', 'ada-checking'), 'same_account');
    assert.equal(await order('ada-checking', 'ada-closed'), 'account_closed');
    assert.equal(await order('ada-certificate', 'ada-checking'), 'account_restricted');
    assert.equal(await order('ada-frozen', 'ada-checking'), 'account_restricted');
    assert.equal(await order('ada-checking', 'ada-frozen'), 'COMPLETED');
    assert.equal(await order('ada-checking', 'ada-euro'), 'currency_mismatch');
  },

  'the accounts determine the type': async (program) => {
    await using teller = await Teller.of(program, db);
    const order = (to: string, type: 'STANDARD' | 'CROSS_MEMBER' | 'INTRA_FI') =>
      teller.order('ada', { from: 'ada-savings', to, amount: '1.00', type });
    assert.equal(await order('ada-checking', 'STANDARD'), 'COMPLETED');
    assert.equal(await order('ada-two', 'CROSS_MEMBER'), 'COMPLETED');
    assert.equal(await order('ben-checking', 'INTRA_FI'), 'COMPLETED');
    assert.equal(await order('ben-checking', 'STANDARD'), 'transfer_type_mismatch');
    assert.equal(await order('ada-two', 'STANDARD'), 'transfer_type_mismatch');
  },

  'a daily limit holds to the cent': async (program) => {
    const limits = [limit({ maxAmount: 100_00n })];
    await using teller = await Teller.of(program, db, { limits });
    assert.equal(await teller.order('ada', { ...toBen, amount: '100.01' }), 'limit_exceeded');
    assert.equal(await teller.order('ada', { ...toBen, amount: '60.00' }), 'COMPLETED');
    assert.equal(await teller.order('ada', { ...toBen, amount: '40.01' }), 'limit_exceeded');
    assert.equal(
      await teller.order('ada', { from: 'ada-savings', to: 'ben-checking', amount: '40.00' }),
      'COMPLETED',
    );
    assert.equal(await teller.order('client', { ...toBen, amount: '0.01' }), 'limit_exceeded');
    // 23:59:59 and 00:00:00 in New York.
    teller.now = new Date('2026-03-04T04:59:59Z');
    assert.equal(await teller.order('ada', { ...toBen, amount: '0.01' }), 'limit_exceeded');
    teller.now = new Date('2026-03-04T05:00:00Z');
    assert.equal(await teller.order('ada', { ...toBen, amount: '100.00' }), 'COMPLETED');
  },

  'a limit on the number counts transfers that did not fail': async (program) => {
    const limits = [limit({ subject: 'USER', maxCount: 2 })];
    await using teller = await Teller.of(program, db, { limits });
    assert.equal(await teller.order('ada', { ...toBen, amount: '9999.00' }), 'insufficient_funds');
    assert.equal(await teller.order('ada', { ...toBen, amount: '1.00' }), 'COMPLETED');
    assert.equal(await teller.order('ada', { ...toBen, amount: '1.00' }), 'COMPLETED');
    assert.equal(await teller.order('ada', { ...toBen, amount: '1.00' }), 'limit_exceeded');
    assert.equal(await teller.order('client', { ...toBen, amount: '1.00' }), 'COMPLETED', 'has no user');
  },

  'a limit holds by month and by the type of account': async (program) => {
    const limits = [limit({ subject: 'ACCOUNT', period: 'MONTH', sourceType: 'SAVINGS', maxCount: 1 })];
    await using teller = await Teller.of(program, db, { limits });
    const fromSavings = { from: 'ada-savings', to: 'ada-checking', amount: '1.00' };
    assert.equal(await teller.order('ada', fromSavings), 'COMPLETED');
    assert.equal(
      await teller.order('ada', { ...toSavings, amount: '1.00' }),
      'COMPLETED',
      'no savings account',
    );
    teller.now = new Date('2026-03-31T12:00:00Z');
    assert.equal(await teller.order('ada', fromSavings), 'limit_exceeded');
    teller.now = new Date('2026-04-01T12:00:00Z');
    assert.equal(await teller.order('ada', fromSavings), 'COMPLETED');
  },

  'a limit counts pending transfers, and gives back cancelled ones': async (program) => {
    const limits = [limit({ maxAmount: 100_00n })];
    await using teller = await Teller.of(program, db, { limits, policies: [reviewed('STANDARD')] });
    assert.equal(await teller.order('ada', { ...toSavings, id: 'held', amount: '100.00' }), 'PENDING');
    assert.equal(await teller.order('ada', { ...toSavings, amount: '0.01' }), 'limit_exceeded');
    assert.equal(await teller.cancel('ada', 'held'), 'transfer_cancelled');
    assert.equal(await teller.balance('ada-checking'), '100000 0 0');
    assert.equal(await teller.balance('ada-savings'), '2000000 0 0');
    assert.equal(await teller.order('ada', { ...toSavings, amount: '100.00' }), 'PENDING');
  },

  'authority is read when the accounts are locked': async (program) => {
    await using teller = await Teller.of(program, db);
    const { institutionId } = teller.client;
    let order: Promise<string> | undefined;
    await holder.transaction(institutionId, async (tx) => {
      const lock = `select from balances where account_id = 'ada-checking' and institution_id = $1 for no key update`;
      await tx.query({ name: '', text: lock }, [institutionId]);
      order = teller.order('ada', { ...toBen, amount: '2.00' });
      await waitUntilLocked(db, 'balances');
      await tx.query({ name: '', text: 'update holders set may_pay = false where institution_id = $1' }, [
        institutionId,
      ]);
    });
    assert.equal(await order, 'account_restricted');
  },

  'a refused order moves nothing': async (program) => {
    await using teller = await Teller.of(program, db);
    const { institutionId } = teller.client;
    const token = Promise.withResolvers<void>();
    const order = { ...toBen, id: 'same', amount: '10.00' };
    let orders: Promise<string>[] = [];
    await holder.transaction(institutionId, async (tx) => {
      const lock = `select from balances where account_id = 'ada-checking' and institution_id = $1 for no key update`;
      await tx.query({ name: '', text: lock }, [institutionId]);
      orders = [
        teller.order(
          'ada',
          order,
          aToken(() => token.promise),
        ),
        teller.order(
          'ada',
          { ...toBen, amount: '1.00' },
          aToken(async () => {}),
        ),
        teller.order('ada', { ...order, amount: '2.00' }),
      ];
      // All three are in the batch by now.
      await waitUntilLocked(db, 'balances');
      token.reject(Object.assign(new Error('dead'), { code: 'invalid_token' }));
    });
    assert.deepEqual(await Promise.all(orders), ['problem invalid_token', 'COMPLETED', 'COMPLETED']);
    assert.equal(await teller.balance('ada-checking'), '99700 0 0');
  },

  'no order is decided before its token is checked': async (program) => {
    await using teller = await Teller.of(program, db);
    const [asked, known] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const token = aToken(() => {
      asked.resolve();
      return known.promise;
    });
    const order = teller.order('ada', { ...toBen, amount: '10.00' }, token);
    await Promise.race([asked.promise, order]);
    assert.equal(await teller.balance('ada-checking'), '100000 0 0');
    known.resolve();
    assert.equal(await order, 'COMPLETED');
    assert.equal(await teller.balance('ada-checking'), '99000 0 0');
  },

  'a lock on an account makes other transactions wait': async (program) => {
    const { Book } = await program.load<typeof Ledger>('ledger/index.ts');
    const lock: Locking = (tx) => Book.lock(tx, ['ada-checking']);
    assert.deepEqual(await inTurn(program, lock, 'balances'), ['first done', 'second locked']);
  },

  'a lock on a counter makes other transactions wait': async (program) => {
    const { selectCountersForUpdate } = await program.load<typeof CounterQueries>(
      'transfers/limits/counter-queries.ts',
    );
    const name = { limitKey: 1, subjectKey: 1n, periodStart: '2026-03-03' };
    const lock: Locking = (tx) => selectCountersForUpdate(tx, [name]);
    const counted: Locking = (tx) =>
      tx.query({ name: '', text: `insert into limit_counters values ($1, 1, 1, '2026-03-03', 1, 1)` }, [
        tx.institutionId,
      ]);
    assert.deepEqual(await inTurn(program, lock, 'limit_counters', counted), ['first done', 'second locked']);
  },

  'a first count waits for an earlier first count': async (program) => {
    const limits = [limit({ subject: 'USER', maxAmount: 100_00n })];
    await using teller = await Teller.of(program, db, { limits });
    const { institutionId } = teller.client;
    const ada = teller.members.get('ada');
    let order: Promise<string> | undefined;
    await holder.transaction(institutionId, async (tx) => {
      const text = `insert into limit_counters
                    select institution_id, limit_key, $2, '2026-03-03', 6000, 1, max_amount, max_count
                    from transfer_limits where institution_id = $1`;
      await tx.query({ name: '', text }, [institutionId, ada?.userKey]);
      order = teller.order('ada', { ...toBen, amount: '40.01' });
      await waitUntilLocked(db, 'limit_counters');
    });
    assert.equal(await order, 'limit_exceeded');
    assert.equal(await teller.order('ada', { ...toBen, amount: '40.00' }), 'COMPLETED');
  },

  'a pending transfer ends once, in time and by its rule': async (program) => {
    await using teller = await Teller.of(program, db, { policies: [reviewed('STANDARD', 100_00n)] });
    const held = (id: string, amount: string) => teller.order('ada', { ...toSavings, id, amount });
    assert.equal(await held('one', '100.00'), 'PENDING');
    assert.equal(await teller.cancel('ben', 'one'), 'problem account_restricted');
    assert.equal(await teller.review('approve', 'ann', 'one'), 'COMPLETED');
    assert.equal(await teller.review('decline', 'ann', 'one'), 'final');
    assert.equal(await teller.balance('ada-checking'), '90000 0 0');
    assert.equal(await held('two', '100.01'), 'PENDING');
    assert.equal(await teller.review('approve', 'ann', 'two'), 'waits_for_approval');
    assert.equal(await teller.review('approve', 'ann', 'two'), 'approved_before');
    assert.equal(await teller.review('approve', 'bob', 'two'), 'COMPLETED');
    assert.equal(await held('three', '50.00'), 'PENDING');
    teller.now = new Date(teller.now.getTime() + 3_599_999);
    assert.equal(await teller.settleDue(), 0);
    teller.now = new Date(teller.now.getTime() + 1);
    assert.equal(await teller.settleDue(), 1);
    assert.equal(await teller.settleDue(), 0);
    assert.equal(await teller.read('ada', 'three'), 'transfer_expired');
    assert.equal(await teller.balance('ada-checking'), '79999 0 0');
    assert.equal(await teller.balance('ada-savings'), '2020001 0 0');
  },

  'a transfer is reversed at most once': async (program) => {
    await using teller = await Teller.of(program, db);
    assert.equal(await teller.order('ada', { ...toBen, id: 'wrong', amount: '100.00' }), 'COMPLETED');
    assert.equal(await teller.reverse('wrong', 'back'), 'COMPLETED');
    assert.equal(await teller.reverse('wrong', 'back'), 'replayed COMPLETED');
    assert.equal(await teller.reverse('wrong', 'again'), 'not_reversible');
    assert.equal(await teller.reverse('back', 'forth'), 'not_reversible');
    assert.equal(await teller.balance('ada-checking'), '100000 0 0');
    assert.equal(await teller.order('ada', { ...toBen, id: 'spent', amount: '100.00' }), 'COMPLETED');
    await teller.order('ben', { from: 'ben-checking', to: 'ada-savings', amount: '1100.00' });
    assert.equal(await teller.reverse('spent', 'late'), 'insufficient_funds');
  },

  'a payment on a loan pays fees, interest, principal': async (program) => {
    await using teller = await Teller.of(program, db);
    assert.equal(await teller.dues('ada-loan'), '2000 8000 6000 t');
    assert.equal(await teller.order('ada', { ...toLoan, amount: '30.00' }), 'COMPLETED');
    assert.equal(await teller.dues('ada-loan'), '0 7000 3000 t');
    assert.equal(await teller.order('ada', { ...toLoan, id: 'more', amount: '30.00' }), 'COMPLETED');
    assert.equal(await teller.dues('ada-loan'), '0 4000 0 f');
    assert.equal(await teller.reverse('more', 'back'), 'COMPLETED');
    assert.equal(await teller.dues('ada-loan'), '0 7000 3000 f');
    assert.equal(await teller.balance('ada-loan'), '-97000 0 0');
  },

  'a payment on a loan follows the requested option': async (program) => {
    const options = ['DEFAULT', 'PRINCIPAL_ONLY', 'INTEREST_ONLY'] as const;
    await using teller = await Teller.of(program, db, {
      policies: [policy({ type: 'LOAN_PAYMENT', options })],
    });
    const pay = (option: (typeof options)[number] | 'EXCESS_TO_PRINCIPAL', amount: string) =>
      teller.order('ada', { from: 'ada-savings', to: 'ada-loan', option, amount });
    assert.equal(await pay('EXCESS_TO_PRINCIPAL', '1.00'), 'account_restricted', 'not offered');
    assert.equal(await pay('INTEREST_ONLY', '80.01'), 'exceeds_payoff');
    assert.equal(await pay('INTEREST_ONLY', '50.00'), 'COMPLETED');
    assert.equal(await teller.dues('ada-loan'), '2000 3000 1000 t');
    assert.equal(await pay('PRINCIPAL_ONLY', '900.01'), 'exceeds_payoff');
    assert.equal(await pay('PRINCIPAL_ONLY', '100.00'), 'COMPLETED');
    assert.equal(await teller.dues('ada-loan'), '2000 3000 1000 t');
  },

  'a year’s contributions count together, for their owner and year': async (program) => {
    await using teller = await Teller.of(program, db);
    const give = (to: string, amount: string, previousYear = false) =>
      teller.order('ada', { ...toIra, to, amount, previousYear });
    // 50 by the end of 2026: 7,500.00 and 1,100.00 more; 49 by the end of 2025: 7,000.00.
    assert.equal(await give('ada-ira', '8600.01'), 'exceeds_contribution_limit');
    assert.equal(await give('ada-ira', '5000.00'), 'COMPLETED');
    assert.equal(await give('ada-roth', '3600.01'), 'exceeds_contribution_limit');
    assert.equal(await give('ada-roth', '3600.00'), 'COMPLETED');
    assert.equal(await give('ada-roth', '7000.01', true), 'exceeds_contribution_limit');
    assert.equal(await give('ada-roth', '1000.00', true), 'COMPLETED');
    teller.now = new Date('2026-04-16T04:00:00Z');
    assert.equal(await give('ada-roth', '1.00', true), 'exceeds_contribution_limit', 'after the filing date');
  },

  'a reversed contribution may be made again': async (program) => {
    await using teller = await Teller.of(program, db);
    assert.equal(await teller.order('ada', { ...toIra, id: 'all', amount: '8600.00' }), 'COMPLETED');
    assert.equal(await teller.order('ada', { ...toIra, amount: '1.00' }), 'exceeds_contribution_limit');
    assert.equal(await teller.reverse('all', 'back'), 'COMPLETED');
    assert.equal(await teller.order('ada', { ...toIra, amount: '8600.00' }), 'COMPLETED');
  },

  'after the cut-off is the next business day': async (program) => {
    const policies = [policy({ type: 'STANDARD', cutOff: '17:00:00' })];
    await using teller = await Teller.of(program, db, { policies });
    const at = (moment: string) => {
      teller.now = new Date(moment);
      return teller.order('ada', { ...toSavings, amount: '1.00' });
    };
    assert.equal(await at('2026-07-02T21:00:00Z'), 'COMPLETED', 'at 17:00 on a Thursday');
    assert.equal(await at('2026-07-02T21:00:01Z'), 'PENDING');
    teller.now = new Date('2026-07-03T03:59:59Z');
    assert.equal(await teller.settleDue(), 0);
    // The Fourth is a Saturday: the Friday before it is a business day.
    assert.equal(await at('2026-07-03T04:00:00Z'), 'COMPLETED');
    assert.equal(await teller.settleDue(), 1);
    assert.equal(await at('2026-07-04T15:00:00Z'), 'PENDING');
    teller.now = new Date('2026-07-06T03:59:59Z');
    assert.equal(await teller.settleDue(), 0);
    teller.now = new Date('2026-07-06T04:00:00Z');
    assert.equal(await teller.settleDue(), 1);
  },

  'holidays follow the Federal Reserve': async (program) => {
    const { cutOff } = await program.load<typeof Calendar>('institutions/calendar.ts');
    const calendar = { timeZone: 'America/New_York', opensAt: '00:00', exceptions: new Map() };
    const late = (at: string) => cutOff(new Date(at), '23:59', calendar) !== null;
    assert.deepEqual(
      ['2026-07-03', '2027-07-05', '2026-11-26', '2026-11-27', '2026-05-25'].map((day) =>
        late(`${day}T16:00:00Z`),
      ),
      [false, true, true, false, true],
    );
  },

  'a dry run decides the same, and leaves nothing': async (program) => {
    const limits = [limit({ maxAmount: 100_00n })];
    await using teller = await Teller.of(program, db, { limits });
    const order = { ...toBen, id: 'maybe', amount: '60.00' };
    assert.equal(await teller.dryRun('ada', order), 'COMPLETED');
    assert.equal(await teller.dryRun('ada', order), 'COMPLETED');
    assert.equal(await teller.balance('ada-checking'), '100000 0 0');
    assert.equal(await teller.read('ada', 'maybe'), 'problem not_found');
    assert.equal(await teller.order('ada', order), 'COMPLETED');
    assert.equal(await teller.dryRun('ada', { ...toBen, amount: '40.01' }), 'limit_exceeded');
    assert.equal(await teller.dryRun('ada', order), 'replayed COMPLETED');
  },

  'each change is an event with its entries': async (program) => {
    await using teller = await Teller.of(program, db, { policies: [reviewed('STANDARD')] });
    await teller.order('ada', { ...toSavings, id: 'held', amount: '10.00' });
    await teller.order('ada', { ...toBen, amount: '10.00' });
    await teller.order('ada', { ...toBen, amount: '5000.00' });
    await teller.cancel('ada', 'held');
    const rows = await db.superuser<{ event: string }>(
      `select concat_ws(' ', kind, from_seq) as event from outbox where institution_id = $1 order by event_key`,
      [teller.client.institutionId],
    );
    assert.deepEqual(
      rows.map((row) => row.event),
      ['transfer.pending 2', 'transfer.completed 3', 'transfer.failed', 'transfer.failed 4'],
    );
  },

  'a connection shows no rows of the institution that it served before': async (program) => {
    const { Database } = await program.load<typeof Storage>('storage/index.ts');
    const database = new Database({ connection: db.connection, maxConnections: 1 });
    const [one, two] = [await plantWorld(db, smallWorld), await plantWorld(db, smallWorld)];
    const seen: unknown[] = [];
    for (const { institution } of [one, two]) {
      const { institutionId } = institution;
      const text = 'select distinct institution_id as id from accounts';
      const { rows } = await database.read(institutionId, (read) =>
        read.query<{ id: number }>({ name: '', text }),
      );
      seen.push(rows.map((row) => row.id));
    }
    await database.close();
    assert.deepEqual(seen, [[one.institution.institutionId], [two.institution.institutionId]]);
  },

  'a commit that rolled back is not a success': async (program) => {
    const { Database } = await program.load<typeof Storage>('storage/index.ts');
    const database = new Database({ connection: db.connection, maxConnections: 1 });
    const { institution } = await plantWorld(db, smallWorld);
    const swallowed = database
      .transaction(institution.institutionId, async (tx) => {
        await tx.query({ name: '', text: 'select 1 / 0' }).catch(() => {});
      })
      .then(
        () => 'success',
        () => 'failure',
      );
    const outcome = await swallowed;
    await database.close();
    assert.equal(outcome, 'failure');
  },

  'a poison order fails alone': async (program) => {
    const { BatchQueue } = await program.load<typeof BatchQueues>('transfers/desk/batch-queue.ts');
    const database = {
      together: (parts: readonly { work(tx: unknown): unknown }[]) =>
        Promise.all(parts.map((part) => part.work({}))),
    };
    const queue = new BatchQueue<string, string>({
      database: database as unknown as Storage.Database,
      lanes: 1,
      maxBatch: 64,
      maxWaiting: 8,
      deadlineMillis: 60_000,
      keysOf: (order) => [order],
      callerOf: (order) => order,
      onceSent: (order) => order,
      run: async (_, orders) => {
        if (orders.includes('poison')) throw new Error('poison');
        return orders.map((order) => `${order} done`);
      },
      membersWhenUnknown: (order) => ({ id: order }),
    });
    const institutionId = 1 as Storage.InstitutionId;
    const orders = ['a', 'b', 'poison', 'c', 'd', 'e', 'f', 'g', 'too many'];
    const outcomes = await Promise.all(
      orders.map((order) => queue.submit(institutionId, order).catch((error) => error.code as string)),
    );
    const done = ['c', 'd', 'e', 'f', 'g'].map((order) => `${order} done`);
    assert.deepEqual(outcomes, ['a done', 'b done', 'internal_error', ...done, 'overloaded']);
  },

  'a lost commit response is never reported as a failure': async (program) => {
    const { BatchQueue } = await program.load<typeof BatchQueues>('transfers/desk/batch-queue.ts');
    // Another copy's Problem class is recognized by its code alone; this one must be the program's own.
    const { Problem } = await program.load<typeof import('../../src/shared/problem.ts')>('shared/problem.ts');
    let times = 0;
    const database = {
      together: async (parts: readonly { work(tx: unknown): unknown }[]) => {
        for (const part of parts) await part.work({});
        if (times++ === 0) throw new Problem('outcome_unknown', 'The answer was lost.');
        throw new Problem('database_unavailable', 'It cannot be reached.');
      },
    };
    const queue = new BatchQueue<string, string>({
      database: database as unknown as Storage.Database,
      lanes: 1,
      maxBatch: 64,
      maxWaiting: 8,
      deadlineMillis: 300,
      keysOf: (order) => [order],
      callerOf: (order) => order,
      onceSent: (order) => order,
      run: async (_, orders) => [...orders],
      membersWhenUnknown: (order) => ({ id: order }),
    });
    const outcome = await queue.submit(1 as Storage.InstitutionId, 'rent').catch((error) => error);
    assert.deepEqual([outcome.code, outcome.members], ['outcome_unknown', { id: 'rent' }]);
  },

  'money is exact': async (program) => {
    const { parseDecimalAmount, toMinor, formatMinor } = await program.load<typeof Ledger>('ledger/index.ts');
    const minor = (text: string, currency = 'USD') => {
      const amount = parseDecimalAmount(text);
      if ('invalid' in amount) return 'refused';
      const value = toMinor(amount, currency);
      return typeof value === 'bigint' ? formatMinor(value, currency) : 'refused';
    };
    for (let cents = 1; cents <= 1_000; cents++) {
      const text = `${Math.trunc(cents / 100)}.${String(cents % 100).padStart(2, '0')}`;
      assert.equal(minor(text), text);
    }
    assert.equal(minor('90071992547409.93'), 'refused', '14 digits');
    assert.equal(minor('9007199254740.93'), '9007199254740.93');
    assert.deepEqual(
      ['0.001', '1.005', '-1', '0', '0.00', '1e2', '1.10'].map((text) => minor(text)),
      [...['refused', 'refused', 'refused', 'refused', 'refused'], '100.00', '1.10'],
    );
    assert.deepEqual(
      ['1', '1.0', '1.5'].map((text) => minor(text, 'JPY')),
      ['1', '1', 'refused'],
    );
    assert.equal(formatMinor(-5n, 'USD'), '-0.05');
  },

  'a number is read from its source text': async (program) => {
    const { parseJson } = await program.load<typeof Json>('shared/text/json.ts');
    const { numbers } = parseJson('{"amount": 9007199254740.93, "a": [1.10]}');
    assert.deepEqual(
      [...numbers],
      [
        ['/amount', '9007199254740.93'],
        ['/a/0', '1.10'],
      ],
    );
    assert.throws(() => parseJson('{"amount": 1, "amount": 2}'), 'a key twice');
    assert.throws(() => parseJson('{"amount": 01}'));
  },

  'an idempotency key identifies one order of one caller': async (program) => {
    const { transferIdFromKey } = await program.load<typeof IdempotencyKey>(
      'http/request/idempotency-key.ts',
    );
    const client = (clientId: string, institutionId = 1) =>
      ({ kind: 'client', institutionId, clientId }) as unknown as Actor;
    const member = (userId: string) =>
      ({ kind: 'member', institutionId: 1, clientId: 'app', userId }) as unknown as Actor;
    assert.equal(transferIdFromKey('k1', client('app')), transferIdFromKey('"k1"', client('app')));
    const ids = [
      transferIdFromKey('k1', client('app')),
      transferIdFromKey('k1', client('app', 2)),
      transferIdFromKey('k1', client('other')),
      transferIdFromKey('k1', member('u')),
      transferIdFromKey('k1', member('v')),
      transferIdFromKey('uk1', client('app')),
      transferIdFromKey('k2', client('app')),
    ];
    assert.equal(new Set(ids).size, ids.length);
  },

  'a balance is shown without holds and without the overdraft': async (program) => {
    const { accountBalances } = await program.load<typeof Accounts>('accounts/account.ts');
    const figures = { posted: 100n, debitsPending: 30n, creditLimit: 0n, accruedInterest: 0n, feesDue: 0n };
    assert.deepEqual(accountBalances({ ...figures, category: 'DEPOSIT' }), {
      currentMinor: 100n,
      availableMinor: 70n,
    });
    const loan = { ...figures, posted: -100n, debitsPending: 0n, accruedInterest: 8n, feesDue: 2n };
    assert.deepEqual(accountBalances({ ...loan, category: 'LOAN' }), {
      currentMinor: 90n,
      availableMinor: 0n,
    });
    assert.deepEqual(accountBalances({ ...loan, category: 'CREDIT', creditLimit: 500n }), {
      currentMinor: 100n,
      availableMinor: 400n,
    });
  },
} satisfies Record<string, Check>;

interface Mutant extends Mutation {
  readonly name: string;
  readonly caughtBy: keyof typeof checks;
}

const mutants: readonly Mutant[] = [
  {
    name: 'the available balance ignores holds',
    file: 'ledger/rules.ts',
    instead: [
      'fromZero(state.posted - state.debitsPending - bounds.floor)',
      'fromZero(state.posted - bounds.floor)',
    ],
    caughtBy: 'only the available balance can be spent',
  },
  {
    name: 'a hold remains after its transfer posts',
    file: 'transfers/rules/apply.ts',
    instead: [
      'change: { posted: -amountMinor, debitsPending: -amountMinor }',
      'change: { posted: -amountMinor }',
    ],
    caughtBy: 'a pending transfer ends once, in time and by its rule',
  },
  {
    name: 'the overdraft line is ignored',
    file: 'transfers/rules/accounts/loans.ts',
    instead: ['floor: -account.overdraftLimit', 'floor: 0n'],
    caughtBy: 'an overdraft line may be spent to its end',
  },
  {
    name: 'the payoff ignores pending payments',
    file: 'ledger/rules.ts',
    instead: [
      'fromZero(bounds.ceiling - state.posted - state.creditsPending)',
      'fromZero(bounds.ceiling - state.posted)',
    ],
    caughtBy: 'two payments together cannot pay more than the debt',
  },
  {
    name: 'a failed order frees its id',
    file: 'transfers/desk/batch.ts',
    instead: [
      "    this.#add({ ...transfer, origin: order.origin });\n    return { kind: 'new', transfer, awaitsCore: judgement.pending?.heldFor === 'CORE' };\n  }\n\n  #perform",
      "    if (judgement.failure === null) this.#add({ ...transfer, origin: order.origin });\n    return { kind: 'new', transfer, awaitsCore: judgement.pending?.heldFor === 'CORE' };\n  }\n\n  #perform",
    ],
    caughtBy: 'a failed id stays failed',
  },
  {
    name: 'an id is never looked up',
    file: 'transfers/desk/batch.ts',
    instead: ['this.#seen(order.transferId, order.actor)', "this.#seen(order.transferId + '!', order.actor)"],
    caughtBy: 'an id identifies one order permanently',
  },
  {
    name: 'an order that leaves nothing reveals that its id is used',
    file: 'transfers/desk/batch.ts',
    instead: [
      'if (first !== undefined && maySee(order.actor, first)) return',
      'if (first !== undefined) return',
    ],
    caughtBy: 'another user learns nothing of an id',
  },
  {
    name: 'another amount under a used id counts as the same order',
    file: 'transfers/rules/repeated.ts',
    instead: ['amount: toMinor(order.amount, first.currencyCode) !== first.amountMinor', 'amount: false'],
    caughtBy: 'an id identifies one order permanently',
  },
  {
    name: 'an omitted field differs from its resolved value',
    file: 'transfers/rules/repeated.ts',
    instead: [
      'order.currencyCode !== null && order.currencyCode !== first.currencyCode',
      'order.currencyCode === first.currencyCode',
    ],
    caughtBy: 'an id identifies one order permanently',
  },
  {
    name: 'a caller who may not see a transfer learns how an order differs from it',
    file: 'transfers/rules/repeated.ts',
    instead: ["if (!maySee(order.actor, first)) return { kind: 'id_reused', differs: null };", ''],
    caughtBy: 'another user learns nothing of an id',
  },
  {
    name: 'a dry run reveals to another user that an id is used',
    file: 'transfers/explain-transfer.ts',
    instead: ['existing !== undefined && maySee(actor, existing)', 'existing !== undefined'],
    caughtBy: 'another user learns nothing of an id',
  },
  {
    name: 'an order whose source its caller may not see uses up the id',
    file: 'transfers/desk/batch.ts',
    instead: ["if (judgement.from === undefined) return { kind: 'new', transfer };", ''],
    caughtBy: 'another user learns nothing of an id',
  },
  {
    name: 'the holders of its source see a failed transfer',
    file: 'transfers/rules/accounts/authority.ts',
    instead: ["(transfer.status !== 'FAILED' && transfer.sourceHeld)", 'transfer.sourceHeld'],
    caughtBy: 'another user learns nothing of an id',
  },
  {
    name: 'every holder who sees an account may pay from it',
    file: 'transfers/rules/accounts/authority.ts',
    instead: ['facts.holding(account.accountKey, actor.personKey)?.mayPay === true', 'true'],
    caughtBy: 'a holder record decides visibility and the right to pay',
  },
  {
    name: 'any account of the institution is a source',
    file: 'transfers/rules/accounts/authority.ts',
    instead: [
      'return facts.holding(account.accountKey, actor.personKey) ? account : undefined;',
      'return account;',
    ],
    caughtBy: 'a holder record decides visibility and the right to pay',
  },
  {
    name: 'a person who is not the owner pays into an IRA',
    file: 'transfers/rules/accounts/authority.ts',
    instead: ["other.diAccountType !== 'RETIREMENT_IRA' && ", ''],
    caughtBy: 'a holder record decides visibility and the right to pay',
  },
  {
    name: 'a client token needs a holder record',
    file: 'transfers/rules/accounts/authority.ts',
    instead: [
      "if (account === undefined || actor.kind === 'client') return account;",
      "if (account === undefined) return account;\n  if (actor.kind === 'client') return undefined;",
    ],
    caughtBy: 'a holder record decides visibility and the right to pay',
  },
  {
    name: 'authority is read before the lock',
    file: 'transfers/desk/settle.ts',
    instead: [
      'patient ? Book.lock(tx, accountIds) : Book.lockWithoutWaiting(tx, accountIds),',
      'Book.look(tx, accountIds),',
    ],
    caughtBy: 'authority is read when the accounts are locked',
  },
  {
    name: 'a closed account receives money',
    file: 'transfers/rules/accounts/account-refusal.ts',
    instead: [" || (to !== 'anyone' && to?.closed !== false)", ''],
    caughtBy: 'accounts pay and receive only allowed transfers',
  },
  {
    name: 'a certificate pays out',
    file: 'transfers/rules/accounts/account-refusal.ts',
    instead: ['return payingTypes.has(diAccountType) && !excluded;', 'return !excluded;'],
    caughtBy: 'accounts pay and receive only allowed transfers',
  },
  {
    name: 'a restriction of the core is ignored',
    file: 'transfers/rules/accounts/account-refusal.ts',
    instead: [" || transferRestriction === 'EXCLUDE_AS_FROM'", ''],
    caughtBy: 'accounts pay and receive only allowed transfers',
  },
  {
    name: 'the currency of the destination is ignored',
    file: 'transfers/rules/decide.ts',
    instead: ['from.currency !== currency || to.currency !== currency', 'from.currency !== currency'],
    caughtBy: 'accounts pay and receive only allowed transfers',
  },
  {
    name: 'a stated type is not checked',
    file: 'transfers/rules/decide.ts',
    instead: ['asked.transferType !== null && asked.transferType !== transferType', 'false'],
    caughtBy: 'the accounts determine the type',
  },
  {
    name: 'a limit lets one cent more through',
    file: 'transfers/rules/controls/limits.ts',
    instead: ['usage.maxAmount > amount ? usage.maxAmount - amount : 0n', 'usage.maxAmount + 1n - amount'],
    caughtBy: 'a daily limit holds to the cent',
  },
  {
    name: 'a limit is counted outside the transaction',
    file: 'transfers/desk/batch.ts',
    instead: ['updateCounters(institutionId, counters.changed())', 'updateCounters(institutionId, [])'],
    caughtBy: 'a daily limit holds to the cent',
  },
  {
    name: 'the day of a limit is the day in UTC',
    file: 'institutions/time-zone.ts',
    instead: ['toZonedDateTimeISO(timeZone)', "toZonedDateTimeISO('UTC')"],
    caughtBy: 'a daily limit holds to the cent',
  },
  {
    name: 'the membership’s limits ignore client tokens',
    file: 'transfers/rules/controls/limits.ts',
    instead: [
      "    case 'CUSTOMER':\n      return from.customerKey;",
      "    case 'CUSTOMER':\n      return actor?.kind === 'member' ? from.customerKey : null;",
    ],
    caughtBy: 'a daily limit holds to the cent',
  },
  {
    name: 'failed transfers use a limit up',
    file: 'transfers/desk/batch.ts',
    instead: [
      'if (judgement.failure === null) this.#perform(transfer, judgement, postingKey);',
      'if (judgement.failure === null) this.#perform(transfer, judgement, postingKey);\n    else for (const use of usagesOf(facts.limits, { actor: order.actor, from: judgement.from as never, transferType: judgement.transferType as never, currency: judgement.currency, day: facts.day })) counters.count(use, judgement.amountMinor);',
    ],
    caughtBy: 'a limit on the number counts transfers that did not fail',
  },
  {
    name: 'a limit by number lets one more through',
    file: 'transfers/rules/controls/limits.ts',
    instead: ['transfers >= usage.maxCount', 'transfers > usage.maxCount'],
    caughtBy: 'a limit on the number counts transfers that did not fail',
  },
  {
    name: 'a month begins anew every day',
    file: 'transfers/rules/controls/limits.ts',
    instead: ["return period === 'DAY' ? day :", 'return period !== undefined ? day :'],
    caughtBy: 'a limit holds by month and by the type of account',
  },
  {
    name: 'a limit is read without its lock',
    file: 'transfers/limits/counter-queries.ts',
    instead: [' for no key update of c', ''],
    caughtBy: 'a lock on a counter makes other transactions wait',
  },
  {
    name: 'a second first count overwrites the first',
    file: 'transfers/desk/batch.ts',
    instead: [
      'insertCounters(institutionId, counters.added())',
      'updateCounters(institutionId, counters.added())',
    ],
    caughtBy: 'a first count waits for an earlier first count',
  },
  {
    name: 'an account is read without its lock',
    file: 'ledger/queries.ts',
    instead: [' for no key update', ''],
    caughtBy: 'a lock on an account makes other transactions wait',
  },
  {
    name: 'a cancelled transfer keeps what it counted',
    file: 'transfers/desk/batch.ts',
    instead: ['for (const usage of mine) counters.giveBack(usage, wasReviewed);', ''],
    caughtBy: 'a limit counts pending transfers, and gives back cancelled ones',
  },
  {
    name: 'a cancelled transfer keeps its hold',
    file: 'transfers/rules/apply.ts',
    instead: [
      'change: { debitsPending: -amountMinor }, bounds: unbounded',
      'change: { debitsPending: 0n }, bounds: unbounded',
    ],
    caughtBy: 'a limit counts pending transfers, and gives back cancelled ones',
  },
  {
    name: 'one person approves twice',
    file: 'transfers/rules/transition.ts',
    instead: ["if (before) return { to: 'nothing', why: 'approved_before' };", ''],
    caughtBy: 'a pending transfer ends once, in time and by its rule',
  },
  {
    name: 'one approval posts a transfer that needs two',
    file: 'transfers/rules/transition.ts',
    instead: ['approvedBy.length + 1 < terms.approvalsNeeded', 'approvedBy.length + 1 < 1'],
    caughtBy: 'a pending transfer ends once, in time and by its rule',
  },
  {
    name: 'a transfer that should expire is posted',
    file: 'transfers/rules/transition.ts',
    instead: ["terms.whenDue === 'POST'", 'terms.whenDue !== undefined'],
    caughtBy: 'a pending transfer ends once, in time and by its rule',
  },
  {
    name: 'a final transfer changes again',
    file: 'transfers/desk/batch.ts',
    instead: [
      "if (transfer.status !== 'PENDING' || terms === undefined) return unchanged('final');",
      "if (terms === undefined) return { kind: 'changed', transfer };",
    ],
    caughtBy: 'a pending transfer ends once, in time and by its rule',
  },
  {
    name: 'a holder who may not pay cancels',
    file: 'transfers/desk/batch.ts',
    instead: ["if (!this.#mayCancel(asked.actor, transfer)) return unchanged('not_allowed');", ''],
    caughtBy: 'a pending transfer ends once, in time and by its rule',
  },
  {
    name: 'a transfer is reversed twice',
    file: 'transfers/desk/batch.ts',
    instead: [' || this.#isReversed(original)', ''],
    caughtBy: 'a transfer is reversed at most once',
  },
  {
    name: 'a reversal takes money that the payee no longer has',
    file: 'transfers/desk/batch.ts',
    instead: ['bounds: from === undefined ? unbounded : boundsOf(from),', 'bounds: unbounded,'],
    caughtBy: 'a transfer is reversed at most once',
  },
  {
    name: 'a reversed payment leaves fees and interest paid',
    file: 'transfers/desk/batch.ts',
    instead: ['this.#loanPayments.push(changeDues(from, book, back));', ''],
    caughtBy: 'a payment on a loan pays fees, interest, principal',
  },
  {
    name: 'a payment goes to principal before fees',
    file: 'ledger/loan-payment.ts',
    instead: ['const toFeesMinor = least(amountMinor, owed.feesMinor);', 'const toFeesMinor = 0n;'],
    caughtBy: 'a payment on a loan pays fees, interest, principal',
  },
  {
    name: 'a loan that is in good standing again stays delinquent',
    file: 'accounts/loan-dues.ts',
    instead: ['payments.filter((payment) => payment.meetsDue)', 'payments.filter(() => false)'],
    caughtBy: 'a payment on a loan pays fees, interest, principal',
  },
  {
    name: 'more than the interest goes to interest',
    file: 'transfers/rules/accounts/loans.ts',
    instead: ["return option === 'INTEREST_ONLY' ? (account.loan?.interest ?? 0n) : null;", 'return null;'],
    caughtBy: 'a payment on a loan follows the requested option',
  },
  {
    name: 'a payment uses an option that the institution does not offer',
    file: 'transfers/rules/decide.ts',
    instead: ['paymentOption !== null && !offered.includes(paymentOption)', 'false'],
    caughtBy: 'a payment on a loan follows the requested option',
  },
  {
    name: 'the catch-up begins at the 50th birthday instead of that year',
    file: 'transfers/rules/controls/contributions.ts',
    instead: ['year - Number(birthDate.slice(0, 4)) >= 50', 'year - Number(birthDate.slice(0, 4)) > 50'],
    caughtBy: 'a year’s contributions count together, for their owner and year',
  },
  {
    name: 'each IRA has a limit of its own',
    file: 'transfers/desk/account-queries.ts',
    instead: ['select h.person_key, p.birth_date', 'select h.account_key as person_key, p.birth_date'],
    caughtBy: 'a year’s contributions count together, for their owner and year',
  },
  {
    name: 'contributions for the previous year are accepted all year',
    file: 'transfers/rules/controls/contributions.ts',
    instead: ['? year - 1 : null;', '? year - 1 : year - 1;'],
    caughtBy: 'a year’s contributions count together, for their owner and year',
  },
  {
    name: 'a reversed contribution stays counted',
    file: 'transfers/desk/batch.ts',
    instead: [
      '        counters.giveBack(usage, false);\n        this.#usagesGivenBack.push(usage);',
      '        this.#usagesGivenBack.push(use);',
    ],
    caughtBy: 'a reversed contribution may be made again',
  },
  {
    name: 'a cut-off is a time in UTC',
    file: 'institutions/calendar.ts',
    instead: ['at <= instantOf(today, cutOffTime, timeZone)', "at <= instantOf(today, cutOffTime, 'UTC')"],
    caughtBy: 'after the cut-off is the next business day',
  },
  {
    name: 'a holiday on a Saturday closes the Friday',
    file: 'institutions/calendar.ts',
    instead: ['if (weekday(date) === 6) return [];', 'if (weekday(date) === 6) return [addDays(date, -1)];'],
    caughtBy: 'holidays follow the Federal Reserve',
  },
  {
    name: 'a holiday on a Sunday is lost',
    file: 'institutions/calendar.ts',
    instead: ['weekday(date) === 0 ? addDays(date, 1) : date', 'date'],
    caughtBy: 'holidays follow the Federal Reserve',
  },
  {
    name: 'a dry run ignores used ids',
    file: 'transfers/explain-transfer.ts',
    instead: [
      'if (existing !== undefined && maySee(actor, existing)) return repeated(submitted, existing);',
      '',
    ],
    caughtBy: 'a dry run decides the same, and leaves nothing',
  },
  {
    name: 'a dry run ignores counted transfers',
    file: 'transfers/desk/settle.ts',
    instead: [
      'return { book, counters: new Counters(counters, names), facts, existing: existing[0] };',
      'return { book, counters: new Counters([], names), facts, existing: existing[0] };',
    ],
    caughtBy: 'a dry run decides the same, and leaves nothing',
  },
  {
    name: 'the end of a transfer is not an event',
    file: 'transfers/desk/batch.ts',
    instead: ['this.#events.push(toEvent(transfer, book, true));', ''],
    caughtBy: 'each change is an event with its entries',
  },
  {
    name: 'a connection keeps the first institution that it served',
    file: 'storage/connection.ts',
    instead: ['if (this.#entered === institution) return;', "if (this.#entered !== '') return;"],
    caughtBy: 'a connection shows no rows of the institution that it served before',
  },
  {
    name: 'a batch with a poison order fails as a whole',
    file: 'transfers/desk/batch-queue.ts',
    instead: ['} else if (left.length > 1) {', '} else if (left.length > 1_000) {'],
    caughtBy: 'a poison order fails alone',
  },
  {
    name: 'the queue has no bound',
    file: 'transfers/desk/batch-queue.ts',
    instead: ['new FairShare(options.maxWaiting)', 'new FairShare(Number.MAX_SAFE_INTEGER)'],
    caughtBy: 'a poison order fails alone',
  },
  {
    name: 'a commit whose response was lost is reported as not written',
    file: 'transfers/desk/batch-queue.ts',
    instead: ['waiter.unknown = true;', ''],
    caughtBy: 'a lost commit response is never reported as a failure',
  },
  {
    name: 'an order is decided with its batch even if its token has ended',
    file: 'transfers/desk/settle.ts',
    instead: ['requireAuthority(orders, inactive, consents);', ''],
    caughtBy: 'a refused order moves nothing',
  },
  {
    name: 'an order is decided before its token is read',
    file: 'transfers/desk/settle.ts',
    instead: ['tokens.length > 0 ? deps.inactiveTokens', 'tokens.length < 0 ? deps.inactiveTokens'],
    caughtBy: 'no order is decided before its token is checked',
  },
  {
    name: 'an amount is read through a float',
    file: 'ledger/money.ts',
    instead: [
      'return amount.digits * 10n ** BigInt(decimals - amount.decimals);',
      'return BigInt(Math.trunc((Number(amount.digits) / 10 ** amount.decimals) * 10 ** decimals));',
    ],
    caughtBy: 'money is exact',
  },
  {
    name: 'fractions of a cent are rounded instead of refused',
    file: 'ledger/money.ts',
    instead: [
      "if (amount.decimals > decimals) return { invalid: 'The amount has more decimals than its currency.' };",
      'if (amount.decimals > decimals) return amount.digits / 10n ** BigInt(amount.decimals - decimals);',
    ],
    caughtBy: 'money is exact',
  },
  {
    name: 'a number loses its source text',
    file: 'shared/text/json.ts',
    instead: ['if (Object.hasOwn(object, key)) this.#refuse', 'if (false) this.#refuse'],
    caughtBy: 'a number is read from its source text',
  },
  {
    name: 'a retry gets a new id',
    file: 'http/request/idempotency-key.ts',
    instead: [
      "const hash = createHash('sha256');",
      "const hash = createHash('sha256').update(String(performance.now()));",
    ],
    caughtBy: 'an idempotency key identifies one order of one caller',
  },
  {
    name: 'a key is shared by all users of a client',
    file: 'http/request/idempotency-key.ts',
    instead: ["actor.kind === 'member' ? actor.userId : ''", "''"],
    caughtBy: 'an idempotency key identifies one order of one caller',
  },
  {
    name: 'the available balance includes holds',
    file: 'accounts/account.ts',
    instead: ['availableMinor: posted - debitsPending };', 'availableMinor: posted };'],
    caughtBy: 'a balance is shown without holds and without the overdraft',
  },
];

for (const [name, check] of Object.entries(checks)) {
  test(`the unchanged program passes: ${name}`, () => check(unchangedProgram));
}

test('each defect has its own name, and each check catches a defect', () => {
  assert.equal(new Set(mutants.map((mutant) => mutant.name)).size, mutants.length);
  assert.ok(mutants.length >= 25);
});

for (const { name, caughtBy, ...mutation } of mutants) {
  test(`a check catches the defect: ${name}`, async () => {
    using program = mutate(mutation);
    // A check that depends on timing may miss a defect once if the machine stalls.
    for (let tries = 1; tries <= 3; tries++) if (await catches(checks[caughtBy], program)) return;
    assert.fail(`not caught by: ${caughtBy}`);
  });
}

/** A mutant that does not load, or breaks elsewhere, is broken, not caught. */
async function catches(check: Check, program: Program): Promise<boolean> {
  try {
    await check(program);
    return false;
  } catch (error) {
    if (error instanceof assert.AssertionError) return true;
    throw error;
  }
}

type Locking = (tx: Storage.Transaction) => Promise<unknown>;

/** The order of events when one transaction locks and another one wants to, while it is open. */
async function inTurn(
  program: Program,
  lock: Locking,
  table: string,
  before: Locking = lock,
): Promise<string[]> {
  const { Database } = await program.load<typeof Storage>('storage/index.ts');
  const [first, database] = [1, 2].map(() => new Database({ connection: db.connection, maxConnections: 1 }));
  if (first === undefined || database === undefined) throw new Error('two pools were made');
  const { institution } = await plantWorld(db, { ...smallWorld, limits: [limit({ maxCount: 9 })] });
  const { institutionId } = institution;
  await database.transaction(institutionId, before);
  const events: string[] = [];
  let second: Promise<void> | undefined;
  await first.transaction(institutionId, async (tx) => {
    await lock(tx);
    second = database.transaction(institutionId, async (other) => {
      await lock(other);
      events.push('second locked');
    });
    await Promise.race([second, waitUntilLocked(db, table)]);
    events.push('first done');
  });
  await second;
  await Promise.all([first.close(), database.close()]);
  return events;
}
