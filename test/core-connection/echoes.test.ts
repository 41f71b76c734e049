import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type Connector, connectorOf, purchase } from '../support/core.ts';
import { clientOf, type DemoCaller, paths } from '../support/demo.ts';
import { startTestService, type TestService } from '../support/service.ts';

let service: TestService;
let core: Connector;
let app: DemoCaller;
before(async () => {
  service = await startTestService();
  core = await connectorOf(service);
  app = await clientOf(service);
});
after(() => service.close());

const source = 'a-1003-checking';
const destination = 'a-1003-savings';
const echo = (id: string, transferId: string, change: object = {}) =>
  purchase(id, {
    accountId: source,
    kind: 'TRANSFER',
    amount: -25,
    transferId,
    description: 'Transfer',
    ...change,
  });
const codes = (answers: readonly { result?: string; code?: string }[]) =>
  answers.flatMap(({ result, code }) => (result === undefined ? [] : [code ?? result]));

describe('the echo of a transfer', () => {
  test('adds the facts of the core to both entries of the transfer, and moves nothing', async () => {
    await app.post(paths.transfers, {
      id: 'echo-1',
      fromAccountId: source,
      toAccountId: destination,
      amount: 25,
    });
    const entries = async () => service.db.superuser('select from entries');
    const before = (await entries()).length;
    const answers = await core.deliver([
      echo('e-1-debit', 'echo-1'),
      echo('e-1-credit', 'echo-1', { accountId: destination, amount: 25 }),
      echo('e-1-debit', 'echo-1'),
    ]);
    assert.deepEqual(codes(answers), ['echo', 'echo', 'already']);
    assert.equal((await entries()).length, before);
  });

  test('is refused for another amount, another account, an unknown transfer and one that moved nothing', async () => {
    await app.post(paths.transfers, {
      id: 'echo-2',
      fromAccountId: source,
      toAccountId: destination,
      amount: 25,
    });
    await app.post(paths.transfers, {
      id: 'echo-3',
      fromAccountId: source,
      toAccountId: destination,
      amount: 9_999_999,
    });
    const answers = await core.deliver([
      echo('e-2', 'echo-2', { amount: -25.01 }),
      echo('e-3', 'echo-2', { amount: 25 }),
      echo('e-4', 'echo-2', { accountId: 'a-1002-checking' }),
      echo('e-5', 'never-ordered'),
      echo('e-6', 'echo-3'),
    ]);
    assert.deepEqual(codes(answers), [
      'amount_mismatch',
      'amount_mismatch',
      'amount_mismatch',
      'transfer_not_found',
      'transfer_not_completed',
    ]);
  });

  test('is taken once for each side of a transfer', async () => {
    await app.post(paths.transfers, {
      id: 'echo-4',
      fromAccountId: source,
      toAccountId: destination,
      amount: 25,
    });
    assert.deepEqual(codes(await core.deliver([echo('e-7', 'echo-4'), echo('e-8', 'echo-4')])), [
      'echo',
      'echo_repeated',
    ]);
    await assert.rejects(
      service.db.superuser(
        `insert into core_transactions select institution_id, 'e-9', account_key, seq, posting_key, settlement_key, amount, kind, posted_at,
           effective_date, description, check_number, merchant, category, running_balance, authorization_id, is_historic, recorded_at
         from core_transactions where core_id = 'e-7'`,
      ),
      /core_transactions_one_of_an_entry/,
    );
  });

  test('names the transfer if the same id comes for another one', async () => {
    const answers = await core.deliver([echo('e-7', 'echo-2')]);
    assert.equal(answers[0]?.detail, 'The id was used before with another transferId.');
  });
});
