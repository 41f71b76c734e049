import { type Queryable, sql, type Transaction } from '../../storage/index.ts';

/** An account of a member, as the pages show it. */
export interface ConsentableAccount {
  readonly accountKey: bigint;
  readonly accountId: string;
  readonly description: string;
  readonly accountNumber: string;
  readonly accountType: string;
  /** The member may pay from it; of a consent: the app may. */
  readonly mayPay: boolean;
}

const account = `a.account_key, a.account_id, a.description, a.account_number, a.di_account_type as account_type`;

const held = sql(
  'auth_accounts_to_consent',
  `select ${account}, h.may_pay
   from users u
   join holders h on h.institution_id = $1 and h.person_key = u.person_key
   join accounts a on a.institution_id = $1 and a.account_key = h.account_key
   where u.institution_id = $1 and u.user_key = $2 and a.category <> 'INTERNAL' and not a.closed
   order by a.account_id`,
);

/** The open accounts that the member holds. */
export async function selectConsentable(db: Queryable, userKey: bigint): Promise<ConsentableAccount[]> {
  return (await db.query<ConsentableAccount>(held, [db.institutionId, userKey])).rows;
}

export interface ConsentedAccount extends ConsentableAccount {
  readonly consentId: string;
}

const named = sql(
  'auth_accounts_of_consents',
  `select k.consent_id, ${account}, k.may_pay
   from consent_accounts k
   join consents s on s.institution_id = $1 and s.consent_id = k.consent_id
   join users u on u.institution_id = $1 and u.user_key = s.user_key
   join holders h on h.institution_id = $1 and h.person_key = u.person_key and h.account_key = k.account_key
   join accounts a on a.institution_id = $1 and a.account_key = k.account_key
   where k.institution_id = $1 and k.consent_id = any ($2::uuid[])
   order by k.consent_id, a.account_id`,
);

/** The accounts that the consents name and their members still hold. */
export async function selectConsented(
  db: Queryable,
  consentIds: readonly string[],
): Promise<ConsentedAccount[]> {
  if (consentIds.length === 0) return [];
  return (await db.query<ConsentedAccount>(named, [db.institutionId, consentIds])).rows;
}

const name = sql(
  'auth_name_accounts',
  `insert into consent_accounts (institution_id, consent_id, account_key, may_pay)
   select $1, $2, h.account_key, v.may_pay and h.may_pay
   from unnest($3::bigint[], $4::boolean[]) as v (account_key, may_pay)
   join consents s on s.institution_id = $1 and s.consent_id = $2
   join users u on u.institution_id = $1 and u.user_key = s.user_key
   join holders h on h.institution_id = $1 and h.person_key = u.person_key and h.account_key = v.account_key`,
);

/** Those among them that the member holds; returns how many. */
export async function insertConsented(
  tx: Transaction,
  consentId: string,
  accounts: readonly Pick<ConsentableAccount, 'accountKey' | 'mayPay'>[],
): Promise<number> {
  if (accounts.length === 0) return 0;
  const columns = [accounts.map(({ accountKey }) => accountKey), accounts.map(({ mayPay }) => mayPay)];
  return (await tx.query(name, [tx.institutionId, consentId, ...columns])).rowCount;
}

const remove = sql(
  'auth_remove_consent_accounts',
  'delete from consent_accounts where institution_id = $1 and consent_id = $2 and account_key = any ($3::bigint[])',
);
const keepToSee = sql(
  'auth_end_paying_accounts',
  `update consent_accounts set may_pay = false
   where institution_id = $1 and consent_id = $2 and account_key = any ($3::bigint[]) and may_pay`,
);

/** Leaves those of `unpaid` to be seen only. */
export async function removeConsented(
  tx: Transaction,
  consentId: string,
  { removed, unpaid }: { readonly removed: readonly bigint[]; readonly unpaid: readonly bigint[] },
): Promise<void> {
  if (removed.length > 0) await tx.query(remove, [tx.institutionId, consentId, removed]);
  if (unpaid.length > 0) await tx.query(keepToSee, [tx.institutionId, consentId, unpaid]);
}
