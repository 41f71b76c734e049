import { type Queryable, sql } from '../../storage/index.ts';

/** An account whose balance at the core is not the one here. */
export interface DifferingAccount {
  readonly accountId: string;
  /** Null: the institution has no such account, or one of another currency. */
  readonly accountKey: bigint | null;
  readonly accountSeq: bigint | null;
  readonly currency: string;
  /** Null: the core has no balance of it. */
  readonly coreMinor: bigint | null;
  /** The balance here without the core's postings after the moment, and without transfers that it does not have. */
  readonly oursMinor: bigint;
  /** The core's postings after the moment, which are not in `oursMinor`. */
  readonly laterMinor: bigint;
  /** For each transfer that the core may have carried out by the moment: the change of `oursMinor` if the guess is wrong. */
  readonly uncertain: readonly bigint[];
}

/*
 * The balances here as the core must have them:
 *
 *   later     what the core posted after the moment, and what is here already, does not count
 *   sides     each side of a transfer whose instruction is undecided, or was decided after the moment. Its echo says when the core
 *             posted it. Without an echo: a transfer that was not delivered is not at the core; any other one may be.
 *
 * A posting may be dated a day ahead of the clock, so those recorded a day before the moment count. An echo has the business date of
 * the days around its instruction.
 */
const differing = sql(
  'core_differing_balances',
  `with later as materialized (
     select c.account_key, sum(c.amount)::bigint as amount
     from core_transactions c
     where c.institution_id = $1 and c.recorded_at > $3::timestamptz - interval '1 day' and c.posted_at > $3
       and c.settlement_key is not null
     group by c.account_key
   ), sides as materialized (
     select side.account_key, side.moved, t.status = 'COMPLETED' as is_here, i.delivered_at is not null as is_delivered,
            echo.posted_at
     from (
       select * from core_instructions i where i.institution_id = $1 and i.state = 'OPEN'
       union all
       select * from core_instructions i where i.institution_id = $1 and i.state = 'ACCEPTED' and i.decided_at > $3
     ) i
     cross join lateral (
       select t.status from transfers t where t.institution_id = $1 and t.transfer_key = i.instruction_key offset 0
     ) t
     cross join lateral (values (i.from_key, -i.amount), (i.to_key, i.amount)) as side (account_key, moved)
     left join lateral (
       select c.posted_at from core_transactions c
       where c.institution_id = $1 and c.account_key = side.account_key and c.effective_date >= i.business_date - 40
         and c.posting_key = i.instruction_key and c.settlement_key is null
       offset 0
     ) echo on true
   ), flight as materialized (
     select s.account_key,
            coalesce(sum(s.moved) filter (where s.is_here and case when s.posted_at is null then not s.is_delivered
                                                                   else s.posted_at > $3 end), 0)::bigint as not_there,
            coalesce(array_agg(case when s.is_here then -s.moved else s.moved end)
                       filter (where s.posted_at is null and s.is_delivered), '{}') as uncertain
     from sides s group by s.account_key
   ), compared as (
     select coalesce(b.account_id, s.account_id) as account_id, b.account_key, b.seq as account_seq,
            coalesce(b.currency, s.currency) as currency, s.balance as core_minor,
            coalesce(b.posted, 0) - coalesce(l.amount, 0) - coalesce(f.not_there, 0) as ours_minor,
            coalesce(l.amount, 0) as later_minor, coalesce(f.uncertain, '{}') as uncertain
     from (
       select * from balances b
       where b.institution_id = $1 and b.account_id > $6 and b.account_id <= $7 and b.account_id not like 'internal:%'
     ) b
     full join (
       select * from staged_core_balances s
       where s.institution_id = $1 and s.delivery = $2 and s.account_id > $6 and s.account_id <= $7
     ) s
       on s.account_id = b.account_id and s.currency = b.currency
     left join later l on l.account_key = b.account_key
     left join flight f on f.account_key = b.account_key
   )
   select account_id, account_key, account_seq, currency, core_minor, ours_minor, later_minor, uncertain::text[]
   from compared c
   where core_minor is distinct from ours_minor
     and (core_minor is not null or ($4 and ours_minor <> 0)) and (account_key is not null or core_minor <> 0)
   order by account_id limit $5`,
);

const bound = sql(
  'core_comparison_bound',
  `select b.account_id from balances b where b.institution_id = $1 and b.account_id > $2
   order by b.account_id offset $3 limit 1`,
);

const joinBy = sql('core_join_nested_loops', "select set_config('enable_nestloop', $1, true)");

/**
 * Whether the next statements of the transaction may join in nested loops. The stage has no statistics, and a nested loop over a range
 * of it takes time that grows with the square of the range.
 */
export async function allowNestedLoops(tx: Queryable, isAllowed: boolean): Promise<void> {
  await tx.query(joinBy, [isAllowed ? 'on' : 'off']);
}

/** After the last id: ids are ASCII. */
const end = '\u{10FFFF}';

/** Ranges of ids, of so many accounts each: a statement has ten seconds. */
export async function* rangesOfAccounts(
  db: Queryable,
  accounts: number,
): AsyncGenerator<{ readonly after: string; readonly upTo: string }> {
  for (let after = ''; after !== end; ) {
    const { rows } = await db.query<{ accountId: string }>(bound, [db.institutionId, after, accounts - 1]);
    const upTo = rows[0]?.accountId ?? end;
    yield { after, upTo };
    after = upTo;
  }
}

/**
 * The accounts of a range that differ, at most `limit` of them. `isComplete`: an account that the delivery does not have is missing at the
 * core, if it has money. An account that only the core has counts if it has money there.
 */
export async function selectDiffering(
  db: Queryable,
  of: {
    readonly delivery: string;
    readonly asOf: Date;
    readonly isComplete: boolean;
    readonly range: { readonly after: string; readonly upTo: string };
    readonly limit: number;
  },
): Promise<DifferingAccount[]> {
  const { after, upTo } = of.range;
  const values = [db.institutionId, of.delivery, of.asOf, of.isComplete, of.limit, after, upTo];
  const { rows } = await db.query<
    Omit<DifferingAccount, 'uncertain'> & { readonly uncertain: readonly string[] }
  >(differing, values);
  return rows.map((row) => ({ ...row, uncertain: row.uncertain.map(BigInt) }));
}

const staged = sql(
  'core_staged',
  `select (select count(*) from staged_core_balances s where s.institution_id = $1 and s.delivery = $2)::integer as balances,
          (select count(*) from staged_core_postings s where s.institution_id = $1 and s.delivery = $2)::integer as postings`,
);

export async function countStaged(
  db: Queryable,
  delivery: string,
): Promise<{ readonly balances: number; readonly postings: number }> {
  const { rows } = await db.query<{ balances: number; postings: number }>(staged, [
    db.institutionId,
    delivery,
  ]);
  return rows[0] ?? { balances: 0, postings: 0 };
}

/** Of these accounts, the ones that the delivery has. */
const listed = sql(
  'core_staged_among',
  `select s.account_id from staged_core_balances s
   where s.institution_id = $1 and s.delivery = $2 and s.account_id = any ($3::text[])`,
);

export async function selectStagedAmong(
  db: Queryable,
  delivery: string,
  accountIds: readonly string[],
): Promise<Set<string>> {
  const { rows } = await db.query<{ accountId: string }>(listed, [db.institutionId, delivery, accountIds]);
  return new Set(rows.map(({ accountId }) => accountId));
}

/** A posting that only one of the two has. */
export interface DifferingPosting {
  readonly coreId: string;
  readonly accountId: string;
  readonly accountKey: bigint | null;
  readonly currency: string;
  readonly amountMinor: bigint;
  readonly isHere: boolean;
  /** Another id that both have, with the same account, amount, kind, day and text. */
  readonly twinId: string | null;
}

const postings = sql(
  'core_differing_postings',
  `(select s.core_id, s.account_id, b.account_key, s.currency, s.amount as amount_minor, false as is_here, null as twin_id
    from staged_core_postings s
    left join balances b on b.institution_id = $1 and b.account_id = s.account_id
    where s.institution_id = $1 and s.delivery = $2
      and not exists (select from core_transactions c where c.institution_id = $1 and c.core_id = s.core_id)
    order by s.core_id limit $5)
   union all
   (select c.core_id, b.account_id, c.account_key, b.currency, c.amount, true,
           (select o.core_id from core_transactions o
            join staged_core_postings s on s.institution_id = $1 and s.delivery = $2 and s.core_id = o.core_id
            where o.institution_id = $1 and o.account_key = c.account_key and o.effective_date = c.effective_date
              and o.amount = c.amount and o.kind = c.kind and o.description = c.description and o.core_id <> c.core_id
            order by o.core_id limit 1)
    from core_transactions c
    join balances b on b.institution_id = $1 and b.account_key = c.account_key
    where c.institution_id = $1 and c.recorded_at > $4::timestamptz - interval '1 day' and c.posted_at >= $4 and c.posted_at <= $3
      and not exists (select from staged_core_postings s
                      where s.institution_id = $1 and s.delivery = $2 and s.core_id = c.core_id)
    order by c.core_id limit $5)`,
);

/** The postings from `since` to `asOf` that only the core's list or only this service has, at most `limit` of each. */
export async function selectDifferingPostings(
  db: Queryable,
  of: { readonly delivery: string; readonly asOf: Date; readonly since: Date; readonly limit: number },
): Promise<DifferingPosting[]> {
  const values = [db.institutionId, of.delivery, of.asOf, of.since, of.limit];
  return (await db.query<DifferingPosting>(postings, values)).rows;
}

const twins = sql(
  'core_twin_postings',
  `select asked.account_key, c.core_id, o.core_id as twin_id
   from unnest($2::bigint[], $3::bigint[]) as asked (account_key, amount)
   cross join lateral (
     select c.core_id, c.effective_date, c.kind, c.description from core_transactions c
     where c.institution_id = $1 and c.account_key = asked.account_key and c.effective_date >= $4::date - 35
       and c.amount = asked.amount and c.settlement_key is not null
     offset 0
   ) c
   join core_transactions o on o.institution_id = $1 and o.account_key = asked.account_key and o.effective_date = c.effective_date
     and o.amount = asked.amount and o.kind = c.kind and o.description = c.description and o.core_id < c.core_id
   order by c.core_id desc limit $5`,
);

/** Postings of these amounts that look alike on their account: same amount, kind, business date and text, in the last 35 days. */
export async function selectTwins(
  db: Queryable,
  asked: readonly { readonly accountKey: bigint; readonly amountMinor: bigint }[],
  of: { readonly asOf: Date; readonly limit: number },
): Promise<ReadonlyMap<bigint, { readonly coreId: string; readonly twinId: string }>> {
  if (asked.length === 0) return new Map();
  const { rows } = await db.query<{ accountKey: bigint; coreId: string; twinId: string }>(twins, [
    db.institutionId,
    asked.map(({ accountKey }) => accountKey),
    asked.map(({ amountMinor }) => amountMinor),
    of.asOf,
    of.limit,
  ]);
  return new Map(rows.map(({ accountKey, ...pair }) => [accountKey, pair]));
}

const newest = sql(
  'core_newest_comparison',
  'select as_of from core_comparisons where institution_id = $1 order by as_of desc limit 1',
);

/** The moment of the newest comparison. */
export async function selectNewestComparison(db: Queryable): Promise<Date | undefined> {
  return (await db.query<{ asOf: Date }>(newest, [db.institutionId])).rows[0]?.asOf;
}

const record = sql(
  'core_record_comparison',
  `insert into core_comparisons (institution_id, as_of, compared_at, accounts, in_flight, differing)
   values ($1, $2, $3, $4, $5, $6)
   on conflict (institution_id, as_of) do update
   set compared_at = excluded.compared_at, accounts = excluded.accounts, in_flight = excluded.in_flight,
       differing = excluded.differing`,
);

export async function saveComparison(
  tx: Queryable,
  row: {
    readonly asOf: Date;
    readonly at: Date;
    readonly accounts: number;
    readonly inFlight: number;
    readonly differing: number;
  },
): Promise<void> {
  await tx.query(record, [tx.institutionId, row.asOf, row.at, row.accounts, row.inFlight, row.differing]);
}

const lock = sql('core_lock_comparison', "select pg_advisory_xact_lock(hashtext('core comparison'), $1)");

/** One comparison of an institution at a time, until the transaction ends. */
export async function lockComparisons(tx: Queryable): Promise<void> {
  await tx.query(lock, [tx.institutionId]);
}
