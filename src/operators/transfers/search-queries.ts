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
  readonly since?: Date | undefined;
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

/** The transfers before $2 by key; each says whether it matches, so that a rare filter reads a bounded number of rows for each page. */
const window = sql(
  'operators_transfers',
  `select t.transfer_key, t.transfer_id, t.transfer_type, t.from_account_id, t.to_account_id, t.amount, t.currency, t.status,
          t.failure_code, u.user_id, t.operator, t.created_at, t.settled_at,
          (($3::text is null or t.status = $3) and ($4::text is null or t.transfer_type = $4)
           and ($5::text is null or t.from_account_id = $5 or t.to_account_id = $5)
           and ($6::text is null or u.user_id = $6) and ($7::text is null or t.failure_code = $7)
           and ($8::bigint is null or t.amount >= $8) and ($9::bigint is null or t.amount <= $9)
           and ($10::timestamptz is null or t.created_at >= $10)
           and ($11::timestamptz is null or t.created_at < $11)) is true as matches
   from transfers t
   left join users u on u.institution_id = $1 and u.user_key = t.user_key
   where t.institution_id = $1 and t.transfer_key < $2
   order by t.transfer_key desc
   limit $12`,
);

export async function selectTransferWindow(
  db: Queryable,
  { before, filter, limit }: { before: bigint; filter: TransferSearchFilter; limit: number },
): Promise<FoundTransferRow[]> {
  const { status, transferType, accountId, userId, failureCode, leastMinor, mostMinor, since, until } =
    filter;
  const values = [status, transferType, accountId, userId, failureCode, leastMinor, mostMinor, since, until];
  const given = values.map((value) => value ?? null);
  return (await db.query<FoundTransferRow>(window, [db.institutionId, before, ...given, limit])).rows;
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
