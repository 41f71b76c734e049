import { type Queryable, sql } from '../../storage/index.ts';
import { postedBefore } from './ledger-queries.ts';

/** A page looks at no more accounts than these, whatever their balances. */
const accountsRead = 1_000;

export interface AccountOfClassRow {
  readonly accountKey: bigint;
  readonly accountId: string;
  readonly description: string;
  /** Null for an account of the institution itself. */
  readonly memberNumber: string | null;
  readonly posted: bigint;
}

interface ClassWindow {
  readonly class: string;
  readonly currency: string;
  /** The key of the last account of the page before. */
  readonly after: bigint;
}

// The rows end with the limit, so the accounts behind the last row of the page cost no read of an entry.
const ofMembers = sql(
  'operators_accounts_of_class',
  `select a.account_key, a.account_id, a.description, c.member_number, p.posted
   from (select * from accounts o
         where o.institution_id = $1 and o.di_account_type = $3 and o.currency = $4 and o.purpose is null and o.account_key > $5
         order by o.account_key
         limit ${accountsRead}) a
   join balances b on b.institution_id = a.institution_id and b.account_key = a.account_key
   join customers c on c.institution_id = a.institution_id and c.customer_key = a.customer_key
   cross join lateral (${postedBefore}) p
   where p.posted <> 0
   order by a.account_key
   limit $6`,
);

/** Members' accounts of a type with their balances just before a moment, by key: those not at zero among the next thousand. */
export async function selectAccountsOfType(
  db: Queryable,
  before: Date | null,
  { class: type, currency, after, limit }: ClassWindow & { readonly limit: number },
): Promise<AccountOfClassRow[]> {
  const values = [db.institutionId, before, type, currency, after, limit];
  return (await db.query<AccountOfClassRow>(ofMembers, values)).rows;
}

const lastRead = sql(
  'operators_last_of_class',
  `select a.account_key from accounts a
   where a.institution_id = $1 and a.di_account_type = $2 and a.currency = $3 and a.purpose is null and a.account_key > $4
   order by a.account_key
   offset ${accountsRead - 1} limit 1`,
);

/** The last account that such a page looks at; undefined if there are fewer. */
export async function selectLastRead(
  db: Queryable,
  { class: type, currency, after }: ClassWindow,
): Promise<bigint | undefined> {
  const values = [db.institutionId, type, currency, after];
  return (await db.query<{ readonly accountKey: bigint }>(lastRead, values)).rows[0]?.accountKey;
}

const ofInstitution = sql(
  'operators_account_of_purpose',
  `select a.account_key, a.account_id, a.description, null::text as member_number, p.posted
   from accounts a
   join balances b on b.institution_id = a.institution_id and b.account_key = a.account_key
   cross join lateral (${postedBefore}) p
   where a.institution_id = $1 and a.purpose = $3 and a.currency = $4 and p.posted <> 0`,
);

/** The institution's own account of a purpose, unless its balance was zero. */
export async function selectAccountOfPurpose(
  db: Queryable,
  before: Date | null,
  { class: purpose, currency }: Pick<ClassWindow, 'class' | 'currency'>,
): Promise<AccountOfClassRow[]> {
  return (await db.query<AccountOfClassRow>(ofInstitution, [db.institutionId, before, purpose, currency]))
    .rows;
}
