import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { openApiDocument } from '../support/contract.ts';
import { fieldsIn, noteFields, optionalFields, unseenFields } from '../support/seen-fields.ts';

const all = optionalFields(openApiDocument);
const page = {
  properties: { items: { items: { $ref: '#/components/schemas/Transfer' } } },
  required: ['items'],
};

test('finds the optional fields of responses, in components within lists and alternatives too', () => {
  for (const field of ['Transfer.memo', 'Counterparty.name', 'TransferLimit.resetsAt', 'Problem.errors']) {
    assert.ok(all.has(field), field);
  }
  assert.ok(!all.has('Transfer.id'));
});

test('sees the optional fields that a response has, and no others', () => {
  const items = [
    { id: 't', memo: 'rent' },
    { id: 'u', failureCode: 'account_closed' },
  ];
  const seen = fieldsIn(openApiDocument, page, { items }, () => true);
  assert.deepEqual([...seen], ['Transfer.memo', 'Transfer.failureCode']);
});

test('sees the fields of the alternative that matches', () => {
  const either = {
    oneOf: [{ $ref: '#/components/schemas/Problem' }, { $ref: '#/components/schemas/Transfer' }],
  };
  const seen = fieldsIn(openApiDocument, either, { memo: 'rent' }, (component) => component === 'Transfer');
  assert.deepEqual([...seen], ['Transfer.memo']);
});

test('reports an optional field that no test has seen', () => {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'sharedraft-seen-'));
  try {
    noteFields([...all].slice(1), folder);
    assert.deepEqual(unseenFields(folder), [...all].slice(0, 1));
  } finally {
    rmSync(folder, { recursive: true });
  }
});
