import { type Queryable, sql } from '../../storage/index.ts';

/** A passkey of a member, without its key. */
export interface PasskeyOfMember {
  readonly name: string;
  readonly isSynced: boolean;
  readonly createdAt: Date;
  readonly lastUsedAt: Date | null;
}

const passkeys = sql(
  'operators_passkeys_of_member',
  `select p.name, p.is_synced, p.created_at, p.last_used_at from passkeys p
   where p.institution_id = $1 and p.user_key = $2 order by p.created_at, p.passkey_id`,
);

export async function selectPasskeysOf(db: Queryable, userKey: bigint): Promise<PasskeyOfMember[]> {
  return (await db.query<PasskeyOfMember>(passkeys, [db.institutionId, userKey])).rows;
}

/** The authenticator app of a member, without its secret. */
export interface AuthenticatorOfMember {
  readonly name: string;
  readonly createdAt: Date;
  readonly lastUsedAt: Date | null;
  /** Those that are left. */
  readonly recoveryCodes: number;
}

const authenticator = sql(
  'operators_authenticator_of_member',
  `select o.name, o.created_at, o.last_used_at,
          (select count(*)::integer from recovery_codes r
           where r.institution_id = $1 and r.user_key = $2) as recovery_codes
   from authenticators o
   where o.institution_id = $1 and o.user_key = $2`,
);

export async function selectAuthenticatorOf(
  db: Queryable,
  userKey: bigint,
): Promise<AuthenticatorOfMember | undefined> {
  return (await db.query<AuthenticatorOfMember>(authenticator, [db.institutionId, userKey])).rows[0];
}

/** An act of the member, or of an operator on the member. */
export interface ActivityRow {
  /** Of the entry in the audit. */
  readonly key: string;
  readonly at: Date;
  readonly action: string;
  readonly outcome: string;
  /** A code. The words of an operator are for those who may read the audit. */
  readonly reason: string | null;
  readonly isByOperator: boolean;
  /** The app; null if it is not known. */
  readonly clientName: string | null;
  /** Null for an act of an operator. */
  readonly address: string | null;
  readonly transferId: string | null;
  /** Equal ones that the entry stands for. */
  readonly times: number;
}

// The inner limit bounds the search for a member whom operators have read often.
const activity = sql(
  'operators_activity_of_member',
  `select e.audit_key::text as key, e.recorded_at as at, e.action, e.outcome, e.reason, e.operator is not null as is_by_operator, c.name as client_name,
          case when e.operator is null then host(e.address) end as address,
          case when e.action like 'transfer.%' then e.subject end as transfer_id, e.times
   from (select a.* from audit_entries a
         where a.institution_id = $1 and a.user_id = $2 order by a.audit_key desc limit 200) e
   left join clients c on c.institution_id = $1 and c.client_id = e.client_id
   where e.action not like '%.read' and e.action <> 'person.searched'
   order by e.audit_key desc limit 30`,
);

/** The last thirty of the last two hundred entries, the newest first. Reads by operators are left out. */
export async function selectActivity(db: Queryable, userId: string): Promise<ActivityRow[]> {
  return (await db.query<ActivityRow>(activity, [db.institutionId, userId])).rows;
}
