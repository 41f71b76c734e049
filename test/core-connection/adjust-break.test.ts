import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { closeAdjusted } from '../../src/core-connection/breaks/break-queries.ts';
import { adjustBreak, findBreak } from '../../src/core-connection/index.ts';
import { Book, formatMinor, takePostingKeys } from '../../src/ledger/index.ts';
import { sql, type Transaction } from '../../src/storage/index.ts';
import { asNdjson, purchase } from '../support/core.ts';
import { aConnector, type Connector, startCoreService } from '../support/core-instructions.ts';
import { memberOf, paths } from '../support/demo.ts';
import { commandOf } from '../support/operator.ts';
import { balancesOf, ledgerSums } from '../support/tables.ts';

/* An operator ends a break by posting its difference, by name and, under dual control, with a second person. */

const door = '/digitalbanking/core/v1';
const account = 'a-1001-checking';
const reason = 'posted twice by the branch';
let service: Awaited<ReturnType<typeof startCoreService>>;
let core: Connector;
before(async () => {
  service = await startCoreService();
  core = await aConnector(service, 'lakeside-core');
  await core.post(`${door}/heartbeat`, {});
});
after(() => service.close());

const posted = async (accountId = account) =>
  (await balancesOf(service.db, 'lakeside'))[accountId]?.posted as bigint;

async function send(path: string, lines: readonly object[]): Promise<void> {
  const response = await fetch(`${service.address}${door}/${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${core.token}`, 'content-type': 'application/x-ndjson' },
    body: asNdjson(lines),
  });
  assert.equal(response.status, 200, await response.text());
}

/** The core states a balance that differs from the one here. Returns the break's key. */
async function differing(byMinor: bigint, accountId = account): Promise<bigint> {
  const balance = Number((await posted(accountId)) + byMinor) / 100;
  const asOf = new Date().toISOString();
  await send(`balances?${new URLSearchParams({ asOf })}`, [{ accountId, balance, currencyCode: 'USD' }]);
  const [open] = await service.db.superuser<{ key: bigint }>(
    'select break_key as key from core_breaks where closed_at is null and core_id is null and account_id = $1',
    [accountId],
  );
  return open?.key ?? assert.fail('no break was opened');
}

/** As an operator who sees the difference that the break has now, unless another one is given. */
async function adjust(breakKey: bigint, user = 'ann', seenMinor?: bigint) {
  const found = await findBreak(service.db.database, service.institutionId, breakKey);
  const difference = formatMinor(seenMinor ?? found?.differenceMinor ?? 1n, 'USD');
  const order = { breakKey, difference, reason, origin: commandOf(user) };
  return adjustBreak(service.service.context, service.institutionId, order);
}
const kindOf = async (...given: Parameters<typeof adjust>) => (await adjust(...given)).kind;

const demandTwo = (amount: string | null) =>
  service.db.superuser(
    `update transfer_policies set second_approval_above = $2 where institution_id = $1 and transfer_type = 'INTRA_FI'`,
    [service.institutionId, amount],
  );

for (const difference of [700n, -250n]) {
  test(`posts a difference of ${difference}, closes the break, and leaves both books equal`, async () => {
    const before = await posted();
    const key = await differing(difference);
    assert.equal(await kindOf(key), 'adjusted');
    assert.equal(await posted(), before + difference);
    assert.deepEqual(new Set(await ledgerSums(service.db)), new Set(['0']));
    const { body } = await core.get(`${door}/breaks/${key}`);
    assert.equal(body.closedBy, 'ADJUSTED');
    assert.deepEqual(
      body.story.map(({ author, note }: { author?: string; note: string }) => [author, note]).at(-1),
      ['ann', `Adjusted: ${reason}`],
    );
    const [entry] = await service.db.superuser(
      `select operator, stated_reason, after_change->>'differenceMinor' as difference from audit_entries
       where action = 'core.break_adjusted' and subject = $1`,
      [String(key)],
    );
    assert.deepEqual(entry, { operator: 'ann', stated_reason: reason, difference: String(difference) });
    const events = await service.db.superuser<{ kind: string }>(
      `select kind from outbox where kind in ('account.balance_adjusted', 'core.break_closed') order by event_key desc limit 2`,
    );
    assert.deepEqual(
      events.map(({ kind }) => kind),
      ['core.break_closed', 'account.balance_adjusted'],
    );
  });
}

test('moves nothing a second time, and nothing for a break that does not exist', async () => {
  const key = await differing(100n);
  assert.deepEqual((await Promise.all([kindOf(key), kindOf(key)])).toSorted(), ['adjusted', 'closed']);
  const before = await posted();
  assert.equal(await kindOf(key), 'closed');
  assert.equal(await kindOf(999_999n), 'unknown');
  assert.equal(await posted(), before);
});

test('refuses a break behind which postings of the core have arrived', async () => {
  const key = await differing(-500n);
  const before = await posted();
  const postedAt = new Date(Date.now() - 60_000).toISOString();
  // Not the whole difference, so that the break stays open.
  await send('transactions', [{ ...purchase('late-one'), accountId: account, amount: -2, postedAt }]);
  assert.equal(await posted(), before - 200n);
  assert.equal(await kindOf(key), 'outdated');
  assert.equal(await posted(), before - 200n);
  assert.equal(await kindOf(await differing(-300n)), 'adjusted');
});

test('refuses a break that is not of an account', async () => {
  const [row] = await service.db.superuser<{ key: bigint }>(
    `insert into core_breaks (institution_id, class, subject, account_id, core_id, currency, difference, opened_at)
     values ($1, 'MISSING_HERE', 'posting:p-1', $2, 'p-1', 'USD', 100, now()) returning break_key as key`,
    [service.institutionId, account],
  );
  assert.equal(await kindOf(row?.key ?? 0n), 'not_of_an_account');
});

test('waits for a second person where a policy demands one', async () => {
  await demandTwo('100000');
  try {
    const before = await posted();
    const key = await differing(40n);
    assert.equal(await kindOf(key), 'proposed');
    assert.equal(await kindOf(key), 'proposed', 'the same person is no second one');
    assert.equal(await kindOf(key, 'ANN'), 'proposed', 'nor is one whose name looks alike');
    assert.equal(await posted(), before);
    assert.equal(await kindOf(key, 'bob'), 'adjusted');
    assert.equal(await posted(), before + 40n);
  } finally {
    await demandTwo(null);
  }
});

test('posts no other difference than the one that the operator saw', async () => {
  const before = await posted();
  const key = await differing(250n);
  await differing(9_000_000n);
  assert.deepEqual(await adjust(key, 'ann', 250n), { kind: 'changed', difference: '90000.00 USD' });
  for (const wrong of ['-90000.00', '90000.01', '90000.001', '9000000', '0', 'none', '']) {
    const order = { breakKey: key, difference: wrong, reason, origin: commandOf('ann') };
    const { kind } = await adjustBreak(service.service.context, service.institutionId, order);
    assert.equal(kind, 'changed', wrong);
  }
  assert.equal(await posted(), before);
  await differing(30n);
  assert.equal(await kindOf(key, 'ann', 30n), 'adjusted');
  assert.equal(await posted(), before + 30n);
});

test('posts the amount that two persons agreed on, and no other', async () => {
  await demandTwo('100000');
  try {
    const before = await posted();
    const key = await differing(250n);
    assert.equal(await kindOf(key, 'ann'), 'proposed');
    await differing(9_000_000n);
    assert.equal(await kindOf(key, 'bob', 250n), 'changed');
    assert.equal(await kindOf(key, 'bob', 9_000_000n), 'proposed', 'nobody else has agreed to this amount');
    assert.equal(await posted(), before);
    assert.equal(await kindOf(key, 'bob', 9_000_000n), 'proposed', 'nor has the same person a second time');
    assert.deepEqual(
      await Promise.all([kindOf(key, 'ann'), kindOf(key, 'cid')]).then((kinds) => kinds.toSorted()),
      ['adjusted', 'closed'],
    );
    assert.equal(await posted(), before + 9_000_000n);
    const entries = await service.db.superuser(
      `select action, after_change->>'amountMinor' as amount, after_change->>'accountId' as account from audit_entries
       where subject = $1 and action like 'core.adjustment%' order by audit_key`,
      [String(key)],
    );
    assert.deepEqual(entries, [
      { action: 'core.adjustment_proposed', amount: '250', account },
      { action: 'core.adjustment_proposed', amount: '9000000', account },
      { action: 'core.adjustment_proposed', amount: '9000000', account },
      { action: 'core.adjustment_confirmed', amount: '9000000', account },
    ]);
  } finally {
    await demandTwo(null);
  }
});

test('the database refuses an adjustment without its posting, and without the second person', async () => {
  const key = await differing(60n);
  const close = (by: string, seq: string) =>
    service.db.superuser(
      `update core_breaks set closed_at = now(), closed_by = '${by}', adjusted_seq = ${seq} where break_key = ${key}`,
    );
  await assert.rejects(close('ADJUSTED', 'null'), { constraint: 'core_breaks_adjusted' });
  await assert.rejects(close('ADJUSTED', '1'), { code: 'SD081' });
  await assert.rejects(close('AGREED', '1'), { code: 'SD081' });
  // The use case without its question for consent.
  const post = (amountMinor: bigint, first = async (_: Transaction): Promise<unknown> => undefined) =>
    service.db.database.transaction(service.institutionId, async (tx) => {
      await first(tx);
      const other = 'internal:core-adjustment:USD';
      const book = await Book.lock(tx, [account, other]);
      const [postingKey] = await takePostingKeys(tx, 1);
      const sides = { debitAccountId: other, creditAccountId: account };
      book.record({ kind: 'ADJUSTMENT', postingKey: postingKey as bigint, ...sides, amountMinor });
      const { seq } = book.require(account);
      const at = await book.write(new Date());
      await closeAdjusted(tx, key, { at, seq });
    });
  await assert.rejects(post(59n), { code: 'SD081' });
  await demandTwo('100000');
  try {
    await assert.rejects(post(60n), { code: 'SD082' });
    // A second person's word on another account, currency or amount, or on none.
    const confirmed = (money: string) =>
      service.db.superuser(
        `insert into proposals (institution_id, kind, subject, account_id, currency, amount, proposed_by, proposed_at, expires_at)
         values (${service.institutionId}, 'ADJUSTMENT', '${key}', ${money}, 'ann', now(), now() + interval '1 hour')`,
      );
    const wordThenPost = (tx: Transaction) =>
      tx.query(
        sql(
          'test_confirm_all',
          `update proposals set confirmed_by = 'bob', confirmed_at = now()
           where institution_id = $1 and kind = 'ADJUSTMENT' and subject = $2 and confirmed_at is null`,
        ),
        [service.institutionId, String(key)],
      );
    for (const money of [
      `'${account}', 'USD', 59`,
      `'${account}', 'USD', -60`,
      `'${account}', 'EUR', 60`,
      `'a-1001-savings', 'USD', 60`,
      'null, null, null',
    ]) {
      await confirmed(money);
      await assert.rejects(post(60n, wordThenPost), { code: 'SD082' }, money);
    }
    for (const money of [`'${account}', null, 60`, `'${account}', 'USD', 0`]) {
      await assert.rejects(confirmed(money), { code: '23514' }, money);
    }
  } finally {
    await demandTwo(null);
  }
  assert.equal(await kindOf(key), 'adjusted');
});

test('a member sees the adjustment in the history of the account', async () => {
  assert.equal(await kindOf(await differing(1234n)), 'adjusted');
  const member = await memberOf(service, 'demo.member', 'demo-member-password');
  const [newest] = (await member.get(`${paths.accounts}/${account}/transactions`)).body;
  assert.deepEqual([newest.type, newest.amount.amount], ['CREDIT_ADJUSTMENT', 12.34]);
});
