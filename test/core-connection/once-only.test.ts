import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { reconcile } from '../../src/reconciliation/index.ts';
import { runCli } from '../support/cli.ts';
import {
  asNdjson,
  type Connector,
  connectorOf,
  purchase,
  readNdjson,
  transactionsPath,
} from '../support/core.ts';
import { addressOf, launch } from '../support/processes.ts';
import { mulberry32 } from '../support/random.ts';
import { testSecretKey } from '../support/secret-key.ts';
import { startTestService, type TestService } from '../support/service.ts';

let service: TestService;
let other: TestService;
let core: Connector;
before(async () => {
  const environment = { REQUEST_TIMEOUT_SECONDS: '1' };
  service = await startTestService({ environment });
  other = await startTestService({ environment, beside: service });
  core = await connectorOf(service);
});
after(async () => {
  await other.close();
  await service.close();
});

const accounts = [
  'a-1001-checking',
  'a-1001-savings',
  'a-1002-checking',
  'a-1002-savings',
  'a-1003-checking',
];

async function deliverTo(address: string, lines: readonly object[]) {
  const response = await fetch(`${address}${transactionsPath}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${core.token}`, 'content-type': 'application/x-ndjson' },
    body: asNdjson(lines),
  });
  return readNdjson(await response.text());
}

async function balances(): Promise<Map<string, bigint>> {
  const rows = await service.db.superuser<{ id: string; posted: bigint }>(
    `select account_id as id, posted from balances join institutions using (institution_id)
     where code = 'lakeside' and account_id = any ($1)`,
    [accounts],
  );
  return new Map(rows.map(({ id, posted }) => [id, posted]));
}

async function assertReconciled(): Promise<void> {
  const findings: object[] = [];
  const rows = await service.db.superuser<{ id: number }>('select institution_id as id from institutions');
  for (const { id } of rows) {
    await reconcile(service.db.database, id as never, { onFinding: (finding) => findings.push(finding) });
  }
  assert.deepEqual(findings, []);
}

async function postedOnce(prefix: string): Promise<number> {
  const [row] = await service.db.superuser<{ rows: bigint }>(
    'select count(*) as rows from core_transactions where core_id like $1',
    [`${prefix}%`],
  );
  return Number(row?.rows);
}

/** A request whose body the test writes piece by piece. */
function openStream(address: string) {
  const request = http.request(`${address}${transactionsPath}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${core.token}`, 'content-type': 'application/x-ndjson' },
  });
  request.on('error', () => {});
  let text = '';
  const ended = new Promise<void>((resolve) => {
    request.on('close', resolve);
    request.on('response', (response) => {
      response.on('data', (chunk) => {
        text += chunk;
      });
      response.on('error', () => {});
      response.on('close', resolve);
    });
  });
  return {
    request,
    ended,
    answers: () => readNdjson(text.slice(0, text.lastIndexOf('\n') + 1)),
    /** Waits for so many answers. */
    async answered(count: number) {
      for (let tries = 0; readNdjson(text.slice(0, text.lastIndexOf('\n') + 1)).length < count; tries += 1) {
        if (tries > 500) throw new Error(`no ${count} answers: ${text}`);
        await sleep(20);
      }
    },
  };
}

describe('the same transactions at once', () => {
  test('two processes and a file post each of them once', async () => {
    const lines = Array.from({ length: 700 }, (_, n) =>
      purchase(`twice-${n}`, { accountId: accounts[n % 5], amount: -1 }),
    );
    const folder = await mkdtemp(path.join(os.tmpdir(), 'sharedraft-once-'));
    const file = path.join(folder, 'transactions.csv');
    const rows = lines.map((line) => {
      const { id, accountId, amount, currencyCode, kind, postedAt, description } = line as Record<
        string,
        unknown
      >;
      return [id, accountId, amount, currencyCode, kind, postedAt, description].join(',');
    });
    await writeFile(
      file,
      `id,account_id,amount,currency_code,kind,posted_at,description\n${rows.join('\n')}\n`,
    );
    const before = await balances();
    const [one, two, imported] = await Promise.all([
      deliverTo(service.address, lines),
      deliverTo(other.address, lines.toReversed()),
      runCli(service.db, ['import', file, '--institution', 'lakeside']),
    ]);
    await rm(folder, { recursive: true });
    assert.equal(imported.code, 0, imported.stderr);
    for (const answers of [one, two]) {
      assert.deepEqual(
        [...new Set(answers.map(({ result }) => result))].filter(
          (result) => !['posted', 'already', undefined].includes(result),
        ),
        [],
      );
    }
    assert.equal(await postedOnce('twice-'), 700);
    for (const [id, posted] of await balances()) assert.equal(posted, (before.get(id) ?? 0n) - 140n * 100n);
    await assertReconciled();
  });

  test('random lines in any order, repeated and from two processes, leave the sum of the distinct ones', async () => {
    for (const seed of [11, 12]) {
      const random = mulberry32(seed);
      const distinct = Array.from({ length: 120 }, (_, n) => ({
        id: `any-${seed}-${n}`,
        accountId: accounts[random(5)] as string,
        cents: (random(2) === 0 ? -1 : 1) * (1 + random(100_000)),
        authorization: random(4) === 0 ? `any-auth-${seed}-${n}` : undefined,
      }));
      const lines = distinct.flatMap(({ id, accountId, cents, authorization }) => {
        const posting = purchase(id, {
          accountId,
          amount: cents / 100,
          ...(authorization !== undefined && { authorizationId: authorization }),
        });
        const announced =
          authorization && purchase(authorization, { accountId, status: 'AUTHORIZED', amount: -20 });
        return [posting, ...(random(3) === 0 ? [posting] : []), ...(announced ? [announced] : [])];
      });
      const shuffled = () =>
        lines
          .map((line) => ({ line, at: random(1_000_000) }))
          .toSorted((a, b) => a.at - b.at)
          .map(({ line }) => line);
      const before = await balances();
      const answers = await Promise.all([
        deliverTo(service.address, shuffled()),
        deliverTo(other.address, shuffled()),
        deliverTo(service.address, shuffled()),
      ]);
      for (const last of answers)
        assert.ok(last.at(-1)?.summary, `seed ${seed}: ${JSON.stringify(last.at(-1))}`);
      const posted = answers.flat().filter(({ result }) => result === 'posted').length;
      assert.equal(posted, 120, `seed ${seed}`);
      for (const [id, after] of await balances()) {
        const sum = distinct
          .filter(({ accountId }) => accountId === id)
          .reduce((total, { cents }) => total + cents, 0);
        assert.equal(after, (before.get(id) ?? 0n) + BigInt(sum), `seed ${seed}, ${id}`);
      }
      const [held] = await service.db.superuser<{ held: string }>(
        `select coalesce(sum(debits_pending), 0) as held from balances join institutions using (institution_id)
         where code = 'lakeside' and account_id = any ($1)`,
        [accounts],
      );
      assert.equal(
        held?.held,
        '0',
        `seed ${seed}: every authorization was settled, in whatever order it came`,
      );
      await assertReconciled();
    }
  });
});

describe('a delivery that is cut', () => {
  test('is completed by sending it again after the service was killed with -9 in the middle of it', async () => {
    const lines = Array.from({ length: 3_000 }, (_, n) =>
      purchase(`kill-${n}`, { accountId: accounts[n % 5], amount: -1 }),
    );
    const before = await balances();
    const launched = launch([process.execPath, 'src/main.ts'], {
      DATABASE_URL: service.db.url,
      SECRET_KEY: testSecretKey,
      ALLOW_DEMO_ANYWHERE: 'true',
    });
    const stream = openStream(await addressOf(launched));
    stream.request.end(asNdjson(lines));
    await stream.answered(500);
    process.kill(launched.child.pid as number, 'SIGKILL');
    await stream.ended;
    const answered = stream.answers().filter(({ result }) => result === 'posted');
    assert.ok(answered.length >= 500);
    assert.ok((await postedOnce('kill-')) >= answered.length, 'a line that was answered stands');
    assert.ok((await postedOnce('kill-')) < 3_000, 'the service was killed in the middle');
    const again = await deliverTo(service.address, lines);
    assert.equal(again.at(-1)?.summary?.refused, 0);
    assert.equal(await postedOnce('kill-'), 3_000);
    for (const [id, posted] of await balances()) assert.equal(posted, (before.get(id) ?? 0n) - 600n * 100n);
    await assertReconciled();
  });

  test('ends with the batch in which its token is no longer active', async () => {
    const own = await connectorOf(service, 'harbor');
    const stream = openStream(service.address);
    stream.request.setHeader('authorization', `Bearer ${own.token}`);
    const line = (id: string) => asNdjson([purchase(id, { accountId: 'nobody' })]);
    stream.request.write(line('ended-1'));
    await stream.answered(1);
    await service.db.superuser(`update clients set active = false where client_id = 'core-of-harbor'`);
    stream.request.write(line('ended-2'));
    await stream.ended;
    assert.deepEqual(
      stream.answers().map(({ line: number, code }) => [number, code]),
      [
        [1, 'account_not_found'],
        [2, 'invalid_token'],
      ],
    );
  });

  test('ends if a line takes longer than a request may, and stays open between lines', async () => {
    const stream = openStream(service.address);
    stream.request.write(asNdjson([purchase('slow-1')]));
    await stream.answered(1);
    await sleep(1_500);
    stream.request.write(asNdjson([purchase('slow-2')]));
    await stream.answered(2);
    const drip = setInterval(() => stream.request.write('{'), 100);
    await stream.ended;
    clearInterval(drip);
    assert.deepEqual(
      stream.answers().map(({ line, result, code }) => [line, code ?? result]),
      [
        [1, 'posted'],
        [2, 'posted'],
        [3, 'request_timeout'],
      ],
    );
  });

  test('is read no further than its answers are read', async () => {
    const stream = http.request(`${service.address}${transactionsPath}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${core.token}`, 'content-type': 'application/x-ndjson' },
    });
    stream.on('error', () => {});
    // Nothing reads the response.
    stream.on('response', (response) => response.pause());
    const text = '{"id":"unread"}\n'.repeat(4_000);
    let sent = 0;
    while (sent < 80_000_000 && stream.write(text)) sent += text.length;
    for (let stalls = 0; stalls < 5 && sent < 80_000_000; ) {
      const drained = await Promise.race([
        new Promise((resolve) => stream.once('drain', () => resolve(true))),
        sleep(2_000).then(() => false),
      ]);
      if (drained === false) break;
      while (sent < 80_000_000 && stream.write(text)) sent += text.length;
    }
    assert.ok(sent < 80_000_000, 'the service stops reading');
    stream.destroy();
    assert.equal((await core.deliver([purchase('after-unread')]))[0]?.result, 'posted');
  });
});
