import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { needsCluster } from '../../scripts/test-cluster.ts';

const file = (name: string) => fileURLToPath(new URL(`../../${name}`, import.meta.url));

test('a test file gets a PostgreSQL if it imports the database of tests, directly or through its support', () => {
  assert.equal(needsCluster(file('test/members/update-contact.test.ts')), true);
  assert.equal(needsCluster(file('test/support/service.ts')), true);
  assert.equal(needsCluster(file('src/ledger/money.test.ts')), false);
  assert.equal(needsCluster(file('test/house/words.test.ts')), false);
});
