import { counted, type InstitutionId, type Queryable, sql, type Write } from '../storage/index.ts';

/** How a payment on a loan was split, beside its entry; negative where a reversal gave it back. Minor units. */
export interface LoanPayment {
  readonly accountKey: bigint;
  readonly seq: bigint;
  readonly toFees: bigint;
  readonly toInterest: bigint;
  readonly toPrincipal: bigint;
  /** What of it counted as the amount due. */
  readonly toDue: bigint;
  /** It left nothing due: the loan is in good standing from then on. */
  readonly meetsDue: boolean;
}

const writePayments = counted(
  'transfers_write_loan_payments',
  'loan_payments',
  'cardinality($2::bigint[])',
  `insert into loan_payments (institution_id, account_key, seq, to_fees, to_interest, to_principal, to_due)
   select $1, v.*
   from unnest($2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[]) as v`,
);

const changeDues = counted(
  'transfers_change_dues',
  'loans',
  '(select count(distinct k) from unnest($2::bigint[]) k)',
  `update loans l
   set fees_due = l.fees_due - v.fees, accrued_interest = l.accrued_interest - v.interest,
       amount_due = l.amount_due - v.due
   from (select account_key, sum(fees) as fees, sum(interest) as interest, sum(due) as due
         from unnest($2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[]) as p (account_key, fees, interest, due)
         group by account_key) v
   where l.institution_id = $1 and l.account_key = v.account_key`,
);

// A reversal does not make a loan delinquent: that is for the core to say.
const clearDelinquency = sql(
  'transfers_clear_delinquency',
  `update accounts a set delinquent = false
   where a.institution_id = $1 and a.account_key = any ($2::bigint[]) and a.delinquent`,
);

/** The payments' parts, and what is left due. The account's balance row is locked by the batch. */
export function insertLoanPayments(
  institutionId: InstitutionId,
  payments: readonly LoanPayment[],
): readonly Write[] {
  if (payments.length === 0) return [];
  const keys = payments.map((payment) => payment.accountKey);
  const paid = payments.filter((payment) => payment.meetsDue).map((payment) => payment.accountKey);
  const parts = [
    institutionId,
    keys,
    payments.map((payment) => payment.seq),
    payments.map((payment) => payment.toFees),
    payments.map((payment) => payment.toInterest),
    payments.map((payment) => payment.toPrincipal),
    payments.map((payment) => payment.toDue),
  ];
  const dues = [
    institutionId,
    keys,
    payments.map((payment) => payment.toFees),
    payments.map((payment) => payment.toInterest),
    payments.map((payment) => payment.toDue),
  ];
  return [
    { statement: writePayments, values: parts },
    { statement: changeDues, values: dues },
    ...(paid.length > 0 ? [{ statement: clearDelinquency, values: [institutionId, paid] }] : []),
  ];
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
  institutionId: InstitutionId,
  transferIds: readonly string[],
): Promise<Map<string, LoanPayment>> {
  const { rows } = await db.query<{
    account_key: bigint;
    seq: bigint;
    to_fees: bigint;
    to_interest: bigint;
    to_principal: bigint;
    to_due: bigint;
    transfer_id: string;
  }>(paymentsOf, [institutionId, transferIds]);
  return new Map(
    rows.map((row) => [
      row.transfer_id,
      {
        accountKey: row.account_key,
        seq: row.seq,
        toFees: row.to_fees,
        toInterest: row.to_interest,
        toPrincipal: row.to_principal,
        toDue: row.to_due,
        meetsDue: false,
      },
    ]),
  );
}
