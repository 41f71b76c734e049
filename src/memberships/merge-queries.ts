import { Problem } from '../shared/problem.ts';
import { type Queryable, type Statement, sql } from '../storage/index.ts';

/*
 * Differences between a range of an import's stage and the tables of this module. Each difference is one text: it is counted for the
 * plan and written when the plan is carried out. $1 is the institution, $2 and $3 are the ends of the range.
 *
 * `offset 0` keeps a look-up by key for each row of the range. Rows that change are found by their keys and not by their place (ctid): a
 * payment or a record of the core may change a row while the import waits for it, which gives it another place.
 */

/** Keys of a stage, ordered by their bytes; `after` is excluded, `upTo` is included. */
export interface KeyRange {
  readonly after: string;
  readonly upTo: string;
}

export interface Change {
  readonly added: number;
  readonly changed: number;
  readonly removed: number;
  /** Rows that exist and could be removed. */
  readonly standing: number;
}

export const noChange: Change = { added: 0, changed: 0, removed: 0, standing: 0 };

const counted = `count(*) filter (where is_new)::integer as added, count(*) filter (where not is_new)::integer as changed`;

// Persons, by their ids.

const personDifference = `
  select s.*, p.person_key is null as is_new
  from staged_persons s
  left join persons p on p.institution_id = $1 and p.person_id = s.person_id
  where s.institution_id = $1 and s.person_id > $2 and s.person_id <= $3
    and (p.person_key is null
         or p.erased_at is null and (p.first_name, p.last_name, p.email, p.phone_number, p.phone_type, p.birth_date) is distinct from
            (s.first_name, s.last_name, s.email, s.phone_number, s.phone_type, s.birth_date::date))`;

const countPersons = sql('memberships_count_persons', `select ${counted} from (${personDifference}) d`);
const mergePersons = sql(
  'memberships_merge_persons',
  `insert into persons (institution_id, person_id, first_name, last_name, email, phone_number, phone_type, birth_date)
   select $1, person_id, first_name, last_name, email, phone_number, phone_type, birth_date::date
   from (${personDifference}) d
   on conflict (institution_id, person_id) do update
   set first_name = excluded.first_name, last_name = excluded.last_name, email = excluded.email,
       phone_number = excluded.phone_number, phone_type = excluded.phone_type, birth_date = excluded.birth_date`,
);

// Memberships, and all below, by the member number.

const members = `s.institution_id = $1 and s.member_number > $2 and s.member_number <= $3`;

const memberDifference = `
  select s.*, true as is_new from staged_members s
  where ${members}
    and not exists (select from customers c where c.institution_id = $1 and c.member_number = s.member_number)`;

const countMembers = sql('memberships_count_members', `select ${counted} from (${memberDifference}) d`);
const mergeMembers = sql(
  'memberships_merge_members',
  `insert into customers (institution_id, customer_id, member_number, member_type)
   select $1, customer_id, member_number, member_type from (${memberDifference}) d
   on conflict do nothing`,
);
const strangers = sql(
  'memberships_strange_members',
  `select count(*)::integer as strange from staged_members s
   where ${members}
     and not exists (select from customers c
                     where c.institution_id = $1 and c.member_number = s.member_number
                       and c.customer_id = s.customer_id and c.member_type = s.member_type)`,
);

// Persons of memberships. A PRIMARY who changes must not meet the one before, so a changed role is removed and added.

const memberPersonDifference = `
  select s.*, c.customer_key, p.person_key, cp.role is null as is_new
  from staged_member_persons s
  left join customers c on c.institution_id = $1 and c.member_number = s.member_number
  left join persons p on p.institution_id = $1 and p.person_id = s.person_id
  left join customer_persons cp on cp.institution_id = $1 and cp.customer_key = c.customer_key
    and cp.person_key = p.person_key
  where ${members} and cp.role is distinct from s.role`;

const standingMemberPersons = `
  select cp.customer_key, cp.person_key, cp.role, k.role as staged_role
  from staged_members s
  cross join lateral (
    select c.customer_key from customers c
    where c.institution_id = $1 and c.member_number = s.member_number offset 0) c
  cross join lateral (
    select cp.customer_key, cp.person_key, cp.role from customer_persons cp
    where cp.institution_id = $1 and cp.customer_key = c.customer_key offset 0) cp
  cross join lateral (
    select p.person_id from persons p where p.institution_id = $1 and p.person_key = cp.person_key offset 0) p
  left join staged_member_persons k on k.institution_id = $1 and k.member_number = s.member_number
    and k.person_id = p.person_id
  where ${members}`;

const countMemberPersons = sql(
  'memberships_count_member_persons',
  `select ${counted} from (${memberPersonDifference}) d`,
);
const countMemberPersonsGone = sql(
  'memberships_count_member_persons_gone',
  `select count(*) filter (where staged_role is null)::integer as removed, count(*)::integer as standing
   from (${standingMemberPersons}) d`,
);
const removeMemberPersons = sql(
  'memberships_remove_changed_member_persons',
  `delete from customer_persons cp
   using (select * from (${standingMemberPersons}) d where role is distinct from staged_role offset 0) gone
   where cp.institution_id = $1 and cp.customer_key = gone.customer_key and cp.person_key = gone.person_key`,
);
const addMemberPersons = sql(
  'memberships_merge_member_persons',
  `insert into customer_persons (institution_id, customer_key, person_key, role)
   select $1, customer_key, person_key, role from (${memberPersonDifference}) d`,
);

/** The one row of a statement that counts. */
export async function countOf<Row extends object>(
  tx: Queryable,
  statement: Statement,
  { after, upTo }: KeyRange,
): Promise<Row> {
  return (await tx.query<Row>(statement, [tx.institutionId, after, upTo])).rows[0] as Row;
}

export async function countPersonChanges(tx: Queryable, range: KeyRange): Promise<Change> {
  return { ...noChange, ...(await countOf<Partial<Change>>(tx, countPersons, range)) };
}

export async function countMembershipChanges(
  tx: Queryable,
  range: KeyRange,
): Promise<{ readonly members: Change; readonly memberPersons: Change }> {
  const count = (statement: Statement) => countOf<Partial<Change>>(tx, statement, range);
  const [members, persons, gone] = await Promise.all([
    count(countMembers),
    count(countMemberPersons),
    count(countMemberPersonsGone),
  ]);
  return { members: { ...noChange, ...members }, memberPersons: { ...noChange, ...persons, ...gone } };
}

export async function mergePersonRange(tx: Queryable, { after, upTo }: KeyRange): Promise<void> {
  await tx.query(mergePersons, [tx.institutionId, after, upTo]);
}

/** Problem `overloaded` if someone enrolled under one of the member numbers since it was checked; the next check names it. */
export async function mergeMembershipRange(tx: Queryable, range: KeyRange): Promise<void> {
  const values = [tx.institutionId, range.after, range.upTo];
  await tx.query(mergeMembers, values);
  const { strange } = await countOf<{ strange: number }>(tx, strangers, range);
  if (strange > 0)
    throw new Problem('overloaded', 'A membership was opened meanwhile under the same member number.');
  await tx.query(removeMemberPersons, values);
  await tx.query(addMemberPersons, values);
}
