import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  appendEvents,
  beginEpoch,
  beginEpochsOfTimeline,
  type NewEvent,
  ownOrigin,
} from '../../../src/events/index.ts';
import { findInstitutionByCode } from '../../../src/institutions/index.ts';
import type { InstitutionId, Transaction } from '../../../src/storage/index.ts';
import { Client } from '../../support/client.ts';
import { type Answer, clientOf, type DemoCaller, memberOf, paths } from '../../support/demo.ts';
import { sendRaw } from '../../support/raw-http.ts';
import { startTestService, type TestService } from '../../support/service.ts';

let service: TestService;
let app: DemoCaller;
let harbor: DemoCaller;
let member: DemoCaller;
let lakesideId: InstitutionId;
let harborId: InstitutionId;

before(async () => {
  service = await startTestService();
  [app, harbor, member] = await Promise.all([
    clientOf(service),
    clientOf(service, ['harbor-app', 'harbor-app-secret']),
    memberOf(service, 'demo.member', 'demo-member-password'),
  ]);
  const idOf = (code: string) =>
    service.service.context.database.directory(async (db) => {
      const institution = await findInstitutionByCode(db, code);
      return institution?.institutionId as InstitutionId;
    });
  [lakesideId, harborId] = await Promise.all([idOf('lakeside'), idOf('harbor')]);
});
after(() => service.close());

const feed = '/digitalbanking/db-events/v1/events';
// biome-ignore lint/suspicious/noExplicitAny: documents whose shape the contract has just checked
type Event = any;

/** The link of each response. */
function nextOf(answer: Answer): string {
  const [, path] =
    /^<http:\/\/sharedraft\.test(.*)>; rel="next"$/.exec(answer.headers.get('link') ?? '') ?? [];
  assert.ok(path, 'an answer without a next position');
  return path;
}

/** Continues through the links only. */
class Reader {
  readonly seen: Event[] = [];
  readonly #caller: DemoCaller;
  next: string;

  constructor(caller: DemoCaller, limit = 200) {
    this.#caller = caller;
    this.next = `${feed}?limit=${limit}`;
  }

  /** Reads one page; returns its number of events. */
  async page(): Promise<number> {
    const answer = await this.#caller.get(this.next);
    assert.equal(answer.status, 200, answer.text);
    this.seen.push(...answer.body);
    this.next = nextOf(answer);
    return answer.body.length;
  }

  /** Waits until an event of this test is visible: another transaction may delay the feed. */
  async until(wanted: (event: Event) => boolean): Promise<Event> {
    for (const deadline = performance.now() + 60_000; performance.now() < deadline; ) {
      const found = this.seen.find(wanted);
      if (found !== undefined) return found;
      if ((await this.page()) === 0) await sleep(20);
    }
    return assert.fail('the event was not seen');
  }
}

const append = (events: readonly NewEvent[], institutionId = lakesideId) =>
  service.service.context.database.transaction(institutionId, (tx) => appendEvents(tx, events, new Date()));
const marker = (name: string): NewEvent => ({ kind: 'test.marker', subjectKey: 0n, data: { name } });
const isMarker = (name: string) => (event: Event) => event.data?.name === name;

async function pay(caller: DemoCaller, order: object): Promise<Answer> {
  return caller.post(paths.transfers, order);
}

describe('contents of events', () => {
  test('an event shows a transfer as it left it, with the entry numbers on its accounts', async () => {
    const reader = new Reader(app);
    const order = { fromAccountId: 'a-1001-checking', toAccountId: 'a-1001-savings', amount: 1.05 };
    const { body: paid } = await pay(member, { id: 'event-paid', ...order });
    const { body: declined } = await pay(member, { id: 'event-declined', ...order, amount: 900_000 });
    const done = await reader.until((event) => event.transfer?.id === 'event-paid');
    assert.deepEqual(done.transfer, paid);
    assert.equal(done.eventType, 'transfer.completed');
    assert.equal(done.timestamp, paid.createdAt);
    assert.deepEqual(
      done.accounts.map((account: { accountId: string }) => account.accountId),
      ['a-1001-checking', 'a-1001-savings'],
    );
    const [profile] = await service.db.superuser<{ user_id: string }>(
      `select user_id from users where institution_id = $1 and username = 'demo.member'`,
      [lakesideId],
    );
    assert.equal(done.userId, profile?.user_id);
    const failed = await reader.until((event) => event.transfer?.id === 'event-declined');
    assert.equal(failed.eventType, 'transfer.failed');
    assert.deepEqual(failed.transfer, declined.transfer);
    assert.deepEqual(failed.accounts, []);
  });

  test('a registration event names the user, a contact event the old and new values, and neither the secret', async () => {
    const reader = new Reader(app);
    const { body: profile, text } = await app.post(paths.register, {
      memberNumber: '777001',
      email: 'newly.told@example.test',
      firstName: 'Newly',
      lastName: 'Told',
    });
    const registered = await reader.until(
      (event) => event.eventType === 'member.registered' && event.userId === profile.userId,
    );
    assert.deepEqual(registered.data, {
      userId: profile.userId,
      customerId: profile.customers[0].customerId,
      memberNumber: '777001',
    });
    const opened = reader.seen.find(
      (event) => event.eventType === 'account.balance_opened' && reader.seen.indexOf(event) > 0,
    );
    assert.ok(opened, text);

    const { customerId } = profile.customers[0];
    await app.patch(`${paths.customer(customerId)}/contact-info`, {
      emailAddress: 'told.again@example.test',
    });
    const changed = await reader.until(
      (event) => event.eventType === 'member.contact_changed' && event.userId === profile.userId,
    );
    assert.equal(changed.data.before.emailAddress, 'newly.told@example.test');
    assert.equal(changed.data.after.emailAddress, 'told.again@example.test');

    const secrets = await service.db.superuser<{ secret: Buffer }>(
      'select secret from outbox where secret is not null',
    );
    assert.ok(secrets.length > 0);
    const eventsText = JSON.stringify(reader.seen);
    for (const { secret } of secrets) {
      for (const encoding of ['hex', 'base64', 'base64url'] as const) {
        assert.ok(!eventsText.includes(secret.toString(encoding).slice(0, 16)));
      }
    }
    assert.ok(!/secret|sealed/i.test(eventsText));
  });

  test('each change of a member’s account is in one event, numbered without a gap, and none of the institution’s own', async () => {
    const reader = new Reader(app);
    const accounts = ['a-1001-checking', 'a-1001-savings'];
    await Promise.all(
      Array.from({ length: 40 }, (_, i) =>
        pay(member, {
          id: `numbered-${i}`,
          fromAccountId: accounts[i % 2],
          toAccountId: accounts[(i + 1) % 2],
          amount: 0.01,
        }),
      ),
    );
    await append([marker('numbered')]);
    await reader.until(isMarker('numbered'));
    const numbers = new Map<string, number[]>();
    for (const event of reader.seen) {
      for (const { accountId, sequence } of event.accounts) {
        numbers.set(accountId, [...(numbers.get(accountId) ?? []), sequence]);
      }
    }
    const changed = await service.db.superuser<{ account_id: string; seq: bigint }>(
      `select b.account_id, b.seq from balances b join accounts a using (institution_id, account_key)
       where b.institution_id = $1 and b.seq > 0 and a.purpose is null`,
      [lakesideId],
    );
    assert.deepEqual([...numbers.keys()].toSorted(), changed.map((one) => one.account_id).toSorted());
    for (const { account_id, seq } of changed) {
      assert.deepEqual(
        numbers.get(account_id)?.toSorted((a, b) => a - b),
        Array.from({ length: Number(seq) }, (_, i) => i + 1),
        account_id,
      );
    }
  });

  test('the feed shows nothing of another institution', async () => {
    await append([marker('lakeside only')]);
    await append([marker('harbor only')], harborId);
    const [mine, theirs] = [new Reader(app), new Reader(harbor)];
    await mine.until(isMarker('lakeside only'));
    await theirs.until(isMarker('harbor only'));
    await mine.page();
    assert.ok(!mine.seen.some(isMarker('harbor only')) && !theirs.seen.some(isMarker('lakeside only')));
  });
});

describe('order of events', () => {
  test('the feed waits for an event that commits late, and shows later ones after it', async () => {
    const reader = new Reader(app);
    await append([marker('before')]);
    await reader.until(isMarker('before'));

    let commit = () => {};
    let wrote = () => {};
    const written = new Promise<void>((resolve) => {
      wrote = resolve;
    });
    const released = new Promise<void>((resolve) => {
      commit = resolve;
    });
    const late = service.service.context.database.transaction(lakesideId, async (tx) => {
      await appendEvents(tx, [marker('late')], new Date());
      wrote();
      await released;
    });
    await written;
    await append([marker('meanwhile')]);
    const { body: paid } = await pay(member, {
      id: 'meanwhile-paid',
      fromAccountId: 'a-1001-checking',
      toAccountId: 'a-1001-savings',
      amount: 0.01,
    });
    assert.equal(paid.status, 'COMPLETED', 'no transfer waits for the feed');
    for (let i = 0; i < 5; i++) await reader.page();
    const names = ['late', 'meanwhile', 'meanwhile-paid'];
    assert.ok(!reader.seen.some((event) => names.includes(event.data?.name ?? event.transfer?.id ?? '')));

    commit();
    await late;
    await reader.until((event) => event.transfer?.id === 'meanwhile-paid');
    const order = reader.seen.map((event) => event.data?.name ?? event.transfer?.id);
    assert.deepEqual(
      order.filter((name) => ['before', ...names].includes(name)),
      ['before', ...names],
    );
  });

  test('two readers at different speeds see the same events once each, while many write and some roll back', async () => {
    const [quick, slow] = [new Reader(app, 200), new Reader(app, 3)];
    let writing = true;
    const writers = Promise.all(
      Array.from({ length: 6 }, async (_, writer) => {
        for (let i = 0; i < 25; i++) {
          await service.service.context.database
            .transaction(lakesideId, async (tx) => {
              await appendEvents(tx, [marker(`w${writer}-${i}`)], new Date());
              await sleep((writer * 7 + i * 3) % 11);
              if (i % 5 === 4) throw new Error('given up');
            })
            .catch((error: Error) => assert.equal(error.message, 'given up'));
        }
      }),
    ).finally(() => {
      writing = false;
    });
    const follow = async (reader: Reader) => {
      while (writing) await reader.page();
    };
    await Promise.all([writers, follow(quick), follow(slow)]);
    await append([marker('all written')]);
    await Promise.all([quick.until(isMarker('all written')), slow.until(isMarker('all written'))]);
    // Compared up to the last marker: behind it, one reader may have seen an event of a job that the other has not.
    const [quickSeen, slowSeen] = [quick, slow].map(({ seen }) =>
      seen.slice(0, seen.findIndex(isMarker('all written')) + 1),
    ) as [Event[], Event[]];
    assert.deepEqual(
      slowSeen.map((event) => event.eventId),
      quickSeen.map((event) => event.eventId),
    );
    for (const seen of [quickSeen, slowSeen]) {
      assert.equal(new Set(seen.map((event) => event.eventId)).size, seen.length);
      const names = seen.flatMap((event) => (/^w\d/.test(event.data?.name) ? [event.data.name] : []));
      const expected = Array.from({ length: 6 }, (_, writer) =>
        Array.from({ length: 25 }, (_, i) => `w${writer}-${i}`).filter((_, i) => i % 5 !== 4),
      );
      assert.deepEqual(names.toSorted(), expected.flat().toSorted());
    }
  });

  test('the feed returns 10,000 events page by page, each once and in order', async () => {
    const reader = new Reader(harbor);
    for (let i = 0; i < 10; i++) {
      await append(
        Array.from({ length: 1_000 }, (_, j) => marker(`${i * 1_000 + j}`)),
        harborId,
      );
    }
    await reader.until(isMarker('9999'));
    const names = reader.seen.flatMap((event) => (/^\d+$/.test(event.data?.name) ? [event.data.name] : []));
    assert.deepEqual(
      names,
      Array.from({ length: 10_000 }, (_, i) => `${i}`),
    );
    assert.equal(await reader.page(), 0);
  });
});

describe('after a restore', () => {
  test('the feed continues after a restore into a cluster with lower numbers, without a gap or repetition', async () => {
    await using restored = await startTestService();
    const caller = await clientOf(restored);
    const reader = new Reader(caller);
    const stored = restored.service.context.database;
    const put = (name: string) =>
      stored.transaction(lakesideId, (tx) => appendEvents(tx, [marker(name)], new Date()));
    await put('old 1');
    await reader.until(isMarker('old 1'));
    await put('old 2');
    // Data from a dump: numbers that this cluster has not reached yet.
    await restored.db.superuser(
      `update outbox set xid = (xid::text::bigint + 1000000000)::text::xid8 where institution_id = $1`,
      [lakesideId],
    );
    // The reader's position is of the old cluster, too.
    const newest = await restored.db.superuser<{ xid: string; event_key: bigint }>(
      `select xid::text, event_key from outbox where institution_id = $1 and data->>'name' = 'old 1'`,
      [lakesideId],
    );
    const position = new URL(reader.next, restored.address).searchParams.get('after') ?? '';
    const bytes = Buffer.from(position, 'base64url');
    bytes.writeBigUInt64BE(BigInt(newest[0]?.xid ?? 0), bytes.length - 24);
    reader.next = `${feed}?limit=200&after=${bytes.toString('base64url')}`;
    assert.equal((await caller.get(reader.next)).status, 400, 'a position ahead of the database is refused');

    await using beside = await startTestService({ beside: restored });
    const after = new Reader(await clientOf(beside));
    after.next = reader.next;
    await put('new 1');
    await after.until(isMarker('new 1'));
    await put('new 2');
    await after.until(isMarker('new 2'));
    const names = after.seen.flatMap((event) => (event.data?.name ? [event.data.name] : []));
    assert.deepEqual(names, ['old 2', 'new 1', 'new 2']);

    // A reader had read further than the dump.
    const [last] = await restored.db.superuser<{ xid: string }>(
      `select xid::text from outbox where institution_id = $1 and data->>'name' = 'old 2'`,
      [lakesideId],
    );
    bytes.writeBigUInt64BE(BigInt(last?.xid ?? 0) + 1n, bytes.length - 24);
    const undone = await caller.get(`${feed}?limit=200&after=${bytes.toString('base64url')}`);
    assert.equal(undone.status, 400, 'a position beyond the dump');

    await using again = await startTestService({ beside: restored });
    const whole = new Reader(await clientOf(again));
    await whole.until(isMarker('new 2'));
    assert.deepEqual(
      whole.seen.flatMap((event) => (event.data?.name ? [event.data.name] : [])),
      ['old 1', 'old 2', 'new 1', 'new 2'],
    );
    const epochs = await restored.db.superuser<{ epoch: number }>('select epoch from event_epochs');
    assert.deepEqual(
      epochs.map(({ epoch }) => epoch),
      [1],
      'one restore, one epoch, however many start after it',
    );
  });
});

describe('after a restore to an earlier state of the same cluster', () => {
  test('the feed refuses readers of undone events permanently, lets others continue, and never reuses an id', async () => {
    await using restored = await startTestService();
    const { database, clock } = restored.service.context;
    const put = (name: string) =>
      database.transaction(lakesideId, (tx) => appendEvents(tx, [marker(name)], new Date()));
    const caller = await clientOf(restored);
    const [behind, ahead] = [new Reader(caller), new Reader(caller)];
    await put('kept');
    await behind.until(isMarker('kept'));
    await put('undone 1');
    await put('undone 2');
    await ahead.until(isMarker('undone 2'));

    // Restored: the rows are gone, and the numbers of their transactions are reused.
    const numbers = await restored.db.superuser<{ xid: string; event_key: string }>(
      `delete from outbox where data->>'name' like 'undone%' returning xid::text, event_key::text`,
    );
    await restored.db.superuser(`select setval(pg_get_serial_sequence('outbox', 'event_key'), $1, false)`, [
      numbers[0]?.event_key,
    ]);
    await beginEpoch(database, lakesideId, clock, ownOrigin());
    assert.equal((await caller.get(ahead.next)).status, 400, 'a position in the undone part');
    await put('new 1');
    await put('new 2');
    for (const [n, { xid }] of numbers.entries()) {
      await restored.db.superuser(`update outbox set xid = '${xid}' where data->>'name' = 'new ${n + 1}'`);
    }
    assert.equal((await caller.get(ahead.next)).status, 400, 'nor when the feed has come as far again');
    await behind.until(isMarker('new 2'));
    const names = behind.seen.flatMap((event) => (event.data?.name ? [event.data.name] : []));
    assert.deepEqual(names, ['kept', 'new 1', 'new 2']);
    const idsOf = (reader: Reader, name: RegExp) =>
      reader.seen.flatMap((event) => (name.test(event.data?.name) ? [event.eventId] : []));
    const [undone, written] = [idsOf(ahead, /^undone/), idsOf(behind, /^new/)];
    assert.equal(new Set([...undone, ...written]).size, 4, 'of four events, four ids');
  });

  test('a reader that begins again is led past the events that were kept behind a lost one, page by page', async () => {
    await using promoted = await startTestService();
    const { put, lose, promote, caller } = await timelineOf(promoted);
    await put('kept 1');
    await lose();
    await put('kept 2');
    await put('kept 3');
    const before = new Reader(caller);
    await before.until(isMarker('kept 3'));
    await promote();
    assert.equal((await caller.get(before.next)).status, 400, 'it may have read the lost one');
    await put('new');
    const again = new Reader(caller, 1);
    await again.until(isMarker('new'));
    const names = again.seen.flatMap((event) => (event.data?.name ? [event.data.name] : []));
    assert.deepEqual(names, ['kept 1', 'kept 2', 'kept 3', 'new']);
    const { sequence } = again.seen.find(isMarker('kept 3'));
    assert.equal((await caller.get(`${feed}?from=${sequence}&limit=1`)).body[0].data.name, 'kept 3');
  });

  test('a link of an earlier version, without the epoch in which it was read, continues', async () => {
    await using promoted = await startTestService();
    const { put, beginWith, promote, caller } = await timelineOf(promoted);
    await put('kept');
    await beginWith('kept');
    const reader = new Reader(caller);
    await reader.until(isMarker('kept'));
    const url = new URL(reader.next, promoted.address);
    const bytes = Buffer.from(url.searchParams.get('after') ?? '', 'base64url');
    reader.next = `${feed}?limit=200&after=${bytes.subarray(0, -8).toString('base64url')}`;
    await promote();
    await put('new');
    await reader.until(isMarker('new'));
    assert.equal(reader.seen.filter(isMarker('kept')).length, 1);
  });

  test('a transaction that was rolled back on an earlier timeline refuses no reader at the next fail-over', async () => {
    await using promoted = await startTestService();
    const { put, lose, beginWith, promote, caller } = await timelineOf(promoted);
    await put('kept 1');
    await lose();
    await put('kept 2');
    await beginWith('kept 2');
    const reader = new Reader(caller);
    await reader.until(isMarker('kept 2'));
    await promote();
    assert.equal((await caller.get(reader.next)).status, 200);
  });

  test('an event written while an epoch begins is either before the epoch or in it', async () => {
    await using restored = await startTestService();
    const { database, clock } = restored.service.context;
    const put = (name: string) =>
      database.transaction(lakesideId, (tx) => appendEvents(tx, [marker(name)], new Date()));
    const open = Promise.withResolvers<void>();
    const written = Promise.withResolvers<void>();
    const slow = database.transaction(lakesideId, async (tx) => {
      await appendEvents(tx, [marker('slow')], new Date());
      written.resolve();
      await open.promise;
    });
    await written.promise;
    const begun = beginEpoch(database, lakesideId, clock, ownOrigin());
    let next = Promise.resolve();
    try {
      await waitUntilLocked(restored);
      next = put('next');
    } finally {
      open.resolve();
      await Promise.all([slow, begun, next]);
    }
    const rows = await restored.db.superuser<{ name: string; epoch: number }>(
      `select data->>'name' as name, epoch from outbox where data->>'name' in ('slow', 'next') order by event_key`,
    );
    assert.deepEqual(
      rows.map(({ name, epoch }) => [name, epoch]),
      [
        ['slow', 0],
        ['next', 1],
      ],
    );
  });
});

/** Fail-overs as the service sees them: lost transactions have the status of those that were rolled back. */
async function timelineOf(promoted: TestService) {
  const { database, clock } = promoted.service.context;
  const append = (name: string) => async (tx: Transaction) => appendEvents(tx, [marker(name)], new Date());
  const [cluster] = await promoted.db.superuser<{ id: string }>(
    'select system_identifier::text as id from pg_control_system()',
  );
  /**
   * The timeline that ends has begun with the transaction of this event. Other tests of the run have transactions in the same cluster,
   * and one that was rolled back before the event would look like a lost one.
   */
  const beginWith = (name: string) =>
    promoted.db.superuser(
      `update event_timeline set first_transaction = (select xid from outbox where data->>'name' = '${name}')`,
    );
  return {
    caller: await clientOf(promoted),
    put: (name: string) => database.transaction(lakesideId, append(name)),
    lose: () =>
      assert.rejects(
        database.transaction(lakesideId, async (tx) => {
          await append('lost')(tx);
          throw new Error('lost');
        }),
        /lost/,
      ),
    beginWith,
    promote: async () => {
      await promoted.db.superuser(`update event_timeline set timeline = '${cluster?.id}/earlier'`);
      assert.equal(await database.directory((db) => beginEpochsOfTimeline(db, clock())), true);
    },
  };
}

async function waitUntilLocked({ db }: TestService): Promise<void> {
  for (const deadline = performance.now() + 60_000; performance.now() < deadline; await sleep(5)) {
    const waiting = await db.superuser(
      `select from pg_locks where relation = 'outbox'::regclass and not granted`,
    );
    if (waiting.length > 0) return;
  }
  assert.fail('no session waits');
}

describe('refused reads of events', () => {
  test('returns 400 for an event position of another feed', async () => {
    const { next } = new Reader(harbor, 5);
    const theirs = nextOf(await harbor.get(next));
    const list = await app.get(`${paths.transfers}?limit=1`);
    const other = /after=([\w-]+)/.exec(list.headers.get('link') ?? '')?.[1] ?? 'none';
    const own = new URL(nextOf(await app.get(`${feed}?limit=1`)), service.address).searchParams.get('after');
    const forged = Buffer.from(own ?? '', 'base64url');
    // An epoch beyond the column's range.
    forged.writeBigUInt64BE(8_000_000_000_000_000n, forged.length - 32);
    for (const path of [
      `${feed}?after=${forged.toString('base64url')}`,
      theirs,
      `${feed}?after=${other}`,
      `${feed}?after=x`,
      `${feed}?limit=0`,
      `${feed}?kind=a`,
    ]) {
      assert.equal((await app.get(path)).status, 400, path);
    }
  });

  test('returns 403 for events to a member, and without events:read', async () => {
    const client = new Client(service.address);
    const credentials = { client_id: 'demo-app', client_secret: 'demo-app-secret' };
    assert.equal((await member.get(feed)).body.code, 'client_token_required');
    const token = await client.token({
      grant_type: 'client_credentials',
      scope: 'transfer:read',
      ...credentials,
    });
    assert.equal((await client.get(feed, { token })).body.code, 'insufficient_scope');
  });
});

test('the feed links to itself if requested in absolute form, as through a proxy (RFC 9112, section 3.2.2)', async () => {
  const { text } = await sendRaw(Number(new URL(service.address).port), [
    `GET http://proxied.example${feed}?limit=1 HTTP/1.1\r\nHost: proxied.example\r\n` +
      `Authorization: Bearer ${app.token}\r\nConnection: close\r\n\r\n`,
  ]);
  assert.match(text, /^HTTP\/1\.1 200 /);
  assert.match(
    text,
    /link: <http:\/\/sharedraft\.test\/digitalbanking\/db-events\/v1\/events\?limit=1&after=/i,
  );
});
