import assert from 'node:assert/strict';
import { test } from 'node:test';
import { layoutOf } from '../../web/console/screens/ledger/flow-layout.ts';

const flow = (from: string, to: string, amount: string) => ({
  from,
  to,
  currency: 'USD',
  postings: 1,
  amount,
});
const flows = [
  flow('CHECKING', 'SAVINGS', '9007199254740993.00'),
  flow('CORE_ACH', 'CHECKING', '4503599627370496.50'),
  flow('CHECKING', 'CORE_CARD', '4503599627370496.50'),
];

test('a class is as high as the bands that leave or enter it, and no two classes of a side overlap', () => {
  const { sources, targets, bands, height } = layoutOf(flows);
  assert.deepEqual(
    [sources, targets].map((side) => side.map(({ name }) => name)),
    [
      ['CHECKING', 'CORE_ACH'],
      ['SAVINGS', 'CHECKING', 'CORE_CARD'],
    ],
  );
  for (const side of [sources, targets])
    for (const [index, { y, height: high }] of side.entries())
      assert.ok(y + high <= (side[index + 1]?.y ?? height), `${side[index]?.name}`);
  const leaving = bands.filter(({ key }) => key.startsWith('CHECKING '));
  const sum = leaving.reduce((total, band) => total + band.height, 0);
  assert.ok(Math.abs(sum - (sources[0]?.height ?? 0)) < 0.1);
  assert.deepEqual(
    leaving.map(({ fromY }) => fromY),
    [sources[0]?.y, (sources[0]?.y ?? 0) + (leaving[0]?.height ?? 0)],
  );
});

test('no flow makes an empty picture, and one flow fills it', () => {
  assert.deepEqual(layoutOf([]).bands, []);
  const [only] = layoutOf([flow('CHECKING', 'SAVINGS', '0.01')]).bands;
  assert.equal(only?.height, 320);
});
