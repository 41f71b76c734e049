import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { ownOrigin } from '../../src/events/index.ts';
import type { Actor, Institution, MemberActor } from '../../src/institutions/index.ts';
import { PostingKeys } from '../../src/ledger/index.ts';
import { Database } from '../../src/storage/index.ts';
import { settle } from '../../src/transfers/desk/settle.ts';
import { deskSettings } from '../../src/transfers/desk/transfer-desk.ts';
import type { ActOutcome, DeskOrder, Outcome, Transfer } from '../../src/transfers/rules/transfer.ts';
import { rememberSettings } from '../../src/transfers/settings/settings.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { agreeToReverse, commandOf } from '../support/operator.ts';
import { mulberry32, pick, type Random } from '../support/random.ts';
import { plantWorld, randomWorld } from '../support/random-world.ts';
import { type Life, type ModelActor, type ModelOrder, SlowBank } from '../support/slow-model.ts';
import { inactiveTokens } from '../support/tokens.ts';

/*
 * Whole lives of transfers in random institutions, compared with a model of the rules: each order's outcome, and at
 * the end each balance, each loan's dues and each transfer. The model decides batches in their order; other tests
 * cover races between orders.
 */

const seed = Number(process.env.SEED ?? Date.now() % 1_000_000);
const ordersInAll = 100_000;
const ordersEach = 500;
const workers = 2;

let db: TestDatabase;
let ledger: Database;
before(async () => {
  db = await testDatabase();
  ledger = new Database({ connection: db.connection, maxConnections: workers, settings: deskSettings });
});
after(async () => {
  await ledger.close();
  await db.close();
});

test('100,000 orders in random institutions have the outcomes and balances of the rules', {
  timeout: 600_000,
}, async (context) => {
  context.diagnostic(`SEED=${seed}`);
  const seen = new Map<string, number>();
  let next = 0;
  let orders = 0;
  const work = async () => {
    while (orders < ordersInAll) {
      const count = await live(seed + next++, seen);
      orders += count;
    }
  };
  await Promise.all(Array.from({ length: workers }, work));
  context.diagnostic(
    `${orders} orders: ${[...seen]
      .sort()
      .map(([what, times]) => `${what} ${times}`)
      .join(', ')}`,
  );
  for (const outcome of expectedAtLeastOnce) assert.ok(seen.has(outcome), `${outcome} has come about`);
});

/** A run without one of these would prove less than its name claims. */
const expectedAtLeastOnce = [
  'malformed',
  'id_reused',
  'replayed',
  'unknown',
  'final',
  'not_due',
  'approved_before',
  'waits_for_approval',
  'not_in_review',
  'not_allowed',
  'not_reversible',
  'new COMPLETED',
  'new PENDING',
  'new account_not_found',
  'new same_account',
  'new account_closed',
  'new account_restricted',
  'new currency_mismatch',
  'new transfer_type_mismatch',
  'new limit_exceeded',
  'new exceeds_payoff',
  'new exceeds_contribution_limit',
  'new insufficient_funds',
  'changed COMPLETED',
  'changed account_closed',
  'changed transfer_cancelled',
  'changed transfer_declined',
  'changed transfer_expired',
];

/** One institution from its first order to its last; returns the number of orders. */
async function live(ownSeed: number, seen: Map<string, number>): Promise<number> {
  const random = mulberry32(ownSeed);
  const world = randomWorld(random);
  const { institution, members } = await plantWorld(db, world);
  const bank = new SlowBank(world);
  // Any time within two years, often at changes of days, months, years and filing dates; after the opening balances,
  // which a batch's time never precedes.
  let now = new Date(Date.UTC(2026, random(22), 3 + random(26), random(24), random(60), random(60)));
  const deps = {
    clock: () => now,
    postingKeys: new PostingKeys(db.database),
    settings: rememberSettings(db.database),
    inactiveTokens,
  };
  const story = new Story(random, bank, institution, members);
  let orders = 0;
  while (orders < ordersEach) {
    now = new Date(
      now.getTime() + pick(random, [0, 1, 61, 4_000, 40_000, 90_000, 400_000]) * 1_000 + random(1_000),
    );
    if (random(12) === 0) await close(institution, bank, random);
    const steps = story.steps(1 + random(pick(random, [8, 100, 256])), now);
    orders += steps.length;
    const reversed = steps.flatMap(({ order }) => (order.kind === 'reverse' ? [order.originalId] : []));
    if (reversed.length > 0) await agreeToReverse(db, institution.institutionId, reversed, now);
    const outcomes = await ledger.transaction(institution.institutionId, (tx) =>
      settle(deps, tx, { orders: steps.map((step) => step.order), patient: true }),
    );
    for (const [index, { order, expected }] of steps.entries()) {
      const got = inWords(outcomes[index] as Outcome | ActOutcome);
      const kind = expected.split(' ');
      const what = kind[0] === 'new' || kind[0] === 'changed' ? `${kind[0]} ${kind[2]}` : (kind[0] as string);
      seen.set(what, (seen.get(what) ?? 0) + 1);
      assert.equal(got, expected, `SEED=${ownSeed}, at ${now.toISOString()}: ${inspect(order)}`);
    }
  }
  await compare(institution, bank, `SEED=${ownSeed}`);
  return orders;
}

interface Step {
  readonly order: DeskOrder;
  /** The model's result. */
  readonly expected: string;
}

/** Invents orders, and gets their expected outcome from the model. */
class Story {
  readonly #random: Random;
  readonly #bank: SlowBank;
  readonly #client: Actor;
  readonly #members: ReadonlyMap<string, MemberActor>;
  #ids = 0;

  constructor(
    random: Random,
    bank: SlowBank,
    institution: Institution,
    members: ReadonlyMap<string, MemberActor>,
  ) {
    this.#random = random;
    this.#bank = bank;
    this.#members = members;
    this.#client = { kind: 'client', institutionId: institution.institutionId, clientId: 'app' };
  }

  /** Acts are on earlier transfers: a caller has no other ids. */
  steps(count: number, now: Date): Step[] {
    const before = [...this.#bank.lives];
    return Array.from({ length: count }, () => {
      const kind = this.#random(100);
      const pending = before.filter((life) => life.status === 'PENDING');
      // Acts on final transfers change nothing: a few are enough.
      if (kind < 62 || before.length === 0 || (pending.length === 0 && this.#chance(80)))
        return this.#initiate(now);
      const { id, from, to } = pick(this.#random, pending.length > 0 && this.#chance(90) ? pending : before);
      const act = (what: Extract<DeskOrder, { kind: 'transition' }>['act'], expected: string): Step => ({
        order: { kind: 'transition', transferId: id, fromAccountId: from, toAccountId: to, act: what },
        expected,
      });
      if (kind < 70) {
        const actor = this.#actor();
        return act(
          { kind: 'cancel', actor: this.#asDesk(actor), origin: ownOrigin() },
          this.#bank.cancel(actor, id),
        );
      }
      if (kind < 78) {
        const operator = pick(this.#random, ['ann', 'bob']);
        return act({ kind: 'approve', origin: commandOf(operator) }, this.#bank.approve(operator, id, now));
      }
      if (kind < 81) return act({ kind: 'decline', origin: commandOf('ann') }, this.#bank.decline(id));
      if (kind < 91) return act({ kind: 'due' }, this.#bank.due(id, now));
      return this.#reverse(before, now);
    });
  }

  #initiate(now: Date): Step {
    const { lives } = this.#bank;
    const again = lives.length > 0 && this.#chance(9) ? pick(this.#random, lives) : undefined;
    const actor = again !== undefined && this.#chance(60) ? again.by : this.#actor();
    let order = again === undefined ? this.#newOrder(actor) : repeatOf(again);
    if (again !== undefined && this.#chance(50)) {
      // One or two fields that may differ from the first order under the id.
      const other = this.#newOrder(actor);
      const fields = ['from', 'to', 'amount', 'currency', 'type', 'option', 'previousYear'] as const;
      for (const field of [pick(this.#random, fields), pick(this.#random, fields)]) {
        order = { ...order, [field]: other[field] };
      }
    }
    return {
      order: {
        kind: 'initiate',
        origin: ownOrigin(),
        actor: this.#asDesk(actor),
        transferId: order.id,
        fromAccountId: order.from,
        toAccountId: order.to,
        amount: { digits: order.amount[0], decimals: order.amount[1] },
        currencyCode: order.currency,
        transferType: order.type,
        paymentOption: order.option,
        previousYearContribution: order.previousYear,
        memo: null,
      },
      expected: this.#bank.initiate(actor, order, now),
    };
  }

  #newOrder(actor: ModelActor): ModelOrder {
    const { accounts } = this.#bank.world;
    const own = accounts.filter(
      (account) => actor === 'client' || account.holders.some((holder) => holder.person === actor.person),
    );
    const paying = own.filter((account) => account.overdraft > 0n || account.diAccountType === 'CHECKING');
    const from = pick(this.#random, paying.length > 0 && this.#chance(94) ? paying : accounts);
    const to = this.#chance(60) && own.length > 0 ? pick(this.#random, own) : pick(this.#random, accounts);
    const most = pick(this.#random, [500, 20_000, 70_000, 500_000]);
    return {
      id: `t-${++this.#ids}`,
      from: this.#chance(1) ? 'no-such-account' : from.id,
      to: this.#chance(1) ? 'no-such-account' : to.id,
      amount: [BigInt(1 + this.#random(most)), this.#chance(98) ? 2 : this.#random(4)],
      currency: this.#chance(85) ? null : pick(this.#random, ['USD', 'USD', 'EUR', 'XXX']),
      type: this.#chance(88) ? null : pick(this.#random, types),
      option: this.#chance(to.loan === null ? 97 : 40) ? null : pick(this.#random, options),
      previousYear: this.#chance(to.diAccountType === 'RETIREMENT_IRA' ? 60 : 97) ? null : this.#chance(70),
    };
  }

  #reverse(before: readonly Life[], now: Date): Step {
    const completed = before.filter((life) => life.status === 'COMPLETED');
    const originals = completed.length > 0 && this.#chance(85) ? completed : before;
    const { id: originalId, from, to } = pick(this.#random, originals);
    const transferId = this.#chance(90) ? `t-${++this.#ids}` : pick(this.#random, this.#bank.lives).id;
    return {
      order: {
        kind: 'reverse',
        transferId,
        originalId,
        fromAccountId: from,
        toAccountId: to,
        origin: commandOf('ann'),
      },
      expected: this.#bank.reverse(transferId, originalId, now),
    };
  }

  #actor(): ModelActor {
    return this.#chance(25) ? 'client' : { person: pick(this.#random, [...this.#members.keys()]) };
  }

  #asDesk(actor: ModelActor): Actor {
    return actor === 'client' ? this.#client : (this.#members.get(actor.person) as MemberActor);
  }

  #chance(percent: number): boolean {
    return this.#random(100) < percent;
  }
}

const types = ['STANDARD', 'CROSS_MEMBER', 'IRA_CONTRIBUTION', 'LOAN_PAYMENT', 'INTRA_FI'] as const;
const options = ['DEFAULT', 'PRINCIPAL_ONLY', 'INTEREST_ONLY', 'EXCESS_TO_PRINCIPAL'] as const;

function repeatOf(life: Life): ModelOrder {
  const decimals = life.currency === 'JPY' ? 0 : 2;
  return {
    id: life.id,
    from: life.from,
    to: life.to,
    amount: [life.amount, decimals],
    currency: null,
    type: null,
    option: null,
    previousYear: null,
  };
}

/** An outcome in the model's words. */
function inWords(outcome: Outcome | ActOutcome): string {
  switch (outcome.kind) {
    case 'new':
    case 'replayed':
    case 'changed':
      return `${outcome.kind} ${summary(outcome.transfer)}`;
    case 'unchanged':
      return `${outcome.why} ${summary(outcome.transfer)}`;
    case 'id_reused':
      return outcome.differs === null ? 'id_reused' : `id_reused ${outcome.differs.toSorted().join(' ')}`;
    default:
      return outcome.kind;
  }
}

function summary(transfer: Transfer): string {
  const { id, status, failureCode, transferType, fromAccountId, toAccountId, amountMinor, currencyCode } =
    transfer;
  return `${id} ${failureCode ?? status} ${transferType ?? '-'} ${fromAccountId} ${toAccountId} ${amountMinor} ${currencyCode}`;
}

/** The core closes an account, preferably one with pending transfers. */
async function close(institution: Institution, bank: SlowBank, random: Random): Promise<void> {
  const pending = bank.lives
    .filter((life) => life.status === 'PENDING')
    .flatMap(({ from, to }) => [from, to]);
  const id = pick(random, pending.length > 0 ? pending : bank.world.accounts.map((account) => account.id));
  bank.close(id);
  await db.superuser('update accounts set closed = true where institution_id = $1 and account_id = $2', [
    institution.institutionId,
    id,
  ]);
}

async function compare(institution: Institution, bank: SlowBank, context: string): Promise<void> {
  const { world, lives } = bank;
  const accounts = await db.superuser<{ account: string }>(
    `select format('%s posted %s held %s %s dues %s %s %s %s', account_id, posted, debits_pending, credits_pending,
                   coalesce(fees_due, 0), coalesce(accrued_interest, 0), coalesce(amount_due, 0),
                   case when delinquent then 'delinquent' else 'good' end) as account
     from balances join accounts using (institution_id, account_key, account_id)
     left join loans using (institution_id, account_key)
     where institution_id = $1 and purpose is null`,
    [institution.institutionId],
  );
  const expectedAccounts = world.accounts.map(({ id }) => {
    const { fees, interest, due } = bank.dues(id);
    const standing = bank.delinquent(id) ? 'delinquent' : 'good';
    const balance = `posted ${bank.posted(id)} held ${bank.debitsPending(id)} ${bank.creditsPending(id)}`;
    return `${id} ${balance} dues ${fees} ${interest} ${due} ${standing}`;
  });
  assert.deepEqual(accounts.map((row) => row.account).toSorted(), expectedAccounts.toSorted(), context);
  const transfers = await db.superuser<{ transfer: string }>(
    `select format('%s %s', transfer_id, coalesce(failure_code, status)) as transfer
     from transfers where institution_id = $1`,
    [institution.institutionId],
  );
  assert.deepEqual(
    transfers.map((row) => row.transfer).toSorted(),
    lives.map((life) => `${life.id} ${life.code ?? life.status}`).toSorted(),
    context,
  );
}

function inspect(order: DeskOrder): string {
  return JSON.stringify(order, (_, value) => (typeof value === 'bigint' ? String(value) : value));
}
