import { type Queryable, sql } from '../../storage/index.ts';

/** Texts that differ once the screens behind them show something else. */
export interface PulseRow {
  readonly transfers: string;
  readonly review: string;
  readonly breaks: string;
  readonly webhooks: string;
}

/** Counts and sums of keys: small indexes, and no row of a member. */
const pulse = sql(
  'live_pulse',
  `select coalesce((select max(t.transfer_key) from transfers t where t.institution_id = $1), 0)::text as transfers,
          concat_ws(' ',
            (select concat_ws(' ', count(*), sum(p.transfer_key)) from pending_transfers p where p.institution_id = $1),
            (select count(*) from pending_transfers p
             join transfer_approvals a on a.institution_id = $1 and a.transfer_key = p.transfer_key
             where p.institution_id = $1),
            (select concat_ws(' ', count(*), sum(o.proposal_key)) from proposals o
             where o.institution_id = $1 and o.confirmed_at is null and o.expires_at > $2)) as review,
          (select concat_ws(' ', count(*), sum(b.break_key), sum(b.difference), sum(hashtext(coalesce(b.owner, ''))))
           from core_breaks b where b.institution_id = $1 and b.closed_at is null) as breaks,
          coalesce((select string_agg(concat_ws(' ', w.endpoint_id, w.status, w.failures, w.number), ',' order by w.endpoint_id)
                    from webhook_endpoints w where w.institution_id = $1), '') as webhooks`,
);

export async function selectPulse(db: Queryable, now: Date): Promise<PulseRow> {
  return (await db.query<PulseRow>(pulse, [db.institutionId, now])).rows[0] as PulseRow;
}
