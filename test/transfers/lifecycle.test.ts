import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { runMaintenance } from '../../src/app/background/maintenance.ts';
import { ownOrigin } from '../../src/events/index.ts';
import type { InstitutionId } from '../../src/storage/index.ts';
import { clientOf as shareOf } from '../../src/transfers/desk/transfer-desk.ts';
import {
  cancelTransfer,
  reverseTransfer,
  reviewTransfer,
  settleDue,
  type TransferDesk,
} from '../../src/transfers/index.ts';
import { clientOf, type DemoCaller, memberOf, paths } from '../support/demo.ts';
import { deskOf, eventually, manualClock, type TestDesk } from '../support/desk.ts';
import { commandOf } from '../support/operator.ts';
import { startTestService, type TestService } from '../support/service.ts';

/*
 * A transfer's whole life, on a clock that the tests set. At lakeside an INTRA_FI above 1,000.00 is held for review
 * and posts by itself after 30 seconds. At harbor one above 500.00 expires after an hour, and one above 1,500.00
 * needs two approvals.
 */

const hand = manualClock('2026-03-04T15:00:00Z');
const logged: { readonly event: string; readonly institution?: unknown; readonly task?: unknown }[] = [];
const log = (event: string, details?: object) => logged.push({ event, ...details });
let service: TestService;
let beside: TestService;
let bank: DemoCaller;
let demo: DemoCaller;
let harbor: DemoCaller;
let lakesideDesk: TestDesk;
let harborDesk: TestDesk;
before(async () => {
  service = await startTestService({ clock: hand.clock, log });
  // A second process: both try every automatic act.
  beside = await startTestService({ clock: hand.clock, beside: service });
  bank = renewing(() => clientOf(service));
  demo = renewing(() => memberOf(service, 'demo.member', 'demo-member-password'));
  harbor = renewing(() => clientOf(service, ['harbor-app', 'harbor-app-secret']));
  lakesideDesk = await deskOf(service);
  harborDesk = await deskOf(service, 'harbor');
});
after(async () => {
  await lakesideDesk[Symbol.asyncDispose]();
  await harborDesk[Symbol.asyncDispose]();
  await beside.close();
  await service.close();
});

/** Tokens expire as the clock jumps: a new one for each request. */
function renewing(login: () => Promise<DemoCaller>): DemoCaller {
  return {
    token: '',
    get: async (path) => (await login()).get(path),
    post: async (path, body, headers) => (await login()).post(path, body, headers),
    patch: async (path, body) => (await login()).patch(path, body),
  };
}

let ids = 0;
const newId = () => `life-${++ids}`;

function initiate(caller: DemoCaller, fromAccountId: string, toAccountId: string, amount: number, more = {}) {
  return caller.post(paths.transfers, { id: newId(), fromAccountId, toAccountId, amount, ...more });
}

async function balances(
  caller: DemoCaller,
  accountId: string,
): Promise<[available: number, current: number]> {
  const { balance } = (await caller.get(`${paths.accounts}/${accountId}`)).body;
  return [balance.availableBalance.amount, balance.currentBalance.amount];
}

const read = async (caller: DemoCaller, id: string) => (await caller.get(`${paths.transfers}/${id}`)).body;
const cancel = (caller: DemoCaller, id: string) => caller.post(`${paths.transfers}/${id}/cancel`, {});
const settled = (caller: DemoCaller, id: string) =>
  eventually(
    () => read(caller, id),
    (transfer) => transfer.status !== 'PENDING',
  );

/** Postings of a transfer that moved money, and the hold left on its source. */
async function ledgerOf(id: string): Promise<{ moved: number; held: number }> {
  const [row] = await service.db.superuser<{ moved: bigint; held: bigint }>(
    `select (select count(*) from entries e where e.posting_key = t.transfer_key and e.amount <> 0) as moved,
            (select b.debits_pending from balances b where b.institution_id = t.institution_id and b.account_key = t.from_key)
              as held
     from transfers t where t.transfer_id = $1`,
    [id],
  );
  return { moved: Number(row?.moved), held: Number(row?.held) };
}

describe('transfers held for review', () => {
  test('holds the money at once, and posts it by itself once with two processes running', async () => {
    const [available, current] = await balances(demo, 'a-1001-checking');
    const answer = await initiate(demo, 'a-1001-checking', 'a-1003-checking', 1000.01);
    assert.equal(answer.status, 201, answer.text);
    assert.equal(answer.body.status, 'PENDING');
    assert.deepEqual(await balances(demo, 'a-1001-checking'), [cents(available - 1000.01), current]);
    hand.advance(29);
    await new Promise((resolve) => setTimeout(resolve, 1_200));
    assert.equal((await read(demo, answer.body.id)).status, 'PENDING', 'its time has not come');
    hand.advance(1);
    assert.equal((await settled(demo, answer.body.id)).status, 'COMPLETED');
    const after = cents(available - 1000.01);
    assert.deepEqual(await balances(demo, 'a-1001-checking'), [after, cents(current - 1000.01)]);
    assert.deepEqual(await ledgerOf(answer.body.id), { moved: 2, held: 0 });
    const again = await demo.post(paths.transfers, {
      id: answer.body.id,
      fromAccountId: 'a-1001-checking',
      toAccountId: 'a-1003-checking',
      amount: 1000.01,
    });
    assert.equal(again.status, 200);
    assert.equal(again.body.status, 'COMPLETED');
  });

  test('posts an amount at the threshold at once', async () => {
    const answer = await initiate(demo, 'a-1001-checking', 'a-1003-checking', 1000);
    assert.equal(answer.body.status, 'COMPLETED');
  });

  test('held money cannot be spent again', async () => {
    const [available] = await balances(bank, 'a-1002-checking');
    const held = await initiate(bank, 'a-1002-checking', 'a-1019-checking', available - 1);
    assert.equal(held.body.status, 'PENDING');
    const more = await initiate(bank, 'a-1002-checking', 'a-1002-savings', 1.01);
    assert.equal(more.status, 422);
    assert.equal(more.body.code, 'insufficient_funds');
    assert.equal((await initiate(bank, 'a-1002-checking', 'a-1002-savings', 1)).status, 201);
    assert.equal((await cancel(bank, held.body.id)).status, 200);
  });

  test('a service that starts later keeps the time at which a held transfer posts', async () => {
    const answer = await initiate(bank, 'a-1001-checking', 'a-1003-checking', 1500);
    hand.advance(3600);
    const late = await startTestService({ clock: hand.clock, beside: service });
    assert.equal((await settled(bank, answer.body.id)).status, 'COMPLETED');
    await late.close();
  });
});

describe('cancelled transfers', () => {
  test('cancelling releases the hold, and cancelling or ordering again returns the same', async () => {
    const before = await balances(demo, 'a-1001-checking');
    const { body } = await initiate(demo, 'a-1001-checking', 'a-1003-checking', 2000);
    const cancelled = await cancel(demo, body.id);
    assert.equal(cancelled.status, 200);
    assert.equal(cancelled.body.status, 'FAILED');
    assert.equal(cancelled.body.failureCode, 'transfer_cancelled');
    assert.deepEqual(await balances(demo, 'a-1001-checking'), before);
    assert.deepEqual((await cancel(demo, body.id)).body, cancelled.body);
    const again = await demo.post(paths.transfers, {
      id: body.id,
      fromAccountId: 'a-1001-checking',
      toAccountId: 'a-1003-checking',
      amount: 2000,
    });
    assert.equal(again.status, 422);
    assert.equal(again.body.code, 'transfer_cancelled');
    assert.deepEqual(again.body.transfer, cancelled.body);
    hand.advance(60);
    await new Promise((resolve) => setTimeout(resolve, 1_200));
    assert.equal((await read(demo, body.id)).status, 'FAILED', 'it does not come back');
    assert.equal((await ledgerOf(body.id)).moved, 0);
  });

  test('a posted transfer cannot be cancelled, nor one that the caller may not see or pay for', async () => {
    const posted = await initiate(demo, 'a-1001-checking', 'a-1001-savings', 1);
    const late = await cancel(demo, posted.body.id);
    assert.equal(late.status, 409);
    assert.equal(late.body.code, 'transfer_final');

    const owner = await memberOf(service, 'cedar.owner', 'cedar-red-lantern-3');
    const signer = await memberOf(service, 'hazel.signer', 'hazel-gold-lantern-4');
    const pending = await initiate(owner, 'a-1003-checking', 'a-1001-checking', 1200);
    assert.equal(pending.body.status, 'PENDING', pending.text);
    const stranger = await cancel(demo, pending.body.id);
    const missing = await cancel(demo, 'no-such-transfer');
    assert.equal(stranger.status, 404);
    const { instance: _, ...one } = stranger.body;
    const { instance: __, ...other } = missing.body;
    assert.deepEqual(one, other);
    const seeing = await cancel(signer, pending.body.id);
    assert.equal(seeing.status, 422);
    assert.equal(seeing.body.code, 'account_restricted');
    const reader = await memberOf(service, 'cedar.owner', 'cedar-red-lantern-3', [
      'demo-reader',
      'demo-reader-secret',
    ]);
    assert.equal((await cancel(reader, pending.body.id)).status, 403);
    assert.equal((await cancel(owner, pending.body.id)).status, 200);
  });
});

describe('reviewed transfers', () => {
  const approve = (transferId: string, operator: string, more: Parameters<typeof commandOf>[1] = {}) =>
    reviewTransfer(harborDesk.desk, harborDesk.institutionId, {
      transferId: transferId,
      act: {
        kind: 'approve',
        origin: commandOf(operator, more),
      },
    });

  test('one approval posts a held transfer, and two different persons must approve one above the second amount', async () => {
    const one = await initiate(harbor, 'a-1002-checking', 'a-1001-checking', 501);
    assert.equal(one.body.status, 'PENDING', one.text);
    const approved = await approve(one.body.id, 'Ops One');
    assert.equal(approved.kind, 'changed');
    assert.equal((await read(harbor, one.body.id)).status, 'COMPLETED');

    const two = await initiate(harbor, 'a-1002-checking', 'a-1001-checking', 1500.01);
    const first = await approve(two.body.id, 'Ops One');
    assert.ok(first.kind === 'unchanged' && first.why === 'waits_for_approval');
    for (const again of ['Ops One', ' ops ONE ', 'Ｏｐｓ\u200b One', 'Ops\u00a0One\ufe0f']) {
      const same = await approve(two.body.id, again);
      assert.ok(same.kind === 'unchanged' && same.why === 'approved_before', again);
      const asAnother = service.db.superuser(
        `insert into transfer_approvals (institution_id, transfer_key, operator, approved_at)
         select institution_id, transfer_key, $1, approved_at from transfer_approvals where operator = 'Ops One'`,
        [`${again}\u2060`],
      );
      await assert.rejects(asAnother, { code: 'SD021' });
    }
    // Root through sudo is the person who ran sudo.
    const bySudo = await approve(two.body.id, 'root', { sudoUser: 'ops one' });
    assert.ok(bySudo.kind === 'unchanged' && bySudo.why === 'approved_before');
    assert.equal((await read(harbor, two.body.id)).status, 'PENDING');
    assert.equal((await approve(two.body.id, 'Ops Two')).kind, 'changed');
    assert.equal((await read(harbor, two.body.id)).status, 'COMPLETED');
    const late = await approve(two.body.id, 'Ops Three');
    assert.ok(late.kind === 'unchanged' && late.why === 'final');
  });

  test('a declined transfer fails, and one that is not reviewed within the hour expires', async () => {
    const declined = await initiate(harbor, 'a-1001-checking', 'a-1002-checking', 600);
    await reviewTransfer(harborDesk.desk, harborDesk.institutionId, {
      transferId: declined.body.id,
      act: {
        kind: 'decline',
        origin: commandOf('Ops One'),
      },
    });
    assert.equal((await read(harbor, declined.body.id)).failureCode, 'transfer_declined');
    const expiring = await initiate(harbor, 'a-1001-checking', 'a-1002-checking', 600);
    hand.advance(3600);
    assert.equal((await settled(harbor, expiring.body.id)).failureCode, 'transfer_expired');
    assert.deepEqual(await ledgerOf(expiring.body.id), { moved: 0, held: 0 });
  });

  test('an approval in the last millisecond counts, and one at the end finds the transfer expired', async () => {
    const held = async (amount: number, [from, to] = ['a-1002-checking', 'a-1001-checking']) => {
      // Each on a day of its own: a day's limit would refuse them together.
      hand.advance(86_400);
      const { body, text } = await initiate(harbor, from, to, amount);
      assert.equal(body.status, 'PENDING', text);
      const [row] = await service.db.superuser<{ due: Date }>(
        `select p.due_at as due from pending_transfers p join transfers t using (institution_id, transfer_key)
         where t.transfer_id = $1`,
        [body.id],
      );
      assert.ok(row);
      return { id: body.id as string, end: row.due.getTime() };
    };
    const inTime = await held(601, ['a-1001-checking', 'a-1002-checking']);
    hand.set(new Date(inTime.end - 1).toISOString());
    assert.equal((await approve(inTime.id, 'Ops One')).kind, 'changed');
    assert.equal((await read(harbor, inTime.id)).status, 'COMPLETED');

    // Approved in time by one of two; the other comes at the end. No sweep need have come before.
    for (const [amount, before] of [
      [602, 0],
      [1502, 1],
    ] as const) {
      const late = await held(amount);
      if (before > 0) assert.equal((await approve(late.id, 'Ops One')).kind, 'unchanged');
      hand.set(new Date(late.end).toISOString());
      await approve(late.id, 'Ops Two');
      const [row] = await service.db.superuser<{ failure_code: string; operator: string; approvals: bigint }>(
        `select failure_code, operator, (select count(*) from transfer_approvals a
           where a.institution_id = t.institution_id and a.transfer_key = t.transfer_key) as approvals
         from transfers t where transfer_id = $1`,
        [late.id],
      );
      assert.deepEqual(
        [row?.failure_code, row?.operator, Number(row?.approvals)],
        ['transfer_expired', null, before],
      );
      assert.equal((await ledgerOf(late.id)).moved, 0);
    }
  });

  test('a transfer declined or cancelled after its time, before anyone has posted it, does not post', async () => {
    for (const [code, from, to, amount] of [
      ['lakeside', 'a-1001-checking', 'a-1003-checking', 1001],
      ['harbor', 'a-1001-checking', 'a-1002-checking', 603],
    ] as const) {
      for (const act of ['decline', 'cancel'] as const) {
        const caller = code === 'lakeside' ? bank : harbor;
        // Each on a day of its own: a day's limit would refuse them together.
        hand.advance(86_400);
        const { body, text } = await initiate(caller, from, to, amount);
        assert.equal(body.status, 'PENDING', text);
        const { id } = body;
        const [row] = await service.db.superuser<{ due: Date }>(
          `select p.due_at as due from pending_transfers p join transfers t using (institution_id, transfer_key)
           where t.transfer_id = $1`,
          [id],
        );
        assert.ok(row);
        // As if the sweeps were late: the time has come for the caller who ends it, and not for them.
        await using ahead = await deskOf(service, code, () => row.due);
        const { desk, institutionId } = ahead;
        if (act === 'decline') {
          await reviewTransfer(desk, institutionId, {
            transferId: id,
            act: {
              kind: 'decline',
              origin: commandOf('Ops One'),
            },
          });
        } else {
          const clientId = code === 'lakeside' ? 'demo-app' : 'harbor-app';
          await cancelTransfer(
            desk,
            { kind: 'client', institutionId, clientId },
            { transferId: id, origin: ownOrigin() },
          );
        }
        hand.set(row.due.toISOString());
        hand.advance(1);
        assert.equal(
          (await read(caller, id)).failureCode,
          `transfer_${act === 'decline' ? 'declined' : 'cancelled'}`,
        );
        assert.deepEqual(await ledgerOf(id), { moved: 0, held: 0 });
      }
    }
  });

  test('one of a simultaneous approval, decline, cancellation and due time takes effect', async () => {
    for (let round = 0; round < 8; round++) {
      const { body } = await initiate(bank, 'a-1001-checking', 'a-1003-checking', 1001);
      const act = (kind: 'approve' | 'decline') =>
        reviewTransfer(lakesideDesk.desk, lakesideDesk.institutionId, {
          transferId: body.id,
          act: {
            kind,
            origin: commandOf('Ops One'),
          },
        });
      hand.advance(30);
      const [approved, declined, cancelled] = await Promise.all([
        act('approve'),
        act('decline'),
        cancel(bank, body.id),
      ]);
      const transfer = await settled(bank, body.id);
      const { moved, held } = await ledgerOf(body.id);
      assert.equal(held, 0);
      assert.equal(moved, transfer.status === 'COMPLETED' ? 2 : 0);
      const winners = [approved.kind === 'changed', declined.kind === 'changed', cancelled.status === 200];
      assert.ok(winners.filter(Boolean).length <= 1, JSON.stringify(winners));
    }
  });
});

describe('transfers after the cut-off', () => {
  test('a loan payment waits for the next business day, over the weekend and the bank’s closing day', async () => {
    // Thursday 24 December 2026, 16:00 in Chicago: before the cut-off, but harbor is closed that day; then Christmas.
    hand.set('2026-12-23T23:30:00Z');
    const late = await initiate(harbor, 'a-1007-checking', 'a-1007-carloan', 10);
    assert.equal(late.body.status, 'PENDING', late.text);
    hand.set('2026-12-24T22:00:00Z');
    const closed = await initiate(harbor, 'a-1007-checking', 'a-1007-carloan', 11);
    assert.equal(closed.body.status, 'PENDING');
    // A second before Monday 28 December begins in Chicago.
    hand.set('2026-12-28T05:59:59Z');
    await new Promise((resolve) => setTimeout(resolve, 1_200));
    assert.equal((await read(harbor, late.body.id)).status, 'PENDING');
    hand.set('2026-12-28T06:00:00Z');
    assert.equal((await settled(harbor, late.body.id)).status, 'COMPLETED');
    assert.equal((await settled(harbor, closed.body.id)).status, 'COMPLETED');
    const intime = await initiate(harbor, 'a-1007-checking', 'a-1007-carloan', 12);
    assert.equal(intime.body.status, 'COMPLETED', 'before the cut-off of a business day');
  });

  test('two waiting payments cannot pay more than the debt', async () => {
    hand.set('2027-01-02T18:00:00Z');
    const [, owed] = await balances(harbor, 'a-1007-carloan');
    await initiate(harbor, 'a-1002-checking', 'a-1007-checking', 450);
    await initiate(harbor, 'a-1002-checking', 'a-1007-checking', 450);
    const first = await initiate(harbor, 'a-1007-checking', 'a-1007-carloan', cents(owed - 20));
    assert.equal(first.body.status, 'PENDING', first.text);
    const second = await initiate(harbor, 'a-1007-checking', 'a-1007-carloan', 30);
    assert.equal(second.body.code, 'exceeds_payoff', second.text);
  });

  test('a transfer to an account closed meanwhile fails, and releases its hold', async () => {
    const { body } = await initiate(bank, 'a-1001-checking', 'a-1009-checking', 1100);
    assert.equal(body.status, 'PENDING');
    const close = (closed: boolean) =>
      service.db.superuser('update accounts set closed = $1 where account_id = $2 and institution_id = $3', [
        closed,
        'a-1009-checking',
        lakesideDesk.institutionId,
      ]);
    await close(true);
    hand.advance(30);
    const failed = await settled(bank, body.id);
    await close(false);
    assert.equal(failed.failureCode, 'account_closed');
    assert.deepEqual(await ledgerOf(body.id), { moved: 0, held: 0 });
  });

  for (const [what, restricted, restriction, outcome] of [
    [
      'a held transfer fails if its source is restricted meanwhile',
      'a-1001-checking',
      'EXCLUDE_ALL',
      'account_restricted',
    ],
    [
      'a held transfer fails if its destination is restricted meanwhile',
      'a-1009-checking',
      'EXCLUDE_AS_TO',
      'account_restricted',
    ],
    [
      'a held transfer posts if only the other direction is restricted',
      'a-1009-checking',
      'EXCLUDE_AS_FROM',
      undefined,
    ],
  ] as const) {
    test(what, async () => {
      const { body } = await initiate(bank, 'a-1001-checking', 'a-1009-checking', 1100);
      assert.equal(body.status, 'PENDING');
      const restrict = (to: string | null) =>
        service.db.superuser(
          'update accounts set transfer_restriction = $1 where account_id = $2 and institution_id = $3',
          [to, restricted, lakesideDesk.institutionId],
        );
      await restrict(restriction);
      hand.advance(30);
      const ended = await settled(bank, body.id);
      await restrict(null);
      assert.equal(ended.failureCode, outcome);
      assert.deepEqual(await ledgerOf(body.id), { moved: outcome === undefined ? 2 : 0, held: 0 });
    });
  }
});

test('a transfer that cannot be settled now delays no due transfer behind it', async () => {
  const pending = await Promise.all(
    [1101, 1102, 1103].map((amount) => initiate(bank, 'a-1001-checking', 'a-1003-savings', amount)),
  );
  const asked: string[] = [];
  const { database, institutionId } = lakesideDesk;
  const stuck = {
    database,
    // They are due for no one else.
    deps: { clock: () => new Date('2999-01-01T00:00:00Z') },
    queue: {
      submit: async (_: unknown, { transferId }: { transferId: string }) => {
        asked.push(transferId);
        throw new Error('not now');
      },
    },
  } as unknown as TransferDesk;
  await assert.rejects(settleDue(stuck, institutionId, 1), /not now/);
  for (const { body } of pending) {
    assert.equal(asked.filter((id) => id === body.id).length, 1, 'each is asked for once');
    await cancel(bank, body.id);
  }
});

test('an institution that cannot be settled or cleaned up delays no other, and is logged by name', async () => {
  const { institutionId } = harborDesk;
  const stuck = await initiate(harbor, 'a-1001-checking', 'a-1002-checking', 601);
  const due = await initiate(bank, 'a-1001-checking', 'a-1003-checking', 1001);
  assert.deepEqual([stuck.body.status, due.body.status], ['PENDING', 'PENDING'], stuck.text + due.text);
  const fails = (table: string) =>
    `create policy fails on ${table} as restrictive using (1 / (institution_id - ${institutionId}) is not null)`;
  // Harbor comes before lakeside in every round.
  await service.db.superuser(`${fails('pending_transfers')}; ${fails('revocations')}`);
  await service.db.superuser('insert into revocations values ($1, gen_random_uuid(), $2)', [
    institutionId,
    new Date(0),
  ]);
  try {
    hand.advance(3600);
    assert.equal((await settled(bank, due.body.id)).status, 'COMPLETED');
    await eventually(
      async () =>
        logged.filter(({ event }) => event === 'sweep_failed').map(({ institution }) => institution),
      (names) => names.includes('harbor'),
    );
    await runMaintenance(service.service.context, log);
  } finally {
    await service.db.superuser(
      'drop policy fails on pending_transfers; drop policy fails on revocations; delete from revocations',
    );
  }
  const kept = logged.filter((line) => line.event === 'housekeeping_failed');
  assert.deepEqual(
    kept.map(({ institution, task }) => [institution, task]),
    [['harbor', 'tokens']],
  );
  assert.equal((await settled(harbor, stuck.body.id)).failureCode, 'transfer_expired');
});

test('cancelling another user’s transfer or a missing one does not use the queue', async () => {
  const { body } = await initiate(bank, 'a-1002-checking', 'a-1003-checking', 1001);
  const { database, institutionId } = lakesideDesk;
  const [row] = await service.db.superuser<{ userKey: bigint; personKey: bigint }>(
    `select user_key as "userKey", person_key as "personKey" from users
     where username = 'demo.member' and institution_id = $1`,
    [institutionId],
  );
  assert.ok(row);
  const actor = { kind: 'member', institutionId, clientId: 'demo-app', userId: 'u', ...row } as const;
  const queue = { submit: () => assert.fail('nothing may be locked') };
  const closed = { database, queue } as unknown as TransferDesk;
  for (const id of [body.id, 'no-such-transfer']) {
    await assert.rejects(cancelTransfer(closed, actor, { transferId: id, origin: ownOrigin() }), {
      code: 'not_found',
    });
  }
  assert.equal((await cancel(bank, body.id)).status, 200);
});

test('a cancellation counts in its client’s share of the queue, and due transfers in no client’s', () => {
  const actor = { kind: 'client', institutionId: 1 as InstitutionId, clientId: 'quill-app' } as const;
  const named = { transferId: 't', fromAccountId: 'a', toAccountId: 'b' };
  const cancelling = {
    kind: 'transition',
    ...named,
    act: { kind: 'cancel', actor, origin: ownOrigin() },
  } as const;
  assert.equal(shareOf(cancelling), 'quill-app');
  assert.equal(shareOf({ kind: 'transition', ...named, act: { kind: 'due' } }), '');
});

describe('reversed transfers', () => {
  const reverse = (originalId: string, transferId = newId(), test = lakesideDesk) =>
    reverseTransfer(test.desk, test.institutionId, {
      originalId,
      transferId,
      origin: commandOf('Ops One'),
    });

  test('a reversal moves the money back by a new transfer, at most once', async () => {
    const before = await balances(bank, 'a-1001-checking');
    const { body } = await initiate(bank, 'a-1001-checking', 'a-1003-savings', 25);
    const attempts = await Promise.all(Array.from({ length: 10 }, () => reverse(body.id)));
    assert.equal(attempts.filter((outcome) => outcome.kind === 'new').length, 1);
    for (const outcome of attempts) {
      assert.ok(outcome.kind === 'new' || (outcome.kind === 'unchanged' && outcome.why === 'not_reversible'));
    }
    assert.deepEqual(await balances(bank, 'a-1001-checking'), before);
    const done = attempts.find((outcome) => outcome.kind === 'new');
    assert.ok(done?.kind === 'new');
    const replayed = await reverse(body.id, done.transfer.id);
    assert.equal(replayed.kind, 'replayed');
    const back = await reverse(done.transfer.id);
    assert.ok(back.kind === 'unchanged' && back.why === 'not_reversible', 'a reversal is not reversed');
  });

  test('a reversal from a payee without the money is FAILED, and can be tried again', async () => {
    const { body } = await initiate(bank, 'a-1001-checking', 'a-1009-checking', 300);
    const [available] = await balances(bank, 'a-1009-checking');
    await initiate(bank, 'a-1009-checking', 'a-1001-savings', available);
    const failed = await reverse(body.id);
    assert.ok(failed.kind === 'new' && failed.transfer.failureCode === 'insufficient_funds');
    await initiate(bank, 'a-1001-checking', 'a-1009-checking', 300);
    const done = await reverse(body.id);
    assert.ok(done.kind === 'new' && done.transfer.status === 'COMPLETED');
  });

  test('a reversal restores a loan payment’s parts and amount due', async () => {
    const dues = () =>
      service.db.superuser(
        `select l.fees_due, l.accrued_interest, l.amount_due from loans l join accounts a using (institution_id, account_key)
         where a.account_id = 'a-1001-carloan' and a.institution_id = $1`,
        [lakesideDesk.institutionId],
      );
    const before = [await dues(), await balances(bank, 'a-1001-carloan')];
    const { body } = await initiate(bank, 'a-1001-checking', 'a-1001-carloan', 500);
    assert.notDeepEqual([await dues(), await balances(bank, 'a-1001-carloan')], before);
    assert.equal((await reverse(body.id)).kind, 'new');
    assert.deepEqual([await dues(), await balances(bank, 'a-1001-carloan')], before);
  });
});

describe('pending transfers in the database', () => {
  test('the database refuses to post a pending transfer early without approval, and any without its hold', async () => {
    const { body } = await initiate(bank, 'a-1001-checking', 'a-1003-checking', 1001);
    await assert.rejects(
      service.db.superuser(
        `update transfers set status = 'COMPLETED', settled_at = created_at where transfer_id = $1`,
        [body.id],
      ),
      { code: 'SD007' },
    );
    await assert.rejects(
      service.db.superuser(
        `insert into pending_transfers (institution_id, transfer_key, held_for, due_at, when_due, approvals_needed)
         select institution_id, transfer_key, 'CUT_OFF', created_at, 'POST', 0 from transfers
         where status = 'COMPLETED' limit 1`,
      ),
      { code: 'SD006' },
    );
    assert.equal((await cancel(bank, body.id)).status, 200);
    await assert.rejects(
      service.db.superuser(
        `update transfers set status = 'COMPLETED', failure_code = null, failure_detail = null where transfer_id = $1`,
        [body.id],
      ),
      { code: 'SD005' },
    );
  });

  test('the ledger sums to zero after all of these transfers, and holds nothing for one that is not pending', async () => {
    const [sums] = await service.db.superuser<{ posted: string; debits_pending: string; pending: string }>(
      `select (select sum(abs(s)) from (select sum(posted) as s from balances group by institution_id, currency) t)::text
                as posted,
              (select sum(debits_pending) from balances)::text as debits_pending,
              (select coalesce(sum(amount), 0) from transfers where status = 'PENDING')::text as pending`,
    );
    assert.equal(sums?.posted, '0');
    assert.equal(sums?.debits_pending, sums?.pending);
  });
});

function cents(amount: number): number {
  return Math.round(amount * 100) / 100;
}
