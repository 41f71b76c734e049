import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { commandsOn } from '../support/commands.ts';
import { startCoreService } from '../support/core-instructions.ts';
import { clientOf, paths } from '../support/demo.ts';

/* The commands that show the core and webhooks to programs. The members of a document are its stable shape. */

let service: Awaited<ReturnType<typeof startCoreService>>;
let run: ReturnType<typeof commandsOn>;
before(async () => {
  service = await startCoreService();
  run = commandsOn(service.db);
});
after(() => service.close());

const lakeside = ['--institution', 'lakeside'];

async function shown(...words: string[]): Promise<Record<string, unknown>> {
  const { code, stdout, stderr } = await run(...words, ...lakeside, '--json');
  assert.equal(code, 0, stderr);
  return JSON.parse(stdout);
}

test('shows an undecided instruction and the exposure to the core as documents with amounts in text', async () => {
  const bank = await clientOf(service);
  const order = { id: 'shown', fromAccountId: 'a-1001-checking', toAccountId: 'a-1001-savings', amount: 1.5 };
  const { body, text } = await bank.post(paths.transfers, order, { prefer: 'wait=0' });
  assert.equal(body.status, 'PENDING', text);
  const instruction = await shown('core', 'instructions');
  assert.partialDeepStrictEqual(instruction, {
    id: 'shown',
    fromAccountId: 'a-1001-checking',
    toAccountId: 'a-1001-savings',
    amount: '1.50',
    currencyCode: 'USD',
    fileNumber: null,
  });
  const status = await shown('core', 'status');
  assert.partialDeepStrictEqual(status, { record: 'core', heardAt: null });
  const [exposure] = status.exposure as Record<string, unknown>[];
  assert.partialDeepStrictEqual(exposure, { instructions: 1, amount: '1.50', currencyCode: 'USD' });
  assert.match(
    (await run('core', 'instructions', ...lakeside)).stdout,
    / shown .* 1\.50 USD .* not delivered/,
  );
});

test('shows a webhook with its waiting events and last attempts as one document', async () => {
  const created = await run(...['webhook', 'create', 'demo-app', 'https://hooks.example/bank'], ...lakeside);
  assert.equal(created.code, 0, created.stderr);
  const endpointId = /[0-9a-f-]{36}/.exec(created.stdout)?.[0] ?? assert.fail(created.stdout);
  const webhook = await shown('webhook', 'show', endpointId);
  assert.partialDeepStrictEqual(webhook, {
    endpointId,
    url: 'https://hooks.example/bank',
    status: 'ACTIVE',
    parked: [],
  });
  assert.ok(Array.isArray(webhook.waiting) && Array.isArray(webhook.lastAttempts));
  assert.match((await run('webhook', 'show', endpointId, ...lakeside)).stdout, /status +active/);
});
