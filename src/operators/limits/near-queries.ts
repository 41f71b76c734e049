import { type Queryable, sql } from '../../storage/index.ts';
import type { ShownLimit } from '../../transfers/index.ts';

export type NearRow = Omit<ShownLimit, 'remainingMinor' | 'resetsAt'>;

/** The parts of a bound that are used. A bound of zero is used up by the first transfer that counts. */
const share =
  'greatest(c.amount::numeric / greatest(l.max_amount, 1), c.transfers::numeric / greatest(l.max_count, 1))';

const near = sql(
  'operators_near_limits',
  `select l.limit_key, l.subject, l.period, l.transfer_type, l.source_type, l.currency, l.max_per_transfer, l.max_amount,
          l.max_count, l.review_above, coalesce(u.user_id, m.customer_id, a.account_id) as subject_id,
          c.amount as used_minor, c.transfers
   from transfer_limits l
   join limit_counters c on c.institution_id = $1 and c.limit_key = l.limit_key and c.limit_key > 0
     and c.period_start = case l.period when 'DAY' then $2::date else $3::date end
   left join users u on u.institution_id = $1 and l.subject = 'USER' and u.user_key = c.subject_key
   left join customers m on m.institution_id = $1 and l.subject = 'CUSTOMER' and m.customer_key = c.subject_key
   left join accounts a on a.institution_id = $1 and l.subject in ('ACCOUNT', 'STAND_IN_ACCOUNT')
     and a.account_key = c.subject_key
   where l.institution_id = $1 and ${share} >= $4::numeric / 100
   order by ${share} desc, l.limit_key, c.subject_key
   limit $5`,
);

/** The counters of the present periods that have used at least so many percent of a bound, the fullest first. */
export async function selectNear(
  db: Queryable,
  asked: { readonly day: string; readonly month: string; readonly percent: number; readonly limit: number },
): Promise<NearRow[]> {
  const { day, month, percent, limit } = asked;
  return (await db.query<NearRow>(near, [db.institutionId, day, month, percent, limit])).rows;
}
