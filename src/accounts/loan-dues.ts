import { columnsOf, counted, type InstitutionId, sql, type Write } from '../storage/index.ts';

/** The parts of one payment on a loan; negative if a reversal gives them back. Minor units. */
interface PaidDues {
  readonly accountKey: bigint;
  readonly toFees: bigint;
  readonly toInterest: bigint;
  readonly toDue: bigint;
  /** The payment left nothing due: the loan is in good standing from then on. */
  readonly meetsDue: boolean;
}

const reduceDues = counted(
  'accounts_reduce_dues',
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

// A reversal does not make a loan delinquent; only the core does.
const clearDelinquency = sql(
  'accounts_clear_delinquency',
  `update accounts a set delinquent = false
   where a.institution_id = $1 and a.account_key = any ($2::bigint[]) and a.delinquent`,
);

/** The caller has locked the balances of these accounts. */
export function reduceLoanDues(
  institutionId: InstitutionId,
  payments: readonly PaidDues[],
): readonly Write[] {
  if (payments.length === 0) return [];
  const columns = columnsOf(payments, 'accountKey', 'toFees', 'toInterest', 'toDue');
  const paid = payments.filter((payment) => payment.meetsDue).map((payment) => payment.accountKey);
  return [
    { statement: reduceDues, values: [institutionId, ...columns] },
    ...(paid.length > 0 ? [{ statement: clearDelinquency, values: [institutionId, paid] }] : []),
  ];
}
