import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stepsOf } from '../../web/console/screens/ledger/balance-steps.ts';

const at = (day: string, balance: string) => ({ before: `2026-11-${day}T05:00:00Z`, balance });

test('a line of balances has a step at each moment, and zero is in the picture', () => {
  const { path, zero, lowest, highest } = stepsOf([
    at('01', '50.00'),
    at('03', '100.00'),
    at('05', '-100.00'),
  ]);
  assert.equal(path, 'M0,25.00 H0.00 V25.00 H50.00 V0.00 H100.00 V100.00');
  assert.equal(zero, 50);
  assert.deepEqual([lowest.balance, highest.balance], ['-100.00', '100.00']);
});

test('one balance, and one of zero, make a line within the picture', () => {
  assert.equal(stepsOf([at('01', '9007199254740993.00')]).path, 'M0,0.00 H100.00 V0.00');
  assert.equal(stepsOf([at('01', '0.00')]).path, 'M0,100.00 H100.00 V100.00');
});
