import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { partsOf, screenPartOf, withViewPart } from '../../web/common/address.ts';
import { askedOrder, nextOrder, orderIn, slugOf, textOfOrder } from '../../web/common/order.ts';
import { sortRows } from '../../web/common/sort-rows.ts';

describe('addresses of the browser applications', () => {
  it('names with a point are parts of the view, and all others are questions of the screen', () => {
    const { route, query, view } = partsOf('/transfers?status=PENDING&transfers.sort=-amount&text=a.b');
    assert.equal(route, '/transfers');
    assert.deepEqual(
      [...query],
      [
        ['status', 'PENDING'],
        ['text', 'a.b'],
      ],
    );
    assert.deepEqual([...view], [['transfers.sort', '-amount']]);
  });

  it('a part of the view leaves the screen and its questions as they are', () => {
    const address = withViewPart('/members/a%2Fb?text=M%C3%BCller+%26+Co', 'members.filter', 'x&y=z#<b>');
    assert.equal(screenPartOf(address), '/members/a%2Fb?text=M%C3%BCller+%26+Co');
    assert.equal(partsOf(address).view.get('members.filter'), 'x&y=z#<b>');
  });

  it('an empty value takes its part out of the address', () => {
    const address = withViewPart(withViewPart('/breaks', 'breaks.sort', 'age'), 'breaks.filter', 'rent');
    assert.equal(address, '/breaks?breaks.sort=age&breaks.filter=rent');
    assert.equal(withViewPart(withViewPart(address, 'breaks.sort', ''), 'breaks.filter', ''), '/breaks');
  });

  it('a broken escape and a repeated name are no error', () => {
    assert.equal(partsOf('/a?b.sort=%E0%A4%A').view.has('b.sort'), true);
    assert.equal(withViewPart('/a?b.sort=x&b.sort=y', 'b.sort', 'z'), '/a?b.sort=z');
    assert.deepEqual([...partsOf('').view], []);
  });

  it('an order is read back from its text, and a column that does not exist gives none', () => {
    const titles = ['Account id', 'Balance', 'No. of …'];
    for (const order of [undefined, { at: 0, isDescending: false }, { at: 2, isDescending: true }]) {
      assert.deepEqual(orderIn(textOfOrder(order, titles), titles), order);
    }
    assert.deepEqual(orderIn('-balance', titles), { at: 1, isDescending: true });
    for (const text of ['', '-', '--balance', 'Balance', 'amount', '1', '<b>', '__proto__']) {
      assert.equal(orderIn(text, titles), undefined);
    }
    assert.equal(slugOf('No. of …'), 'no-of');
  });

  it('the head of a column sorts upward, downward and not at all; another one begins upward', () => {
    const upward = nextOrder(undefined, 1);
    assert.deepEqual(upward, { at: 1, isDescending: false });
    assert.deepEqual(nextOrder(upward, 1), { at: 1, isDescending: true });
    assert.equal(nextOrder({ at: 1, isDescending: true }, 1), undefined);
    assert.deepEqual(nextOrder({ at: 1, isDescending: true }, 0), { at: 0, isDescending: false });
  });

  it('a service is asked only for an order that it has', () => {
    const columns = [
      { title: 'Ordered', order: 'time' },
      { title: 'Type' },
      { title: 'Amount', order: 'amount' },
    ];
    assert.equal(askedOrder('amount', columns), 'amount');
    assert.equal(askedOrder('-ordered', columns), '-time');
    for (const text of ['', 'type', '-type', 'time', '--amount', 'constructor'])
      assert.equal(askedOrder(text, columns), '', text);
  });

  it('rows sort by a column in both directions, and equal rows stay as they came', () => {
    const rows = [
      { id: 'a', amount: '9.50' },
      { id: 'b', amount: '10.00' },
      { id: 'c', amount: '9.50' },
    ];
    const columns = [
      { text: ({ id }: { id: string }) => id },
      { text: ({ amount }: { amount: string }) => amount, isNumeric: true },
    ];
    const sorted = (at: number, isDescending: boolean) =>
      sortRows(columns, rows, { at, isDescending }).map(({ id }) => id);
    assert.deepEqual(sorted(0, true), ['c', 'b', 'a']);
    assert.deepEqual(sorted(1, false), ['a', 'c', 'b']);
    assert.deepEqual(sorted(1, true), ['b', 'a', 'c']);
    assert.equal(sortRows(columns, rows, undefined), rows);
    assert.equal(sortRows(columns, rows, { at: 7, isDescending: false }), rows);
  });
});
