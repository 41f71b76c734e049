import { type Institution, insertInstitution, type MemberActor } from '../../src/institutions/index.ts';
import { Book, PostingKeys } from '../../src/ledger/index.ts';
import { longAgo, uniqueNumber } from './builders.ts';
import type { TestDatabase } from './database.ts';
import { pick, type Random } from './random.ts';
import type {
  ModelType,
  World,
  WorldAccount,
  WorldHolder,
  WorldLimit,
  WorldMembership,
  WorldPerson,
  WorldPolicy,
} from './slow-model.ts';

/** A small institution in which every rule that binds a transfer is likely to bind one. */
export function randomWorld(random: Random): World {
  const chance = (percent: number) => random(100) < percent;
  const people: WorldPerson[] = Array.from({ length: 5 }, (_, index) => ({
    name: `person-${index}`,
    // Around 50, where the yearly limit changes.
    birthDate: chance(15) ? null : `${1970 + random(14)}-0${1 + random(9)}-15`,
    hasLogin: index < 4,
  }));
  const memberships: WorldMembership[] = Array.from({ length: 4 }, (_, index) => ({
    name: `membership-${index}`,
    people: people.filter((_person, place) => place === index || chance(25)).map((person) => person.name),
  }));
  const accounts: WorldAccount[] = memberships.flatMap((membership, index) =>
    accountTypesOf(random, index).map((type, place) =>
      randomAccount(random, membership, `a-${index}-${place}`, type),
    ),
  );
  return {
    timeZone: pick(random, ['America/New_York', 'America/Los_Angeles', 'Australia/Lord_Howe', 'UTC']),
    currency: 'USD',
    exceptions: new Map(
      Array.from({ length: 3 }, () => [
        new Date(Date.UTC(2026, random(24), 1 + random(28))).toISOString().slice(0, 10),
        pick(random, ['OPEN', 'CLOSED'] as const),
      ]),
    ),
    policies: modelTypes.filter(() => chance(60)).map((type) => randomPolicy(random, type)),
    limits: Array.from({ length: random(4) }, (_, index) => randomLimit(random, index + 1)),
    ownContributionLimits: chance(50) ? [] : [{ year: 2026 + random(2), base: 4_000_00n, catchUp: 500_00n }],
    people,
    memberships,
    accounts,
  };
}

const modelTypes: readonly ModelType[] = [
  'STANDARD',
  'CROSS_MEMBER',
  'IRA_CONTRIBUTION',
  'LOAN_PAYMENT',
  'INTRA_FI',
];

const categories: Readonly<Record<string, WorldAccount['category']>> = {
  INSTALLMENT_LOAN: 'LOAN',
  CREDIT_CARD_LOAN: 'CREDIT',
  BROKERAGE: 'INVESTMENT',
};

/** Each membership has an account to pay from, and some accounts to pay into. */
function accountTypesOf(random: Random, index: number): string[] {
  const more = [
    'SAVINGS',
    'MONEY_MARKET',
    'RETIREMENT_IRA',
    'INSTALLMENT_LOAN',
    'CREDIT_CARD_LOAN',
    'BROKERAGE',
  ];
  const always = ['CHECKING', index % 2 === 0 ? 'RETIREMENT_IRA' : 'INSTALLMENT_LOAN'];
  return [...always, ...more.filter(() => random(100) < 35)];
}

function randomAccount(
  random: Random,
  membership: WorldMembership,
  id: string,
  diAccountType: string,
): WorldAccount {
  const chance = (percent: number) => random(100) < percent;
  const category = categories[diAccountType] ?? 'DEPOSIT';
  const isLoan = category === 'LOAN';
  const isDebt = isLoan || category === 'CREDIT';
  const loan = isLoan
    ? { interest: BigInt(random(20_000)), fees: BigInt(random(5_000)), due: BigInt(random(40_000)) }
    : null;
  const money = BigInt(random(2_000_000));
  const opening = isDebt
    ? -money - (loan ? loan.interest + loan.fees : 0n)
    : chance(5)
      ? -money / 10n
      : money;
  return {
    id,
    membership: membership.name,
    diAccountType,
    category,
    currency: chance(4) ? 'EUR' : chance(2) ? 'JPY' : 'USD',
    closed: chance(4),
    delinquent: isLoan && chance(60),
    restriction: chance(88)
      ? null
      : pick(random, ['EXCLUDE_ALL', 'EXCLUDE_AS_FROM', 'EXCLUDE_AS_TO'] as const),
    overdraft: category === 'DEPOSIT' && chance(20) ? BigInt(random(60_000)) : 0n,
    opening,
    loan,
    holders: holdersOf(random, membership),
  };
}

function holdersOf(random: Random, membership: WorldMembership): WorldHolder[] {
  // Rarely no one is the owner of record: then no contribution is allowed.
  const owned = random(100) < 95;
  return membership.people
    .filter((_, index) => index === 0 || random(100) < 60)
    .map((person, index) => ({
      person,
      role: index === 0 && owned ? 'PRIMARY' : pick(random, ['JOINT', 'AUTHORIZED_SIGNER'] as const),
      mayPay: index === 0 || random(100) < 50,
    }));
}

function randomPolicy(random: Random, type: ModelType): WorldPolicy {
  const chance = (percent: number) => random(100) < percent;
  const above = BigInt(random(60_000));
  return {
    type,
    currency: 'USD',
    review: chance(60)
      ? {
          above,
          secondAbove: chance(50) ? above + BigInt(random(60_000)) : null,
          seconds: pick(random, [30, 3_600, 172_800]),
          onReviewTimeout: pick(random, ['POST', 'EXPIRE'] as const),
        }
      : null,
    cutOff: chance(50) ? pick(random, ['11:30:00', '17:00:00', '21:15:00']) : null,
    options:
      type === 'LOAN_PAYMENT'
        ? [
            'DEFAULT',
            ...(['PRINCIPAL_ONLY', 'INTEREST_ONLY', 'EXCESS_TO_PRINCIPAL'] as const).filter(() => chance(70)),
          ]
        : ['DEFAULT'],
  };
}

function randomLimit(random: Random, key: number): WorldLimit {
  const chance = (percent: number) => random(100) < percent;
  const bounds = {
    maxPerTransfer: chance(30) ? BigInt(20_000 + random(200_000)) : null,
    maxAmount: chance(50) ? BigInt(50_000 + random(800_000)) : null,
    maxCount: chance(40) ? 1 + random(30) : null,
  };
  const none = Object.values(bounds).every((bound) => bound === null);
  return {
    key,
    subject: pick(random, ['USER', 'CUSTOMER', 'ACCOUNT'] as const),
    period: pick(random, ['DAY', 'DAY', 'MONTH'] as const),
    type: chance(50) ? null : pick(random, modelTypes),
    sourceType: chance(80) ? null : pick(random, ['SAVINGS', 'CHECKING']),
    currency: 'USD',
    ...bounds,
    ...(none && { maxCount: 10 }),
  };
}

/** The world as rows, and its people as actors of the service. */
export async function plantWorld(
  db: TestDatabase,
  world: World,
): Promise<{ readonly institution: Institution; readonly members: ReadonlyMap<string, MemberActor> }> {
  const institution = await db.database.directory((directory) =>
    insertInstitution(
      directory,
      {
        code: `world-${uniqueNumber()}`,
        name: 'A Small World',
        currency: world.currency,
        timeZone: world.timeZone,
        enrollment: 'closed',
        openingDepositMinor: 0n,
        passwordMinLength: 15,
        demo: false,
      },
      longAgo,
    ),
  );
  const { institutionId } = institution;
  const insert = (table: string, rows: readonly Readonly<Record<string, unknown>>[], returning = '1') =>
    insertRows(
      db,
      table,
      rows.map((row) => ({ institution_id: institutionId, ...row })),
      returning,
    );

  const personKeys = await insert(
    'persons',
    world.people.map(({ name, birthDate }) => ({
      person_id: name,
      first_name: 'Ada',
      last_name: name,
      birth_date: birthDate,
    })),
    'person_id as name, person_key as key',
  ).then(keysByName);
  const customerKeys = await insert(
    'customers',
    world.memberships.map(({ name }, index) => ({
      customer_id: name,
      member_number: `${100_000 + index}`,
      member_type: 'RETAIL',
    })),
    'customer_id as name, customer_key as key',
  ).then(keysByName);
  const userKeys = await insert(
    'users',
    world.people
      .filter((person) => person.hasLogin)
      .map(({ name }) => ({
        user_id: name,
        person_key: personKeys.get(name),
        email: `${name}@example.test`,
        created_at: longAgo,
      })),
    'user_id as name, user_key as key',
  ).then(keysByName);
  await insert(
    'customer_persons',
    world.memberships.flatMap(({ name, people }) =>
      people.map((person, index) => ({
        customer_key: customerKeys.get(name),
        person_key: personKeys.get(person),
        role: index === 0 ? 'PRIMARY' : 'JOINT',
      })),
    ),
  );

  const currencies = [...new Set(world.accounts.map((account) => account.currency))];
  const accountKeys = await insert(
    'accounts',
    [
      ...world.accounts.map((account) => ({
        account_id: account.id,
        customer_key: customerKeys.get(account.membership),
        purpose: null,
        account_number: '4242',
        di_account_type: account.diAccountType,
        category: account.category,
        description: 'An account',
        currency: account.currency,
        closed: account.closed,
        delinquent: account.delinquent,
        overdraft_limit: account.overdraft,
        transfer_restriction: account.restriction,
      })),
      ...currencies.map((currency) => ({
        account_id: fundingOf(currency),
        customer_key: null,
        purpose: 'FUNDING',
        account_number: fundingOf(currency),
        di_account_type: 'GENERAL_LEDGER_ACCOUNT',
        category: 'INTERNAL',
        description: 'Funding',
        currency,
        closed: false,
        delinquent: false,
        overdraft_limit: 0n,
        transfer_restriction: null,
      })),
    ],
    'account_id as name, account_key as key',
  ).then(keysByName);
  await insert(
    'loans',
    world.accounts.flatMap(({ id, loan }) =>
      loan === null
        ? []
        : [
            {
              account_key: accountKeys.get(id),
              accrued_interest: loan.interest,
              fees_due: loan.fees,
              amount_due: loan.due,
            },
          ],
    ),
  );
  await insert(
    'holders',
    world.accounts.flatMap(({ id, holders }) =>
      holders.map(({ person, role, mayPay }) => ({
        account_key: accountKeys.get(id),
        person_key: personKeys.get(person),
        role,
        may_pay: mayPay,
      })),
    ),
  );
  await insert(
    'balances',
    [...world.accounts, ...currencies.map((currency) => ({ id: fundingOf(currency), currency }))].map(
      ({ id, currency }) => ({
        account_key: accountKeys.get(id),
        account_id: id,
        currency,
        posted: 0n,
        debits_pending: 0n,
        credits_pending: 0n,
        seq: 0n,
        last_at: longAgo,
      }),
    ),
  );
  await open(db, institution, world);
  await lawsOf(insert, world);

  const members = new Map(
    [...userKeys].map(([name, userKey]) => [
      name,
      {
        kind: 'member' as const,
        institutionId,
        clientId: 'app',
        userId: name,
        userKey,
        personKey: personKeys.get(name) as bigint,
      },
    ]),
  );
  return { institution, members };
}

type Insert = (table: string, rows: readonly Readonly<Record<string, unknown>>[]) => Promise<object[]>;

async function lawsOf(insert: Insert, world: World): Promise<void> {
  await insert(
    'transfer_policies',
    world.policies.map(({ type, currency, review, cutOff, options }) => ({
      transfer_type: type,
      currency,
      review_above: review?.above ?? null,
      second_approval_above: review?.secondAbove ?? null,
      review_seconds: review?.seconds ?? null,
      on_review_timeout: review?.onReviewTimeout ?? null,
      cut_off: cutOff,
      payment_options: options,
    })),
  );
  await insert(
    'limit_keys',
    world.limits.map(({ key, subject, period, type, sourceType, currency }) => ({
      limit_key: key,
      counts: [subject, period, type ?? '', sourceType ?? '', currency].join(' '),
    })),
  );
  await insert(
    'transfer_limits',
    world.limits.map((limit) => ({
      limit_key: limit.key,
      subject: limit.subject,
      period: limit.period,
      transfer_type: limit.type,
      source_type: limit.sourceType,
      currency: limit.currency,
      max_per_transfer: limit.maxPerTransfer,
      max_amount: limit.maxAmount,
      max_count: limit.maxCount,
      review_above: limit.reviewAbove ?? null,
    })),
  );
  await insert(
    'business_days',
    [...world.exceptions].map(([day, kept]) => ({ day, open: kept === 'OPEN' })),
  );
  await insert(
    'contribution_limits',
    world.ownContributionLimits.map(({ year, base, catchUp }) => ({
      tax_year: year,
      base,
      catch_up: catchUp,
    })),
  );
}

async function open(db: TestDatabase, institution: Institution, world: World): Promise<void> {
  const opened = world.accounts.filter((account) => account.opening !== 0n);
  const postingKeys = await new PostingKeys(db.database).take(opened.length);
  const ids = opened.flatMap(({ id, currency }) => [id, fundingOf(currency)]);
  await db.database.transaction(institution.institutionId, async (tx) => {
    const book = await Book.lock(tx, [...new Set(ids)]);
    for (const [index, { id, currency, opening }] of opened.entries()) {
      const [debit, credit] = opening > 0n ? [fundingOf(currency), id] : [id, fundingOf(currency)];
      book.record({
        kind: 'OPENING',
        postingKey: postingKeys[index] as bigint,
        debitAccountId: debit,
        creditAccountId: credit,
        amountMinor: opening > 0n ? opening : -opening,
      });
    }
    await book.write(longAgo);
  });
}

function fundingOf(currency: string): string {
  return `internal:funding:${currency}`;
}

async function insertRows(
  db: TestDatabase,
  table: string,
  rows: readonly Readonly<Record<string, unknown>>[],
  returning: string,
): Promise<object[]> {
  const columns = Object.keys(rows[0] ?? {});
  if (columns.length === 0) return [];
  const values = rows.flatMap((row) => columns.map((column) => row[column] ?? null));
  const places = rows.map(
    (_, row) => `(${columns.map((_column, place) => `$${row * columns.length + place + 1}`)})`,
  );
  return db.superuser(
    `insert into ${table} (${columns}) values ${places} returning ${returning}`,
    values.map((value) => (typeof value === 'bigint' ? String(value) : value)),
  );
}

function keysByName(rows: object[]): Map<string, bigint> {
  return new Map((rows as { name: string; key: bigint }[]).map(({ name, key }) => [name, key]));
}
