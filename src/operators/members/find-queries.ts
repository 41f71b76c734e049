import { type Queryable, type Statement, sql } from '../../storage/index.ts';

export const searchWays = ['member-number', 'name', 'email', 'username', 'id'] as const;
export type SearchWay = (typeof searchWays)[number];

export interface FoundPerson {
  readonly personId: string;
  readonly firstName: string;
  readonly lastName: string;
  readonly email: string | null;
  readonly userId: string | null;
  readonly username: string | null;
  readonly active: boolean | null;
  readonly locked: boolean | null;
  readonly memberships: readonly { readonly memberNumber: string; readonly role: string }[];
}

const order = (alias: string) =>
  `lower(${alias}.last_name) collate "C", lower(${alias}.first_name) collate "C", ${alias}.person_key`;

/** The page behind the person $4, of the persons that `found` limits. */
const persons = (name: string, found: string) =>
  sql(
    name,
    `select p.person_id, p.first_name, p.last_name, coalesce(u.email, p.email) as email, u.user_id, u.username, u.active,
            u.locked_by_operator or coalesce(u.locked_until > now(), false) as locked,
            (select coalesce(json_agg(json_build_object('memberNumber', c.member_number, 'role', cp.role)
                                      order by c.member_number), '[]')
             from customer_persons cp
             join customers c on c.institution_id = $1 and c.customer_key = cp.customer_key
             where cp.institution_id = $1 and cp.person_key = p.person_key) as memberships
     from persons p
     left join users u on u.institution_id = $1 and u.person_key = p.person_key
     where p.institution_id = $1 and ${found}
       and ($4::text is null or (${order('p')}) > (
         select ${order('l')} from persons l where l.institution_id = $1 and l.person_id = $4))
     order by ${order('p')}
     limit $3`,
  );

const of = (select: string) => `p.person_key = any (array(${select}))`;
const byMemberNumber = `
  select cp.person_key from customers c
  join customer_persons cp on cp.institution_id = $1 and cp.customer_key = c.customer_key
  where c.institution_id = $1 and c.member_number = $2`;
const byEmail = `
  select e.person_key from persons e
  where e.institution_id = $1 and e.email is not null and lower(e.email) collate "C" = lower($2)
  union select e.person_key from users e where e.institution_id = $1 and lower(e.email) collate "C" = lower($2)`;
const byUsername = `
  select n.person_key from users n where n.institution_id = $1 and n.username_lower = lower($2)`;
const byId = `
  select i.person_key from persons i where i.institution_id = $1 and i.person_id = $2
  union select i.person_key from users i where i.institution_id = $1 and i.user_id = $2
  union select cp.person_key from customers c
        join customer_persons cp on cp.institution_id = $1 and cp.customer_key = c.customer_key
        where c.institution_id = $1 and c.customer_id = $2
  union select h.person_key from accounts a
        join holders h on h.institution_id = $1 and h.account_key = a.account_key
        where a.institution_id = $1 and a.account_id = $2`;

// "Example, Ada" and "Ada Example" are a last name with the beginning of a first name; one word is the beginning of a last name.
// U+10FFFF sorts behind every text that begins so.
const byName = `lower(p.last_name) collate "C" >= lower($2) and lower(p.last_name) collate "C" < lower($2) || U&'\\+10FFFF'
       and lower(p.first_name) collate "C" >= lower($5) and lower(p.first_name) collate "C" < lower($5) || U&'\\+10FFFF'`;

const statements: Readonly<Record<SearchWay | 'any', Statement>> = {
  'member-number': persons('operators_by_member_number', of(byMemberNumber)),
  email: persons('operators_by_email', of(byEmail)),
  username: persons('operators_by_username', of(byUsername)),
  id: persons('operators_by_id', of(byId)),
  name: persons('operators_by_name', byName),
  any: persons('operators_by_any', of([byMemberNumber, byEmail, byUsername, byId].join('\n  union'))),
};

export async function selectPersons(
  db: Queryable,
  way: SearchWay | 'any',
  page: { readonly text: string; readonly limit: number; readonly after?: string | undefined },
): Promise<FoundPerson[]> {
  const { text, limit, after = null } = page;
  const { lastName, firstName } = partsOf(text);
  const values = way === 'name' ? [lastName, limit, after, firstName] : [text, limit, after];
  return (await db.query<FoundPerson>(statements[way], [db.institutionId, ...values])).rows;
}

function partsOf(text: string): { readonly lastName: string; readonly firstName: string } {
  const [last = '', first] = text.split(',').map((part) => part.trim());
  if (first !== undefined) return { lastName: last, firstName: first };
  const words = text.trim().split(/\s+/);
  return words.length < 2
    ? { lastName: text.trim(), firstName: '' }
    : { lastName: words.slice(1).join(' '), firstName: words[0] ?? '' };
}
