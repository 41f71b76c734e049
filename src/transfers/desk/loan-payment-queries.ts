import {
  columnsOf,
  counted,
  type InstitutionId,
  type Queryable,
  sql,
  type Write,
} from '../../storage/index.ts';
import type { LoanPayment } from '../rules/loans.ts';

const writePayments = counted(
  'transfers_write_loan_payments',
  'loan_payments',
  'cardinality($2::bigint[])',
  `insert into loan_payments (institution_id, account_key, seq, to_fees, to_interest, to_principal, to_due)
   select $1, v.*
   from unnest($2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[]) as v`,
);

/** Before the dues of the loans change (accounts/loan-dues.ts). The account's balance row is locked by the batch. */
export function insertLoanPayments(
  institutionId: InstitutionId,
  payments: readonly LoanPayment[],
): readonly Write[] {
  if (payments.length === 0) return [];
  const columns = columnsOf(payments, 'accountKey', 'seq', 'toFees', 'toInterest', 'toPrincipal', 'toDue');
  return [{ statement: writePayments, values: [institutionId, ...columns] }];
}

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

/** By the id of the transfer that made it. */
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
