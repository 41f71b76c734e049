import type { CoveredAccounts } from '../../institutions/index.ts';
import { type Queryable, sql } from '../../storage/index.ts';

/**
 * SQL: the accounts of a consent `s` that the person holds, all and those that may pay; null if it covers all accounts. A holder who
 * leaves an account loses it here at once.
 */
export function coveredColumns(consent: string, person: string): string {
  const keys = (condition: string) => `
       case when not ${consent}.all_accounts then array(
         select k.account_key from consent_accounts k
         join holders h on h.institution_id = $1 and h.account_key = k.account_key and h.person_key = ${person}
         where k.institution_id = $1 and k.consent_id = ${consent}.consent_id${condition}
         order by k.account_key) end`;
  return `${keys('')} as account_keys, ${keys(' and k.may_pay')} as paying_keys`;
}

/** Keys arrive as digits. */
export interface CoveredRow {
  readonly accountKeys: readonly string[] | null;
  readonly payingKeys: readonly string[] | null;
}

export function coveredOf({
  accountKeys,
  payingKeys,
}: CoveredRow): Pick<CoveredAccounts, 'accountKeys' | 'payingKeys'> {
  const toKeys = (keys: readonly string[] | null) => keys?.map(BigInt) ?? null;
  return { accountKeys: toKeys(accountKeys), payingKeys: toKeys(payingKeys) };
}

const locked = sql(
  'auth_share_consents',
  `select s.consent_id from consents s
   where s.institution_id = $1 and s.consent_id = any ($2::uuid[])
   order by s.consent_id for share`,
);
const paying = sql(
  'auth_paying_consents',
  `select s.consent_id, s.version, ${coveredColumns('s', 'u.person_key')}
   from consents s
   join users u on u.institution_id = $1 and u.user_key = s.user_key
   where s.institution_id = $1 and s.consent_id = any ($2::uuid[]) and s.ended_at is null
     and 'transfer:write' = any (s.scopes)`,
);

/**
 * The consents among these that still let their app order transfers, by id. They are locked: a change waits until the transfers of this
 * transaction have committed. Read by a statement of its own behind the lock, so that a change which was faster shows.
 */
export async function lockConsentsToPay(
  db: Queryable,
  consentIds: readonly string[],
): Promise<ReadonlyMap<string, CoveredAccounts>> {
  const values = [db.institutionId, consentIds];
  const [, { rows }] = await Promise.all([
    db.query(locked, values),
    db.query<CoveredRow & { readonly consentId: string; readonly version: number }>(paying, values),
  ]);
  return new Map(
    rows.map((row) => {
      const { consentId, version } = row;
      return [consentId, { consentId, version, ...coveredOf(row) }];
    }),
  );
}
