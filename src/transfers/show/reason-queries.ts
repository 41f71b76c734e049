import { type Queryable, sql } from '../../storage/index.ts';
import type { Screening } from '../rules/controls/screening.ts';

/** The facts of a pending transfer that say why it waits, beside its terms. */
export interface WaitingFacts {
  readonly transferKey: bigint;
  readonly userKey: bigint | null;
  readonly reversesKey: bigint | null;
  /** Of the source, as it is now; null for an account of the institution itself. */
  readonly accountKey: bigint | null;
  readonly customerKey: bigint | null;
  readonly diAccountType: string | null;
  /** Null for an order that was not screened. */
  readonly verdict: Screening['verdict'] | null;
  readonly answer: Screening['answer'] | null;
  readonly reference: string | null;
}

const facts = sql(
  'transfers_waiting_facts',
  `select t.transfer_key, t.user_key, t.reverses_key, a.account_key, a.customer_key, a.di_account_type, s.verdict, s.answer, s.reference
   from transfers t
   left join accounts a on a.institution_id = $1 and a.account_key = t.from_key and a.customer_key is not null
   left join transfer_screenings s on s.institution_id = $1 and s.transfer_key = t.transfer_key
   where t.institution_id = $1 and t.transfer_key = any ($2::bigint[])`,
);

export async function selectWaitingFacts(
  db: Queryable,
  transferKeys: readonly bigint[],
): Promise<Map<bigint, WaitingFacts>> {
  const { rows } = await db.query<WaitingFacts>(facts, [db.institutionId, transferKeys]);
  return new Map(rows.map((row) => [row.transferKey, row]));
}
