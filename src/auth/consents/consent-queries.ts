import { type Queryable, sql } from '../../storage/index.ts';

export interface ConsentRow {
  readonly consentId: string;
  readonly clientId: string;
  readonly clientName: string;
  readonly userKey: bigint;
  readonly userId: string;
  readonly scopes: readonly string[];
  /** Every account of the member, also those of later; else the accounts that the consent names. */
  readonly allAccounts: boolean;
  readonly grantedAt: Date;
  readonly expiresAt: Date;
  readonly endedAt: Date | null;
  readonly endedBy: 'MEMBER' | 'OPERATOR' | 'REPLACED' | null;
}

const columns = `s.consent_id, s.client_id, c.name as client_name, s.user_key, u.user_id, s.scopes, s.all_accounts, s.granted_at, s.expires_at,
          s.ended_at, s.ended_by
   from consents s
   join clients c on c.institution_id = s.institution_id and c.client_id = s.client_id
   join users u on u.institution_id = s.institution_id and u.user_key = s.user_key`;

const currentText = `select ${columns}
   where s.institution_id = $1 and s.user_key = $2 and s.client_id = $3 and s.ended_at is null`;
const current = sql('auth_current_consent', currentText);
const lockedCurrent = sql('auth_lock_current_consent', `${currentText} for update of s`);

interface Holder {
  readonly userKey: bigint;
  readonly clientId: string;
}

/** The consent that has not been ended; it may have expired. */
export async function selectCurrentConsent(
  db: Queryable,
  { userKey, clientId }: Holder,
): Promise<ConsentRow | undefined> {
  return (await db.query<ConsentRow>(current, [db.institutionId, userKey, clientId])).rows[0];
}

/** The same, locked: its end waits for the grant that this transaction writes, and ends that too. */
export async function lockCurrentConsent(
  db: Queryable,
  { userKey, clientId }: Holder,
): Promise<ConsentRow | undefined> {
  return (await db.query<ConsentRow>(lockedCurrent, [db.institutionId, userKey, clientId])).rows[0];
}

const locked = sql(
  'auth_lock_consent',
  `select ${columns} where s.institution_id = $1 and s.consent_id = $2 for update of s`,
);

export async function lockConsent(db: Queryable, consentId: string): Promise<ConsentRow | undefined> {
  return (await db.query<ConsentRow>(locked, [db.institutionId, consentId])).rows[0];
}

const newConsent = sql(
  'auth_insert_consent',
  `insert into consents (institution_id, consent_id, client_id, user_key, scopes, granted_at, expires_at, all_accounts)
   values ($1, $2, $3, $4, $5, $6, $7, $8)
   on conflict (institution_id, user_key, client_id) where ended_at is null do nothing`,
);

/** Whether it was inserted: the member may have another consent for this app that has not been ended. */
export async function insertConsent(
  db: Queryable,
  row: Pick<
    ConsentRow,
    'consentId' | 'clientId' | 'userKey' | 'scopes' | 'grantedAt' | 'expiresAt' | 'allAccounts'
  >,
): Promise<boolean> {
  const { consentId, clientId, userKey, scopes, grantedAt, expiresAt, allAccounts } = row;
  const consent = [consentId, clientId, userKey, scopes, grantedAt, expiresAt, allAccounts];
  return (await db.query(newConsent, [db.institutionId, ...consent])).rowCount === 1;
}

const end = sql(
  'auth_end_consent',
  `update consents set ended_at = $3, ended_by = $4
   where institution_id = $1 and consent_id = $2 and ended_at is null`,
);

export async function endConsent(
  db: Queryable,
  consentId: string,
  { at, by }: { readonly at: Date; readonly by: NonNullable<ConsentRow['endedBy']> },
): Promise<void> {
  await db.query(end, [db.institutionId, consentId, at, by]);
}

const narrower = sql(
  'auth_narrow_consent',
  'update consents set scopes = $3, all_accounts = $4 where institution_id = $1 and consent_id = $2',
);

/** Its version grows, so that no answer of before is sent. */
export async function updateConsent(
  db: Queryable,
  consentId: string,
  { scopes, allAccounts }: Pick<ConsentRow, 'scopes' | 'allAccounts'>,
): Promise<void> {
  await db.query(narrower, [db.institutionId, consentId, scopes, allAccounts]);
}

const ofUser = sql(
  'auth_consents_of_user',
  `select ${columns}
   where s.institution_id = $1 and s.user_key = $2 and s.ended_at is null and s.expires_at > $3
   order by s.granted_at desc, s.consent_id`,
);

/** Those in force. A member has one for each app. */
export async function selectConsents(db: Queryable, userKey: bigint, now: Date): Promise<ConsentRow[]> {
  return (await db.query<ConsentRow>(ofUser, [db.institutionId, userKey, now])).rows;
}
