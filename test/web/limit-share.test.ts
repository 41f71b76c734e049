import assert from 'node:assert/strict';
import { it } from 'node:test';
import { shareUsed } from '../../web/console/screens/limits/share.ts';

it('the share of a limit is that of its fuller bound, also beyond the digits of a double', () => {
  const limit = { used: '79.99', maxAmount: '100.00', transfers: 1, maxCount: null };
  assert.equal(shareUsed(limit), 79);
  assert.equal(shareUsed({ ...limit, maxCount: 1 }), 100);
  assert.equal(shareUsed({ ...limit, maxAmount: null }), 0);
  assert.equal(shareUsed({ ...limit, maxAmount: '0.00' }), 100);
  assert.equal(shareUsed({ ...limit, used: '90071992547409929.99', maxAmount: '90071992547409930.00' }), 99);
});
