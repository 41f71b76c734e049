import { type Queryable, sql } from '../storage/index.ts';
import type { NamedUser, PhoneType, User, UserIdType } from './profile.ts';

/** Every user that `found` names, by the id $2. */
const usersBy = (found: string) => `
  select u.user_key, u.person_key, u.user_id, p.first_name, p.last_name, u.email, u.verified_email, u.username, u.active,
         u.locked_by_operator, u.locked_until,
         (select coalesce(json_agg(json_build_object('customerKey', c.customer_key::text, 'customerId', c.customer_id, 'memberNumber', c.member_number,
                                                     'memberType', c.member_type, 'role', cp.role)
                                   order by c.member_number), '[]')
          from customer_persons cp
          join customers c on c.institution_id = cp.institution_id and c.customer_key = cp.customer_key
          where cp.institution_id = u.institution_id and cp.person_key = u.person_key) as memberships,
         (select coalesce(json_agg(json_build_object('phoneNumber', n.phone_number, 'phoneType', n.phone_type)
                                   order by n.phone_type), '[]')
          from user_phones n
          where n.institution_id = u.institution_id and n.user_key = u.user_key) as phone_numbers
  from users u
  join persons p on p.institution_id = u.institution_id and p.person_key = u.person_key
  where u.institution_id = $1 and ${found}`;

const inCustomer = (column: string) => `u.person_key in (
  select mp.person_key from customers m
  join customer_persons mp on mp.institution_id = m.institution_id and mp.customer_key = m.customer_key
  where m.institution_id = $1 and m.${column} = $2)`;

/**
 * SQL: the names are equal but for the case of ASCII letters. The index finds candidates by the database's `lower`, to which the
 * Kelvin sign is a k; the second comparison then excludes another user's name.
 */
const alike = (column: string) =>
  `u.${column}_lower = lower($2) and lower(u.${column} collate "C") = lower($2 collate "C")`;

type StatementBy = Readonly<Record<UserIdType, ReturnType<typeof sql>>>;

const usersCalled: StatementBy = {
  CUSTOMER_ID: sql('members_by_customer_id', usersBy(inCustomer('customer_id'))),
  MEMBER_NUMBER: sql('members_by_member_number', usersBy(inCustomer('member_number'))),
  EMAIL: sql('members_by_email', usersBy(alike('verified_email'))),
  LOGIN_ID: sql('members_by_login_id', usersBy(alike('username'))),
  USER_ID: sql('members_by_user_id', usersBy('u.user_id = $2')),
};

/** Every user that the id could name: all users of a membership, or all with this verified e-mail. */
export async function selectUsersCalled(db: Queryable, idType: UserIdType, id: string): Promise<User[]> {
  return (await db.query<User>(usersCalled[idType], [db.institutionId, id])).rows;
}

const actors = `
  select u.user_key, u.user_id, u.person_key, u.active and not u.locked_by_operator as may_act,
         u.token_epoch, u.tokens_ended_at,
         array(select c.customer_id from customer_persons cp
               join customers c on c.institution_id = cp.institution_id and c.customer_key = cp.customer_key
               where cp.institution_id = u.institution_id and cp.person_key = u.person_key
               order by c.member_number) as customer_ids
  from users u
  where u.institution_id = $1`;

const primaryOf = (column: string) => `u.person_key = (
  select cp.person_key from customer_persons cp
  join customers c on c.institution_id = cp.institution_id and c.customer_key = cp.customer_key
  where cp.institution_id = $1 and c.${column} = $2 and cp.role = 'PRIMARY')`;

const actorsBy: StatementBy = {
  CUSTOMER_ID: sql('members_actor_by_customer_id', `${actors} and ${primaryOf('customer_id')}`),
  MEMBER_NUMBER: sql('members_actor_by_member_number', `${actors} and ${primaryOf('member_number')}`),
  EMAIL: sql('members_actor_by_email', `${actors} and ${alike('verified_email')}`),
  LOGIN_ID: sql('members_actor_by_login_id', `${actors} and ${alike('username')}`),
  USER_ID: sql('members_actor_by_user_id', `${actors} and u.user_id = $2`),
};

/** Every user that the id could name, for a membership its PRIMARY user, with the columns that acting for the user needs. */
export async function selectActorsBy(db: Queryable, idType: UserIdType, id: string): Promise<NamedUser[]> {
  return (await db.query<NamedUser>(actorsBy[idType], [db.institutionId, id])).rows;
}

const lockUser = sql(
  'members_lock_user',
  'select from users where institution_id = $1 and user_key = $2 for no key update',
);

export async function lockUserRow(tx: Queryable, userKey: bigint): Promise<void> {
  await tx.query(lockUser, [tx.institutionId, userKey]);
}

const setEmail = sql(
  'members_set_email',
  'update users set email = $3 where institution_id = $1 and user_key = $2',
);

export async function updateEmail(tx: Queryable, userKey: bigint, email: string): Promise<void> {
  await tx.query(setEmail, [tx.institutionId, userKey, email]);
}

const verifyByCore = sql(
  'members_verify_email_by_core',
  `update users u set verified_email = u.email, email_verified_by = 'CORE'
   from persons p
   where u.institution_id = $1 and u.user_key = $2 and p.institution_id = $1 and p.person_key = u.person_key
     and not p.self_declared and lower(p.email collate "C") = lower(u.email collate "C")
     and not exists (
       select from users o
       where o.institution_id = $1 and o.verified_email_lower = lower(u.email) and o.email_verified_by = 'CODE'
         and o.user_key <> $2)`,
);

/** Where the user's address is the core's, it counts as verified. False: the core has another, or none, or another user confirmed it. */
export async function verifyEmailByCore(tx: Queryable, userKey: bigint): Promise<boolean> {
  return (await tx.query(verifyByCore, [tx.institutionId, userKey])).rowCount === 1;
}

const setPhone = sql(
  'members_set_phone',
  `insert into user_phones (institution_id, user_key, phone_type, phone_number) values ($1, $2, $3, $4)
   on conflict (institution_id, user_key, phone_type) do update set phone_number = excluded.phone_number`,
);

export async function upsertPhone(
  tx: Queryable,
  userKey: bigint,
  phoneType: PhoneType,
  phoneNumber: string,
): Promise<void> {
  await tx.query(setPhone, [tx.institutionId, userKey, phoneType, phoneNumber]);
}

const dropPhone = sql(
  'members_delete_phone',
  'delete from user_phones where institution_id = $1 and user_key = $2 and phone_type = $3',
);

export async function deletePhone(tx: Queryable, userKey: bigint, phoneType: PhoneType): Promise<void> {
  await tx.query(dropPhone, [tx.institutionId, userKey, phoneType]);
}

const newUser = sql(
  'members_insert_user',
  `insert into users (institution_id, user_id, person_key, email, created_at) values ($1, $2, $3, $4, $5)
   returning user_key`,
);

/** A unique violation of users_institution_id_person_key_key: the person is registered already. */
export async function insertUser(
  tx: Queryable,
  row: { readonly userId: string; readonly personKey: bigint; readonly email: string; readonly at: Date },
): Promise<bigint> {
  const { rows } = await tx.query<{ userKey: bigint }>(newUser, [
    tx.institutionId,
    row.userId,
    row.personKey,
    row.email,
    row.at,
  ]);
  const userKey = rows[0]?.userKey;
  if (userKey === undefined) throw new Error('members: a user was not inserted');
  return userKey;
}

const userIdStatement = sql(
  'members_user_id',
  'select user_id from users where institution_id = $1 and user_key = $2',
);

/** The public id of a user that exists. */
export async function selectUserId(db: Queryable, userKey: bigint): Promise<string> {
  const { rows } = await db.query<{ userId: string }>(userIdStatement, [db.institutionId, userKey]);
  const [user] = rows;
  if (user === undefined) throw new Error('an event names a user that does not exist');
  return user.userId;
}

const registeredPerson = sql(
  'members_is_registered',
  'select from users where institution_id = $1 and person_key = $2',
);

/** Whether the person has digital access. */
export async function isRegistered(db: Queryable, personKey: bigint): Promise<boolean> {
  return (await db.query(registeredPerson, [db.institutionId, personKey])).rowCount === 1;
}
