import { type InstitutionId, type Queryable, sql } from '../storage/index.ts';

export interface OpeningRow {
  readonly customerKey: bigint;
  readonly personKey: bigint;
  /** The account that the deposit is for. */
  readonly accountId: string;
  /** YYYY-MM-DD, where the institution is. */
  readonly openedOn: string;
  readonly deposit: bigint;
}

const newOpening = sql(
  'core_insert_opening',
  `insert into openings (institution_id, customer_key, person_key, account_id, opened_on, deposit)
   values ($1, $2, $3, $4, $5, $6)`,
);

export async function insertOpening(
  tx: Queryable,
  institutionId: InstitutionId,
  row: OpeningRow,
): Promise<void> {
  const { customerKey, personKey, accountId, openedOn, deposit } = row;
  await tx.query(newOpening, [institutionId, customerKey, personKey, accountId, openedOn, deposit]);
}

const dueOpening = sql(
  'core_due_opening',
  `select account_id as "accountId", deposit from openings
   where institution_id = $1 and person_key = $2 and deposited_on is null and deposit > 0`,
);

/** Undefined: no deposit is due to the person. */
export async function selectDueOpening(
  tx: Queryable,
  institutionId: InstitutionId,
  personKey: bigint,
): Promise<Pick<OpeningRow, 'accountId' | 'deposit'> | undefined> {
  const values = [institutionId, personKey];
  return (await tx.query<Pick<OpeningRow, 'accountId' | 'deposit'>>(dueOpening, values)).rows[0];
}

const deposited = sql(
  'core_set_opening_deposited',
  `update openings set deposited_on = $3
   where institution_id = $1 and person_key = $2 and deposited_on is null`,
);

/** False if another transaction paid it meanwhile. */
export async function setOpeningDeposited(
  tx: Queryable,
  institutionId: InstitutionId,
  personKey: bigint,
  day: string,
): Promise<boolean> {
  return (await tx.query(deposited, [institutionId, personKey, day])).rowCount === 1;
}

const counter = sql(
  'core_opening_counter',
  'select openings, deposited from opening_counters where institution_id = $1 and day = $2',
);

/** What was opened and paid on the day so far. */
export async function selectOpeningCounter(
  tx: Queryable,
  institutionId: InstitutionId,
  day: string,
): Promise<{ readonly openings: number; readonly deposited: bigint }> {
  const { rows } = await tx.query<{ openings: number; deposited: bigint }>(counter, [institutionId, day]);
  return rows[0] ?? { openings: 0, deposited: 0n };
}
