import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import {
  type Account,
  getAccount,
  insertAccounts,
  listAccounts,
  listCustomerAccounts,
  type NewAccount,
} from '../../src/accounts/index.ts';
import type { Actor, Institution, MemberActor } from '../../src/institutions/index.ts';
import { Database, sql } from '../../src/storage/index.ts';
import {
  aClient,
  aCustomer,
  aFundingAccount,
  aHolder,
  aMember,
  anAccount,
  anInstitution,
  aPerson,
  aRole,
  aUser,
  type Customer,
  longAgo,
} from '../support/builders.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { refusalOf } from '../support/refusals.ts';

let db: TestDatabase;
let institution: Institution;

before(async () => {
  db = await testDatabase();
  institution = await anInstitution(db.database);
});
after(() => db.close());

const ids = (accounts: readonly Account[]) => accounts.map((account) => account.accountId);

describe('account object', () => {
  test('returns the account’s data from the core and the ledger', async () => {
    const customer = await aCustomer(db.database, institution);
    await anAccount(db.database, customer, {
      accountId: 'object-1',
      accountNumber: '000123456',
      diAccountType: 'MONEY_MARKET',
      description: 'Rainy Day',
      posted: 1_234_567n,
      debitsPending: 4_567n,
      delinquent: true,
    });
    assert.deepEqual(await getAccount(db.database, aClient(institution), 'object-1'), {
      accountId: 'object-1',
      accountNumber: '000123456',
      diAccountType: 'MONEY_MARKET',
      description: 'Rainy Day',
      category: 'DEPOSIT',
      currency: 'USD',
      availableMinor: 1_230_000n,
      currentMinor: 1_234_567n,
      open: true,
      closed: false,
      delinquent: true,
    });
  });

  test('shows a closed account as not open', async () => {
    const customer = await aCustomer(db.database, institution);
    const { accountId } = await anAccount(db.database, customer, { closed: true });
    const { open, closed, delinquent } = await getAccount(db.database, aClient(institution), accountId);
    assert.deepEqual({ open, closed, delinquent }, { open: false, closed: true, delinquent: false });
  });

  const balances: {
    of: string;
    account: Parameters<typeof anAccount>[2];
    category: string;
    current: bigint;
    available: bigint;
  }[] = [
    {
      of: 'checking with an overdraft line: the line is in neither balance',
      account: { posted: 10_000n, debitsPending: 2_500n, overdraftLimit: 50_000n },
      category: 'DEPOSIT',
      current: 10_000n,
      available: 7_500n,
    },
    {
      of: 'checking that the core reports as overdrawn',
      account: { posted: -3_000n },
      category: 'DEPOSIT',
      current: -3_000n,
      available: -3_000n,
    },
    {
      of: 'an individual retirement account',
      account: { diAccountType: 'RETIREMENT_IRA', posted: 700_000n },
      category: 'DEPOSIT',
      current: 700_000n,
      available: 700_000n,
    },
    {
      of: 'a brokerage account',
      account: { diAccountType: 'BROKERAGE', posted: 5n, debitsPending: 2n },
      category: 'INVESTMENT',
      current: 5n,
      available: 3n,
    },
    {
      of: 'a mortgage: the principal owed, without interest and fees',
      account: {
        diAccountType: 'MORTGAGE_LOAN',
        posted: -20_000_000n,
        accruedInterest: 41_100n,
        feesDue: 2_500n,
      },
      category: 'LOAN',
      current: 19_956_400n,
      available: 0n,
    },
    {
      of: 'a credit card: what is owed and what is unused',
      account: { diAccountType: 'CREDIT_CARD_LOAN', posted: -120_050n, creditLimit: 500_000n },
      category: 'CREDIT',
      current: 120_050n,
      available: 379_950n,
    },
  ];
  for (const { of, account, category, current, available } of balances) {
    test(`shows the balances of ${of}`, async () => {
      const customer = await aCustomer(db.database, institution);
      const { accountId } = await anAccount(db.database, customer, account);
      const shown = await getAccount(db.database, aClient(institution), accountId);
      assert.deepEqual(
        [shown.category, shown.currentMinor, shown.availableMinor],
        [category, current, available],
      );
    });
  }
});

describe('visibility of accounts', () => {
  /**
   * A household of Ada (PRIMARY) and Bob (JOINT, on the checking only). Sam signs for the checking and may not pay.
   * Ada also signs for a business of Cora's. Dan has his own membership, and is on the household's savings without
   * belonging to the household.
   */
  const people: Record<string, MemberActor> = {};
  let household: Customer;
  let business: Customer;
  let own: Customer;

  before(async () => {
    const ada = await aMember(db.database, institution, { customerId: 'household' });
    const bob = await aPerson(db.database, institution);
    const sam = await aPerson(db.database, institution);
    const cora = await aPerson(db.database, institution);
    const dan = await aMember(db.database, institution, { customerId: 'own' });
    const eve = await aMember(db.database, institution);
    household = ada;
    own = dan;
    business = await aCustomer(db.database, institution, { customerId: 'business', memberType: 'BUSINESS' });
    await aRole(db.database, household, bob, 'JOINT');
    await aRole(db.database, household, sam, 'AUTHORIZED_SIGNER');
    await aRole(db.database, business, cora, 'BUSINESS_ADMIN');
    await aRole(db.database, business, ada.person, 'BUSINESS_USER');

    const checking = await anAccount(db.database, household, { accountId: 'h-checking' });
    const savings = await anAccount(db.database, household, {
      accountId: 'h-savings',
      diAccountType: 'SAVINGS',
    });
    await anAccount(db.database, household, { accountId: 'h-unheld', diAccountType: 'MONEY_MARKET' });
    const operating = await anAccount(db.database, business, { accountId: 'b-operating' });
    const payroll = await anAccount(db.database, business, { accountId: 'b-payroll' });
    const danChecking = await anAccount(db.database, own, { accountId: 'd-checking' });
    await aHolder(db.database, checking, ada.person);
    await aHolder(db.database, checking, bob, { role: 'JOINT' });
    await aHolder(db.database, checking, sam, { role: 'AUTHORIZED_SIGNER', mayPay: false });
    await aHolder(db.database, savings, ada.person);
    await aHolder(db.database, savings, dan.person, { role: 'JOINT' });
    await aHolder(db.database, operating, cora);
    await aHolder(db.database, operating, ada.person, { role: 'AUTHORIZED_SIGNER', mayPay: false });
    await aHolder(db.database, payroll, cora);
    await aHolder(db.database, danChecking, dan.person);

    people.ada = ada.user;
    people.bob = await aUser(db.database, institution, bob);
    people.sam = await aUser(db.database, institution, sam);
    people.cora = await aUser(db.database, institution, cora);
    people.dan = dan.user;
    people.eve = eve.user;
  });

  const everyAccount = ['b-operating', 'b-payroll', 'd-checking', 'h-checking', 'h-savings', 'h-unheld'];
  const seen: Record<string, string[]> = {
    ada: ['b-operating', 'h-checking', 'h-savings'],
    bob: ['h-checking'],
    sam: ['h-checking'],
    cora: ['b-operating', 'b-payroll'],
    dan: ['d-checking', 'h-savings'],
    eve: [],
  };
  /** The accounts that a member sees under each membership; a missing membership is refused. */
  const seenUnder: Record<string, Record<string, string[]>> = {
    ada: { household: ['h-checking', 'h-savings'], business: ['b-operating'] },
    bob: { household: ['h-checking'] },
    sam: { household: ['h-checking'] },
    cora: { business: ['b-operating', 'b-payroll'] },
    dan: { own: ['d-checking'] },
    eve: {},
  };

  for (const [name, accountIds] of Object.entries(seen)) {
    test(`${name} lists exactly the accounts whose holder records name them`, async () => {
      assert.deepEqual(ids(await listAccounts(db.database, person(name))), accountIds);
    });

    test(`${name} gets exactly the accounts in their list, and the others do not exist for them`, async () => {
      const missing = await refusalOf(getAccount(db.database, person(name), 'no-such-account'));
      for (const accountId of everyAccount) {
        const getting = getAccount(db.database, person(name), accountId);
        if (accountIds.includes(accountId)) assert.equal((await getting).accountId, accountId);
        else assert.deepEqual(await refusalOf(getting), missing, accountId);
      }
    });

    test(`${name} lists only a membership of their own, and in it only accounts that they hold`, async () => {
      const missing = await refusalOf(listCustomerAccounts(db.database, person(name), 'no-such-customer'));
      for (const customerId of ['household', 'business', 'own']) {
        const expected = seenUnder[name]?.[customerId];
        for (const list of [listCustomerAccounts, listAccounts]) {
          const listing = list(db.database, person(name), customerId);
          if (expected) assert.deepEqual(ids(await listing), expected, customerId);
          else assert.deepEqual(await refusalOf(listing), missing, customerId);
        }
      }
    });
  }

  test('a client sees every account of its institution, and all accounts of a membership', async () => {
    const client = aClient(institution);
    for (const accountId of everyAccount) {
      assert.equal((await getAccount(db.database, client, accountId)).accountId, accountId);
    }
    for (const list of [listCustomerAccounts, listAccounts]) {
      assert.deepEqual(ids(await list(db.database, client, 'household')), [
        'h-checking',
        'h-savings',
        'h-unheld',
      ]);
      assert.deepEqual(ids(await list(db.database, client, 'business')), ['b-operating', 'b-payroll']);
    }
  });

  test('removing a holder record removes the account from the member’s view at once', async () => {
    const member = await aMember(db.database, institution);
    const account = await anAccount(db.database, member);
    await aHolder(db.database, account, member.person);
    assert.equal(
      (await getAccount(db.database, member.user, account.accountId)).accountId,
      account.accountId,
    );
    await db.database.read(institution.institutionId, (q) =>
      q.query(
        sql('test_remove_holder', 'delete from holders where institution_id = $1 and account_key = $2'),
        [institution.institutionId, account.accountKey],
      ),
    );
    assert.deepEqual(
      await refusalOf(getAccount(db.database, member.user, account.accountId)),
      await refusalOf(getAccount(db.database, member.user, 'no-such-account')),
    );
    assert.deepEqual(await listAccounts(db.database, member.user), []);
  });

  test('returns an empty list for a membership without accounts, to its member and to a client', async () => {
    const member = await aMember(db.database, institution);
    assert.deepEqual(await listCustomerAccounts(db.database, member.user, member.customerId), []);
    assert.deepEqual(await listCustomerAccounts(db.database, aClient(institution), member.customerId), []);
  });

  test('names the missing parameter to a client that lists accounts without naming a member', async () => {
    const refusal = await refusalOf(listAccounts(db.database, aClient(institution)));
    assert.partialDeepStrictEqual(refusal, { code: 'invalid_request', errors: [{ pointer: 'customerId' }] });
  });

  function person(name: string): MemberActor {
    const actor = people[name];
    assert.ok(actor, `${name} was planted`);
    return actor;
  }
});

describe('missing accounts and customers', () => {
  test('refuses every missing account id with the same words, and repeats none of it', async () => {
    const client = aClient(institution);
    const missing = await refusalOf(getAccount(db.database, client, 'no-such-account'));
    assert.partialDeepStrictEqual(missing, { code: 'not_found', errors: [], members: {} });
    for (const id of ['', ' ', '\0', 'a\0b', "' or true --", 'x'.repeat(10_000), '\ud800', '../accounts']) {
      assert.deepEqual(await refusalOf(getAccount(db.database, client, id)), missing, JSON.stringify(id));
    }
  });

  test('refuses every missing customer id with the same words, and repeats none of it', async () => {
    const client = aClient(institution);
    const missing = await refusalOf(listCustomerAccounts(db.database, client, 'no-such-customer'));
    assert.partialDeepStrictEqual(missing, { code: 'not_found', errors: [], members: {} });
    for (const id of ['', '\0', "' or true --", 'x'.repeat(10_000)]) {
      assert.deepEqual(
        await refusalOf(listCustomerAccounts(db.database, client, id)),
        missing,
        JSON.stringify(id),
      );
    }
  });

  test('shows the institution’s own account to no one, not even to a holder of it', async () => {
    const member = await aMember(db.database, institution);
    const fundingId = await aFundingAccount(db.database, institution);
    const { rows } = await db.database.read(institution.institutionId, (q) =>
      q.query<{ accountKey: bigint }>(
        sql(
          'test_account_key',
          'select account_key from accounts where institution_id = $1 and account_id = $2',
        ),
        [institution.institutionId, fundingId],
      ),
    );
    const accountKey = rows[0]?.accountKey;
    assert.ok(accountKey !== undefined);
    await aHolder(db.database, { institution, accountKey, accountId: fundingId }, member.person);
    for (const actor of [member.user, aClient(institution)]) {
      assert.deepEqual(
        await refusalOf(getAccount(db.database, actor, fundingId)),
        await refusalOf(getAccount(db.database, actor, 'no-such-account')),
      );
    }
    assert.deepEqual(await listAccounts(db.database, member.user), []);
  });
});

describe('accounts of another institution', () => {
  test('keeps two institutions with the same ids apart in both directions', async () => {
    const other = await anInstitution(db.database, { name: 'Invented Federal Credit Union' });
    const same = { customerId: 'same-customer', memberNumber: 'SAME-1' };
    const here = await aMember(db.database, institution, same);
    const there = await aMember(db.database, other, same);
    const accountHere = await anAccount(db.database, here, { accountId: 'same-account', posted: 100n });
    const accountThere = await anAccount(db.database, there, { accountId: 'same-account', posted: 900n });
    await aHolder(db.database, accountHere, here.person);
    await aHolder(db.database, accountThere, there.person);
    await anAccount(db.database, there, { accountId: 'only-there' });

    const sums: [Actor, bigint][] = [
      [here.user, 100n],
      [aClient(institution), 100n],
      [there.user, 900n],
      [aClient(other), 900n],
    ];
    for (const [actor, posted] of sums) {
      assert.equal((await getAccount(db.database, actor, 'same-account')).currentMinor, posted);
    }
    assert.deepEqual(ids(await listAccounts(db.database, here.user)), ['same-account']);
    assert.deepEqual(ids(await listCustomerAccounts(db.database, aClient(institution), 'same-customer')), [
      'same-account',
    ]);
    assert.deepEqual(
      await refusalOf(getAccount(db.database, aClient(institution), 'only-there')),
      await refusalOf(getAccount(db.database, aClient(institution), 'no-such-account')),
    );
  });

  test('opens nothing in another institution with a person’s key', async () => {
    const other = await anInstitution(db.database);
    const there = await aMember(db.database, other);
    const account = await anAccount(db.database, there, {});
    await aHolder(db.database, account, there.person);
    const astray: MemberActor = { ...there.user, institutionId: institution.institutionId };
    assert.deepEqual(await listAccounts(db.database, astray), []);
    const refusal = await refusalOf(getAccount(db.database, astray, account.accountId));
    assert.equal(refusal.code, 'not_found');
  });

  test('shows the directory no rows of the institution that its connection served before', async () => {
    const alone = new Database({ connection: db.connection, maxConnections: 1 });
    const count = sql('test_count_all', 'select count(*) from accounts');
    const { institutionId } = institution;
    try {
      await alone.write(institutionId, (q) => q.query(count));
      await assert.rejects(
        alone.directory((q) => q.query(count)),
        { code: '22P02' },
      );
      await alone.write(institutionId, (q) => q.query(count));
    } finally {
      await alone.close();
    }
  });

  for (const table of [
    'accounts',
    'balances',
    'loans',
    'holders',
    'customers',
    'customer_persons',
    'persons',
  ]) {
    test(`row-level security alone hides another institution’s ${table}, without a condition in the statement`, async () => {
      const other = await anInstitution(db.database);
      const there = await aMember(db.database, other);
      const account = await anAccount(db.database, there, { diAccountType: 'MORTGAGE_LOAN' });
      await aHolder(db.database, account, there.person);
      const count = sql(`test_count_${table}`, `select institution_id from ${table}`);
      const countFrom = async ({ institutionId }: Institution) =>
        new Set(
          (await db.database.read(institutionId, (q) => q.query<{ institutionId: number }>(count))).rows.map(
            (row) => row.institutionId,
          ),
        );
      assert.deepEqual(await countFrom(other), new Set([other.institutionId]));
      assert.equal((await countFrom(institution)).has(other.institutionId), false);
    });
  }
});

describe('opening accounts', () => {
  const blank: NewAccount = {
    accountId: 'opened-blank',
    customerKey: null,
    purpose: null,
    accountNumber: '1',
    diAccountType: 'SAVINGS',
    description: 'Share Savings',
    currency: 'USD',
    closed: false,
    delinquent: false,
    overdraftLimit: 0n,
    creditLimit: 0n,
    accruedInterest: 0n,
    feesDue: 0n,
  };
  let customerKey: bigint;

  before(async () => {
    ({ customerKey } = await aCustomer(db.database, institution, { customerId: 'opening' }));
  });

  function open(accounts: readonly NewAccount[]): Promise<Map<string, bigint>> {
    const { institutionId } = institution;
    return db.database.transaction(institutionId, (tx) => insertAccounts(tx, accounts, longAgo));
  }

  test('opens each account at zero, a loan with its interest and fees, and returns its key by its id', async () => {
    const keys = await open([
      { ...blank, customerKey, accountId: 'opened-2' },
      {
        ...blank,
        customerKey,
        accountId: 'opened-1',
        diAccountType: 'HOME_EQUITY_LOAN',
        accruedInterest: 7n,
        feesDue: 5n,
      },
      {
        ...blank,
        customerKey,
        accountId: 'opened-3',
        diAccountType: 'LINE_OF_CREDIT_LOAN',
        creditLimit: 900n,
      },
    ]);
    const { rows } = await db.database.read(institution.institutionId, (q) =>
      q.query(
        sql(
          'test_opened',
          `select a.account_id, a.account_key, a.category, b.posted, b.debits_pending, b.credits_pending, b.seq, b.last_at,
                  l.accrued_interest, l.fees_due
           from accounts a
           join balances b using (institution_id, account_key, account_id, currency)
           left join loans l using (institution_id, account_key)
           where institution_id = $1 and a.account_id like 'opened-%' order by 1`,
        ),
        [institution.institutionId],
      ),
    );
    const zero = { posted: 0n, debitsPending: 0n, creditsPending: 0n, seq: 0n, lastAt: longAgo };
    const noLoan = { accruedInterest: null, feesDue: null };
    assert.deepEqual(rows, [
      {
        accountId: 'opened-1',
        accountKey: keys.get('opened-1'),
        category: 'LOAN',
        ...zero,
        accruedInterest: 7n,
        feesDue: 5n,
      },
      { accountId: 'opened-2', accountKey: keys.get('opened-2'), category: 'DEPOSIT', ...zero, ...noLoan },
      { accountId: 'opened-3', accountKey: keys.get('opened-3'), category: 'CREDIT', ...zero, ...noLoan },
    ]);
    assert.equal(keys.size, 3);
  });

  test('opens none of the accounts if one id is taken', async () => {
    await open([{ ...blank, customerKey, accountId: 'taken' }]);
    await assert.rejects(
      open([
        { ...blank, customerKey, accountId: 'not-taken' },
        { ...blank, customerKey, accountId: 'taken' },
      ]),
      { code: '23505' },
    );
    const missing = refusalOf(getAccount(db.database, aClient(institution), 'not-taken'));
    assert.partialDeepStrictEqual(await missing, { code: 'not_found' });
  });

  const refused: [string, Partial<NewAccount>, object][] = [
    ['a type that is no DIAccountType', { diAccountType: 'PIGGY_BANK' }, { name: 'TypeError' }],
    ['interest on what is no loan', { accruedInterest: 1n }, { name: 'TypeError' }],
    ['fees on what is no loan', { feesDue: 1n }, { name: 'TypeError' }],
    [
      'a full card number',
      { diAccountType: 'CREDIT_CARD_LOAN', accountNumber: '4000123412341234' },
      { code: '23514' },
    ],
    [
      'an overdraft line on what is no deposit',
      { diAccountType: 'BROKERAGE', overdraftLimit: 1n },
      { code: '23514' },
    ],
    ['a credit limit on what is no credit', { creditLimit: 1n }, { code: '23514' }],
    ["a member's general ledger account", { diAccountType: 'GENERAL_LEDGER_ACCOUNT' }, { code: '23514' }],
    ['a membership that does not exist', { customerKey: 999_999_999n }, { code: '23503' }],
  ];
  for (const [what, changes, error] of refused) {
    test(`refuses to open an account: ${what}`, async () => {
      await assert.rejects(open([{ ...blank, customerKey, accountId: 'refused', ...changes }]), error);
    });
  }
});
