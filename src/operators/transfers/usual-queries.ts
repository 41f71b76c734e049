import { listClasses } from '../../ledger/index.ts';
import { type Queryable, sql } from '../../storage/index.ts';

/** The order that is set beside the usual ones. */
interface OrderRow {
  readonly fromAccountId: string;
  /** Null for an account that did not exist. */
  readonly fromKey: bigint | null;
  readonly toKey: bigint | null;
  readonly amount: bigint;
  readonly currency: string;
  readonly createdAt: Date;
}

const order = sql(
  'operators_order_beside_usual',
  `select t.from_account_id, t.from_key, t.to_key, t.amount, t.currency, t.created_at
   from idempotency_keys i
   join transfers t on t.institution_id = $1 and t.transfer_key = i.transfer_key
   where i.institution_id = $1 and i.transfer_id = $2`,
);

export async function selectOrder(db: Queryable, transferId: string): Promise<OrderRow | undefined> {
  return (await db.query<OrderRow>(order, [db.institutionId, transferId])).rows[0];
}

/** Transfers that completed out of the source of an order, or out of the other accounts of its membership. */
export interface UsualRow {
  readonly isSource: boolean;
  readonly transfers: number;
  /** There are more: only the newest of an account count. */
  readonly isCut: boolean;
  readonly median: bigint;
  readonly largest: bigint;
  readonly atLeastAsLarge: number;
  readonly toPayee: number;
  readonly lastId: string | null;
  readonly lastAmount: bigint | null;
  readonly lastAt: Date | null;
}

/** A branch for each type: the index by source returns its rows in their order, so that no account costs more than its newest ones. */
const branches = listClasses
  .filter(({ status }) => status === 'COMPLETED')
  .map(
    ({ code }) => `
         (select t.* from transfers t
          where t.institution_id = $1 and t.from_key = a.account_key and t.list_class = ${code}
            and t.created_at >= $3 and t.created_at < $4 and t.currency = $5 and t.reverses_key is null
          order by t.created_at desc, t.transfer_key desc limit $6)`,
  )
  .join(' union all');

const usual = sql(
  'operators_usual',
  `select a.is_source, count(*)::integer as transfers, bool_or(t.place >= $6) as is_cut,
          percentile_disc(0.5) within group (order by t.amount) as median, max(t.amount) as largest,
          (count(*) filter (where t.amount >= $7))::integer as at_least_as_large,
          (count(*) filter (where t.to_key = $8))::integer as to_payee,
          (array_agg(t.transfer_id order by t.created_at desc, t.transfer_key desc) filter (where t.to_key = $8))[1] as last_id,
          (array_agg(t.amount order by t.created_at desc, t.transfer_key desc) filter (where t.to_key = $8))[1] as last_amount,
          (array_agg(t.created_at order by t.created_at desc, t.transfer_key desc) filter (where t.to_key = $8))[1] as last_at
   from (
     select account_key, true as is_source from accounts where institution_id = $1 and account_key = $2
     union all
     (select other.account_key, false from accounts source
      join accounts other on other.institution_id = $1 and other.customer_key = source.customer_key
        and other.account_key <> source.account_key
      where source.institution_id = $1 and source.account_key = $2
      order by other.account_key limit $9)
   ) a
   cross join lateral (
     select b.*, row_number() over (order by b.created_at desc, b.transfer_key desc) as place
     from (${branches}) b
     order by place limit $6
   ) t
   group by a.is_source`,
);

interface UsualWanted {
  readonly order: OrderRow & { readonly fromKey: bigint };
  readonly since: Date;
  /** The newest ones of each account that count. */
  readonly mostOfAccount: number;
  /** The other accounts that count. */
  readonly mostAccounts: number;
}

/** None for accounts without such a transfer. */
export async function selectUsual(
  db: Queryable,
  { order: { fromKey, toKey, amount, currency, createdAt }, since, mostOfAccount, mostAccounts }: UsualWanted,
): Promise<UsualRow[]> {
  const period = [since, createdAt, currency];
  const values = [db.institutionId, fromKey, ...period, mostOfAccount, amount, toKey, mostAccounts];
  return (await db.query<UsualRow>(usual, values)).rows;
}
