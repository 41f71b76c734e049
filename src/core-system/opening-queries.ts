import { type Queryable, sql } from '../storage/index.ts';

export interface OpeningRow {
  readonly customerKey: bigint;
  readonly personKey: bigint;
  /** The account that receives the deposit. */
  readonly accountId: string;
  /** YYYY-MM-DD in the institution's time zone. */
  readonly openedOn: string;
  readonly deposit: bigint;
}

const newOpening = sql(
  'core_insert_opening',
  `insert into openings (institution_id, customer_key, person_key, account_id, opened_on, deposit)
   values ($1, $2, $3, $4, $5, $6)`,
);

export async function insertOpening(tx: Queryable, row: OpeningRow): Promise<void> {
  const { customerKey, personKey, accountId, openedOn, deposit } = row;
  await tx.query(newOpening, [tx.institutionId, customerKey, personKey, accountId, openedOn, deposit]);
}

const dueOpening = sql(
  'core_due_opening',
  `select account_id, deposit from openings
   where institution_id = $1 and person_key = $2 and deposited_on is null and deposit > 0`,
);

/** Undefined if no deposit is due to the person. */
export async function selectDueOpening(
  tx: Queryable,
  personKey: bigint,
): Promise<Pick<OpeningRow, 'accountId' | 'deposit'> | undefined> {
  const values = [tx.institutionId, personKey];
  return (await tx.query<Pick<OpeningRow, 'accountId' | 'deposit'>>(dueOpening, values)).rows[0];
}

const deposited = sql(
  'core_set_opening_deposited',
  `update openings set deposited_on = $3
   where institution_id = $1 and person_key = $2 and deposited_on is null`,
);

/** False if another transaction has paid it. */
export async function setOpeningDeposited(tx: Queryable, personKey: bigint, day: string): Promise<boolean> {
  return (await tx.query(deposited, [tx.institutionId, personKey, day])).rowCount === 1;
}

const counter = sql(
  'core_opening_counter',
  'select openings, deposited from opening_counters where institution_id = $1 and day = $2',
);

/** The openings and deposits of the day so far. */
export async function selectOpeningCounter(
  tx: Queryable,
  day: string,
): Promise<{ readonly openings: number; readonly deposited: bigint }> {
  const { rows } = await tx.query<{ openings: number; deposited: bigint }>(counter, [tx.institutionId, day]);
  return rows[0] ?? { openings: 0, deposited: 0n };
}
