import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { commandsOn } from '../support/commands.ts';
import { assertInContract } from '../support/contract.ts';
import { asNdjson, purchase, readNdjson } from '../support/core.ts';
import { aConnector, type Connector, setCorePolicy, startCoreService } from '../support/core-instructions.ts';
import { clientOf, type DemoCaller, paths } from '../support/demo.ts';

/* The differences between both books: a comparison names each, and each closes itself. */

const door = '/digitalbanking/core/v1';
let service: Awaited<ReturnType<typeof startCoreService>>;
let bank: DemoCaller;
let core: Connector;
before(async () => {
  service = await startCoreService();
  bank = await clientOf(service);
  core = await aConnector(service, 'lakeside-core');
  await core.post(`${door}/heartbeat`, {});
});
after(() => service.close());

/** The balances here, as a line each. */
async function balances(): Promise<
  Map<string, { accountId: string; balance: number; currencyCode: string }>
> {
  const rows = await service.db.superuser<{ id: string; posted: string; currency: string }>(
    `select account_id as id, posted::text, currency from balances
     where institution_id = ${service.institutionId} and account_id not like 'internal:%'`,
  );
  return new Map(
    rows.map(({ id, posted, currency }) => [
      id,
      { accountId: id, balance: Number(posted) / (currency === 'JPY' ? 1 : 100), currencyCode: currency },
    ]),
  );
}

async function send(lines: readonly object[] | string, query: Record<string, string> = {}) {
  const asOf = query.asOf ?? new Date().toISOString();
  const response = await fetch(
    `${service.address}${door}/balances?${new URLSearchParams({ ...query, asOf })}`,
    {
      method: 'POST',
      headers: { authorization: `Bearer ${core.token}`, 'content-type': 'application/x-ndjson' },
      body: typeof lines === 'string' ? lines : asNdjson(lines),
    },
  );
  const text = await response.text();
  const { status, headers } = response;
  assertInContract({ method: 'POST', path: `${door}/balances`, status, headers, text });
  if (status !== 200) throw new Error(`${status} ${text}`);
  return readNdjson(text);
}
const compare = async (...given: Parameters<typeof send>) => {
  const answer = (await send(...given)).at(-1);
  assert.ok(answer?.summary, JSON.stringify(answer));
  return answer.summary;
};
const deliver = async (...lines: object[]) => {
  const response = await fetch(`${service.address}${door}/transactions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${core.token}`, 'content-type': 'application/x-ndjson' },
    body: asNdjson(lines),
  });
  return readNdjson(await response.text());
};
// biome-ignore lint/suspicious/noExplicitAny: the contract has checked their shape
const breaks = async (query = ''): Promise<any[]> => (await core.get(`${door}/breaks${query}`)).body;
const storyOf = async (id: string): Promise<string[]> =>
  (await core.get(`${door}/breaks/${id}`)).body.story.map(({ note }: { note: string }) => note);
const just = () => new Date().toISOString();

/** Waits until the service has followed up. */
async function until(isDone: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 100; tries += 1) {
    if (await isDone()) return;
    await sleep(100);
  }
  assert.fail('did not happen in ten seconds');
}

describe('a comparison of balances', () => {
  test('opens nothing while both books agree', async () => {
    const summary = await compare([...(await balances()).values()], { complete: 'true' });
    assert.deepEqual([summary.differing, summary.inFlight, summary.opened, summary.refused], [0, 0, 0, 0]);
    assert.ok((summary.accounts ?? 0) > 10);
  });

  test('names an amount once, changes it with a later file, and closes it when the balances agree', async () => {
    const all = await balances();
    const line = all.get('a-1001-checking');
    assert.ok(line);
    const asOf = just();
    const differs = [{ ...line, balance: line.balance + 5 }];
    assert.equal((await compare(differs, { asOf })).opened, 1);
    const again = await compare(differs, { asOf });
    assert.deepEqual([again.opened, again.changed, again.closed], [0, 0, 0]);
    const [one, ...others] = await breaks();
    assert.equal(others.length, 0);
    assert.deepEqual([one.class, one.accountId, one.difference], ['AMOUNT', 'a-1001-checking', 5]);
    assert.equal((await storyOf(one.breakId)).length, 1);

    const later = await compare([{ ...line, balance: line.balance + 7 }]);
    assert.deepEqual([later.opened, later.changed], [0, 1]);
    assert.equal((await breaks())[0].difference, 7);
    // Other accounts say nothing about this one.
    assert.equal((await compare([...all.values()].filter((other) => other !== line))).closed, 0);
    assert.equal((await compare([line])).closed, 1);
    assert.deepEqual(await breaks(), []);
    const { body } = await core.get(`${door}/breaks/${one.breakId}`);
    assert.equal(body.closedBy, 'AGREED');
    const refused = await core.patch(`${door}/breaks/${one.breakId}`, { owner: 'Ines Varga' });
    assert.equal(refused.status, 400);
  });

  test('takes a difference as missing here until the posting arrives, and closes it then', async () => {
    const line = (await balances()).get('a-1003-checking');
    assert.ok(line);
    const asOf = just();
    await compare([{ ...line, balance: line.balance - 12.34 }], { asOf });
    const [one] = await breaks();
    assert.equal(one.difference, -12.34);
    await deliver(
      purchase('late-1', {
        accountId: 'a-1003-checking',
        postedAt: new Date(Date.now() - 60_000).toISOString(),
      }),
    );
    await until(async () => (await breaks()).length === 0);
    assert.equal((await core.get(`${door}/breaks/${one.breakId}`)).body.closedBy, 'ARRIVED');
  });

  test('closes a break that stands behind a thousand open ones', async () => {
    const line = (await balances()).get('a-1003-checking');
    assert.ok(line);
    await service.db.superuser(
      `insert into core_breaks (institution_id, class, subject, account_id, account_key, account_seq, currency, difference, as_of, opened_at)
       select $1, 'AMOUNT', 'account:many-' || n, 'many-' || n, 9000000 + n, 0, 'USD', 7, now(), now() from generate_series(1, 1001) n`,
      [service.institutionId],
    );
    const asOf = just();
    await compare([{ ...line, balance: line.balance - 5.55 }], { asOf });
    const subject = `select closed_by from core_breaks where subject = 'account:a-1003-checking' and difference = -555`;
    assert.deepEqual(await service.db.superuser(subject), [{ closed_by: null }]);
    const postedAt = new Date(Date.now() - 60_000).toISOString();
    await deliver(purchase('late-behind', { accountId: 'a-1003-checking', amount: -5.55, postedAt }));
    await until(
      async () =>
        (await service.db.superuser<{ closed_by: string | null }>(subject))[0]?.closed_by === 'ARRIVED',
    );
    await service.db.superuser(
      `delete from core_breaks where institution_id = $1 and account_id like 'many-%'`,
      [service.institutionId],
    );
  });

  test('leaves out what the core posted after the moment, and says so when the core has left it in', async () => {
    const line = (await balances()).get('a-1003-savings');
    assert.ok(line);
    const asOf = just();
    await sleep(5);
    await deliver(purchase('after-1', { accountId: 'a-1003-savings', postedAt: just() }));
    assert.equal((await compare([line], { asOf })).differing, 0);
    await compare([{ ...line, balance: line.balance - 12.34 }], { asOf });
    const [one] = await breaks('?class=TIMING');
    assert.equal(one.accountId, 'a-1003-savings');
    assert.equal((await compare([line], { asOf })).closed, 1);
  });

  test('names two postings that look alike when one of them is the difference', async () => {
    const line = (await balances()).get('a-1005-checking');
    assert.ok(line);
    const twin = {
      accountId: 'a-1005-checking',
      postedAt: new Date(Date.now() - 60_000).toISOString(),
      amount: -8,
    };
    await deliver(purchase('twin-1', twin), purchase('twin-2', twin));
    await compare([{ ...line, balance: line.balance - 8 }]);
    const [one] = await breaks('?class=DUPLICATE');
    assert.equal(one.transactionId, 'twin-2');
    assert.match((await storyOf(one.breakId)).join(), /twin-1 and twin-2/);
    assert.equal((await compare([{ ...line, balance: line.balance - 16 }])).closed, 1);
  });

  test('names the postings that only the list of the core has, or only this service', async () => {
    const all = await balances();
    const line = all.get('a-1003-checking');
    assert.ok(line);
    const since = new Date(Date.now() - 30_000).toISOString();
    const ours = { accountId: 'a-1003-checking', postedAt: just(), amount: -3, description: 'Only here' };
    await deliver(purchase('only-here', ours));
    const asOf = just();
    await compare(
      [
        { ...line, balance: line.balance - 2 },
        { transactionId: 'only-there', accountId: 'a-1003-checking', amount: -2, currencyCode: 'USD' },
      ],
      { asOf, since },
    );
    const found = await breaks();
    const classes = found
      .filter(({ accountId }) => accountId === 'a-1003-checking')
      .map(({ class: one, transactionId }) => `${one} ${transactionId}`);
    assert.deepEqual(classes.toSorted(), ['MISSING_HERE only-there', 'MISSING_THERE only-here']);
    await deliver(purchase('only-there', { ...ours, amount: -2, description: 'Only there' }));
    await until(async () => (await breaks('?class=MISSING_HERE')).length === 0);
    assert.ok((await compare([...(await balances()).values()], { complete: 'true' })).closed);
    assert.deepEqual(await breaks(), []);
  });

  test('names accounts that only one of the two has', async () => {
    const all = [...(await balances()).values()];
    const unknown = { accountId: 'a-unknown', balance: 3, currencyCode: 'USD' };
    const others = all.filter(({ accountId }) => accountId !== 'a-1001-savings');
    assert.equal((await compare([...others, unknown], { complete: 'true' })).opened, 2);
    const found = (await breaks()).map(({ class: one, accountId }) => `${one} ${accountId}`);
    assert.deepEqual(found.toSorted(), ['MISSING_THERE a-1001-savings', 'UNKNOWN_ACCOUNT a-unknown']);
    assert.equal((await compare(all, { complete: 'true' })).closed, 2);
  });

  test('refuses wrong lines by their number, moments of the past and the future, and a file of other signs', async () => {
    const [line] = [...(await balances()).values()];
    const answers = await send([
      line as object,
      line as object,
      { accountId: 'x' },
      { ...line, balance: 'much' },
      { transactionId: 'p-1', accountId: 'x', amount: 0, currencyCode: 'USD' },
    ]);
    assert.deepEqual(
      answers.map(({ line: at, code }) => [at, code]),
      [
        [2, 'line_repeated'],
        [3, 'invalid_line'],
        [4, 'invalid_line'],
        [5, 'invalid_line'],
        [undefined, undefined],
      ],
    );
    await assert.rejects(send([], { asOf: new Date(Date.now() + 60_000).toISOString() }), /future/);
    await assert.rejects(send([], { asOf: '2026-01-01T00:00:00Z' }), /older ones are not/);
    const staged = await service.db.superuser('select from staged_core_balances');
    assert.equal(staged.length, 0);
    const many = Array.from({ length: 10_001 }, (_, number) => ({
      accountId: `unknown-${number}`,
      balance: 1,
      currencyCode: 'USD',
    }));
    assert.equal((await send(many)).at(-1)?.code, 'too_many_differences');
    assert.deepEqual(await breaks(), []);
  });
});

describe('instructions under way', () => {
  const [source, destination] = ['a-1001-checking', 'a-1001-savings'];
  const order = async (id: string, amount: number) => {
    const answer = await bank.post(
      paths.transfers,
      { id, fromAccountId: source, toAccountId: destination, amount },
      { prefer: 'wait=0' },
    );
    assert.equal(answer.status, 201, answer.text);
  };

  test('instructions under way are no break, whether or not the core has carried out what it has fetched', async () => {
    await setCorePolicy(service, { mode: 'WAIT' });
    const line = (await balances()).get(source);
    assert.ok(line);
    await order('flight-1', 7);
    // Not fetched: the core cannot have moved it.
    assert.equal((await compare([{ ...line, balance: line.balance - 7 }])).differing, 1);
    assert.equal((await compare([line])).closed, 1);
    await core.take();
    for (const balance of [line.balance, line.balance - 7]) {
      const { differing, opened } = await compare([{ ...line, balance }]);
      assert.deepEqual([differing, opened], [0, 0]);
    }
    assert.equal((await compare([{ ...line, balance: line.balance - 6 }])).opened, 1);
    await core.accept('flight-1');
    assert.equal((await compare([{ ...line, balance: line.balance - 7 }])).closed, 1);
  });

  test('an instruction is a break when the core has had it for longer than its wait, until it reports the outcome', async () => {
    await setCorePolicy(service, { mode: 'WAIT', waitSeconds: 1 });
    await order('slow-1', 2);
    await core.take();
    await until(async () => (await breaks('?class=TIMING')).length === 1);
    const [one] = await breaks('?class=TIMING');
    assert.equal(one.transferId, 'slow-1');
    await core.accept('slow-1');
    await until(async () => (await breaks('?class=TIMING')).length === 0);
    assert.equal((await core.get(`${door}/breaks/${one.breakId}`)).body.closedBy, 'DECIDED');
  });

  test('an account below its floor is a break when a refusal took back money that was spent', async () => {
    await setCorePolicy(service, { mode: 'MEMO' });
    const whole = (await balances()).get(destination)?.balance ?? 0;
    await order('memo-1', 50);
    const spent = { id: 'spend-1', fromAccountId: destination, toAccountId: source, amount: whole + 40 };
    assert.equal((await bank.post(paths.transfers, spent, { prefer: 'wait=0' })).body.status, 'COMPLETED');
    await core.take();
    await core.reject('memo-1');
    await until(async () => (await breaks('?class=BELOW_FLOOR')).length === 1);
    await core.reject('spend-1');
    await until(async () => (await breaks('?class=BELOW_FLOOR')).length === 0);
  });

  test('an echo with another amount is a break until the right one arrives', async () => {
    await order('echoed-1', 4);
    await core.take();
    await core.accept('echoed-1');
    const echo = (id: string, amount: number) =>
      purchase(id, { accountId: source, kind: 'TRANSFER', amount, transferId: 'echoed-1', postedAt: just() });
    assert.equal((await deliver(echo('echo-wrong', -40)))[0]?.code, 'amount_mismatch');
    await deliver(echo('echo-wrong', -40));
    const [one, ...others] = await breaks('?class=AMOUNT_MISMATCH');
    assert.deepEqual([one.transferId, one.difference, others.length], ['echoed-1', -36, 0]);
    await deliver(echo('echo-right', -4));
    await until(async () => (await breaks('?class=AMOUNT_MISMATCH')).length === 0);
  });

  test('a reversal that the core refuses is a break on both sides', async () => {
    await order('undone-1', 3);
    await core.take();
    await core.accept('undone-1');
    const sharedraft = commandsOn(service.db);
    const undone = await sharedraft('transfer', 'reverse', 'undone-1', '--institution', 'lakeside', '--yes');
    assert.equal(undone.code, 0, undone.stderr);
    const [reversal] = await core.take();
    await core.reject(reversal.id);
    await until(async () => (await breaks('?class=REVERSAL_REJECTED')).length === 2);
    const differences = (await breaks('?class=REVERSAL_REJECTED')).map(({ difference }) => difference);
    assert.deepEqual(
      differences.toSorted((a, b) => a - b),
      [-3, 3],
    );
    const lines = [...(await balances()).values()].map((line) =>
      line.accountId === source
        ? { ...line, balance: line.balance - 3 }
        : line.accountId === destination
          ? { ...line, balance: line.balance + 3 }
          : line,
    );
    // The two breaks are the whole difference.
    assert.equal((await compare(lines, { complete: 'true' })).opened, 0);
    assert.equal((await compare([...(await balances()).values()], { complete: 'true' })).closed, 2);
  });
});

test('keeps an owner and notes with the names of their authors, here and on the command line', async () => {
  const line = (await balances()).get('a-1001-checking');
  assert.ok(line);
  await compare([{ ...line, balance: line.balance + 1 }]);
  const [one] = await breaks('?olderThanSeconds=0&limit=1');
  const path = `${door}/breaks/${one.breakId}`;
  const changed = await core.patch(path, { owner: 'Ines Varga', note: 'Asked the core.' });
  assert.equal(changed.body.owner, 'Ines Varga');
  const [, owned, noted] = changed.body.story;
  assert.deepEqual([owned.author, owned.note], ['lakeside-core', 'The owner is Ines Varga.']);
  assert.equal(noted.note, 'Asked the core.');

  const sharedraft = commandsOn(service.db);
  const lakeside = ['--institution', 'lakeside'];
  assert.match(
    (await sharedraft('core', 'breaks', ...lakeside)).stdout,
    /AMOUNT +a-1001-checking +1\.00 USD/,
  );
  assert.equal((await sharedraft('core', 'note', one.breakId, '--owner', 'Bo Lind', ...lakeside)).code, 0);
  const shown = JSON.parse((await sharedraft('core', 'break', one.breakId, '--json', ...lakeside)).stdout);
  assert.equal(shown.owner, 'Bo Lind');
  assert.equal(shown.story.length, 4);
  await assert.rejects(
    service.db.superuser(`update core_breaks set owner = 'x' where closed_at is not null`),
    { code: 'SD080' },
  );
});
