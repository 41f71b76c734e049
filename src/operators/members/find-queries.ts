import { type Queryable, type Statement, sql } from '../../storage/index.ts';

export const searchWays = ['member-number', 'name', 'email', 'username', 'id'] as const;
export type SearchWay = (typeof searchWays)[number];
/** `identified`: by anything but a name. `any`: those, and behind them the persons of the name. */
type SearchWays = SearchWay | 'identified' | 'any';

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

const byLastName = 'p.last_name_lower, p.first_name_lower, p.person_key';
const byFirstName = 'p.first_name_lower, p.last_name_lower, p.person_key';

/** The page behind the position $4, $5, $6 in the order, of the persons that `found` limits. */
const persons = (name: string, found: string, order = byLastName) =>
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
     where p.institution_id = $1 and ${found} and (${order}) > ($4::text, $5::text, $6::bigint)
     order by ${order}
     limit $3`,
  );

const of = (select: string) => `p.person_key = any (array(${select}))`;
const byMemberNumber = `
  select cp.person_key from customers c
  join customer_persons cp on cp.institution_id = $1 and cp.customer_key = c.customer_key
  where c.institution_id = $1 and c.member_number = $2`;
const byEmail = `
  select e.person_key from persons e where e.institution_id = $1 and e.email_lower = lower($2)
  union select e.person_key from users e where e.institution_id = $1 and e.email_lower = lower($2)`;
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

const identified = of([byMemberNumber, byEmail, byUsername, byId].join('\n  union'));

// U+10FFFF sorts behind every text that begins so.
const begins = (column: string, parameter: string) =>
  `${column} >= lower(${parameter}) and ${column} < lower(${parameter}) || U&'\\+10FFFF'`;

// "Example, Ada" and "Ada Example" are a last name with the beginning of a first name; one word is the beginning of a last name.
const named = (last: string, first: string) =>
  `${begins('p.last_name_lower', last)} and ${begins('p.first_name_lower', first)}`;

const identifiedPersons = persons('operators_by_any', identified);
const statements: Readonly<Record<Exclude<SearchWays, 'name' | 'any'>, Statement>> = {
  'member-number': persons('operators_by_member_number', of(byMemberNumber)),
  email: persons('operators_by_email', of(byEmail)),
  username: persons('operators_by_username', of(byUsername)),
  id: persons('operators_by_id', of(byId)),
  identified: identifiedPersons,
};

/** Without the persons that $2 identifies; null identifies nobody. */
const lastNames = persons('operators_by_name', `${named('$7', '$8')} and not ${identified}`);

/** The persons of a first name, without those that $2 identifies and those that `operators_by_name` finds. */
const firstNames = persons(
  'operators_by_first_name',
  `${begins('p.first_name_lower', '$9')} and not (${named('$7', '$8')}) and not ${identified}`,
  byFirstName,
);

const position = sql(
  'operators_position_of_person',
  `select p.last_name_lower as last_name, p.first_name_lower as first_name, p.person_key, ${named('$4', '$5')} as is_named,
          ${identified} as is_identified
   from persons p where p.institution_id = $1 and p.person_id = $3`,
);

interface Position {
  readonly lastName: string;
  readonly firstName: string;
  readonly personKey: bigint;
  /** Found by `operators_by_name`. */
  readonly isNamed: boolean;
  /** Found by `operators_by_any`. */
  readonly isIdentified: boolean;
}

/** Before every person: keys begin at 1. */
const beginning: Position = { lastName: '', firstName: '', personKey: 0n, isNamed: true, isIdentified: true };

/**
 * The page behind the person `after`; empty if there is no such person. Each person comes once: those that the text identifies, then last names,
 * then first names.
 */
export async function selectPersons(
  db: Queryable,
  way: SearchWays,
  page: { readonly text: string; readonly limit: number; readonly after?: string | undefined },
): Promise<FoundPerson[]> {
  const { text, limit, after } = page;
  const { lastName, firstName } = partsOf(text);
  const place =
    after === undefined
      ? beginning
      : (await db.query<Position>(position, [db.institutionId, text, after, lastName, firstName])).rows[0];
  if (place === undefined) return [];
  const behind = [place.lastName, place.firstName, place.personKey];
  if (way !== 'name' && way !== 'any')
    return (await db.query<FoundPerson>(statements[way], [db.institutionId, text, limit, ...behind])).rows;
  if (way === 'name') return selectNamed(db, { text, limit, place, identifying: null });
  const found = place.isIdentified
    ? (await db.query<FoundPerson>(identifiedPersons, [db.institutionId, text, limit, ...behind])).rows
    : [];
  if (found.length === limit) return found;
  const rest = {
    limit: limit - found.length,
    place: place.isIdentified ? beginning : place,
    identifying: text,
  };
  return [...found, ...(await selectNamed(db, { text, ...rest }))];
}

/** Last names in order, then first names, without the persons that `identifying` identifies. */
async function selectNamed(
  db: Queryable,
  {
    text,
    limit,
    place,
    identifying,
  }: {
    readonly text: string;
    readonly limit: number;
    readonly place: Position;
    readonly identifying: string | null;
  },
): Promise<FoundPerson[]> {
  const { lastName, firstName } = partsOf(text);
  const behind = [place.lastName, place.firstName, place.personKey];
  const byLast = [db.institutionId, identifying, limit, ...behind, lastName, firstName];
  const found = place.isNamed ? (await db.query<FoundPerson>(lastNames, byLast)).rows : [];
  // A comma says that the first word is a last name.
  const first = text.includes(',') ? '' : text.trim();
  if (first === '' || found.length === limit) return found;
  const from = place.isNamed ? ['', '', 0n] : [place.firstName, place.lastName, place.personKey];
  const byFirst = [db.institutionId, identifying, limit - found.length, ...from, lastName, firstName, first];
  return [...found, ...(await db.query<FoundPerson>(firstNames, byFirst)).rows];
}

function partsOf(text: string): { readonly lastName: string; readonly firstName: string } {
  const [last = '', first] = text.split(',').map((part) => part.trim());
  if (first !== undefined) return { lastName: last, firstName: first };
  const words = text.trim().split(/\s+/);
  return words.length < 2
    ? { lastName: text.trim(), firstName: '' }
    : { lastName: words.slice(1).join(' '), firstName: words[0] ?? '' };
}
