import { type Database, type InstitutionId, type Queryable, sql } from '../../storage/index.ts';
import type { CoreMode } from '../rules/controls/core-path.ts';
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

/** For the operator's list. */
export interface OpenInstruction {
  readonly sequence: bigint;
  readonly id: string;
  readonly mode: CoreMode;
  readonly fromAccountId: string;
  readonly toAccountId: string;
  readonly amountMinor: bigint;
  readonly currencyCode: string;
  readonly businessDate: string;
  readonly leasedBy: string | null;
  readonly leaseUntil: Date | null;
  readonly fileNumber: number | null;
}

const openPage = sql(
  'transfers_open_instructions',
  `select i.sequence, t.transfer_id as id, i.mode, t.from_account_id, t.to_account_id, i.amount as amount_minor,
          i.currency as currency_code, i.business_date, i.leased_by, i.lease_until, i.file_number
   from core_instructions i
   join transfers t on t.institution_id = $1 and t.transfer_key = i.instruction_key
   where i.institution_id = $1 and i.state = 'OPEN' and i.sequence > $2
   order by i.sequence limit $3`,
);

const pageLength = 1_000;

/** Every undecided instruction in the order of delivery, read in pages. */
export async function* listOpenInstructions(
  database: Database,
  institutionId: InstitutionId,
): AsyncGenerator<OpenInstruction> {
  for (let after: bigint | undefined = 0n; after !== undefined; ) {
    const position: bigint = after;
    const { rows } = await database.read(institutionId, (db) =>
      db.query<OpenInstruction>(openPage, [institutionId, position, pageLength]),
    );
    yield* rows;
    after = rows.length < pageLength ? undefined : rows.at(-1)?.sequence;
  }
}

const openAmong = sql(
  'transfers_open_among',
  `select t.transfer_id, t.from_account_id, t.to_account_id, t.amount as amount_minor
   from idempotency_keys u
   join core_instructions i on i.institution_id = $1 and i.instruction_key = u.transfer_key and i.state = 'OPEN'
   join transfers t on t.institution_id = $1 and t.transfer_key = u.transfer_key
   where u.institution_id = $1 and u.transfer_id = any ($2::text[])`,
);

/** The transfers among these whose instruction is undecided. */
export async function selectOpenAmong(
  db: Queryable,
  transferIds: readonly string[],
): Promise<
  {
    readonly transferId: string;
    readonly fromAccountId: string;
    readonly toAccountId: string;
    readonly amountMinor: bigint;
  }[]
> {
  const { rows } = await db.query<{
    readonly transferId: string;
    readonly fromAccountId: string;
    readonly toAccountId: string;
    readonly amountMinor: bigint;
  }>(openAmong, [db.institutionId, transferIds]);
  return rows;
}
