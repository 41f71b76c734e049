import { type EntryKind, pendingClasses } from '../ledger/index.ts';
import { type Queryable, sql } from '../storage/index.ts';
import {
  type Condition,
  type HistoryFilter,
  ofAuthorization,
  ofEntry,
  ofPendingTransfer,
  searched,
  valuesOf,
} from './history-filter.ts';

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
  /** Undefined: all of them. */
  readonly filter?: HistoryFilter | undefined;
}

export interface HistoryRow {
  readonly pending: boolean;
  /** The key of the posting. A transfer's key stays the same from pending to posted. */
  readonly postingKey: bigint;
  /** The id of a pending card authorization of the core; null for an entry. */
  readonly authorizationId: string | null;
  /** The number of the entry; 0 while pending. */
  readonly seq: bigint;
  readonly kind: EntryKind;
  /** Credit is positive. */
  readonly amount: bigint;
  readonly postedAfter: bigint | null;
  readonly at: Date;
  /** Null if the caller may not see the transfer. */
  readonly transferId: string | null;
  readonly memo: string | null;
  /** The transfer that this one takes back, if the caller may see that one. */
  readonly reverses: string | null;
  /** The transfer that took this one back. */
  readonly reversedBy: string | null;
  /** The account at the other end of the transfer. */
  readonly otherKey: bigint | null;
  readonly otherAccountId: string | null;
  /** The caller may see that account. */
  readonly otherIsSeen: boolean | null;
  /** Its PRIMARY holder; null where it has none. */
  readonly otherPersonKey: bigint | null;
  readonly otherFirstName: string | null;
  readonly otherLastName: string | null;
  /** Facts of the core, where it posted the entry or is its echo. */
  readonly coreKind: string | null;
  readonly description: string | null;
  readonly merchant: string | null;
  readonly category: string | null;
  readonly checkNumber: string | null;
  /** YYYY-MM-DD */
  readonly effectiveDate: string | null;
  /** The core's time of posting, or of the newest word on an authorization. `at` is the order of the page. */
  readonly postedAt: Date | null;
}

/**
 * The most entries that one page reads. Entries that only hold or release money are no transactions, and a search reads entries
 * that do not match. A page that reaches the bound is short, and the next page continues behind it.
 */
const mostCandidates = 1_000;
const mostSearched = 5_000;

/** Entries that change pending amounts only. */
const holding = `('HOLD', 'RELEASE', 'CORE_HOLD', 'CORE_RELEASE')`;

/** One branch for each type: the index has each class in order of time. */
const pendingBranches = (filter: Condition) =>
  pendingClasses
    .map(
      ({ code }) => `
     (select t.transfer_key, t.transfer_id, t.amount, t.created_at, t.memo, t.to_key from transfers t
      where t.institution_id = $1 and t.from_key = $2 and t.list_class = ${code} and $7::timestamptz is not null
        and t.created_at >= $5 and t.created_at < $6 and (t.created_at, t.transfer_key) < ($7, $8)${filter(ofPendingTransfer)}
      order by t.created_at desc, t.transfer_key desc limit $10)`,
    )
    .join(' union all');

// One statement, so one snapshot: a transfer that posts meanwhile appears exactly once. The last entry read is returned even
// if it is no transaction, so that the next page continues there. Each counterparty of the page is looked up once.
const statementOf = (name: string, filter: Condition, core: CoreFacts) =>
  sql(
    name,
    `with page as materialized (
   select * from (
     (select true as pending, t.transfer_key as posting_key, 0::bigint as seq, 'HOLD' as kind, -t.amount as amount,
             null::bigint as posted_after, t.created_at as at, t.transfer_id, t.memo,
             null as reverses, null as reversed_by,
             t.to_key as other_key, true as is_shown, false as is_last, null as authorization_id, null as core_kind,
             null as description, null as merchant, null as category, null as check_number, null::date as effective_date,
             null::timestamptz as posted_at
      from (${pendingBranches(filter)}) t
      order by t.created_at desc, t.transfer_key desc limit $10)
     union all
     (select true, a.posting_key, 0, 'CORE_HOLD', -a.held, null, a.recorded_at, null, null, null, null, null, true, false,
             a.authorization_id, null, a.description, a.merchant, a.category, null, null, a.changed_at
      from core_authorizations a
      where a.institution_id = $1 and a.account_key = $2 and a.ended is null and $7::timestamptz is not null
        and a.recorded_at >= $5 and a.recorded_at < $6 and (a.recorded_at, a.posting_key) < ($7, $8)${filter(ofAuthorization)}
      order by a.recorded_at desc, a.posting_key desc limit $10)
     union all
     (select false, e.posting_key, e.seq, e.kind, e.amount, e.posted_after, e.recorded_at, t.transfer_id, t.memo, t.reverses, t.reversed_by,
             t.other_key, e.kind not in ${holding}${filter(ofEntry)}, e.place = $11, null, ${core.ofEntry}
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
      ${core.beside}
      where e.kind not in ${holding}${filter(ofEntry)} or e.place = $11
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
   )${core.read}
   select page.pending, page.posting_key, page.seq, page.kind, page.amount, page.posted_after, page.at, page.transfer_id, page.memo,
          page.reverses, page.reversed_by, page.is_shown, page.is_last, page.authorization_id, ${core.ofPage},
          page.other_key, other.other_account_id, other.other_person_key, other.other_first_name, other.other_last_name, other.other_is_seen
   from page
   left join others other on other.other_key = page.other_key
   ${core.behind}
   order by pending desc, seq desc, at desc, posting_key desc`,
  );
/** Where the facts of the core are read: for each entry that a search looks at, or for the range of a page's entries. */
interface CoreFacts {
  readonly ofEntry: string;
  readonly beside: string;
  readonly ofPage: string;
  readonly read: string;
  readonly behind: string;
}

const factColumns = ['description', 'merchant', 'category', 'check_number', 'effective_date', 'posted_at'];

const ofEachEntry: CoreFacts = {
  ofEntry: `c.kind, ${factColumns.map((column) => `c.${column}`).join(', ')}`,
  beside: `
      left join lateral (
        select c.kind, ${factColumns.map((column) => `c.${column}`).join(', ')} from core_transactions c
        where c.institution_id = $1 and c.account_key = $2 and c.seq = e.seq and e.kind in ('CORE', 'TRANSFER')
        offset 0
      ) c on true`,
  ofPage: `page.core_kind, ${factColumns.map((column) => `page.${column}`).join(', ')}`,
  read: '',
  behind: '',
};

const ofThePage: CoreFacts = {
  ofEntry: 'null, null, null, null, null, null::date, null::timestamptz',
  beside: '',
  ofPage: `c.kind as core_kind, ${factColumns.map((column) => `coalesce(c.${column}, page.${column}) as ${column}`).join(', ')}`,
  read: `, core as materialized (
     select * from core_transactions c
     where c.institution_id = $1 and c.account_key = $2
       and c.seq >= (select min(p.seq) from page p where p.seq > 0) and c.seq <= (select max(p.seq) from page p)
   )`,
  behind: 'left join core c on c.seq = page.seq',
};

const history = statementOf('accounts_history', () => '', ofThePage);
const search = statementOf('accounts_history_search', searched, ofEachEntry);

/** Pending ones, then posted ones, each newest first. `lookedUpTo`: where to look on when these do not fill the page. */
export async function selectHistory(
  db: Queryable,
  wanted: HistoryWanted,
): Promise<{ readonly rows: HistoryRow[]; readonly lookedUpTo: HistoryRow | null }> {
  const { filter } = wanted;
  const statement = filter === undefined ? history : search;
  const { rows } = await db.query<HistoryRow & { readonly isShown: boolean; readonly isLast: boolean }>(
    statement,
    [
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
      ...(filter === undefined ? [mostCandidates] : [mostSearched, ...valuesOf(filter)]),
    ],
  );
  const last = rows.at(-1);
  return {
    rows: rows.filter(({ isShown }) => isShown),
    lookedUpTo: last?.isLast === true ? last : null,
  };
}
