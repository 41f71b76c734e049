import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { aConnector, setCorePolicy, startCoreService } from '../support/core-instructions.ts';
import { clientOf, paths } from '../support/demo.ts';
import { deskOf, type TestDesk } from '../support/desk.ts';

/* Writes that a defect in the service could send about instructions, tried as its own role: the database refuses them. */

let service: Awaited<ReturnType<typeof startCoreService>>;
let desk: TestDesk;
before(async () => {
  service = await startCoreService({}, async (bank) => {
    // This transfer is from the time before the core kept the books.
    const order = {
      id: 'before',
      fromAccountId: 'a-1001-checking',
      toAccountId: 'a-1003-checking',
      amount: 1,
    };
    assert.equal((await bank.post(paths.transfers, order)).body.status, 'COMPLETED');
  });
  desk = await deskOf(service);
  const bank = await clientOf(service);
  const core = await aConnector(service, 'lakeside-core');
  await core.post('/digitalbanking/core/v1/heartbeat', {});
  const place = async (id: string, toAccountId = 'a-1001-savings', amount = 1) => {
    const order = { id, fromAccountId: 'a-1001-checking', toAccountId, amount };
    const answer = await bank.post(paths.transfers, order, { prefer: 'wait=0' });
    assert.equal(answer.status, 201, answer.text);
  };
  await place('accepted');
  await core.take();
  await core.accept('accepted');
  await place('fetched');
  await core.take();
  await place('waiting');
  await place('elsewhere', 'a-1003-checking');
  await place('reviewed', 'a-1003-checking', 2_000);
  await setCorePolicy(service, { mode: 'MEMO' });
  await place('on-memo');
});
after(async () => {
  await desk[Symbol.asyncDispose]();
  await service.close();
});

const key = (id: string) => `(select transfer_key from idempotency_keys where transfer_id = '${id}')`;
const of = (id: string) => `where instruction_key = ${key(id)}`;
const decided = (state: string, more = '') =>
  `state = '${state}', decided_at = now(), decided_by = 'core', delivered_at = coalesce(delivered_at, now())${more}`;

/** The instruction of a transfer for another one. */
const copyOf = (id: string, columns: string) => `
  insert into core_instructions (institution_id, instruction_key, mode, state, business_date, from_key, to_key, amount,
                                 currency, issued_at, decided_at)
  select institution_id, ${columns}, business_date, from_key, to_key, amount, currency, issued_at, decided_at
  from core_instructions ${of(id)}`;
const copyOfTransfer = (id: string, columns: string) => `
  insert into transfers (institution_id, transfer_key, transfer_id, transfer_type, from_account_id, to_account_id,
                         from_key, to_key, amount, currency, status, client_id, created_at, settled_at, reverses_key)
  select ${columns} from transfers where transfer_key = ${key(id)}`;

const refused: readonly (readonly [what: string, code: string, sql: string])[] = [
  ['an instruction deleted', '42501', 'delete from core_instructions'],
  ['the amount of an instruction changed', '42501', 'update core_instructions set amount = 5'],
  ['an outcome changed', 'SD070', `update core_instructions set state = 'REJECTED' ${of('accepted')}`],
  [
    'a decided instruction leased',
    'SD070',
    `update core_instructions set lease_until = null ${of('accepted')}`,
  ],
  [
    'a delivery undone',
    'SD070',
    `update core_instructions set delivered_at = null, leased_by = null, lease_until = null ${of('fetched')}`,
  ],
  [
    'a delivered instruction withdrawn',
    '23514',
    `update core_instructions set state = 'WITHDRAWN', decided_at = now() ${of('fetched')}`,
  ],
  [
    'an undelivered instruction accepted',
    'SD070',
    `update core_instructions set state = 'ACCEPTED', decided_at = now(), decided_by = 'core' ${of('waiting')}`,
  ],
  [
    'an acceptance without its money',
    'SD071',
    `update core_instructions set ${decided('ACCEPTED')} ${of('fetched')}`,
  ],
  [
    'a rejection that keeps the hold',
    'SD071',
    `update core_instructions set ${decided('REJECTED', ", refusal_code = 'NSF'")} ${of('fetched')}`,
  ],
  [
    'a rejection that leaves the money where it went',
    'SD071',
    `update core_instructions set ${decided('REJECTED', ", refusal_code = 'NSF'")} ${of('on-memo')}`,
  ],
  [
    'a rejection without a code',
    '23514',
    `update core_instructions set ${decided('REJECTED')} ${of('fetched')}`,
  ],
  [
    'an outcome that no one has reported',
    '23514',
    `update core_instructions set state = 'ACCEPTED', decided_at = now() ${of('fetched')}`,
  ],
  [
    'an instruction withdrawn whose transfer goes on',
    'SD071',
    `update core_instructions set state = 'WITHDRAWN', decided_at = now() ${of('waiting')}`,
  ],
  ['an instruction without a transfer', 'SD071', copyOf('waiting', `5, 'WAIT', 'OPEN'`)],
  [
    'an instruction of a transfer under review',
    'SD071',
    `insert into core_instructions (institution_id, instruction_key, mode, state, business_date, from_key, to_key, amount,
                                    currency, issued_at)
     select institution_id, transfer_key, 'WAIT', 'OPEN', now(), from_key, to_key, amount, currency, now()
     from transfers where transfer_key = ${key('reviewed')}`,
  ],
  [
    'a transfer that completes without an instruction',
    'SD073',
    copyOfTransfer(
      'accepted',
      `institution_id, 5, 'ghost', transfer_type, from_account_id, to_account_id, from_key, to_key, amount, currency,
       'COMPLETED', client_id, created_at, settled_at, null`,
    ),
  ],
  [
    'a transfer that completes at once, and waits',
    'SD073',
    `with issued as (${copyOf('waiting', `5, 'WAIT', 'OPEN'`)} returning 1)
     ${copyOfTransfer(
       'accepted',
       `institution_id, 5, 'ghost', transfer_type, from_account_id, to_account_id, from_key, to_key, amount, currency,
        'COMPLETED', client_id, created_at, settled_at, null`,
     )}`,
  ],
  [
    'a reversal while the instruction is open',
    'SD073',
    copyOfTransfer(
      'on-memo',
      `institution_id, 5, 'ghost', transfer_type, to_account_id, from_account_id, to_key, from_key, amount, currency,
       'COMPLETED', null, created_at, settled_at, transfer_key`,
    )
      .replace('client_id, created_at', 'operator, created_at')
      .replace("'COMPLETED', null", "'COMPLETED', 'ann'"),
  ],
  [
    'a held transfer completed that the core has not accepted',
    'SD007',
    `update transfers set status = 'COMPLETED', settled_at = now() where transfer_key = ${key('fetched')}`,
  ],
  [
    'a held transfer failed while the core may carry it out',
    'SD073',
    `update transfers set status = 'FAILED', failure_code = 'core_unavailable', failure_detail = 'x', settled_at = now()
     where transfer_key = ${key('fetched')}`,
  ],
  [
    'a transfer that waits for the core before its review has ended',
    'SD074',
    `update pending_transfers set held_for = 'CORE', when_due = 'EXPIRE' where transfer_key = ${key('reviewed')}`,
  ],
  [
    'a longer wait for the core',
    'SD010',
    `update pending_transfers set due_at = due_at + interval '1 day', held_for = 'REVIEW' where transfer_key = ${key('waiting')}`,
  ],
  [
    'a transfer between two memberships on a memo',
    'SD072',
    `insert into core_instructions (institution_id, instruction_key, mode, state, business_date, from_key, to_key, amount,
                                    currency, issued_at)
     select institution_id, transfer_key, 'MEMO', 'OPEN', now(), from_key, to_key, amount, currency, now()
     from transfers where transfer_id = 'before'`,
  ],
];

const checkedNow = { name: '', text: 'set constraints all immediate' };
for (const [what, code, text] of refused) {
  test(`the database refuses: ${what}`, async () => {
    await assert.rejects(
      desk.database.transaction(desk.institutionId, async (tx) => {
        const { rowCount } = await tx.query({ name: '', text });
        assert.ok(rowCount > 0, 'there was something to change');
        await tx.query(checkedNow);
        throw new Error('it was not refused');
      }),
      { code },
    );
  });
}
