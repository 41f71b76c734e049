import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Account, Books, type Entry, type Instruction } from '../../dev/demo-core/books.ts';

const at = '2026-03-02T10:00:00-07:00';

function account(accountId: string, change: Partial<Account> = {}): Account {
  return {
    accountId,
    memberNumber: '1',
    type: 'CHECKING',
    currencyCode: 'USD',
    floor: 0,
    isClosed: false,
    opening: 100_00,
    ...change,
  };
}

function openBooks(...accounts: Account[]): Books {
  const books = new Books();
  books.apply({ at, opened: { seed: 's', zone: 'UTC', accounts } });
  return books;
}

function instruction(id: string, change: Partial<Instruction> = {}): Instruction {
  return {
    id,
    type: 'STANDARD',
    fromAccountId: 'a',
    toAccountId: 'b',
    amount: 40,
    currencyCode: 'USD',
    ...change,
  };
}

function decide(books: Books, order: Instruction): Entry | undefined {
  const entry = books.decide(order, { at, day: '2026-03-02', isRefused: false });
  if (entry !== undefined) books.apply(entry);
  return entry;
}

const outcomes: readonly (readonly [what: string, order: Partial<Instruction>, expected: string])[] = [
  ['an order that the balance covers', { amount: 100 }, 'ACCEPTED'],
  ['an order above the balance', { amount: 100.01 }, 'NSF'],
  ['an order within the overdraft limit', { fromAccountId: 'overdraft', amount: 150 }, 'ACCEPTED'],
  ['an order beyond the overdraft limit', { fromAccountId: 'overdraft', amount: 150.01 }, 'NSF'],
  ['an order on a closed account', { toAccountId: 'closed' }, 'CLOSED'],
  ['an order on an account that the core does not have', { toAccountId: 'nowhere' }, 'NO_ACCOUNT'],
  ['an order in another currency', { currencyCode: 'EUR' }, 'CURRENCY'],
  ['the reversal of an order that was never posted', { reverses: 'unknown' }, 'NOT_POSTED'],
];

for (const [what, change, expected] of outcomes) {
  test(`the books of the demo core decide ${what}: ${expected}`, () => {
    const books = openBooks(
      account('a'),
      account('b'),
      account('overdraft', { floor: -50_00 }),
      account('closed', { isClosed: true }),
    );
    const decided = decide(books, instruction('t-1', change))?.decided;
    assert.equal(decided?.outcome === 'REJECTED' ? decided.code : decided?.outcome, expected);
  });
}

test('the books of the demo core post an instruction once, however often it comes', () => {
  const books = openBooks(account('a'), account('b'));
  const entry = decide(books, instruction('t-1'));
  assert.deepEqual(
    entry?.lines?.map(({ accountId, amount, transferId }) => [accountId, amount, transferId]),
    [
      ['a', -40, 't-1'],
      ['b', 40, 't-1'],
    ],
  );
  assert.equal(decide(books, instruction('t-1')), undefined);
  assert.equal(decide(books, instruction('t-1', { amount: 1 })), undefined);
  assert.equal(books.accounts.get('a')?.balance, 60_00);
  assert.equal(books.accounts.get('b')?.balance, 140_00);
  assert.equal(books.lines.length, 2);
});

test('reversing a posted transfer at the demo core returns its amount even if the money was spent', () => {
  const books = openBooks(account('a'), account('b', { opening: 0 }), account('c'));
  decide(books, instruction('t-1'));
  decide(books, instruction('t-2', { fromAccountId: 'b', toAccountId: 'c' }));
  decide(books, instruction('t-3', { fromAccountId: 'b', toAccountId: 'a', reverses: 't-1' }));
  assert.equal(books.accounts.get('a')?.balance, 100_00);
  assert.equal(books.accounts.get('b')?.balance, -40_00);
});

test('an authorization at the demo core holds its money until it settles, and a change replaces it', () => {
  const books = openBooks(account('a'));
  const line = {
    accountId: 'a',
    currencyCode: 'USD',
    kind: 'CARD',
    postedAt: at,
    effectiveDate: '2026-03-02',
    description: 'Ridgeline Fuel',
  };
  books.apply({ at, lines: [{ ...line, id: 'h', status: 'AUTHORIZED', amount: -30 }] });
  assert.equal(books.available('a'), 70_00);
  books.apply({ at, lines: [{ ...line, id: 'h', status: 'CHANGED', amount: -45 }] });
  assert.equal(books.available('a'), 55_00);
  books.apply({ at, lines: [{ ...line, id: 'p', authorizationId: 'h', amount: -41.5 }] });
  assert.equal(books.available('a'), 58_50);
  assert.equal(books.accounts.get('a')?.held, 0);
});
