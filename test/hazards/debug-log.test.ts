import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { openServiceLog } from '../../src/app/service-log.ts';
import { memberOf, paths, send } from '../support/demo.ts';
import { startTestService } from '../support/service.ts';

test('the service log explains only at the levels debug and trace', () => {
  const debugAt = (level: string) => openServiceLog(level, new PassThrough()).debug;
  assert.equal(debugAt('info'), undefined);
  assert.equal(typeof debugAt('debug'), 'function');
});

test('the level debug logs a batch with its orders, waits, statements and commit, and why a token is refused', async () => {
  const batches: object[] = [];
  const lines: string[] = [];
  await using service = await startTestService({
    environment: { LOG_LEVEL: 'debug' },
    debug: (event, details = {}) => event === 'batch' && batches.push(details),
    logStream: { write: (line) => lines.push(line) },
  });
  const member = await memberOf(service, 'demo.member', 'demo-member-password');
  const order = { fromAccountId: 'a-1001-checking', toAccountId: 'a-1001-savings', amount: 1 };
  assert.equal((await member.post(paths.transfers, order)).status, 201);
  const batch = batches.at(-1) as { orders: number; waitedMillis: number; statements: string[] };
  assert.equal(batch.orders, 1);
  assert.ok(batch.waitedMillis >= 0);
  assert.ok(batch.statements.length > 3, String(batch.statements));
  assert.match(batch.statements.at(-1) ?? '', / \+ commit [\d.]+ ms$/);

  const [head, body] = member.token.split('.');
  const forged = `${head}.${body}.${'A'.repeat(86)}`;
  const headers = { authorization: `Bearer ${forged}` };
  const refusal = await send(service.address, 'GET', paths.accounts, { headers });
  assert.equal(refusal.status, 401);
  assert.doesNotMatch(refusal.text, /signature/);
  const line = lines.map((one) => JSON.parse(one)).find(({ event }) => event === 'token_refused');
  assert.equal(line?.reason, 'signature verification failed');
});
