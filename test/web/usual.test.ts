import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { FoundTransfer } from '../../web/console/operations.ts';
import { usualOf } from '../../web/console/screens/review/usual.ts';

const waiting = {
  id: 'w',
  fromAccountId: 'a',
  toAccountId: 'b',
  amount: '9007199254740993.01',
  currencyCode: 'USD',
};
const past = (id: string, change: Partial<FoundTransfer> = {}) =>
  ({ ...waiting, id, amount: '10.00', status: 'COMPLETED', ...change }) as FoundTransfer;

it('compares a waiting transfer with those that completed out of its account in its currency, digit by digit', () => {
  const last = [
    past('w', { amount: '9007199254740994.00' }),
    past('1'),
    past('2', { toAccountId: 'c', amount: '9007199254740993.00' }),
    past('3', { status: 'FAILED', amount: '9007199254740999.00' }),
    past('4', { fromAccountId: 'b', toAccountId: 'a', amount: '9007199254740999.00' }),
    past('5', { currencyCode: 'EUR', amount: '9007199254740999.00' }),
  ];
  assert.deepEqual(usualOf(waiting, last), {
    ...{ completed: 2, largest: '9007199254740993.00', larger: 0, toDestination: 1 },
  });
  assert.equal(usualOf({ ...waiting, amount: '9007199254740993.00' }, last).larger, 1);
  assert.deepEqual(usualOf(waiting, []), { completed: 0, largest: '0', larger: 0, toDestination: 0 });
});
