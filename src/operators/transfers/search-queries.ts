import { listClasses } from '../../ledger/index.ts';
import { type Queryable, sql } from '../../storage/index.ts';
import type { TransferStatus, TransferType } from '../../transfers/index.ts';

export interface TransferSearchFilter {
  readonly status?: TransferStatus | undefined;
  readonly transferType?: TransferType | undefined;
  /** On either side. */
  readonly accountId?: string | undefined;
  readonly userId?: string | undefined;
  readonly failureCode?: string | undefined;
  readonly leastMinor?: bigint | undefined;
  readonly mostMinor?: bigint | undefined;
  /** The beginning of the period, inclusive. */
  readonly since?: Date | undefined;
  /** The end of the period, exclusive. */
  readonly until?: Date | undefined;
}

export interface FoundTransferRow {
  readonly transferKey: bigint;
  readonly transferId: string;
  readonly transferType: string | null;
  readonly fromAccountId: string;
  readonly toAccountId: string;
  readonly amount: bigint;
  readonly currency: string;
  readonly status: string;
  readonly failureCode: string | null;
  readonly userId: string | null;
  readonly operator: string | null;
  readonly createdAt: Date;
  readonly settledAt: Date | null;
  readonly matches: boolean;
}

/** A transfer's place in the order of time. */
export interface TransferPlace {
  readonly at: Date;
  readonly key: bigint;
}

/**
 * A branch for each status and type, as in the list of the members' API (ADR 6): the index returns the rows of the period in their order, and
 * the branches are merged. A branch that is not wanted does not run.
 */
const ofPeriod = listClasses
  .map(
    ({ code }) => `(select t.* from transfers t
     where t.institution_id = $1 and t.transfer_key > 0 and t.list_class = ${code} and ${code} = any ($2::smallint[])
       and t.created_at >= $3 and (t.created_at, t.transfer_key) < ($4, $5)
     order by t.created_at desc, t.transfer_key desc limit $6)`,
  )
  .join(' union all ');

/** The newest transfers before a place; each says whether it matches, so that a rare filter reads a bounded number of rows for each page. */
const window = sql(
  'operators_transfers',
  `select t.transfer_key, t.transfer_id, t.transfer_type, t.from_account_id, t.to_account_id, t.amount, t.currency, t.status,
          t.failure_code, u.user_id, t.operator, t.created_at, t.settled_at,
          (($7::text is null or t.from_account_id = $7 or t.to_account_id = $7)
           and ($8::text is null or u.user_id = $8) and ($9::text is null or t.failure_code = $9)
           and ($10::bigint is null or t.amount >= $10) and ($11::bigint is null or t.amount <= $11)) is true as matches
   from (select * from (${ofPeriod}) t order by created_at desc, transfer_key desc limit $6) t
   left join users u on u.institution_id = $1 and u.user_key = t.user_key
   order by t.created_at desc, t.transfer_key desc`,
);

export async function selectTransferWindow(
  db: Queryable,
  { before, filter, limit }: { before?: TransferPlace; filter: TransferSearchFilter; limit: number },
): Promise<FoundTransferRow[]> {
  const { status, transferType, accountId, userId, failureCode, leastMinor, mostMinor, since, until } =
    filter;
  const classes = listClasses
    .filter((one) => status === undefined || one.status === status)
    .filter((one) => transferType === undefined || one.transferType === transferType)
    .map(({ code }) => code);
  const period = [since ?? '-infinity', before?.at ?? until ?? 'infinity', before?.key ?? 0n];
  const given = [accountId, userId, failureCode, leastMinor, mostMinor].map((value) => value ?? null);
  const values = [db.institutionId, classes, ...period, limit, ...given];
  return (await db.query<FoundTransferRow>(window, values)).rows;
}

const placeOfKey = sql(
  'operators_transfer_place',
  'select created_at as at, transfer_key as key from transfers where institution_id = $1 and transfer_key = $2',
);

export async function selectTransferPlace(db: Queryable, key: bigint): Promise<TransferPlace | undefined> {
  return (await db.query<TransferPlace>(placeOfKey, [db.institutionId, key])).rows[0];
}

const byId = sql(
  'operators_transfer_of_id',
  `select t.transfer_key, t.transfer_id, t.transfer_type, t.from_account_id, t.to_account_id, t.amount, t.currency, t.status,
          t.failure_code, null::text as user_id, t.operator, t.created_at, t.settled_at, true as matches
   from idempotency_keys i
   join transfers t on t.institution_id = $1 and t.transfer_key = i.transfer_key
   where i.institution_id = $1 and i.transfer_id = $2`,
);

export async function selectTransferOfId(
  db: Queryable,
  transferId: string,
): Promise<FoundTransferRow | undefined> {
  return (await db.query<FoundTransferRow>(byId, [db.institutionId, transferId])).rows[0];
}
