import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { closeAdjusted } from '../../src/core-connection/breaks/break-queries.ts';
import { adjustBreak } from '../../src/core-connection/index.ts';
import { Book, takePostingKeys } from '../../src/ledger/index.ts';
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

const adjust = (breakKey: bigint, user = 'ann') =>
  adjustBreak(service.service.context, service.institutionId, { breakKey, reason, origin: commandOf(user) });
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
  const post = (amountMinor: bigint) =>
    service.db.database.transaction(service.institutionId, async (tx) => {
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
