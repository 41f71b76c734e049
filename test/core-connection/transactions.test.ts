import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import {
  asNdjson,
  type Connector,
  connectorOf,
  purchase,
  readNdjson,
  transactionsPath,
} from '../support/core.ts';
import { startTestService, type TestService } from '../support/service.ts';

let service: TestService;
let core: Connector;
before(async () => {
  service = await startTestService();
  core = await connectorOf(service);
});
after(() => service.close());

const results = (answers: readonly { result?: string; code?: string }[]) =>
  answers.flatMap(({ result, code }) => (result === undefined ? [] : [code ?? result]));

async function balanceOf(accountId: string): Promise<bigint> {
  const [row] = await service.db.superuser<{ posted: bigint }>(
    'select posted from balances join accounts using (institution_id, account_key, account_id) where account_id = $1 and customer_key is not null',
    [accountId],
  );
  return row?.posted ?? 0n;
}

/** The entries of all accounts sum to zero, and each entry of kind CORE has its row in core_transactions. */
async function assertSound(): Promise<void> {
  const [row] = await service.db.superuser<{ total: string; entries: bigint; rows: bigint; apart: bigint }>(
    `select (select coalesce(sum(posted), 0) from balances) as total,
            (select count(*) from entries where kind = 'CORE') as entries,
            (select count(*) from core_transactions where settlement_key is not null) as rows,
            (select count(*) from core_transactions c
             left join entries e using (institution_id, account_key, seq, posting_key, amount)
             where e.seq is null) as apart`,
  );
  assert.equal(row?.total, '0');
  assert.equal(row?.entries, (row?.rows ?? 0n) * 2n);
  assert.equal(row?.apart, 0n);
}

describe('posting a line', () => {
  test('posts a purchase against the settlement account of its kind, and tells of it', async () => {
    const before = await balanceOf('a-1001-checking');
    assert.deepEqual(await core.deliver([purchase('p-1')]), [
      { line: 1, id: 'p-1', result: 'posted' },
      {
        summary: {
          posted: 1,
          already: 0,
          held: 0,
          changed: 0,
          released: 0,
          echo: 0,
          conflict: 0,
          refused: 0,
        },
      },
    ]);
    assert.equal(await balanceOf('a-1001-checking'), before - 1_234n);
    const [settlement] = await service.db.superuser<{ posted: bigint }>(
      `select posted from balances where account_id = 'internal:core-card:USD'`,
    );
    assert.equal(settlement?.posted, 1_234n);
    const events = await service.db.superuser<{ data: object; seq: bigint; newest: bigint }>(
      `select o.data, o.to_seq as seq, b.seq as newest from outbox o
       join balances b on b.institution_id = o.institution_id and b.account_key = o.to_key
       where o.kind = 'account.posted' and o.data ->> 'coreId' = 'p-1'`,
    );
    assert.deepEqual(
      events.map(({ data, seq, newest }) => [data, seq - newest]),
      [[{ coreId: 'p-1', kind: 'CARD', amount: '-12.34' }, 0n]],
    );
    await assertSound();
  });

  test('posts the same id once, however often it is delivered', async () => {
    const before = await balanceOf('a-1001-checking');
    assert.deepEqual(results(await core.deliver([purchase('p-2'), purchase('p-2')])), ['posted', 'already']);
    assert.deepEqual(results(await core.deliver([purchase('p-2', { merchant: 'Corner' })])), ['already']);
    assert.equal(await balanceOf('a-1001-checking'), before - 1_234n);
  });

  test('names the fields in which a used id differs, and posts nothing', async () => {
    await core.deliver([purchase('p-3', { category: 'FOOD' })]);
    const before = await balanceOf('a-1001-checking');
    const answers = await core.deliver([
      purchase('p-3', { amount: -12.35, postedAt: '2026-03-02T14:05:01-05:00' }),
      purchase('p-3', { accountId: 'a-1001-savings', category: 'TRAVEL' }),
    ]);
    assert.deepEqual(results(answers), ['id_reused', 'id_reused']);
    assert.deepEqual(
      answers.map(({ detail }) => detail),
      [
        'The id was used before with another amount, postedAt.',
        'The id was used before with another accountId, category.',
        undefined,
      ],
    );
    assert.equal(await balanceOf('a-1001-checking'), before);
  });

  test('refuses each wrong line by itself, with its number and its reason', async () => {
    const answers = await core.deliver([
      purchase('w-1', { accountId: 'nobody' }),
      purchase('w-2', { currencyCode: 'EUR' }),
      purchase('w-3', { accountId: 'internal:suspense:USD' }),
      purchase('w-4', { amount: 0 }),
      purchase('w-5', { amount: 1.234 }),
      purchase('w-6', { postedAt: '2999-01-01T00:00:00Z' }),
      purchase('w-7', { postedAt: '2026-03-02' }),
      purchase('w-8', { effectiveDate: '1850-01-01' }),
      purchase('w-9', { kind: 'BARTER' }),
      purchase('w-10', { description: 'a\u202eb' }),
      purchase('w 11'),
      purchase('w-12', { surprise: true }),
      purchase('w-13', { amount: '-7.50' }),
    ]);
    assert.deepEqual(results(answers), [
      'account_not_found',
      'currency_mismatch',
      'account_not_found',
      'invalid_line',
      'invalid_line',
      'date_out_of_range',
      'invalid_line',
      'date_out_of_range',
      'invalid_line',
      'invalid_line',
      'invalid_line',
      'invalid_line',
      'posted',
    ]);
    assert.deepEqual(
      answers.map(({ line }) => line),
      [...Array(13).keys()].map((index) => index + 1).concat([undefined as never]),
    );
    await assertSound();
    const [foreign] = await service.db.superuser(
      `select from accounts where account_id = 'internal:core-card:EUR'`,
    );
    assert.equal(foreign, undefined);
  });

  test("does not find another institution's account", async () => {
    assert.deepEqual(results(await core.deliver([purchase('f-1', { accountId: 'h-2001-checking' })])), [
      'account_not_found',
    ]);
  });

  test('keeps an amount that no float can hold', async () => {
    const before = await balanceOf('a-1001-savings');
    const line = `{"id":"big-1","accountId":"a-1001-savings","amount":9007199254740.99,"currencyCode":"USD","kind":"WIRE","postedAt":"2026-03-02T14:05:00Z","description":"Wire"}`;
    assert.deepEqual(
      results(
        await core.deliver(`${line}\n${line.replace('big-1', 'big-2').replace('"amount":', '"amount":-')}`),
      ),
      ['posted', 'posted'],
    );
    assert.equal(await balanceOf('a-1001-savings'), before);
    const [row] = await service.db.superuser<{ amount: bigint }>(
      `select amount from core_transactions where core_id = 'big-1'`,
    );
    assert.equal(row?.amount, 900_719_925_474_099n);
  });

  test('takes a line for the day of its posting in the zone of the institution', async () => {
    await core.deliver([purchase('day-1', { postedAt: '2026-03-03T03:30:00Z' })]);
    const [row] = await service.db.superuser<{ day: string }>(
      `select effective_date::text as day from core_transactions where core_id = 'day-1'`,
    );
    assert.equal(row?.day, '2026-03-02');
  });

  test('writes no event for a historic line', async () => {
    assert.deepEqual(results(await core.deliver([purchase('hist-1', { historic: true })])), ['posted']);
    assert.deepEqual(await service.db.superuser(`select from outbox where data ->> 'coreId' = 'hist-1'`), []);
  });

  test('audits each delivery that changes something, at its first batch and at its end', async () => {
    await core.deliver([purchase('aud-1')], { transactionId: 'delivery-of-the-audit' });
    await core.deliver([purchase('aud-1')], { transactionId: 'delivery-of-the-audit' });
    const entries = await service.db.superuser<{ action: string; posted: string | null }>(
      `select action, after_change ->> 'posted' as posted from audit_entries
       where transaction_id = 'delivery-of-the-audit' order by audit_key`,
    );
    assert.deepEqual(
      entries.map(({ action, posted }) => [action, posted]),
      [
        ['core.transactions_begun', null],
        ['core.transactions_taken', '1'],
      ],
    );
  });
});

describe('forms of a delivery', () => {
  test('takes one JSON document', async () => {
    const answers = await core.deliver(JSON.stringify(purchase('doc-1'), null, 2), {
      'content-type': 'application/json',
    });
    assert.deepEqual(results(answers), ['posted']);
  });

  test('takes gzip', async () => {
    const bytes = gzipSync(asNdjson([purchase('gz-1'), purchase('gz-2')]));
    assert.deepEqual(results(await core.deliver(bytes, { 'content-encoding': 'gzip' })), [
      'posted',
      'posted',
    ]);
  });

  test('keeps the lines before the end of a truncated gzip, and says where it ended', async () => {
    const lines = Array.from({ length: 2_000 }, (_, n) =>
      purchase(`cut-${n}`, { description: `No. ${Math.random()}` }),
    );
    const bytes = gzipSync(asNdjson(lines));
    const answers = await core.deliver(bytes.subarray(0, Math.floor(bytes.length / 2)), {
      'content-encoding': 'gzip',
    });
    const posted = results(answers).filter((result) => result === 'posted').length;
    assert.ok(posted > 0 && posted < 2_000);
    assert.deepEqual([answers.at(-1)?.code, answers.at(-1)?.line], ['truncated', posted + 1]);
    assert.deepEqual(
      results(await core.deliver(gzipSync(asNdjson(lines)), { 'content-encoding': 'gzip' })).slice(0, posted),
      Array(posted).fill('already'),
    );
    await assertSound();
  });

  test('ignores empty lines and carriage returns, and takes a last line without its end', async () => {
    const text = `\uFEFF${JSON.stringify(purchase('crlf-1'))}\r\n\r\n${JSON.stringify(purchase('crlf-2'))}`;
    assert.deepEqual(
      (await core.deliver(text)).map(({ line, result }) => [line, result]),
      [
        [1, 'posted'],
        [3, 'posted'],
        [undefined, undefined],
      ],
    );
  });

  test('refuses a line of a megabyte and one that is not UTF-8, and takes the lines around them', async () => {
    const bytes = Buffer.concat([
      Buffer.from(asNdjson([purchase('around-1')])),
      Buffer.from(asNdjson([purchase('long-1', { merchant: 'm'.repeat(1_000_000) })])),
      Buffer.from(asNdjson([purchase('around-2')])),
      Buffer.from([0x7b, 0xff, 0xfe, 0x0a]),
      Buffer.from('{"id":\n[1]\n'),
      Buffer.from(asNdjson([purchase('around-3')])),
    ]);
    assert.deepEqual(results(await core.deliver(bytes)), [
      'posted',
      'line_too_long',
      'posted',
      'invalid_line',
      'invalid_line',
      'invalid_line',
      'posted',
    ]);
  });

  test('a gzip bomb takes bounded memory and is refused', async () => {
    const bomb = gzipSync(Buffer.alloc(200_000_000, 0x20), { level: 9 });
    const before = process.memoryUsage.rss();
    const answers = await core.deliver(Buffer.concat([bomb]), { 'content-encoding': 'gzip' });
    assert.deepEqual(results(answers), ['line_too_long']);
    assert.ok(process.memoryUsage.rss() - before < 150_000_000);
  });

  test('refuses other encodings of the body', async () => {
    await assert.rejects(core.deliver([purchase('enc-1')], { 'content-encoding': 'br' }), /415/);
    await assert.rejects(
      core.deliver([purchase('enc-1')], { 'content-type': 'application/x-ndjson; charset=latin1' }),
      /415/,
    );
  });

  test('answers only refused lines if asked to', async () => {
    const response = await fetch(`${service.address}${transactionsPath}?answers=refused`, {
      method: 'POST',
      headers: { authorization: `Bearer ${core.token}`, 'content-type': 'application/x-ndjson' },
      body: asNdjson([purchase('few-1'), purchase('few-2', { accountId: 'nobody' })]),
    });
    const answers = readNdjson(await response.text());
    assert.deepEqual(results(answers), ['account_not_found']);
    assert.equal(answers.at(-1)?.summary?.posted, 1);
  });
});
