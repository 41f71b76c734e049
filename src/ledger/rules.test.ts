import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import {
  type AccountState,
  type Bounds,
  type Change,
  headroomIn,
  headroomOut,
  move,
  unbounded,
} from './rules.ts';

const seed = Number(process.env.SEED ?? Date.now() % 1_000_000);

function account(posted: bigint, debitsPending = 0n, creditsPending = 0n): AccountState {
  return {
    accountKey: 1n,
    accountId: 'a-1',
    currency: 'USD',
    posted,
    debitsPending,
    creditsPending,
    seq: 7n,
    lastAt: new Date(0),
  };
}

/** The result of `move`: the refusal, or the three figures and the bounds of the decision. */
function moved(state: AccountState, change: Change, bounds: Bounds): unknown {
  const result = move(state, change, bounds);
  if (result.refused !== null) return result.refused;
  assert.equal(result.state.seq, state.seq + 1n, 'one entry more');
  const { posted, debitsPending, creditsPending } = result.state;
  return [posted, debitsPending, creditsPending, result.decidedBy.floor, result.decidedBy.ceiling];
}

const floored: Bounds = { floor: 0n, ceiling: null };
const capped: Bounds = { floor: null, ceiling: 0n };

/** Cases from simple to special; each row assumes the rows above it. */
const cases: readonly (readonly [
  name: string,
  state: AccountState,
  change: Change,
  bounds: Bounds,
  expected: unknown,
])[] = [
  ['without bounds anything goes', account(0n), { posted: -5n }, unbounded, [-5n, 0n, 0n, null, null]],
  ['down to the floor', account(5n), { posted: -5n }, floored, [0n, 0n, 0n, 0n, null]],
  ['one below the floor', account(5n), { posted: -6n }, floored, 'below_floor'],
  [
    'down to the overdraft',
    account(5n),
    { posted: -15n },
    { floor: -10n, ceiling: null },
    [-10n, 0n, 0n, -10n, null],
  ],
  ['one past the overdraft', account(5n), { posted: -16n }, { floor: -10n, ceiling: null }, 'below_floor'],
  ['up to the ceiling', account(-5n), { posted: 5n }, capped, [0n, 0n, 0n, null, 0n]],
  ['one above the ceiling', account(-5n), { posted: 6n }, capped, 'above_ceiling'],
  ['a floor does not bind a credit', account(5n), { posted: 5n }, floored, [10n, 0n, 0n, null, null]],
  ['a ceiling does not bind a debit', account(-5n), { posted: -5n }, capped, [-10n, 0n, 0n, null, null]],
  [
    'back toward the floor, from far below',
    account(-50n),
    { posted: 1n },
    floored,
    [-49n, 0n, 0n, null, null],
  ],
  ['further below the floor', account(-50n), { posted: -1n }, floored, 'below_floor'],
  ['back toward the ceiling, from above', account(50n), { posted: -1n }, capped, [49n, 0n, 0n, null, null]],
  ['further above the ceiling', account(50n), { posted: 1n }, capped, 'above_ceiling'],
  ['a hold down to the floor', account(5n), { debitsPending: 5n }, floored, [5n, 5n, 0n, 0n, null]],
  ['a hold above the balance', account(5n), { debitsPending: 6n }, floored, 'below_floor'],
  ['a debit of held money', account(5n, 3n), { posted: -3n }, floored, 'below_floor'],
  ['a debit of money that is not held', account(5n, 3n), { posted: -2n }, floored, [3n, 3n, 0n, 0n, null]],
  [
    'settling a hold',
    account(5n, 5n),
    { posted: -5n, debitsPending: -5n },
    floored,
    [0n, 0n, 0n, null, null],
  ],
  [
    'settling a hold below the floor',
    account(1n, 5n),
    { posted: -5n, debitsPending: -5n },
    floored,
    [-4n, 0n, 0n, null, null],
  ],
  [
    'settling more than was held',
    account(5n, 3n),
    { posted: -6n, debitsPending: -3n },
    floored,
    'below_floor',
  ],
  ['releasing a hold', account(5n, 5n), { debitsPending: -5n }, floored, [5n, 0n, 0n, null, null]],
  [
    'a pending credit up to the ceiling',
    account(-5n),
    { creditsPending: 5n },
    capped,
    [-5n, 0n, 5n, null, 0n],
  ],
  ['a pending credit above the ceiling', account(-5n), { creditsPending: 6n }, capped, 'above_ceiling'],
  ['pending credits fill the ceiling', account(-5n, 0n, 3n), { posted: 3n }, capped, 'above_ceiling'],
  ['the rest of the ceiling', account(-5n, 0n, 3n), { posted: 2n }, capped, [-3n, 0n, 3n, null, 0n]],
  [
    'a pending credit arrives',
    account(-5n, 0n, 5n),
    { posted: 5n, creditsPending: -5n },
    capped,
    [0n, 0n, 0n, null, null],
  ],
  [
    'a pending credit ends without money',
    account(-5n, 0n, 5n),
    { creditsPending: -5n },
    capped,
    [-5n, 0n, 0n, null, null],
  ],
  ['a hold does not touch the ceiling', account(5n), { debitsPending: 5n }, capped, [5n, 5n, 0n, null, null]],
  [
    'both bounds are broken, and the ceiling is reported',
    account(0n),
    { debitsPending: 1n, creditsPending: 1n },
    { floor: 0n, ceiling: 0n },
    'above_ceiling',
  ],
];

for (const [name, state, change, bounds, expected] of cases) {
  test(`move applies a change within bounds: ${name}`, () =>
    assert.deepEqual(moved(state, change, bounds), expected));
}

test('move throws when more is released than is held', () => {
  assert.throws(() => move(account(5n, 2n), { debitsPending: -3n }, unbounded), RangeError);
  assert.throws(() => move(account(5n, 0n, 2n), { creditsPending: -3n }, unbounded), RangeError);
});

test('move keeps the account’s identity and does not change the given state', () => {
  const before = Object.freeze(account(5n, 1n, 2n));
  const result = move(before, { posted: -1n }, floored);
  assert.equal(result.refused, null);
  assert.deepEqual(result.state, { ...before, posted: 4n, seq: 8n });
});

/** Unit by unit: may the account be at this balance, coming from the one before? */
function slowModel(state: AccountState, change: Change, bounds: Bounds): string {
  const before = {
    available: state.posted - state.debitsPending,
    filled: state.posted + state.creditsPending,
  };
  const after = {
    available: before.available + (change.posted ?? 0n) - (change.debitsPending ?? 0n),
    filled: before.filled + (change.posted ?? 0n) + (change.creditsPending ?? 0n),
  };
  for (let filled = before.filled + 1n; filled <= after.filled; filled++) {
    if (bounds.ceiling !== null && filled > bounds.ceiling) return 'above_ceiling';
  }
  for (let available = before.available - 1n; available >= after.available; available--) {
    if (bounds.floor !== null && available < bounds.floor) return 'below_floor';
  }
  return 'moved';
}

test('move agrees with a model that counts one cent at a time', (context) => {
  context.diagnostic(`SEED=${seed}`);
  const cents = (min: bigint, max: bigint) => fc.bigInt({ min, max });
  const states = fc.tuple(cents(-30n, 30n), cents(0n, 20n), cents(0n, 20n));
  const changes = fc.record(
    { posted: cents(-30n, 30n), debitsPending: cents(-20n, 20n), creditsPending: cents(-20n, 20n) },
    { requiredKeys: [] },
  );
  const bounds = fc.record({
    floor: fc.option(cents(-20n, 10n)),
    ceiling: fc.option(cents(-10n, 20n)),
  });
  const seen = new Set<string>();
  fc.assert(
    fc.property(states, changes, bounds, ([posted, debitsPending, creditsPending], change, bound) => {
      fc.pre(
        debitsPending + (change.debitsPending ?? 0n) >= 0n &&
          creditsPending + (change.creditsPending ?? 0n) >= 0n,
      );
      const state = account(posted, debitsPending, creditsPending);
      const result = move(state, change, bound);
      const expected = slowModel(state, change, bound);
      seen.add(expected);
      assert.equal(result.refused ?? 'moved', expected);
      if (result.refused !== null) return;
      // An entry's figures respect its bound: the database checks the same.
      const { floor, ceiling } = result.decidedBy;
      assert.ok(floor === null || result.state.posted - result.state.debitsPending >= floor);
      assert.ok(ceiling === null || result.state.posted + result.state.creditsPending <= ceiling);
    }),
    { seed, numRuns: 5_000 },
  );
  assert.deepEqual([...seen].sort(), ['above_ceiling', 'below_floor', 'moved']);
});

test('computes the headroom as the most that the rule accepts, to the cent', (context) => {
  context.diagnostic(`SEED=${seed}`);
  const money = fc.bigInt({ min: -1_000n, max: 1_000n });
  const held = fc.bigInt({ min: 0n, max: 500n });
  fc.assert(
    fc.property(money, held, held, money, money, (posted, debitsPending, creditsPending, floor, ceiling) => {
      const state: AccountState = {
        accountKey: 1n,
        accountId: 'a',
        currency: 'USD',
        posted,
        debitsPending,
        creditsPending,
        seq: 0n,
        lastAt: new Date(0),
      };
      const bounds: Bounds = { floor, ceiling };
      const out = headroomOut(state, bounds) ?? 0n;
      const into = headroomIn(state, bounds) ?? 0n;
      if (out > 0n) assert.equal(move(state, { posted: -out }, bounds).refused, null);
      assert.equal(move(state, { posted: -out - 1n }, bounds).refused, 'below_floor');
      if (into > 0n) assert.equal(move(state, { creditsPending: into }, bounds).refused, null);
      assert.equal(move(state, { creditsPending: into + 1n }, bounds).refused, 'above_ceiling');
    }),
    { seed, numRuns: 2_000 },
  );
  const state = { posted: 0n, debitsPending: 0n, creditsPending: 0n } as AccountState;
  assert.equal(headroomOut(state, unbounded), null);
  assert.equal(headroomIn(state, unbounded), null);
});
