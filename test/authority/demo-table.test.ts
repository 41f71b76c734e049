import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { clientOf, type DemoCaller, memberOf, paths } from '../support/demo.ts';
import { startTestService, type TestService } from '../support/service.ts';

/*
 * Visible accounts and allowed transfers, written by hand from the extract files in examples/, not from the code:
 * every demo login against every account and operation. An account that is missing here must not exist for the login.
 */

/** The result of paying 1 from the account to another member's savings: a type of success, or the refusal. */
type Pays = 'INTRA_FI' | 'STANDARD' | 'account_restricted' | 'account_closed' | 'currency_mismatch';

interface LoginRow {
  readonly password: string;
  readonly customers: readonly string[];
  readonly accounts: Readonly<Record<string, Pays>>;
}

const lakeside: Readonly<Record<string, LoginRow>> = {
  'demo.member': {
    password: 'demo-member-password',
    customers: ['c-1001'],
    accounts: {
      'a-1001-checking': 'INTRA_FI',
      'a-1001-savings': 'INTRA_FI',
      'a-1001-certificate': 'account_restricted',
      'a-1001-ira': 'account_restricted',
      'a-1001-carloan': 'account_restricted',
    },
  },
  'pebble.primary': {
    password: 'pebble-blue-lantern-1',
    customers: ['c-1002'],
    accounts: {
      'a-1002-checking': 'INTRA_FI',
      'a-1002-savings': 'INTRA_FI',
      'a-1002-mortgage': 'account_restricted',
    },
  },
  'fern.joint': {
    password: 'fern-green-lantern-2',
    customers: ['c-1002'],
    accounts: { 'a-1002-checking': 'INTRA_FI', 'a-1002-mortgage': 'account_restricted' },
  },
  'cedar.owner': {
    password: 'cedar-red-lantern-3',
    customers: ['c-1003'],
    accounts: {
      'a-1003-checking': 'INTRA_FI',
      'a-1003-savings': 'INTRA_FI',
      'a-1003-moneymarket': 'INTRA_FI',
    },
  },
  'hazel.signer': {
    password: 'hazel-gold-lantern-4',
    customers: ['c-1003'],
    accounts: { 'a-1003-checking': 'account_restricted' },
  },
  'juniper.two': {
    password: 'juniper-two-lantern-5',
    customers: ['c-1004', 'c-1005'],
    accounts: {
      'a-1004-checking': 'INTRA_FI',
      'a-1004-savings': 'INTRA_FI',
      'a-1005-checking': 'INTRA_FI',
      'a-1005-savings': 'INTRA_FI',
    },
  },
  'rowan.owner': {
    password: 'rowan-bread-lantern-6',
    customers: ['c-1006'],
    accounts: {
      'a-1006-checking': 'INTRA_FI',
      'a-1006-savings': 'INTRA_FI',
      'a-1006-line': 'account_restricted',
    },
  },
  'maple.admin': {
    password: 'maple-bread-lantern-7',
    customers: ['c-1006'],
    accounts: { 'a-1006-checking': 'INTRA_FI', 'a-1006-savings': 'INTRA_FI' },
  },
  'linden.clerk': {
    password: 'linden-bread-lantern-8',
    customers: ['c-1006'],
    accounts: { 'a-1006-checking': 'account_restricted' },
  },
  'brook.overdraft': {
    password: 'brook-river-lantern-9',
    customers: ['c-1007'],
    accounts: { 'a-1007-checking': 'INTRA_FI', 'a-1007-savings': 'INTRA_FI' },
  },
  'clover.late': {
    password: 'clover-late-lantern-10',
    customers: ['c-1008'],
    accounts: { 'a-1008-checking': 'INTRA_FI', 'a-1008-carloan': 'account_restricted' },
  },
  'aspen.closed': {
    password: 'aspen-shut-lantern-11',
    customers: ['c-1009'],
    accounts: { 'a-1009-checking': 'INTRA_FI', 'a-1009-savings': 'account_closed' },
  },
  'ivy.shared': {
    password: 'ivy-shared-lantern-14',
    customers: ['c-1012'],
    accounts: { 'a-1012-checking': 'INTRA_FI' },
  },
  'reed.shared': {
    password: 'reed-shared-lantern-15',
    customers: ['c-1013'],
    accounts: { 'a-1013-checking': 'INTRA_FI' },
  },
  'sage.card': {
    password: 'sage-card-lantern-16',
    customers: ['c-1014'],
    accounts: {
      'a-1014-checking': 'INTRA_FI',
      'a-1014-card': 'account_restricted',
      'a-1014-brokerage': 'account_restricted',
    },
  },
  'olive.euro': {
    password: 'olive-euro-lantern-17',
    customers: ['c-1015'],
    accounts: {
      'a-1015-checking': 'INTRA_FI',
      'a-1015-savings-eur': 'currency_mismatch',
      'a-1015-checking-jpy': 'currency_mismatch',
    },
  },
  'wren.many': {
    password: 'wren-many-lantern-18',
    customers: ['c-1019'],
    accounts: {
      'a-1019-checking': 'INTRA_FI',
      'a-1019-savings': 'INTRA_FI',
      'a-1019-moneymarket': 'INTRA_FI',
      'a-1019-ira': 'account_restricted',
      'a-1019-certificate': 'account_restricted',
    },
  },
};

/** At harbor the same ids are other accounts; accounts of lakeside alone do not exist. */
const harbor: Readonly<Record<string, LoginRow>> = {
  'demo.member': {
    password: 'harbor-member-password',
    customers: ['c-1001'],
    accounts: { 'a-1001-checking': 'INTRA_FI', 'a-1001-savings': 'INTRA_FI' },
  },
  'pebble.primary': {
    password: 'marina-quay-lantern-1',
    customers: ['c-1002'],
    accounts: { 'a-1002-checking': 'INTRA_FI', 'a-1002-savings': 'INTRA_FI' },
  },
};

const banks = [
  { name: 'lakeside', logins: lakeside, client: ['demo-app', 'demo-app-secret'], payee: 'a-1020-savings' },
  { name: 'harbor', logins: harbor, client: ['harbor-app', 'harbor-app-secret'], payee: 'a-1016-checking' },
] as const;

let service: TestService;
const accountIds: string[] = [];
const customerIds: string[] = [];
before(async () => {
  // Each member tries the contact of every other.
  service = await startTestService({ environment: { CONTACT_CHANGES_PER_MINUTE: '1000' } });
  const accounts = await service.db.superuser<{ account_id: string }>(
    'select distinct account_id from accounts where customer_key is not null order by 1',
  );
  const customers = await service.db.superuser<{ customer_id: string }>(
    'select distinct customer_id from customers order by 1',
  );
  accountIds.push(...accounts.map((row) => row.account_id));
  customerIds.push(...customers.map((row) => row.customer_id));
  assert.ok(accountIds.length > 60 && customerIds.length >= 32);
});
after(() => service.close());

function withoutInstance(text: string): string {
  return text.replace(/"instance":"[^"]*",?/, '');
}

for (const { name, logins, client, payee } of banks) {
  for (const [username, row] of Object.entries(logins)) {
    describe(`${username} at ${name}`, () => {
      let caller: DemoCaller;
      before(async () => {
        caller = await memberOf(service, username, row.password, client);
      });

      test(`${username} at ${name} sees exactly the accounts that name them, and any other equals a missing one`, async () => {
        const listed = (await caller.get(paths.accounts)).body as { accountId: string }[];
        assert.deepEqual(
          listed.map((account) => account.accountId).toSorted(),
          Object.keys(row.accounts).toSorted(),
        );
        const missing = await caller.get(`${paths.accounts}/no-such-account`);
        assert.equal(missing.status, 404);
        const hidden = [...accountIds, 'internal:funding:USD', 'internal:core-settlement:USD'];
        for (const accountId of hidden) {
          const answer = await caller.get(`${paths.accounts}/${accountId}`);
          if (accountId in row.accounts) assert.equal(answer.body.accountId, accountId);
          else assert.equal(withoutInstance(answer.text), withoutInstance(missing.text), accountId);
        }
      });

      test(`${username} at ${name} sees exactly their own memberships and profile, and any other equals a missing one`, async () => {
        const missing = await caller.get(`${paths.customer('no-such-customer')}/contact-methods`);
        const missingAccounts = await caller.get(`${paths.customer('no-such-customer')}/accounts`);
        assert.equal(missing.status, 404);
        for (const customerId of customerIds) {
          const profile = await caller.get(`${paths.customer(customerId)}/contact-methods`);
          const accounts = await caller.get(`${paths.customer(customerId)}/accounts`);
          if (row.customers.includes(customerId)) {
            const ids = (profile.body.customers as { customerId: string }[]).map((one) => one.customerId);
            assert.deepEqual(ids, row.customers);
            const number = customerId.replace('c-', 'a-');
            assert.deepEqual(
              (accounts.body as { accountId: string }[]).map((account) => account.accountId).toSorted(),
              Object.keys(row.accounts)
                .filter((accountId) => accountId.startsWith(`${number}-`))
                .toSorted(),
            );
          } else {
            assert.equal(withoutInstance(profile.text), withoutInstance(missing.text), customerId);
            assert.equal(withoutInstance(accounts.text), withoutInstance(missingAccounts.text), customerId);
          }
        }
      });

      test(`${username} at ${name} pays from exactly the accounts whose record allows it`, async () => {
        for (const accountId of accountIds.filter((id) => id !== payee)) {
          const order = { fromAccountId: accountId, toAccountId: payee, amount: 1 };
          const answer = await caller.post(paths.transfers, order);
          const expected = row.accounts[accountId] ?? 'account_not_found';
          if (answer.status === 201) assert.equal(answer.body.transferType, expected, accountId);
          else assert.equal(answer.body.code, expected, `${accountId}: ${answer.text}`);
        }
      });

      test(`${username} at ${name} cannot change another member’s contact`, async () => {
        for (const customerId of customerIds.filter((id) => !row.customers.includes(id))) {
          const answer = await caller.patch(`${paths.customer(customerId)}/contact-info`, {
            emailAddress: 'taken.over@example.test',
          });
          assert.equal(answer.status, 404, customerId);
        }
        const changed = await service.db.superuser(
          `select from users where email = 'taken.over@example.test'`,
        );
        assert.equal(changed.length, 0);
      });
    });
  }
}

describe('allowed transfers of the demo', () => {
  type Payment = readonly [from: string, to: string, expected: string];
  const tables: Readonly<Record<string, readonly Payment[]>> = {
    'demo.member': [
      ['a-1001-checking', 'a-1001-savings', 'STANDARD'],
      ['a-1001-checking', 'a-1001-certificate', 'STANDARD'],
      ['a-1001-checking', 'a-1001-ira', 'IRA_CONTRIBUTION'],
      ['a-1001-checking', 'a-1001-carloan', 'LOAN_PAYMENT'],
      ['a-1001-checking', 'a-1002-savings', 'INTRA_FI'],
      ['a-1001-checking', 'a-1019-certificate', 'INTRA_FI'],
      ['a-1001-checking', 'a-1019-ira', 'account_not_found'],
      ['a-1001-checking', 'a-1008-carloan', 'account_not_found'],
      ['a-1001-checking', 'a-1002-mortgage', 'account_not_found'],
      ['a-1001-checking', 'a-1014-card', 'account_not_found'],
      ['a-1001-checking', 'a-1006-line', 'account_not_found'],
      ['a-1001-checking', 'a-1014-brokerage', 'account_not_found'],
      ['a-1001-checking', 'a-1009-savings', 'account_not_found'],
      ['a-1001-checking', 'internal:suspense:USD', 'account_not_found'],
      ['a-1001-checking', 'a-1015-savings-eur', 'currency_mismatch'],
      ['a-1001-checking', 'a-1001-checking', 'same_account'],
    ],
    'juniper.two': [
      ['a-1004-checking', 'a-1005-checking', 'CROSS_MEMBER'],
      ['a-1005-savings', 'a-1004-savings', 'CROSS_MEMBER'],
      ['a-1004-checking', 'a-1004-savings', 'STANDARD'],
    ],
    'fern.joint': [
      ['a-1002-checking', 'a-1002-mortgage', 'LOAN_PAYMENT'],
      ['a-1002-checking', 'a-1002-savings', 'STANDARD'],
      ['a-1002-savings', 'a-1002-checking', 'account_not_found'],
    ],
    'sage.card': [
      ['a-1014-checking', 'a-1014-card', 'LOAN_PAYMENT'],
      ['a-1014-checking', 'a-1014-brokerage', 'STANDARD'],
    ],
    'brook.overdraft': [
      ['a-1007-checking', 'a-1001-savings', 'INTRA_FI'],
      ['a-1007-savings', 'a-1007-checking', 'STANDARD'],
    ],
  };
  for (const [username, payments] of Object.entries(tables)) {
    test(`${username} can order exactly the transfers of the demo’s table`, async () => {
      const caller = await memberOf(service, username, lakeside[username]?.password ?? '');
      for (const [fromAccountId, toAccountId, expected] of payments) {
        const answer = await caller.post(paths.transfers, { fromAccountId, toAccountId, amount: 1 });
        const got = answer.status === 201 ? answer.body.transferType : answer.body.code;
        assert.equal(got, expected, `${fromAccountId} to ${toAccountId}`);
      }
    });
  }

  test('the institution’s client token can order exactly the transfers of the demo’s table', async () => {
    const bank = await clientOf(service);
    const payments: readonly Payment[] = [
      ['a-1001-checking', 'a-1001-savings', 'STANDARD'],
      ['a-1004-checking', 'a-1005-checking', 'CROSS_MEMBER'],
      ['a-1001-checking', 'a-1002-checking', 'INTRA_FI'],
      ['a-1001-checking', 'a-1008-carloan', 'LOAN_PAYMENT'],
      ['a-1001-checking', 'a-1019-ira', 'IRA_CONTRIBUTION'],
      ['a-1001-checking', 'a-1009-savings', 'account_closed'],
      ['a-1001-certificate', 'a-1001-savings', 'account_restricted'],
      ['a-1001-checking', 'internal:funding:USD', 'account_not_found'],
    ];
    for (const [fromAccountId, toAccountId, expected] of payments) {
      const answer = await bank.post(paths.transfers, { fromAccountId, toAccountId, amount: 1 });
      const got = answer.status === 201 ? answer.body.transferType : answer.body.code;
      assert.equal(got, expected, `${fromAccountId} to ${toAccountId}`);
    }
  });

  test('an overdraft line can be spent to its end and not a cent further, and is not shown as available', async () => {
    const brook = await memberOf(service, 'brook.overdraft', 'brook-river-lantern-9');
    const account = await brook.get(`${paths.accounts}/a-1007-checking`);
    const available = account.body.balance.availableBalance.amount as number;
    assert.ok(available < 130);
    const order = { fromAccountId: 'a-1007-checking', toAccountId: 'a-1007-savings' };
    const whole = Math.round((available + 500) * 100);
    const tooMuch = await brook.post(paths.transfers, { ...order, amount: (whole + 1) / 100 });
    assert.equal(tooMuch.body.code, 'insufficient_funds');
    assert.equal((await brook.post(paths.transfers, { ...order, amount: whole / 100 })).status, 201);
    const empty = await brook.get(`${paths.accounts}/a-1007-checking`);
    assert.match(empty.text, /"availableBalance":\{"amount":-500\.00,/);
  });

  test('a loan accepts its payoff and not a cent more: fees, then interest, then principal', async () => {
    const member = await memberOf(service, 'clover.late', 'clover-late-lantern-10');
    const bank = await clientOf(service);
    const principal = async () =>
      (await member.get(`${paths.accounts}/a-1008-carloan`)).body.balance.currentBalance.amount as number;
    // The institution paid 1 above, on the fees: principal is unchanged.
    assert.equal(await principal(), 6200);
    const order = { fromAccountId: 'a-1001-checking', toAccountId: 'a-1008-carloan' };
    const payoff = 6200 + 118.02 + 35 - 1;
    const over = await bank.post(paths.transfers, { ...order, amount: Number((payoff + 0.01).toFixed(2)) });
    assert.equal(over.body.code, 'exceeds_payoff');
    await bank.post(paths.transfers, { ...order, amount: 152.02 });
    assert.equal(await principal(), 6200);
    await bank.post(paths.transfers, { ...order, amount: 200 });
    assert.equal(await principal(), 6000);
    assert.equal((await bank.post(paths.transfers, { ...order, amount: 6000 })).status, 201);
    assert.equal(await principal(), 0);
    assert.equal((await bank.post(paths.transfers, { ...order, amount: 0.01 })).body.code, 'exceeds_payoff');
  });
});

test('the ledger of each institution sums to zero in each currency after all transfers of the table', async () => {
  const sums = await service.db.superuser<{ total: string }>(
    'select sum(posted)::text as total from balances group by institution_id, currency',
  );
  assert.ok(sums.length >= 4);
  assert.deepEqual(new Set(sums.map((row) => row.total)), new Set(['0']));
});
