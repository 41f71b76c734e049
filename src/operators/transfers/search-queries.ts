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

/** A transfer's place in the orders of time and of amounts. Both end with the key. */
export interface TransferPlace {
  readonly at: Date;
  readonly amount: bigint;
  readonly key: bigint;
}

const columns = `t.transfer_key, t.transfer_id, t.transfer_type, t.from_account_id, t.to_account_id, t.amount, t.currency, t.status,
  t.failure_code, u.user_id, t.operator, t.created_at, t.settled_at`;

/**
 * The transfers behind a place in the order of time; each says whether it matches, so that a rare filter reads a bounded number of rows for each
 * page. A branch for each status and type, as in the list of the members' API (ADR 6): the index returns the rows of the period in their order,
 * and the branches are merged. A branch that is not wanted does not run.
 */
function windowOf(direction: 'asc' | 'desc'): string {
  const [behind, end] = direction === 'desc' ? ['<', '>='] : ['>', '<'];
  const ordered = `order by t.created_at ${direction}, t.transfer_key ${direction}`;
  const branches = listClasses.map(
    ({ code }) => `(select t.* from transfers t
     where t.institution_id = $1 and t.transfer_key > 0 and t.list_class = ${code} and ${code} = any ($2::smallint[])
       and (t.created_at, t.transfer_key) ${behind} ($3, $4) and t.created_at ${end} $5
     ${ordered} limit $6)`,
  );
  return `select ${columns},
          (($7::text is null or t.from_account_id = $7 or t.to_account_id = $7)
           and ($8::text is null or u.user_id = $8) and ($9::text is null or t.failure_code = $9)
           and ($10::bigint is null or t.amount >= $10) and ($11::bigint is null or t.amount <= $11)) is true as matches
   from (select * from (${branches.join(' union all ')}) t ${ordered} limit $6) t
   left join users u on u.institution_id = $1 and u.user_key = t.user_key
   ${ordered}`;
}

const newest = sql('operators_transfers', windowOf('desc'));
const oldest = sql('operators_transfers_oldest', windowOf('asc'));

export interface WindowWanted {
  readonly filter: TransferSearchFilter;
  /** The newest first. */
  readonly isDescending: boolean;
  /** The place behind which the window begins; without one, the beginning of the order. */
  readonly place?: TransferPlace | undefined;
  readonly limit: number;
}

export async function selectTransferWindow(db: Queryable, wanted: WindowWanted): Promise<FoundTransferRow[]> {
  const values = valuesOfWindow(db, wanted);
  return (await db.query<FoundTransferRow>(wanted.isDescending ? newest : oldest, values)).rows;
}

/** The parameters of a window in the order of time. */
export function valuesOfWindow(
  { institutionId }: Queryable,
  { filter, isDescending, place, limit }: WindowWanted,
): unknown[] {
  const since = filter.since ?? '-infinity';
  const until = filter.until ?? 'infinity';
  const [first, end] = isDescending ? [until, since] : [since, until];
  const period = [place?.at ?? first, place?.key ?? 0n, end];
  return [institutionId, classesOf(filter), ...period, limit, ...restOf(filter)];
}

/** Codes of the pairs of status and type that are wanted. */
function classesOf({ status, transferType }: TransferSearchFilter): number[] {
  return listClasses
    .filter((one) => status === undefined || one.status === status)
    .filter((one) => transferType === undefined || one.transferType === transferType)
    .map(({ code }) => code);
}

/** The parts of a filter that no index of the list has. */
function restOf({ accountId, userId, failureCode, leastMinor, mostMinor }: TransferSearchFilter) {
  return [accountId, userId, failureCode, leastMinor, mostMinor].map((value) => value ?? null);
}

/**
 * The matching transfers behind an amount. No index has this order, so each page sorts the amounts of the whole period: 0.5 s for a million
 * transfers, 0.1 s for a hundred thousand. An index would cost each order of a member a write.
 */
function byAmount(direction: 'asc' | 'desc'): string {
  const ordered = `order by t.amount ${direction}, t.transfer_key ${direction}`;
  return `select ${columns}, true as matches
   from (select t.* from transfers t
         where t.institution_id = $1 and t.transfer_key > 0 and t.list_class = any ($2::smallint[])
           and t.created_at >= $3 and t.created_at < $4
           and (t.amount, t.transfer_key) ${direction === 'desc' ? '<' : '>'} ($5, $6)
           and ($8::text is null or t.from_account_id = $8 or t.to_account_id = $8)
           and ($9::text is null or t.user_key = (select user_key from users where institution_id = $1 and user_id = $9))
           and ($10::text is null or t.failure_code = $10)
           and ($11::bigint is null or t.amount >= $11) and ($12::bigint is null or t.amount <= $12)
         ${ordered} limit $7) t
   left join users u on u.institution_id = $1 and u.user_key = t.user_key
   ${ordered}`;
}

const largest = sql('operators_transfers_largest', byAmount('desc'));
const smallest = sql('operators_transfers_smallest', byAmount('asc'));
/** Above every amount. */
const mostMinor = 9_223_372_036_854_775_807n;

/** `isDescending`: the largest first. */
export async function selectTransfersByAmount(
  db: Queryable,
  { filter, isDescending, place, limit }: WindowWanted,
): Promise<FoundTransferRow[]> {
  const period = [filter.since ?? '-infinity', filter.until ?? 'infinity'];
  const behind = [place?.amount ?? (isDescending ? mostMinor : 0n), place?.key ?? 0n];
  const values = [db.institutionId, classesOf(filter), ...period, ...behind, limit, ...restOf(filter)];
  return (await db.query<FoundTransferRow>(isDescending ? largest : smallest, values)).rows;
}

const placeOfKey = sql(
  'operators_transfer_place',
  'select created_at as at, amount, transfer_key as key from transfers where institution_id = $1 and transfer_key = $2',
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
