import { type Queryable, sql } from '../../storage/index.ts';
import type { CoreMode } from '../rules/core-path.ts';
import type { Transfer } from '../rules/transfer.ts';
import { selectTransfersById } from '../transfer-queries.ts';

const waiting = sql(
  'transfers_waiting_instructions',
  `select true as found from core_instructions i
   where i.institution_id = $1 and i.state = 'OPEN' and i.file_number is null
     and (i.lease_until is null or i.lease_until <= $2 or i.lease_until > $3)
   limit 1`,
);

/** Whether an undecided instruction is leased to no client. */
export async function hasUnleased(db: Queryable, at: Date, latest: Date): Promise<boolean> {
  return (await db.query(waiting, [db.institutionId, at, latest])).rowCount > 0;
}

const oldest = sql(
  'transfers_oldest_undelivered',
  `select i.issued_at from core_instructions i
   where i.institution_id = $1 and i.state = 'OPEN' and i.delivered_at is null
   order by i.sequence limit 1`,
);

/** When the oldest instruction that the core has not fetched was issued. */
export async function oldestUndelivered(db: Queryable): Promise<Date | null> {
  return (await db.query<{ issuedAt: Date }>(oldest, [db.institutionId])).rows[0]?.issuedAt ?? null;
}

/** Undecided instructions of one mode and currency. */
export interface Exposure {
  readonly mode: CoreMode;
  readonly currencyCode: string;
  readonly instructions: bigint;
  readonly delivered: bigint;
  /** With MEMO and STAND_IN: money that has moved here, and that the core may still refuse. */
  readonly amountMinor: bigint;
}

const exposure = sql(
  'transfers_core_exposure',
  `select i.mode, i.currency as currency_code, count(*) as instructions, count(i.delivered_at) as delivered,
          sum(i.amount)::bigint as amount_minor
   from core_instructions i
   where i.institution_id = $1 and i.state = 'OPEN'
   group by i.mode, i.currency order by i.mode, i.currency`,
);

export async function selectExposure(db: Queryable): Promise<Exposure[]> {
  return (await db.query<Exposure>(exposure, [db.institutionId])).rows;
}

const ended = sql(
  'transfers_ended_among',
  `select t.transfer_id from idempotency_keys u
   join transfers t on t.institution_id = $1 and t.transfer_key = u.transfer_key
   where u.institution_id = $1 and u.transfer_id = any ($2::text[]) and t.status <> 'PENDING'`,
);

/** The transfers among these that are not pending any more. */
export async function endedAmong(db: Queryable, transferIds: readonly string[]): Promise<Transfer[]> {
  if (transferIds.length === 0) return [];
  const { rows } = await db.query<{ transferId: string }>(ended, [db.institutionId, transferIds]);
  return selectTransfersById(
    db,
    rows.map(({ transferId }) => ({ transferId, personKey: null })),
  );
}
