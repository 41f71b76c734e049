import { type InstitutionId, type Queryable, sql } from '../storage/index.ts';
import type { MemberRecord, PersonRecord } from './extract.ts';

export interface MembershipPerson {
  readonly personKey: bigint;
  readonly role: string;
  readonly firstName: string;
  readonly lastName: string;
  readonly email: string | null;
  readonly phoneNumber: string | null;
  readonly phoneType: string | null;
  /** YYYY-MM-DD */
  readonly birthDate: string | null;
  /** Has digital access already. */
  readonly registered: boolean;
}

const membership = sql(
  'core_membership',
  `select p.person_key, cp.role, p.first_name, p.last_name, p.email, p.phone_number, p.phone_type,
          p.birth_date::text as birth_date, exists (select from users u where u.institution_id = $1 and u.person_key = p.person_key) as registered
   from customers c
   left join customer_persons cp on cp.institution_id = $1 and cp.customer_key = c.customer_key
   left join persons p on p.institution_id = $1 and p.person_key = cp.person_key
   where c.institution_id = $1 and c.member_number = $2
   order by p.person_key`,
);

/** The persons of a membership; undefined when the core knows no such member number. */
export async function findMembership(
  db: Queryable,
  institutionId: InstitutionId,
  memberNumber: string,
): Promise<{ readonly persons: readonly MembershipPerson[] } | undefined> {
  const { rows } = await db.query<{
    person_key: bigint | null;
    role: string;
    first_name: string;
    last_name: string;
    email: string | null;
    phone_number: string | null;
    phone_type: string | null;
    birth_date: string | null;
    registered: boolean;
  }>(membership, [institutionId, memberNumber]);
  if (rows.length === 0) return undefined;
  return {
    persons: rows.flatMap((row) =>
      row.person_key === null
        ? []
        : [
            {
              personKey: row.person_key,
              role: row.role,
              firstName: row.first_name,
              lastName: row.last_name,
              email: row.email,
              phoneNumber: row.phone_number,
              phoneType: row.phone_type,
              birthDate: row.birth_date,
              registered: row.registered,
            },
          ],
    ),
  };
}

const newSelfDeclared = sql(
  'core_insert_self_declared',
  `insert into persons (institution_id, person_id, first_name, last_name, email, self_declared)
   values ($1, $2, $3, $4, $5, true) returning person_key`,
);

/** A person whom the core does not know: what they typed of themselves proves nothing. */
export async function insertSelfDeclared(
  tx: Queryable,
  institutionId: InstitutionId,
  person: Pick<PersonRecord, 'personId' | 'firstName' | 'lastName'> & { readonly email: string },
): Promise<bigint> {
  const { personId, firstName, lastName, email } = person;
  const values = [institutionId, personId, firstName, lastName, email];
  const { rows } = await tx.query<{ person_key: bigint }>(newSelfDeclared, values);
  expectWritten('persons', rows.length, 1);
  return rows[0]?.person_key as bigint;
}

const newCustomers = sql(
  'core_new_customers',
  `insert into customers (institution_id, customer_id, member_number, member_type)
   select $1, v.* from unnest($2::text[], $3::text[], $4::text[]) as v
   on conflict do nothing`,
);
const customerKeys = sql(
  'core_customer_keys',
  `select c.customer_key, c.member_number
   from unnest($2::text[], $3::text[], $4::text[]) as v (customer_id, member_number, member_type)
   join customers c on c.institution_id = $1 and c.customer_id = v.customer_id
     and c.member_number = v.member_number and c.member_type = v.member_type`,
);

/** Answers each membership's key by member number; one that is known under another customer id or type is left out. */
export async function insertCustomers(
  tx: Queryable,
  institutionId: InstitutionId,
  members: readonly Pick<MemberRecord, 'customerId' | 'memberNumber' | 'memberType'>[],
): Promise<Map<string, bigint>> {
  const values = [
    institutionId,
    members.map((member) => member.customerId),
    members.map((member) => member.memberNumber),
    members.map((member) => member.memberType),
  ];
  await tx.query(newCustomers, values);
  const { rows } = await tx.query<{ customer_key: bigint; member_number: string }>(customerKeys, values);
  return new Map(rows.map((row) => [row.member_number, row.customer_key]));
}

export interface MemberPersonRow {
  readonly customerKey: bigint;
  readonly personKey: bigint;
  readonly role: string;
}

// Removed first, then added: a PRIMARY who changes must not meet the one before.
const removeMemberPersons = sql(
  'core_remove_member_persons',
  `delete from customer_persons cp
   where cp.institution_id = $1 and cp.customer_key = any ($2::bigint[])
     and (cp.customer_key, cp.person_key, cp.role) not in (
       select * from unnest($3::bigint[], $4::bigint[], $5::text[]))`,
);
const addMemberPersons = sql(
  'core_add_member_persons',
  `insert into customer_persons (institution_id, customer_key, person_key, role)
   select $1, v.* from unnest($2::bigint[], $3::bigint[], $4::text[]) as v
   on conflict do nothing`,
);

/** Exactly these persons, with these roles, in these memberships. */
export async function replaceMemberPersons(
  tx: Queryable,
  institutionId: InstitutionId,
  customerKeys: readonly bigint[],
  rows: readonly MemberPersonRow[],
): Promise<void> {
  const values = [
    rows.map((row) => row.customerKey),
    rows.map((row) => row.personKey),
    rows.map((row) => row.role),
  ];
  await tx.query(removeMemberPersons, [institutionId, customerKeys, ...values]);
  await tx.query(addMemberPersons, [institutionId, ...values]);
}

const knownAccounts = sql(
  'core_known_accounts',
  `select a.account_id, a.account_key, c.member_number, a.di_account_type, a.currency
   from accounts a
   left join customers c on c.institution_id = $1 and c.customer_key = a.customer_key
   where a.institution_id = $1 and a.account_id = any ($2::text[])`,
);

export interface KnownAccount {
  readonly accountKey: bigint;
  /** Null for the institution's own. */
  readonly memberNumber: string | null;
  readonly diAccountType: string;
  readonly currency: string;
}

export async function selectKnownAccounts(
  db: Queryable,
  institutionId: InstitutionId,
  accountIds: readonly string[],
): Promise<Map<string, KnownAccount>> {
  const { rows } = await db.query<{
    account_id: string;
    account_key: bigint;
    member_number: string | null;
    di_account_type: string;
    currency: string;
  }>(knownAccounts, [institutionId, accountIds]);
  return new Map(
    rows.map((row) => [
      row.account_id,
      {
        accountKey: row.account_key,
        memberNumber: row.member_number,
        diAccountType: row.di_account_type,
        currency: row.currency,
      },
    ]),
  );
}

export interface HolderRow {
  readonly accountKey: bigint;
  readonly personKey: bigint;
  readonly role: string;
  readonly mayPay: boolean;
}

const removeHolders = sql(
  'core_remove_holders',
  `delete from holders h
   where h.institution_id = $1 and h.account_key = any ($2::bigint[])
     and (h.account_key, h.person_key, h.role, h.may_pay) not in (
       select * from unnest($3::bigint[], $4::bigint[], $5::text[], $6::boolean[]))`,
);
const addHolders = sql(
  'core_add_holders',
  `insert into holders (institution_id, account_key, person_key, role, may_pay)
   select $1, v.* from unnest($2::bigint[], $3::bigint[], $4::text[], $5::boolean[]) as v
   on conflict do nothing`,
);

/** Exactly these holders of these accounts. */
export async function replaceHolders(
  tx: Queryable,
  institutionId: InstitutionId,
  accountKeys: readonly bigint[],
  rows: readonly HolderRow[],
): Promise<void> {
  const values = [
    rows.map((row) => row.accountKey),
    rows.map((row) => row.personKey),
    rows.map((row) => row.role),
    rows.map((row) => row.mayPay),
  ];
  await tx.query(removeHolders, [institutionId, accountKeys, ...values]);
  await tx.query(addHolders, [institutionId, ...values]);
}

/** An update that a policy hides its row from touches nothing, and raises no error. */
function expectWritten(what: string, written: number, sent: number): void {
  if (written !== sent) throw new Error(`core: ${written} of ${sent} ${what} were written`);
}
