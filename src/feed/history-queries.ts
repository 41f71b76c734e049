import { pendingClasses } from '../ledger/index.ts';
import { type Queryable, sql } from '../storage/index.ts';

/** The range of a page; null means open, or not requested. */
export interface HistoryWanted {
  readonly accountKey: bigint;
  /** The calling member; null for a client, which sees every transfer of the institution. */
  readonly asking: { readonly personKey: bigint; readonly userKey: bigint } | null;
  readonly start: Date | null;
  readonly end: Date | null;
  /** Pending ones older than this; null: none at all. */
  readonly pending: { readonly at: Date | 'infinity'; readonly key: bigint } | null;
  /** Posted ones of a lower number than this; null: none at all. */
  readonly postedBelow: bigint | null;
  readonly limit: number;
}

export interface HistoryRow {
  readonly pending: boolean;
  /** The transfer's key, where one is behind it: of a transfer the same while it is pending and when it has posted. */
  readonly postingKey: bigint;
  /** The number of the entry; 0 while pending. */
  readonly seq: bigint;
  readonly kind: 'OPENING' | 'ADJUSTMENT' | 'TRANSFER' | 'HOLD' | 'RELEASE';
  /** Credit is positive. */
  readonly amount: bigint;
  readonly postedAfter: bigint | null;
  readonly at: Date;
  /** Only where the caller may see the transfer. */
  readonly transferId: string | null;
  readonly memo: string | null;
  /** The transfer that this one takes back, if the caller may see that one. */
  readonly reverses: string | null;
  /** The transfer that took this one back. */
  readonly reversedBy: string | null;
  /** Of a transfer, the account at its other end. */
  readonly otherKey: bigint | null;
  readonly otherAccountId: string | null;
  /** The caller may see that account. */
  readonly otherIsSeen: boolean | null;
  /** Its PRIMARY holder; null where it has none. */
  readonly otherPersonKey: bigint | null;
  readonly otherFirstName: string | null;
  readonly otherLastName: string | null;
}

/** So many entries are looked at for a page: those that only hold or release money are not transactions. */
const mostCandidates = 1_000;

/** One branch for each type: the index has each class in order of time. */
const pendingBranches = pendingClasses
  .map(
    ({ code }) => `
     (select t.transfer_key, t.transfer_id, t.amount, t.created_at, t.memo, t.to_key from transfers t
      where t.institution_id = $1 and t.from_key = $2 and t.list_class = ${code} and $7::timestamptz is not null
        and t.created_at >= $5 and t.created_at < $6 and (t.created_at, t.transfer_key) < ($7, $8)
      order by t.created_at desc, t.transfer_key desc limit $10)`,
  )
  .join(' union all');

// One statement, so one snapshot: a transfer that posts meanwhile appears exactly once. The last entry read is returned even
// if it is no transaction, so that the next page continues there. Each counterparty of the page is looked up once.
const history = sql(
  'accounts_history',
  `with page as materialized (
   select * from (
     (select true as pending, t.transfer_key as posting_key, 0::bigint as seq, 'HOLD' as kind, -t.amount as amount,
             null::bigint as posted_after, t.created_at as at, t.transfer_id, t.memo,
             null as reverses, null as reversed_by,
             t.to_key as other_key, false as is_last
      from (${pendingBranches}) t
      order by t.created_at desc, t.transfer_key desc limit $10)
     union all
     (select false, e.posting_key, e.seq, e.kind, e.amount, e.posted_after, e.recorded_at, t.transfer_id, t.memo, t.reverses, t.reversed_by,
             t.other_key, e.place = $11
      from (
        select e.*, row_number() over (order by e.seq desc) as place
        from entries e
        where e.institution_id = $1 and e.account_key = $2 and e.seq < $9
          and e.seq > (select case when $5 = '-infinity' then 0 else entries_before($1, $2, $5) end)
          and e.seq <= (select case when $6 = 'infinity' then $9 else entries_before($1, $2, $6) end)
        order by e.seq desc limit $11
      ) e
      left join lateral (
        select t.memo, case when t.from_key = $2 then t.to_key else t.from_key end as other_key,
               case when $3::bigint is null or t.user_key = $4 or (t.reverses_key is not null and t.to_key = $2)
                 or (t.status <> 'FAILED' and exists (
                 select from holders h
                 where h.institution_id = $1 and h.account_key = t.from_key and h.person_key = $3))
               then t.transfer_id end as transfer_id,
               case when t.reverses_key is not null and ($3::bigint is null or exists (
                 select from holders h
                 where h.institution_id = $1 and h.account_key = t.to_key and h.person_key = $3)) then (
                 select o.transfer_id from transfers o
                 where o.institution_id = $1 and o.transfer_key = t.reverses_key) end as reverses,
               (select r.transfer_id from transfers r
                where r.institution_id = $1 and r.reverses_key = t.transfer_key and r.reverses_key is not null
                  and r.status <> 'FAILED') as reversed_by
        from transfers t
        where t.institution_id = $1 and t.transfer_key = e.posting_key and e.kind = 'TRANSFER'
        offset 0
      ) t on true
      where e.kind not in ('HOLD', 'RELEASE') or e.place = $11
      order by e.seq desc limit $10)
   ) history
   order by pending desc, seq desc, at desc, posting_key desc limit $10
   ), others as materialized (
     select k.other_key, a.account_id as other_account_id, holder.person_key as other_person_key, holder.first_name as other_first_name,
            holder.last_name as other_last_name,
            $3::bigint is null or exists (
              select from holders h
              where h.institution_id = $1 and h.account_key = a.account_key and h.person_key = $3) as other_is_seen
     from (select distinct other_key from page) k
     cross join lateral (
       select a.account_key, a.account_id from accounts a
       where a.institution_id = $1 and a.account_key = k.other_key offset 0
     ) a
     left join lateral (
       select h.person_key, p.first_name, p.last_name
       from holders h
       cross join lateral (
         select p.first_name, p.last_name from persons p
         where p.institution_id = $1 and p.person_key = h.person_key offset 0
       ) p
       where h.institution_id = $1 and h.account_key = a.account_key and h.role = 'PRIMARY'
       order by h.person_key limit 1
     ) holder on true
   )
   select page.*, other.other_account_id, other.other_person_key, other.other_first_name, other.other_last_name, other.other_is_seen
   from page
   left join others other on other.other_key = page.other_key
   order by pending desc, seq desc, at desc, posting_key desc`,
);

/** Pending ones, then posted ones, each newest first. `lookedUpTo`: where to look on when these do not fill the page. */
export async function selectHistory(
  db: Queryable,
  wanted: HistoryWanted,
): Promise<{ readonly rows: HistoryRow[]; readonly lookedUpTo: HistoryRow | null }> {
  const { rows } = await db.query<HistoryRow & { readonly isLast: boolean }>(history, [
    db.institutionId,
    wanted.accountKey,
    wanted.asking?.personKey ?? null,
    wanted.asking?.userKey ?? null,
    wanted.start ?? '-infinity',
    wanted.end ?? 'infinity',
    wanted.pending?.at ?? null,
    wanted.pending?.key ?? null,
    wanted.postedBelow ?? 0n,
    wanted.limit,
    mostCandidates,
  ]);
  const last = rows.at(-1);
  return {
    rows: rows.filter((row) => row.pending || (row.kind !== 'HOLD' && row.kind !== 'RELEASE')),
    lookedUpTo: last?.isLast === true ? last : null,
  };
}
