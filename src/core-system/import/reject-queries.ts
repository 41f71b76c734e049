import type { KeyRange } from '../../memberships/index.ts';
import { insertOf, jsonOf, type Queryable, type Statement, sql } from '../../storage/index.ts';

/* Rows of the stage that an import leaves out, and the rows that depend on them. */

export interface RejectedRow {
  readonly file: string;
  readonly line: number;
  /** Empty if the row has too few or too many values. */
  readonly columnName: string;
  readonly expected: string;
}

const insert = sql(
  'core_insert_rejects',
  `${insertOf('staged_rejects', 'file, line, column_name, expected')} on conflict do nothing`,
);

export async function insertRejects(tx: Queryable, rows: readonly RejectedRow[]): Promise<void> {
  await tx.query(insert, [tx.institutionId, jsonOf(rows)]);
}

const rejected = (file: string, alias: string) =>
  `exists (select from staged_rejects r where r.institution_id = $1 and r.file = '${file}.csv' and r.line = ${alias}.line)`;
const inMembers = (alias: string) =>
  `${alias}.institution_id = $1 and ${alias}.member_number > $2 and ${alias}.member_number <= $3`;
const inHolders = (alias: string) =>
  `${alias}.institution_id = $1 and ${alias}.account_id > $2 and ${alias}.account_id <= $3`;

/** Rejects the rows of a file that stand in `from` and are not rejected yet. */
function rejecting(
  file: string,
  { column, expected, from }: { readonly column: string; readonly expected: string; readonly from: string },
): Statement {
  return sql(
    `core_reject_${file.replace('-', '_')}_of_${column}`,
    `insert into staged_rejects (institution_id, file, line, column_name, expected)
     select $1, '${file}.csv', s.line, '${column}', '${expected}' from ${from} and not ${rejected(file, 's')}
     on conflict do nothing`,
  );
}

/** In this order: each one reads the rejections of those above. */
const ofMembers = [
  rejecting('member-persons', {
    column: 'person_id',
    expected: 'a person whose row is not rejected',
    from: `staged_member_persons s
           cross join lateral (select p.line from staged_persons p
                               where p.institution_id = $1 and p.person_id = s.person_id offset 0) p
           where ${inMembers('s')} and ${rejected('persons', 'p')}`,
  }),
  rejecting('members', {
    column: 'member_number',
    expected: 'a membership none of whose rows in member-persons.csv is rejected',
    from: `staged_members s
           where ${inMembers('s')}
             and exists (select from staged_member_persons k
                         where k.institution_id = $1 and k.member_number = s.member_number
                           and ${rejected('member-persons', 'k')})`,
  }),
  rejecting('member-persons', {
    column: 'member_number',
    expected: 'a membership whose row is not rejected',
    from: `staged_member_persons s
           cross join lateral (select m.line from staged_members m
                               where m.institution_id = $1 and m.member_number = s.member_number offset 0) m
           where ${inMembers('s')} and ${rejected('members', 'm')}`,
  }),
  rejecting('accounts', {
    column: 'member_number',
    expected: 'a membership whose row is not rejected',
    from: `staged_accounts s
           cross join lateral (select m.line from staged_members m
                               where m.institution_id = $1 and m.member_number = s.member_number offset 0) m
           where ${inMembers('s')} and ${rejected('members', 'm')}`,
  }),
];

/** Rejects the rows that depend on a rejected one, except holders. */
export async function rejectOfMembers(tx: Queryable, { after, upTo }: KeyRange): Promise<void> {
  for (const statement of ofMembers) await tx.query(statement, [tx.institutionId, after, upTo]);
}

const ofHolders = [
  rejecting('accounts', {
    column: 'account_id',
    expected: 'an account none of whose rows in holders.csv is rejected',
    from: `staged_accounts s
           where ${inHolders('s')}
             and exists (select from staged_holders k
                         where k.institution_id = $1 and k.account_id = s.account_id and ${rejected('holders', 'k')})`,
  }),
  rejecting('holders', {
    column: 'account_id',
    expected: 'an account whose row is not rejected',
    from: `staged_holders s
           cross join lateral (select a.line from staged_accounts a
                               where a.institution_id = $1 and a.account_id = s.account_id offset 0) a
           where ${inHolders('s')} and ${rejected('accounts', 'a')}`,
  }),
];

/** Rejects the accounts and holders that depend on a rejected one. */
export async function rejectOfHolders(tx: Queryable, { after, upTo }: KeyRange): Promise<void> {
  for (const statement of ofHolders) await tx.query(statement, [tx.institutionId, after, upTo]);
}

const removing = (file: string, table: string, range: string) =>
  sql(`core_unstage_${table}`, `delete from ${table} s where ${range} and ${rejected(file, 's')}`);

const removePersons = removing(
  'persons',
  'staged_persons',
  's.institution_id = $1 and s.person_id > $2 and s.person_id <= $3',
);
const removeHolders = removing('holders', 'staged_holders', inHolders('s'));
const removeMembers = [
  removing('accounts', 'staged_accounts', inMembers('s')),
  removing('member-persons', 'staged_member_persons', inMembers('s')),
  removing('members', 'staged_members', inMembers('s')),
];

const countPersons = sql(
  'core_count_staged_persons',
  `select count(*)::integer as rows from staged_persons s
   where s.institution_id = $1 and s.person_id > $2 and s.person_id <= $3`,
);
const countHolders = sql(
  'core_count_staged_holders',
  `select count(*)::integer as rows from staged_holders s where ${inHolders('s')}`,
);
const countMembers = sql(
  'core_count_staged_members',
  `select (select count(*) from staged_members s where ${inMembers('s')})::integer as members,
          (select count(*) from staged_member_persons s where ${inMembers('s')})::integer as member_persons,
          count(*)::integer as accounts, count(*) filter (where a.posted <> 0)::integer as figures,
          coalesce(array_agg(distinct a.currency), '{}') as currencies
   from staged_accounts a where ${inMembers('a')}`,
);

/** Removes the rejected persons of the range from the stage. Returns the number of the others. */
export async function unstagePersons(tx: Queryable, { after, upTo }: KeyRange): Promise<number> {
  const values = [tx.institutionId, after, upTo];
  await tx.query(removePersons, values);
  return (await tx.query<{ rows: number }>(countPersons, values)).rows[0]?.rows ?? 0;
}

/** Like `unstagePersons`. */
export async function unstageHolders(tx: Queryable, { after, upTo }: KeyRange): Promise<number> {
  const values = [tx.institutionId, after, upTo];
  await tx.query(removeHolders, values);
  return (await tx.query<{ rows: number }>(countHolders, values)).rows[0]?.rows ?? 0;
}

interface StagedMembers {
  readonly members: number;
  readonly memberPersons: number;
  readonly accounts: number;
  readonly figures: number;
  readonly currencies: readonly string[];
}

/** Like `unstagePersons`, for memberships with their persons and accounts. */
export async function unstageMembers(tx: Queryable, { after, upTo }: KeyRange): Promise<StagedMembers> {
  const values = [tx.institutionId, after, upTo];
  for (const statement of removeMembers) await tx.query(statement, values);
  return (await tx.query<StagedMembers>(countMembers, values)).rows[0] as StagedMembers;
}

const counts = sql(
  'core_count_rejects',
  `select count(distinct line)::integer as rows from staged_rejects where institution_id = $1 and file = $2`,
);

export async function countRejects(tx: Queryable, file: string): Promise<number> {
  return (await tx.query<{ rows: number }>(counts, [tx.institutionId, file])).rows[0]?.rows ?? 0;
}

const page = sql(
  'core_page_of_rejects',
  `select file, line, column_name, expected from staged_rejects
   where institution_id = $1 and file = $2 and (line, column_name, expected) > ($3, $4, $5)
   order by line, column_name, expected limit $6`,
);

export async function selectRejects(
  tx: Queryable,
  file: string,
  { after, most }: { readonly after: RejectedRow | undefined; readonly most: number },
): Promise<RejectedRow[]> {
  const { line = 0, columnName = '', expected = '' } = after ?? {};
  const values = [tx.institutionId, file, line, columnName, expected, most];
  return (await tx.query<RejectedRow>(page, values)).rows;
}
