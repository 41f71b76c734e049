import { type Queryable, sql } from '../../storage/index.ts';

export interface PersonRow {
  readonly personKey: bigint;
  readonly personId: string;
  readonly firstName: string;
  readonly lastName: string;
  readonly email: string | null;
  readonly phoneNumber: string | null;
  readonly birthDate: string | null;
  readonly selfDeclared: boolean;
  /** Null from here on: the person has not registered. */
  readonly userKey: bigint | null;
  readonly userId: string | null;
  readonly username: string | null;
  readonly userEmail: string | null;
  readonly verifiedEmail: string | null;
  readonly createdAt: Date | null;
  readonly active: boolean | null;
  readonly lockedByOperator: boolean | null;
  readonly lockedUntil: Date | null;
  readonly failedLogins: number | null;
  readonly activationCodeUntil: Date | null;
  /** Since when sign-in by password needs a code; null: it does not. */
  readonly secondFactorSince: Date | null;
}

const person = sql(
  'operators_person',
  `select p.person_key, p.person_id, p.first_name, p.last_name, p.email, p.phone_number, p.birth_date, p.self_declared,
          u.user_key, u.user_id, u.username, u.email as user_email, u.verified_email, u.created_at, u.active,
          u.locked_by_operator, u.locked_until, u.failed_logins, a.expires_at as activation_code_until,
          o.created_at as second_factor_since
   from persons p
   left join users u on u.institution_id = $1 and u.person_key = p.person_key
   left join activations a on a.institution_id = $1 and a.user_key = u.user_key
   left join authenticators o on o.institution_id = $1 and o.user_key = u.user_key
   where p.institution_id = $1 and p.person_id = $2`,
);

export async function selectPerson(db: Queryable, personId: string): Promise<PersonRow | undefined> {
  return (await db.query<PersonRow>(person, [db.institutionId, personId])).rows[0];
}

export interface MembershipRow {
  readonly memberNumber: string;
  readonly customerId: string;
  readonly memberType: string;
  readonly role: string;
  /** The persons of the membership beside this one. */
  readonly others: readonly { readonly personId: string; readonly role: string }[];
}

const memberships = sql(
  'operators_memberships',
  `select c.member_number, c.customer_id, c.member_type, cp.role,
          (select coalesce(json_agg(json_build_object('personId', p.person_id, 'role', o.role) order by p.person_key), '[]')
           from customer_persons o
           join persons p on p.institution_id = $1 and p.person_key = o.person_key
           where o.institution_id = $1 and o.customer_key = c.customer_key and o.person_key <> $2) as others
   from customer_persons cp
   join customers c on c.institution_id = $1 and c.customer_key = cp.customer_key
   where cp.institution_id = $1 and cp.person_key = $2
   order by c.member_number
   limit 200`,
);

export async function selectMemberships(db: Queryable, personKey: bigint): Promise<MembershipRow[]> {
  return (await db.query<MembershipRow>(memberships, [db.institutionId, personKey])).rows;
}

export interface HeldAccountRow {
  readonly accountId: string;
  readonly accountType: string;
  readonly memberNumber: string;
  readonly role: string;
  readonly mayPay: boolean;
  readonly closed: boolean;
  /** A loan whose payment is overdue. */
  readonly delinquent: boolean;
  readonly coreRestriction: string | null;
  readonly operatorRestriction: string | null;
  readonly currency: string;
  /** The balance as the holder sees it: a debt is positive. */
  readonly posted: bigint;
}

const accounts = sql(
  'operators_accounts_of_person',
  `select a.account_id, a.di_account_type as account_type, c.member_number, h.role, h.may_pay, a.closed, a.delinquent,
          a.transfer_restriction as core_restriction, a.operator_restriction, a.currency,
          case when a.category in ('LOAN', 'CREDIT') then -b.posted else b.posted end as posted
   from holders h
   join accounts a on a.institution_id = $1 and a.account_key = h.account_key
   join customers c on c.institution_id = $1 and c.customer_key = a.customer_key
   join balances b on b.institution_id = $1 and b.account_key = a.account_key
   where h.institution_id = $1 and h.person_key = $2
   order by a.account_id
   limit 200`,
);

/** The first two hundred. */
export async function selectAccountsOf(db: Queryable, personKey: bigint): Promise<HeldAccountRow[]> {
  return (await db.query<HeldAccountRow>(accounts, [db.institutionId, personKey])).rows;
}

export interface SessionRow {
  /** Null: a browser at the service's own pages. */
  readonly clientId: string | null;
  readonly startedAt: Date;
  readonly refreshedAt: Date;
  readonly idleUntil: Date;
  readonly scopes: readonly string[];
  /** Of a browser, as it was at the sign-in. */
  readonly address: string | null;
  readonly userAgent: string | null;
}

export interface ConsentOfMember {
  readonly consentId: string;
  readonly clientId: string;
  readonly clientName: string;
  readonly scopes: readonly string[];
  readonly allAccounts: boolean;
  /** The accounts that it names. */
  readonly accountIds: readonly string[];
  readonly grantedAt: Date;
  readonly expiresAt: Date;
}

const consents = sql(
  'operators_consents',
  `select s.consent_id, s.client_id, c.name as client_name, s.scopes, s.all_accounts, s.granted_at, s.expires_at,
          array(select a.account_id from consent_accounts k
                join accounts a on a.institution_id = $1 and a.account_key = k.account_key
                where k.institution_id = $1 and k.consent_id = s.consent_id order by a.account_id) as account_ids
   from consents s
   join clients c on c.institution_id = $1 and c.client_id = s.client_id
   where s.institution_id = $1 and s.user_key = $2 and s.ended_at is null and s.expires_at > $3
   order by s.granted_at desc, s.consent_id
   limit 100`,
);

/** The consents of the member that are in force, the newest first. */
export async function selectConsentsOf(
  db: Queryable,
  userKey: bigint | null,
  now: Date,
): Promise<ConsentOfMember[]> {
  if (userKey === null) return [];
  return (await db.query<ConsentOfMember>(consents, [db.institutionId, userKey, now])).rows;
}

const sessions = sql(
  'operators_sessions',
  `select f.client_id, f.created_at as started_at, f.rotated_at as refreshed_at, f.idle_until, f.scopes,
          null::text as address, null::text as user_agent
   from refresh_families f
   join users u on u.institution_id = $1 and u.user_key = f.user_key
   join clients c on c.institution_id = $1 and c.client_id = f.client_id
   where f.institution_id = $1 and f.user_key = $2 and f.revoked_at is null and f.idle_until > $3
     and f.user_epoch = u.token_epoch and f.client_epoch = c.token_epoch and c.active
   union all
   select null::text, s.created_at, s.last_used_at, s.expires_at, '{}'::text[], host(s.address), s.user_agent
   from member_sessions s
   join users u on u.institution_id = $1 and u.user_key = s.user_key
   where s.institution_id = $1 and s.user_key = $2 and s.ended_at is null and s.expires_at > $3
     and s.user_epoch = u.token_epoch
   order by refreshed_at desc
   limit 100`,
);

/** Sessions with a refresh token that is still good, and browsers at the sign-in page, the last used first. A session without one ends with its access token. */
export async function selectSessions(
  db: Queryable,
  userKey: bigint | null,
  now: Date,
): Promise<SessionRow[]> {
  if (userKey === null) return [];
  return (await db.query<SessionRow>(sessions, [db.institutionId, userKey, now])).rows;
}
