import { type Queryable, sql } from '../storage/index.ts';

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
}

const membership = sql(
  'memberships_find',
  `select p.person_key as "personKey", cp.role, p.first_name as "firstName", p.last_name as "lastName", p.email,
          p.phone_number as "phoneNumber", p.phone_type as "phoneType", p.birth_date as "birthDate"
   from customers c
   left join customer_persons cp on cp.institution_id = $1 and cp.customer_key = c.customer_key
   left join persons p on p.institution_id = $1 and p.person_key = cp.person_key and p.erased_at is null
   where c.institution_id = $1 and c.member_number = $2
   order by p.person_key`,
);

/** The persons of a membership; undefined for an unknown member number. */
export async function findMembership(
  db: Queryable,
  memberNumber: string,
): Promise<{ readonly persons: readonly MembershipPerson[] } | undefined> {
  const { rows } = await db.query<MembershipPerson | { readonly personKey: null }>(membership, [
    db.institutionId,
    memberNumber,
  ]);
  if (rows.length === 0) return undefined;
  return { persons: rows.filter((row): row is MembershipPerson => row.personKey !== null) };
}

const newMembership = sql(
  'memberships_insert',
  `with customer as (
     insert into customers (institution_id, customer_id, member_number, member_type)
     values ($1, $2, $3, 'RETAIL')
     on conflict do nothing
     returning customer_key
   ), person as (
     insert into persons (institution_id, person_id, first_name, last_name, email, self_declared)
     select $1, $4, $5, $6, $7, true from customer
     returning person_key
   ), member as (
     insert into customer_persons (institution_id, customer_key, person_key, role)
     select $1, customer_key, person_key, 'PRIMARY' from customer, person
     returning customer_key, person_key
   )
   select customer_key, person_key from member`,
);

export interface NewMembership {
  readonly customerId: string;
  readonly memberNumber: string;
  readonly personId: string;
  readonly firstName: string;
  readonly lastName: string;
  readonly email: string;
}

/**
 * A membership of one person whom the core system does not have: the names and the e-mail that they typed prove nothing.
 * Undefined if the member number is taken.
 */
export async function insertMembership(
  tx: Queryable,
  { customerId, memberNumber, personId, firstName, lastName, email }: NewMembership,
): Promise<{ readonly customerKey: bigint; readonly personKey: bigint } | undefined> {
  const values = [tx.institutionId, customerId, memberNumber, personId, firstName, lastName, email];
  return (await tx.query<{ customerKey: bigint; personKey: bigint }>(newMembership, values)).rows[0];
}
