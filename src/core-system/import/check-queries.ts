import type { KeyRange } from '../../memberships/index.ts';
import { type Queryable, sql } from '../../storage/index.ts';
import { businessRoles, retailRoles } from '../extract/extract.ts';

/* Errors within the stage, and against earlier imports. */

export interface WrongMemberPerson {
  readonly line: number;
  readonly noMember: boolean;
  readonly noPerson: boolean;
  readonly wrongRole: boolean;
  readonly secondPrimary: boolean;
  readonly retail: boolean | null;
  /** An earlier import has the membership. */
  readonly known: boolean;
}

const wrongMemberPersons = sql(
  'core_wrong_member_persons',
  `select line, no_member, no_person, wrong_role, second_primary, retail,
          exists (select from customers c where c.institution_id = $1 and c.member_number = s.member_number) as known
   from (
     select s.line, s.member_number, s.role, m.member_number is null as no_member, m.member_type = 'RETAIL' as retail,
            not exists (select from staged_persons p where p.institution_id = $1 and p.person_id = s.person_id)
              as no_person,
            not s.role = any (case when m.member_type = 'RETAIL' then $4::text[] else $5::text[] end) as wrong_role,
            s.role = 'PRIMARY' and exists (
              select from staged_member_persons o
              where o.institution_id = $1 and o.member_number = s.member_number and o.role = 'PRIMARY'
                and o.line < s.line) as second_primary
     from staged_member_persons s
     left join staged_members m on m.institution_id = $1 and m.member_number = s.member_number
     where s.institution_id = $1 and s.member_number > $2 and s.member_number <= $3
   ) s
   where no_member or no_person or wrong_role or second_primary`,
);

export async function selectWrongMemberPersons(
  tx: Queryable,
  { after, upTo }: KeyRange,
): Promise<WrongMemberPerson[]> {
  const values = [tx.institutionId, after, upTo, retailRoles, businessRoles];
  return (await tx.query<WrongMemberPerson>(wrongMemberPersons, values)).rows;
}

const membersWithoutPrimary = sql(
  'core_members_without_primary',
  `select m.line from staged_members m
   where m.institution_id = $1 and m.member_number > $2 and m.member_number <= $3
     and not exists (select from staged_member_persons s
                     where s.institution_id = $1 and s.member_number = m.member_number and s.role = 'PRIMARY')`,
);

export async function selectMembersWithoutPrimary(
  tx: Queryable,
  { after, upTo }: KeyRange,
): Promise<{ line: number }[]> {
  return (await tx.query<{ line: number }>(membersWithoutPrimary, [tx.institutionId, after, upTo])).rows;
}

const accountsOfNoMember = sql(
  'core_accounts_of_no_member',
  `select a.line from staged_accounts a
   where a.institution_id = $1 and a.member_number > $2 and a.member_number <= $3
     and not exists (select from staged_members m
                     where m.institution_id = $1 and m.member_number = a.member_number)`,
);

export async function selectAccountsOfNoMember(
  tx: Queryable,
  { after, upTo }: KeyRange,
): Promise<{ line: number }[]> {
  return (await tx.query<{ line: number }>(accountsOfNoMember, [tx.institutionId, after, upTo])).rows;
}

interface WrongHolder {
  readonly line: number;
  readonly noAccount: boolean;
  /** An earlier import has the account. */
  readonly known: boolean;
}

// An account of an unknown membership is an error of its own.
const wrongHolders = sql(
  'core_wrong_holders',
  `select s.line, a.account_id is null as no_account,
          exists (select from accounts o where o.institution_id = $1 and o.account_id = s.account_id) as known
   from staged_holders s
   left join staged_accounts a on a.institution_id = $1 and a.account_id = s.account_id
   where s.institution_id = $1 and s.account_id > $2 and s.account_id <= $3
     and not exists (select from staged_member_persons mp
                     where mp.institution_id = $1 and mp.member_number = a.member_number
                       and mp.person_id = s.person_id)
     and (a.account_id is null
          or exists (select from staged_members m
                     where m.institution_id = $1 and m.member_number = a.member_number))`,
);

/** Holders of an unknown account, and holders who are no person of the account's membership. */
export async function selectWrongHolders(tx: Queryable, { after, upTo }: KeyRange): Promise<WrongHolder[]> {
  const values = [tx.institutionId, after, upTo];
  return (await tx.query<WrongHolder>(wrongHolders, values)).rows;
}

export interface ChangedMember {
  readonly line: number;
  readonly memberNumber: boolean;
  readonly customerId: boolean;
  readonly memberType: boolean;
}

// Two look-ups, each by its own key.
const changedMembers = sql(
  'core_changed_members',
  `select m.line, c.member_number <> m.member_number as member_number, c.customer_id <> m.customer_id as customer_id,
          c.member_type <> m.member_type as member_type
   from staged_members m
   cross join lateral (
     select * from customers c where c.institution_id = $1 and c.member_number = m.member_number
     union all
     select * from customers c
     where c.institution_id = $1 and c.customer_id = m.customer_id and c.member_number <> m.member_number
   ) c
   where m.institution_id = $1 and m.member_number > $2 and m.member_number <= $3
     and (c.member_number, c.customer_id, c.member_type) is distinct from
         (m.member_number, m.customer_id, m.member_type)`,
);

/** Memberships with another customer id, type or number than before: these never change. */
export async function selectChangedMembers(
  tx: Queryable,
  { after, upTo }: KeyRange,
): Promise<ChangedMember[]> {
  return (await tx.query<ChangedMember>(changedMembers, [tx.institutionId, after, upTo])).rows;
}

export interface ChangedAccount {
  readonly line: number;
  readonly memberNumber: boolean;
  readonly type: boolean;
  readonly currency: boolean;
}

const changedAccounts = sql(
  'core_changed_accounts',
  `select * from (
     select s.line, c.member_number is distinct from s.member_number as member_number,
            a.di_account_type <> s.di_account_type as type, a.currency <> s.currency as currency
     from staged_accounts s
     join accounts a on a.institution_id = $1 and a.account_id = s.account_id
     left join customers c on c.institution_id = $1 and c.customer_key = a.customer_key
     where s.institution_id = $1 and s.member_number > $2 and s.member_number <= $3
   ) s
   where member_number or type or currency`,
);

/** Accounts with another member, type or currency than before: these never change. */
export async function selectChangedAccounts(
  tx: Queryable,
  { after, upTo }: KeyRange,
): Promise<ChangedAccount[]> {
  return (await tx.query<ChangedAccount>(changedAccounts, [tx.institutionId, after, upTo])).rows;
}

const unheldAccounts = sql(
  'core_unheld_accounts',
  `select a.account_id from staged_accounts a
   where a.institution_id = $1 and a.member_number > $2 and a.member_number <= $3
     and not exists (select from staged_holders s where s.institution_id = $1 and s.account_id = a.account_id)`,
);

/** Accounts without a holder; no member sees them. */
export async function selectUnheldAccounts(tx: Queryable, { after, upTo }: KeyRange): Promise<string[]> {
  const { rows } = await tx.query<{ accountId: string }>(unheldAccounts, [tx.institutionId, after, upTo]);
  return rows.map((row) => row.accountId);
}
