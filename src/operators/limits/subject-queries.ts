import { type Queryable, sql } from '../../storage/index.ts';

const subjects = sql(
  'operators_limit_subjects_of_user',
  `select 'USER' as subject, u.user_key as subject_key, u.user_id as subject_id
   from users u where u.institution_id = $1 and u.user_id = $2
   union all
   select 'CUSTOMER', c.customer_key, c.customer_id
   from users u
   join customer_persons cp on cp.institution_id = $1 and cp.person_key = u.person_key
   join customers c on c.institution_id = $1 and c.customer_key = cp.customer_key
   where u.institution_id = $1 and u.user_id = $2`,
);

export interface UserSubject {
  readonly subject: 'USER' | 'CUSTOMER';
  readonly subjectKey: bigint;
  readonly subjectId: string;
}

/** The user and the memberships; none if there is no such user. */
export async function selectUserSubjects(db: Queryable, userId: string): Promise<UserSubject[]> {
  return (await db.query<UserSubject>(subjects, [db.institutionId, userId])).rows;
}
