import { sql, type Transaction } from '../../storage/index.ts';

const stop = sql(
  'alerts_stop_mail',
  `update alert_rules r
   set channels = case when r.channels <@ array['EMAIL'] then array['INBOX'] else array_remove(r.channels, 'EMAIL') end
   from users u
   where r.institution_id = $1 and u.institution_id = $1 and u.user_id = $2 and r.user_key = u.user_key
     and r.channels @> array['EMAIL']`,
);

/** Returns how many rules lost the channel. */
export async function stopMailOfUser(tx: Transaction, userId: string): Promise<number> {
  return (await tx.query(stop, [tx.institutionId, userId])).rowCount ?? 0;
}
