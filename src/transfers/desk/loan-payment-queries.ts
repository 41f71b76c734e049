import { inserting, type Queryable, sql } from '../../storage/index.ts';
import type { LoanPayment } from '../rules/accounts/loans.ts';

/** Runs before the dues of the loans change (accounts/loan-dues.ts). The batch has locked the account's balance row. */
export const insertLoanPayments = inserting<LoanPayment>('transfers_write_loan_payments', 'loan_payments', {
  accountKey: 'bigint',
  seq: 'bigint',
  toFees: 'bigint',
  toInterest: 'bigint',
  toPrincipal: 'bigint',
  toDue: 'bigint',
});

const paymentsOf = sql(
  'transfers_loan_payments_of',
  `select p.account_key, p.seq, p.to_fees, p.to_interest, p.to_principal, p.to_due, t.transfer_id
   from idempotency_keys i
   join transfers t on t.institution_id = $1 and t.transfer_key = i.transfer_key
   join loan_payments p on p.institution_id = $1 and p.account_key = t.to_key
   join entries e on e.institution_id = $1 and e.account_key = p.account_key and e.seq = p.seq
     and e.posting_key = t.transfer_key
   where i.institution_id = $1 and i.transfer_id = any ($2::text[])`,
);

/** The payments on loans, by the id of the transfer that made each. */
export async function selectLoanPayments(
  db: Queryable,
  transferIds: readonly string[],
): Promise<Map<string, LoanPayment>> {
  const { rows } = await db.query<Omit<LoanPayment, 'meetsDue'> & { readonly transferId: string }>(
    paymentsOf,
    [db.institutionId, transferIds],
  );
  return new Map(rows.map(({ transferId, ...payment }) => [transferId, { ...payment, meetsDue: false }]));
}
