import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { asNdjson, type Connector, connectorOf, type LineAnswer, purchase } from '../support/core.ts';
import { startTestService, type TestService } from '../support/service.ts';

let service: TestService;
let core: Connector;
before(async () => {
  service = await startTestService();
  core = await connectorOf(service);
});
after(() => service.close());

const results = (answers: readonly LineAnswer[]) =>
  answers.flatMap(({ result, code }) => (result === undefined ? [] : [code ?? result]));

const person = (personId: string, change: object = {}) => ({
  record: 'person',
  personId,
  firstName: 'Reseda',
  lastName: 'Quillington',
  email: `${personId}@example.test`,
  phoneNumber: '+12025550143',
  phoneType: 'MOBILE',
  birthDate: '1980-12-31',
  ...change,
});
const member = (number: string, change: object = {}) => ({
  record: 'member',
  memberNumber: number,
  customerId: `c-${number}`,
  memberType: 'RETAIL',
  persons: [{ personId: `p-${number}`, role: 'PRIMARY' }],
  ...change,
});
const account = (number: string, name: string, change: object = {}) => ({
  record: 'account',
  accountId: `a-${number}-${name}`,
  memberNumber: number,
  accountNumber: `${number}-${name}`,
  type: 'SAVINGS',
  currency: 'USD',
  holders: [{ personId: `p-${number}`, role: 'PRIMARY', mayPay: true }],
  ...change,
});
const loan = (number: string, change: object = {}) =>
  account(number, 'loan', {
    type: 'INSTALLMENT_LOAN',
    balance: 9_000,
    accruedInterest: 12.5,
    feesDue: 25,
    ...change,
  });

async function row<Row extends object>(text: string, values: unknown[] = []): Promise<Row | undefined> {
  return (await service.db.superuser<Row>(text, values))[0];
}

/** Nothing of a batch stays in the stage. */
async function assertStageIsEmpty(): Promise<void> {
  const staged = await row<{ rows: bigint }>(
    `select (select count(*) from staged_persons) + (select count(*) from staged_members)
          + (select count(*) from staged_member_persons) + (select count(*) from staged_accounts)
          + (select count(*) from staged_holders) as rows`,
  );
  assert.equal(staged?.rows, 0n);
}

describe('taking records', () => {
  test('opens a membership with its person, accounts, holders and balances, and nothing twice', async () => {
    const lines = [
      person('p-300001'),
      member('300001'),
      account('300001', 'savings', { balance: 12.34, description: 'Rainy days' }),
      account('300001', 'euro', { currency: 'EUR', balance: '5' }),
      loan('300001', { amountDue: 210 }),
    ];
    const answers = await core.deliverRecords(lines);
    assert.deepEqual(answers, [
      { line: 1, id: 'p-300001', result: 'added' },
      { line: 2, id: '300001', result: 'added' },
      { line: 3, id: 'a-300001-savings', result: 'added' },
      { line: 4, id: 'a-300001-euro', result: 'added' },
      { line: 5, id: 'a-300001-loan', result: 'added' },
      { summary: { added: 5, changed: 0, removed: 0, unchanged: 0, stale: 0, refused: 0 } },
    ]);
    const stands = async () =>
      service.db.superuser<{
        id: string;
        posted: bigint;
        holders: string;
        loan: string | null;
        entries: bigint;
      }>(
        `select account_id as id, posted, (select string_agg(p.person_id || ' ' || h.role || ' ' || h.may_pay, ',')
                from holders h join persons p using (institution_id, person_key)
                where h.institution_id = a.institution_id and h.account_key = a.account_key) as holders,
                (select concat_ws(' ', accrued_interest, fees_due, amount_due) from loans l
                 where l.institution_id = a.institution_id and l.account_key = a.account_key) as loan,
                b.seq as entries
         from accounts a join balances b using (institution_id, account_key, account_id)
         where account_id like 'a-300001-%' order by account_id`,
      );
    const before = await stands();
    assert.deepEqual(before, [
      { id: 'a-300001-euro', posted: 500n, holders: 'p-300001 PRIMARY true', loan: null, entries: 1n },
      {
        id: 'a-300001-loan',
        posted: -903_750n,
        holders: 'p-300001 PRIMARY true',
        loan: '1250 2500 21000',
        entries: 1n,
      },
      { id: 'a-300001-savings', posted: 1_234n, holders: 'p-300001 PRIMARY true', loan: null, entries: 1n },
    ]);
    assert.deepEqual(results(await core.deliverRecords(lines)), Array(5).fill('unchanged'));
    assert.deepEqual(await stands(), before);
    const opened = await row<{ events: bigint }>(
      `select count(*) as events from outbox o join accounts a on a.account_key = o.to_key
         and a.institution_id = o.institution_id
       where o.kind = 'account.balance_opened' and a.account_id like 'a-300001-%'`,
    );
    assert.equal(opened?.events, 3n);
    const total = await row<{ total: string }>(
      'select coalesce(sum(posted), 0)::text as total from balances',
    );
    assert.equal(total?.total, '0');
    await assertStageIsEmpty();
  });

  test('changes the given fields only, and removes a value that is null', async () => {
    await core.deliverRecords([person('p-300002'), member('300002'), account('300002', 'savings')]);
    const answers = await core.deliverRecords([
      { record: 'person', personId: 'p-300002', email: 'moved@example.test' },
      { record: 'person', personId: 'p-300002', phoneNumber: null, phoneType: null },
      { record: 'person', personId: 'p-300002', email: 'moved@example.test' },
      { record: 'account', accountId: 'a-300002-savings', transferRestriction: 'EXCLUDE_AS_FROM' },
      { record: 'account', accountId: 'a-300002-savings', overdraftLimit: 50 },
      { record: 'account', accountId: 'a-300002-savings', status: 'closed', description: 'Old savings' },
      { record: 'account', accountId: 'a-300002-savings' },
    ]);
    assert.deepEqual(results(answers), [
      'changed',
      'changed',
      'unchanged',
      'changed',
      'changed',
      'changed',
      'unchanged',
    ]);
    assert.deepEqual(
      await row(
        `select first_name, last_name, email, phone_number, birth_date::text from persons where person_id = 'p-300002'`,
      ),
      {
        first_name: 'Reseda',
        last_name: 'Quillington',
        email: 'moved@example.test',
        phone_number: null,
        birth_date: '1980-12-31',
      },
    );
    assert.deepEqual(
      await row(
        `select transfer_restriction, overdraft_limit, closed, description, account_number from accounts
         where account_id = 'a-300002-savings'`,
      ),
      {
        transfer_restriction: 'EXCLUDE_AS_FROM',
        overdraft_limit: 5_000n,
        closed: true,
        description: 'Old savings',
        account_number: '300002-savings',
      },
    );
    const ended = await core.deliverRecords([
      { record: 'account', accountId: 'a-300002-savings', transferRestriction: null, status: 'open' },
    ]);
    assert.deepEqual(results(ended), ['changed']);
    const after = await row<{ transfer_restriction: string | null }>(
      `select transfer_restriction from accounts where account_id = 'a-300002-savings'`,
    );
    assert.equal(after?.transfer_restriction, null);
  });

  test('adds, changes and removes persons of a membership and holders by explicit records only', async () => {
    await core.deliverRecords([
      person('p-300003'),
      person('j-300003'),
      member('300003', {
        persons: [
          { personId: 'p-300003', role: 'PRIMARY' },
          { personId: 'j-300003', role: 'JOINT' },
        ],
      }),
      account('300003', 'savings'),
      { record: 'holder', accountId: 'a-300003-savings', personId: 'j-300003', role: 'JOINT', mayPay: true },
    ]);
    const holders = () =>
      service.db.superuser<{ id: string; may: boolean }>(
        `select p.person_id as id, h.may_pay as may from holders h join persons p using (institution_id, person_key)
         join accounts a using (institution_id, account_key) where account_id = 'a-300003-savings' order by 1`,
      );
    assert.equal((await holders()).length, 2);
    // A record of the account names one holder, and one of the membership one person. The others stay.
    assert.deepEqual(results(await core.deliverRecords([account('300003', 'savings'), member('300003')])), [
      'unchanged',
      'unchanged',
    ]);
    const away = { record: 'memberPerson', memberNumber: '300003', personId: 'j-300003', removed: true };
    const answers = await core.deliverRecords([
      { record: 'holder', accountId: 'a-300003-savings', personId: 'j-300003', mayPay: false },
      away,
      { record: 'holder', accountId: 'a-300003-savings', personId: 'j-300003', removed: true },
      { record: 'holder', accountId: 'a-300003-savings', personId: 'j-300003', removed: true },
      away,
      away,
    ]);
    assert.deepEqual(results(answers), [
      'changed',
      'still_holder',
      'removed',
      'unchanged',
      'removed',
      'unchanged',
    ]);
    assert.deepEqual(await holders(), [{ id: 'p-300003', may: true }]);
  });

  test('replaces the primary person of a membership in one record', async () => {
    await core.deliverRecords([person('p-300004'), person('q-300004'), member('300004')]);
    const answers = await core.deliverRecords([
      { record: 'memberPerson', memberNumber: '300004', personId: 'q-300004', role: 'PRIMARY' },
      { record: 'memberPerson', memberNumber: '300004', personId: 'p-300004', role: 'JOINT' },
      { record: 'memberPerson', memberNumber: '300004', personId: 'p-300004', removed: true },
      {
        record: 'member',
        memberNumber: '300004',
        persons: [
          { personId: 'q-300004', role: 'PRIMARY' },
          { personId: 'p-300004', role: 'JOINT' },
        ],
      },
      { record: 'memberPerson', memberNumber: '300004', personId: 'p-300004', removed: true },
    ]);
    assert.deepEqual(results(answers), [
      'primary_required',
      'primary_required',
      'primary_required',
      'changed',
      'removed',
    ]);
  });

  test("changes a loan's figures, less the payments since their moment, and never its balance", async () => {
    await core.deliverRecords([person('p-300005'), member('300005'), loan('300005')]);
    const stands = () =>
      row(
        `select b.posted, l.accrued_interest, l.fees_due, l.amount_due, l.next_due_on::text, a.delinquent from accounts a
         join balances b using (institution_id, account_key, account_id) join loans l using (institution_id, account_key)
         where account_id = 'a-300005-loan'`,
      );
    assert.deepEqual(
      results(
        await core.deliverRecords([
          {
            record: 'account',
            accountId: 'a-300005-loan',
            accruedInterest: 40.01,
            delinquent: true,
            balance: 7,
          },
          { record: 'account', accountId: 'a-300005-loan', amountDue: 300, nextDueOn: '2026-04-01' },
        ]),
      ),
      ['changed', 'changed'],
    );
    const figures = {
      posted: -903_750n,
      accrued_interest: 4_001n,
      fees_due: 2_500n,
      amount_due: 30_000n,
      next_due_on: '2026-04-01',
      delinquent: true,
    };
    assert.deepEqual(await stands(), figures);
    const late = await core.deliverRecords(
      [{ record: 'account', accountId: 'a-300005-loan', accruedInterest: 1 }],
      {},
      '?asOf=2026-03-02T06:00:00-05:00',
    );
    assert.deepEqual(results(late), ['changed']);
    const paid = { ...figures, accrued_interest: 100n };
    assert.deepEqual(await stands(), paid);
    const dueOn = (nextDueOn: string | null) =>
      core.deliverRecords([{ record: 'account', accountId: 'a-300005-loan', nextDueOn }]);
    assert.deepEqual(results(await dueOn('the first')), ['invalid_line']);
    assert.deepEqual(results(await dueOn(null)), ['changed']);
    assert.deepEqual(await stands(), { ...paid, next_due_on: null });
    await assert.rejects(core.deliverRecords([], {}, '?asOf=2999-01-01T00:00:00Z'), /400.*invalid_request/s);
  });
});

describe('refusing records', () => {
  test('refuses each wrong line by itself, with its number and its reason, and takes the lines around it', async () => {
    await core.deliverRecords([person('p-300010'), member('300010'), account('300010', 'savings')]);
    const wrong: readonly [object, string, RegExp][] = [
      [{ record: 'branch' }, 'invalid_line', /record must be one of person, member/],
      [{ record: '__proto__' }, 'invalid_line', /record must be one of/],
      [{ record: 'person', personId: 'p 1' }, 'invalid_line', /personId/],
      [person('n-1', { lastName: undefined }), 'person_not_found', /a new one needs lastName/],
      [person('n-1', { lastName: '' }), 'invalid_line', /lastName must be a name/],
      [
        { record: 'account', accountId: 'a-none', status: 'closed' },
        'account_not_found',
        /a new one needs memberNumber/,
      ],
      [{ record: 'member', memberNumber: '300012' }, 'member_not_found', /A new one needs customerId/],
      [person('n-2', { birthDate: '2999-01-01' }), 'date_out_of_range', /birthDate/],
      [person('n-3', { birthDate: '1492-01-01' }), 'date_out_of_range', /birthDate/],
      [person('n-4', { birthDate: '1980-02-30' }), 'invalid_line', /birthDate must be a date/],
      [person('n-5', { email: 'no address' }), 'invalid_line', /email must be an e-mail address/],
      [person('n-6', { phoneType: null }), 'invalid_line', /phoneType/],
      [
        person('n-7', { lastName: 'a\u202eb' }),
        'invalid_line',
        /lastName must be text without bidirectional/,
      ],
      [person('n-8', { lastName: 7 }), 'invalid_line', /lastName must be a text/],
      [person('n-9', { balance: 7 }), 'invalid_line', /A field is not known/],
      [person('n-10', { removed: true }), 'invalid_line', /A field is not known/],
      [member('300011', { persons: [] }), 'primary_required', /PRIMARY/],
      [
        member('300011', { persons: [{ personId: 'nobody', role: 'PRIMARY' }] }),
        'person_not_found',
        /personId/,
      ],
      [
        member('300011', { persons: [{ personId: 'p-300010', role: 'BUSINESS_USER' }] }),
        'role_not_allowed',
        /role must be PRIMARY or JOINT/,
      ],
      [member('300011', { customerId: 'c-300010' }), 'id_reused', /customerId/],
      [member('300010', { memberType: 'BUSINESS' }), 'id_reused', /memberType/],
      [account('300012', 'x'), 'member_not_found', /memberNumber/],
      [account('300010', 'savings', { currency: 'EUR' }), 'currency_mismatch', /currency/],
      [account('300010', 'savings', { type: 'CHECKING' }), 'id_reused', /type/],
      [account('300010', 'savings', { memberNumber: '100001' }), 'id_reused', /memberNumber/],
      [account('300010', 'x', { type: 'GENERAL_LEDGER_ACCOUNT' }), 'invalid_line', /type/],
      [account('300010', 'x', { accountId: 'internal:suspense:USD' }), 'invalid_line', /institution's own/],
      [account('300010', 'x', { balance: 1.234 }), 'invalid_line', /balance must be an amount/],
      [account('300010', 'x', { overdraftLimit: -1 }), 'invalid_line', /overdraftLimit/],
      [account('300010', 'x', { accruedInterest: 1 }), 'invalid_line', /accruedInterest/],
      [account('300010', 'x', { transferRestriction: 'ALL' }), 'invalid_line', /transferRestriction/],
      [
        account('300010', 'x', { type: 'CREDIT_CARD_LOAN', accountNumber: '4111111111111111' }),
        'invalid_line',
        /last four digits/,
      ],
      [
        account('300010', 'x', { holders: [{ personId: 'p-1001', role: 'JOINT', mayPay: true }] }),
        'not_in_membership',
        /person of the account's membership/,
      ],
      [
        account('300010', 'x', { holders: [{ personId: 'p-300010' }] }),
        'invalid_line',
        /role must be.*mayPay must be/,
      ],
      [{ record: 'holder', accountId: 'a-none', personId: 'p-300010' }, 'account_not_found', /account/],
      [
        { record: 'holder', accountId: 'internal:suspense:USD', personId: 'p-300010' },
        'account_not_found',
        /account/,
      ],
      [
        { record: 'memberPerson', memberNumber: '300012', personId: 'p-300010' },
        'member_not_found',
        /memberNumber/,
      ],
    ];
    const lines = wrong.flatMap(([line], index) => [line, person(`around-${index}`)]);
    const answers = await core.deliverRecords(lines);
    assert.equal(answers.at(-1)?.summary?.refused, wrong.length);
    for (const [index, [line, code, detail]] of wrong.entries()) {
      const answer = answers[index * 2];
      assert.equal(answer?.line, index * 2 + 1);
      assert.equal(answer.code, code, `${JSON.stringify(line)}: ${JSON.stringify(answer)}`);
      assert.match(answer.detail ?? '', detail);
      assert.equal(answers[index * 2 + 1]?.result, 'added');
    }
    const left = await row<{ rows: bigint }>(
      `select (select count(*) from persons where person_id like 'n-%') + (select count(*) from customers where member_number in ('300011', '300012'))
            + (select count(*) from accounts where account_id like 'a-300010-x%') as rows`,
    );
    assert.equal(left?.rows, 0n);
    await assertStageIsEmpty();
  });

  test('a refused record does not carry the records that depend on it', async () => {
    const answers = await core.deliverRecords([
      person('p-300013', { birthDate: '2999-01-01' }),
      member('300013'),
      account('300013', 'savings'),
    ]);
    assert.deepEqual(results(answers), ['date_out_of_range', 'person_not_found', 'member_not_found']);
  });

  test("does not see or touch another institution's records", async () => {
    const harbor = await connectorOf(service, 'harbor');
    await core.deliverRecords([person('p-300014'), member('300014'), account('300014', 'savings')]);
    const answers = await harbor.deliverRecords([
      { record: 'person', personId: 'p-300014', email: 'other@example.test' },
      account('300014', 'savings'),
      { record: 'holder', accountId: 'a-300014-savings', personId: 'p-300014', removed: true },
    ]);
    assert.deepEqual(results(answers), ['person_not_found', 'member_not_found', 'account_not_found']);
  });
});

describe('forms of a delivery of records', () => {
  test('takes one JSON document, gzip, and lines around a line of a megabyte', async () => {
    assert.deepEqual(
      results(
        await core.deliverRecords(JSON.stringify(person('f-1'), null, 2), {
          'content-type': 'application/json',
        }),
      ),
      ['added'],
    );
    const bytes = gzipSync(
      asNdjson([person('f-2'), person('f-3', { lastName: 'x'.repeat(1_000_000) }), person('f-4')]),
    );
    assert.deepEqual(results(await core.deliverRecords(bytes, { 'content-encoding': 'gzip' })), [
      'added',
      'line_too_long',
      'added',
    ]);
  });

  test('keeps the lines before the end of a truncated gzip, and says where it ended', async () => {
    const lines = Array.from({ length: 3_000 }, (_, n) =>
      person(`cut-${n}`, { firstName: `No. ${Math.random()}` }),
    );
    const bytes = gzipSync(asNdjson(lines));
    const half = bytes.subarray(0, Math.floor(bytes.length / 2));
    const answers = await core.deliverRecords(half, { 'content-encoding': 'gzip' });
    const added = results(answers).filter((result) => result === 'added').length;
    assert.ok(added > 0 && added < 3_000);
    assert.deepEqual([answers.at(-1)?.code, answers.at(-1)?.line], ['truncated', added + 1]);
    const again = await core.deliverRecords(bytes, { 'content-encoding': 'gzip' });
    assert.deepEqual(again.at(-1)?.summary, {
      added: 3_000 - added,
      changed: 0,
      removed: 0,
      unchanged: added,
      stale: 0,
      refused: 0,
    });
  });

  test('audits each delivery that changes something, at its first batch and at its end', async () => {
    const lines = [person('aud-1'), person('aud-2', { birthDate: '2999-01-01' })];
    await core.deliverRecords(lines, { transactionId: 'records-of-the-audit' });
    await core.deliverRecords(lines, { transactionId: 'records-of-the-audit' });
    const entries = await service.db.superuser<{ action: string; client_id: string; counts: object | null }>(
      `select action, client_id, after_change as counts from audit_entries
       where transaction_id = 'records-of-the-audit' order by audit_key`,
    );
    assert.deepEqual(entries, [
      { action: 'core.records_begun', client_id: 'core-of-lakeside', counts: null },
      {
        action: 'core.records_taken',
        client_id: 'core-of-lakeside',
        counts: { added: 1, changed: 0, removed: 0, unchanged: 0, stale: 0, refused: 1 },
      },
    ]);
  });
});

describe('records that arrive late', () => {
  const at = (hour: number) => `2026-03-02T${String(hour).padStart(2, '0')}:00:00.000Z`;
  const phoneOf = (personId: string) =>
    row<{ phone: string }>('select phone_number as phone from persons where person_id = $1', [personId]);

  test('a record that is older than the one that stands is stale, in its own delivery and in a later one', async () => {
    const moved = (hour: number, digit: number) =>
      person('late-1', { phoneNumber: `+1202555014${digit}`, changedAt: at(hour) });
    assert.deepEqual(results(await core.deliverRecords([moved(6, 1), moved(9, 2), moved(8, 3)])), [
      'added',
      'changed',
      'stale',
    ]);
    const late = await core.deliverRecords([moved(8, 3), moved(10, 4), moved(9, 2)]);
    assert.deepEqual(late.map(({ detail }) => detail).filter(Boolean), [
      `The person late-1 stands with a change of ${at(9)}. Send what the core has now.`,
      `The person late-1 stands with a change of ${at(10)}. Send what the core has now.`,
    ]);
    assert.deepEqual(late.at(-1)?.summary, {
      added: 0,
      changed: 1,
      removed: 0,
      unchanged: 0,
      stale: 2,
      refused: 0,
    });
    assert.deepEqual(await phoneOf('late-1'), { phone: '+12025550144' });
  });

  test('the same time again is no stale record, and a record that changes nothing is newer all the same', async () => {
    const first = person('late-2', { changedAt: at(6) });
    const same = person('late-2', { changedAt: at(9) });
    const between = person('late-2', { phoneNumber: '+12025550149', changedAt: at(8) });
    assert.deepEqual(results(await core.deliverRecords([first, first, same])), [
      'added',
      'unchanged',
      'unchanged',
    ]);
    assert.deepEqual(results(await core.deliverRecords([between])), ['stale']);
    // Without a time the last one counts.
    assert.deepEqual(
      results(await core.deliverRecords([person('late-2', { phoneNumber: '+12025550148' })])),
      ['changed'],
    );
    assert.deepEqual(await phoneOf('late-2'), { phone: '+12025550148' });
  });

  test('a holder that was removed is not brought back by an older record of the account', async () => {
    await core.deliverRecords([
      person('p-300030'),
      person('late-joint'),
      member('300030', {
        persons: [
          { personId: 'p-300030', role: 'PRIMARY' },
          { personId: 'late-joint', role: 'JOINT' },
        ],
      }),
    ]);
    const holders = [
      { personId: 'p-300030', role: 'PRIMARY', mayPay: true },
      { personId: 'late-joint', role: 'JOINT', mayPay: true },
    ];
    const opened = account('300030', 'savings', { holders, changedAt: at(6) });
    const joint = { accountId: 'a-300030-savings', personId: 'late-joint' };
    const left = { record: 'holder', ...joint, removed: true, changedAt: at(9) };
    assert.deepEqual(results(await core.deliverRecords([opened, left])), ['added', 'removed']);
    const answers = await core.deliverRecords([
      { ...opened, description: 'Late', changedAt: at(8) },
      { record: 'holder', ...joint, role: 'JOINT', mayPay: true, changedAt: at(7) },
      { ...left, changedAt: at(10) },
      { record: 'holder', ...joint, role: 'JOINT', mayPay: false, changedAt: at(11) },
    ]);
    assert.deepEqual(results(answers), ['stale', 'stale', 'unchanged', 'added']);
    assert.match(answers[0]?.detail ?? '', /^The holder a-300030-savings\/late-joint stands/);
    assert.deepEqual(await row(`select description from accounts where account_id = 'a-300030-savings'`), {
      description: 'Share Savings',
    });
  });

  test('a time far ahead, or that is none, is refused, so that it cannot block the records after it', async () => {
    const answers = await core.deliverRecords([
      person('late-3', { changedAt: '2999-01-01T00:00:00Z' }),
      person('late-3', { changedAt: '1969-12-31T23:59:59Z' }),
      person('late-3', { changedAt: '2026-03-02' }),
      person('late-3', { changedAt: null }),
      person('late-3', { changedAt: '2026-03-02T06:00:00.123456-05:00' }),
    ]);
    assert.deepEqual(results(answers), [
      'date_out_of_range',
      'date_out_of_range',
      'invalid_line',
      'invalid_line',
      'added',
    ]);
  });

  test('a refused record leaves no time, and other institutions have their own times', async () => {
    const refused = member('300031', { persons: [], changedAt: at(9) });
    assert.deepEqual(results(await core.deliverRecords([refused])), ['primary_required']);
    const rows = await row<{ kept: bigint }>(
      `select count(*) as kept from core_record_versions where record_id = '300031'`,
    );
    assert.equal(rows?.kept, 0n);
    const harbor = await connectorOf(service, 'harbor');
    await core.deliverRecords([person('late-4', { changedAt: at(9) })]);
    assert.deepEqual(results(await harbor.deliverRecords([person('late-4', { changedAt: at(6) })])), [
      'added',
    ]);
  });
});

test('an account that a record opened takes transactions at once', async () => {
  await core.deliverRecords([
    person('p-300020'),
    member('300020'),
    account('300020', 'savings', { balance: 50 }),
  ]);
  const answers = await core.deliver([purchase('records-1', { accountId: 'a-300020-savings' })]);
  assert.deepEqual(results(answers), ['posted']);
  // The nightly delivery of the same account states a later balance. It is not the record's to change.
  const nightly = account('300020', 'savings', { balance: 37.66 });
  assert.deepEqual(results(await core.deliverRecords([nightly])), ['unchanged']);
  const balance = await row<{ posted: bigint }>(
    `select posted from balances where account_id = 'a-300020-savings'`,
  );
  assert.equal(balance?.posted, 3_766n);
});

test('an account that an operator closed for good is not opened by a record, and takes its other fields', async () => {
  await core.deliverRecords([person('p-300021'), member('300021'), account('300021', 'savings')]);
  await service.db.superuser(`update balances set closed = true where account_id = 'a-300021-savings'`);
  await service.db.superuser(
    `update accounts set closed = true, closed_by_operator = true where account_id = 'a-300021-savings'`,
  );
  const again = { record: 'account', accountId: 'a-300021-savings', status: 'open' };
  assert.deepEqual(results(await core.deliverRecords([again, { ...again, description: 'Closed' }])), [
    'unchanged',
    'changed',
  ]);
  assert.deepEqual(
    await row(`select closed, description from accounts where account_id = 'a-300021-savings'`),
    {
      closed: true,
      description: 'Closed',
    },
  );
});
