import { type InstitutionId, type Queryable, sql } from '../storage/index.ts';
import type { FailureCode, Transfer, TransferStatus, TransferType } from './transfer.ts';

/** What must be known of an account to decide a transfer. The institution's own accounts are not among them. */
export interface AccountFacts {
  readonly accountKey: bigint;
  readonly accountId: string;
  readonly customerKey: bigint;
  readonly diAccountType: string;
  readonly category: string;
  readonly currency: string;
  readonly closed: boolean;
  readonly overdraftLimit: bigint;
  /** What of a loan's debt is not principal; a batch takes its payments off. */
  readonly loan: { fees: bigint; interest: bigint } | null;
}

const accountFacts = sql(
  'transfers_account_facts',
  `select a.account_key, a.account_id, a.customer_key, a.di_account_type, a.category, a.currency, a.closed,
          a.overdraft_limit, l.fees_due, l.accrued_interest
   from accounts a
   left join loans l on l.institution_id = a.institution_id and l.account_key = a.account_key
   where a.institution_id = $1 and a.account_id = any ($2::text[]) and a.customer_key is not null`,
);

export async function selectAccountFacts(
  tx: Queryable,
  institutionId: InstitutionId,
  accountIds: readonly string[],
): Promise<AccountFacts[]> {
  const { rows } = await tx.query<{
    account_key: bigint;
    account_id: string;
    customer_key: bigint;
    di_account_type: string;
    category: string;
    currency: string;
    closed: boolean;
    overdraft_limit: bigint;
    fees_due: bigint | null;
    accrued_interest: bigint | null;
  }>(accountFacts, [institutionId, accountIds]);
  return rows.map((row) => ({
    accountKey: row.account_key,
    accountId: row.account_id,
    customerKey: row.customer_key,
    diAccountType: row.di_account_type,
    category: row.category,
    currency: row.currency,
    closed: row.closed,
    overdraftLimit: row.overdraft_limit,
    loan:
      row.fees_due === null || row.accrued_interest === null
        ? null
        : { fees: row.fees_due, interest: row.accrued_interest },
  }));
}

export interface HoldingRow {
  readonly accountKey: bigint;
  readonly personKey: bigint;
  readonly mayPay: boolean;
}

const holdings = sql(
  'transfers_holdings',
  `select h.account_key, h.person_key, h.may_pay
   from accounts a
   join holders h on h.institution_id = a.institution_id and h.account_key = a.account_key
   where a.institution_id = $1 and a.account_id = any ($2::text[]) and h.person_key = any ($3::bigint[])`,
);

export async function selectHoldings(
  tx: Queryable,
  institutionId: InstitutionId,
  accountIds: readonly string[],
  personKeys: readonly bigint[],
): Promise<HoldingRow[]> {
  const { rows } = await tx.query<{ account_key: bigint; person_key: bigint; may_pay: boolean }>(holdings, [
    institutionId,
    accountIds,
    personKeys,
  ]);
  return rows.map((row) => ({
    accountKey: row.account_key,
    personKey: row.person_key,
    mayPay: row.may_pay,
  }));
}

const usersOfCustomers = sql(
  'transfers_users_of_customers',
  `select cp.customer_key, cp.person_key
   from customer_persons cp
   join users u on u.institution_id = cp.institution_id and u.person_key = cp.person_key
   where cp.institution_id = $1
     and cp.customer_key in (
       select a.customer_key from accounts a where a.institution_id = $1 and a.account_id = any ($2::text[]))`,
);

/** Persons with digital access in the memberships of these accounts. */
export async function selectUsersOfCustomers(
  tx: Queryable,
  institutionId: InstitutionId,
  accountIds: readonly string[],
): Promise<{ customerKey: bigint; personKey: bigint }[]> {
  const { rows } = await tx.query<{ customer_key: bigint; person_key: bigint }>(usersOfCustomers, [
    institutionId,
    accountIds,
  ]);
  return rows.map((row) => ({ customerKey: row.customer_key, personKey: row.person_key }));
}

export interface LimitRow {
  readonly limitKey: number;
  readonly subject: 'USER' | 'CUSTOMER';
  readonly transferType: TransferType | null;
  readonly currency: string;
  readonly maxPerTransfer: bigint | null;
  readonly maxAmountPerDay: bigint | null;
  readonly maxCountPerDay: number | null;
}

const limits = sql(
  'transfers_limits',
  `select limit_key, subject, transfer_type, currency, max_per_transfer, max_amount_per_day, max_count_per_day
   from transfer_limits where institution_id = $1 order by limit_key`,
);

export async function selectLimits(tx: Queryable, institutionId: InstitutionId): Promise<LimitRow[]> {
  const { rows } = await tx.query<{
    limit_key: number;
    subject: 'USER' | 'CUSTOMER';
    transfer_type: TransferType | null;
    currency: string;
    max_per_transfer: bigint | null;
    max_amount_per_day: bigint | null;
    max_count_per_day: number | null;
  }>(limits, [institutionId]);
  return rows.map((row) => ({
    limitKey: row.limit_key,
    subject: row.subject,
    transferType: row.transfer_type,
    currency: row.currency,
    maxPerTransfer: row.max_per_transfer,
    maxAmountPerDay: row.max_amount_per_day,
    maxCountPerDay: row.max_count_per_day,
  }));
}

export interface CounterRow {
  readonly limitKey: number;
  readonly subjectKey: bigint;
  readonly day: string;
  readonly amount: bigint;
  readonly transfers: number;
  readonly maxAmount: bigint | null;
  readonly maxTransfers: number | null;
}

// Every counter that one of the orders could need: which limits bind an order is known only after its accounts are.
const subjects = `
  select 'USER' as subject, user_key as subject_key from unnest($3::bigint[]) as u (user_key)
  union
  select 'CUSTOMER', a.customer_key
  from accounts a
  where a.institution_id = $1 and a.account_id = any ($4::text[]) and a.customer_key is not null`;

const openCounters = sql(
  'transfers_open_counters',
  `insert into limit_counters (institution_id, limit_key, subject_key, day, amount, transfers)
   select $1, l.limit_key, s.subject_key, $2::date, 0, 0
   from (${subjects}) s
   join transfer_limits l on l.institution_id = $1 and l.subject = s.subject
     and (l.max_amount_per_day is not null or l.max_count_per_day is not null)
   order by l.limit_key, s.subject_key
   on conflict do nothing`,
);

// Here and below "= any" says again what the joins say: each table is read by its keys, whatever the planner believes
// of its size (a join planned on an empty table read all counters and ids: 450 transfers a second instead of 1,700).
const lockCounters = sql(
  'transfers_lock_counters',
  `select c.limit_key, c.subject_key, c.day, c.amount, c.transfers, c.max_amount, c.max_transfers
   from limit_counters c
   where c.institution_id = $1 and c.day = $2::date
     and c.limit_key = any (array(select l.limit_key from transfer_limits l where l.institution_id = $1))
     and c.subject_key = any (array(select s.subject_key from (${subjects}) s))
   order by c.limit_key, c.subject_key
   for no key update`,
);

/** A row that does not exist cannot be locked: the missing ones are inserted first. In key order, after accounts. */
export async function selectCountersForUpdate(
  tx: Queryable,
  institutionId: InstitutionId,
  day: string,
  userKeys: readonly bigint[],
  sourceAccountIds: readonly string[],
): Promise<CounterRow[]> {
  const values = [institutionId, day, userKeys, sourceAccountIds];
  const [, { rows }] = await Promise.all([
    tx.query(openCounters, values),
    tx.query<{
      limit_key: number;
      subject_key: bigint;
      day: string;
      amount: bigint;
      transfers: number;
      max_amount: bigint | null;
      max_transfers: number | null;
    }>(lockCounters, values),
  ]);
  return rows.map((row) => ({
    limitKey: row.limit_key,
    subjectKey: row.subject_key,
    day: row.day,
    amount: row.amount,
    transfers: row.transfers,
    maxAmount: row.max_amount,
    maxTransfers: row.max_transfers,
  }));
}

const writeCounters = sql(
  'transfers_write_counters',
  `update limit_counters c
   set amount = v.amount, transfers = v.transfers, max_amount = v.max_amount, max_transfers = v.max_transfers
   from unnest($2::integer[], $3::bigint[], $4::date[], $5::bigint[], $6::integer[], $7::bigint[], $8::integer[])
     as v (limit_key, subject_key, day, amount, transfers, max_amount, max_transfers)
   where c.institution_id = $1 and c.limit_key = v.limit_key and c.subject_key = v.subject_key and c.day = v.day
     and c.limit_key = any ($2::integer[]) and c.subject_key = any ($3::bigint[])`,
);

export async function updateCounters(
  tx: Queryable,
  institutionId: InstitutionId,
  rows: readonly CounterRow[],
): Promise<void> {
  if (rows.length === 0) return;
  const { rowCount } = await tx.query(writeCounters, [
    institutionId,
    rows.map((row) => row.limitKey),
    rows.map((row) => row.subjectKey),
    rows.map((row) => row.day),
    rows.map((row) => row.amount),
    rows.map((row) => row.transfers),
    rows.map((row) => row.maxAmount),
    rows.map((row) => row.maxTransfers),
  ]);
  expectRows('limit_counters', rowCount, rows.length);
}

/** A transfer as it is kept: with the keys behind its public ids, and who ordered it. */
export interface TransferRow extends Transfer {
  readonly transferKey: bigint;
  readonly fromKey: bigint | null;
  readonly toKey: bigint | null;
  readonly clientId: string;
  readonly userKey: bigint | null;
  readonly settledAt: Date | null;
}

export interface SeenTransferRow extends TransferRow {
  /** The asking person holds the source account. */
  readonly sourceHeld: boolean;
}

const transfersById = sql(
  'transfers_by_id',
  `select t.transfer_key, t.transfer_id, t.transfer_type, t.from_account_id, t.to_account_id, t.from_key, t.to_key,
          t.amount, t.currency, t.status, t.failure_code, t.failure_detail, t.client_id, t.user_key, t.created_at,
          t.settled_at, asked.person_key,
          exists (select from holders h where h.institution_id = t.institution_id
                  and h.account_key = t.from_key and h.person_key = asked.person_key) as source_held
   from unnest($2::text[], $3::bigint[]) as asked (transfer_id, person_key)
   join used_ids u on u.institution_id = $1 and u.transfer_id = asked.transfer_id
     and u.transfer_id = any ($2::text[])
   join transfers t on t.institution_id = $1 and t.transfer_key = u.transfer_key`,
);

/** One row per id asked for that exists; `personKey` is who asks, null for a client. */
export async function selectTransfersById(
  db: Queryable,
  institutionId: InstitutionId,
  asked: readonly { readonly transferId: string; readonly personKey: bigint | null }[],
): Promise<(SeenTransferRow & { readonly personKey: bigint | null })[]> {
  const { rows } = await db.query<{
    transfer_key: bigint;
    transfer_id: string;
    transfer_type: TransferType | null;
    from_account_id: string;
    to_account_id: string;
    from_key: bigint | null;
    to_key: bigint | null;
    amount: bigint;
    currency: string;
    status: TransferStatus;
    failure_code: FailureCode | null;
    failure_detail: string | null;
    client_id: string;
    user_key: bigint | null;
    created_at: Date;
    settled_at: Date | null;
    person_key: bigint | null;
    source_held: boolean;
  }>(transfersById, [institutionId, asked.map((one) => one.transferId), asked.map((one) => one.personKey)]);
  return rows.map((row) => ({
    transferKey: row.transfer_key,
    id: row.transfer_id,
    transferType: row.transfer_type ?? undefined,
    fromAccountId: row.from_account_id,
    toAccountId: row.to_account_id,
    fromKey: row.from_key,
    toKey: row.to_key,
    amountMinor: row.amount,
    currencyCode: row.currency,
    status: row.status,
    failureCode: row.failure_code ?? undefined,
    failureDetail: row.failure_detail ?? undefined,
    clientId: row.client_id,
    userKey: row.user_key,
    createdAt: row.created_at,
    settledAt: row.settled_at,
    personKey: row.person_key,
    sourceHeld: row.source_held,
  }));
}

const writeIds = sql(
  'transfers_write_ids',
  `insert into used_ids (institution_id, transfer_id, transfer_key)
   select $1, v.* from unnest($2::text[], $3::bigint[]) as v`,
);

const writeTransfers = sql(
  'transfers_write',
  `insert into transfers (institution_id, transfer_key, transfer_id, transfer_type, from_account_id, to_account_id,
                          from_key, to_key, amount, currency, status, failure_code, failure_detail, client_id,
                          user_key, created_at, settled_at)
   select $1, v.*, $2, case when v.status <> 'PENDING' then $2::timestamptz end
   from unnest($3::bigint[], $4::text[], $5::text[], $6::text[], $7::text[], $8::bigint[], $9::bigint[],
               $10::bigint[], $11::text[], $12::text[], $13::text[], $14::text[], $15::text[], $16::bigint[])
     as v (transfer_key, transfer_id, transfer_type, from_account_id, to_account_id, from_key, to_key, amount,
           currency, status, failure_code, failure_detail, client_id, user_key)`,
);

/** The id and its transfer, together. A unique violation: another process used the id meanwhile. */
export async function insertTransfers(
  tx: Queryable,
  institutionId: InstitutionId,
  rows: readonly TransferRow[],
  at: Date,
): Promise<void> {
  if (rows.length === 0) return;
  // Sorted, so that two processes that use the same ids wait for each other in one direction.
  const byId = rows.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  const [ids, transfers] = await Promise.all([
    tx.query(writeIds, [institutionId, byId.map((row) => row.id), byId.map((row) => row.transferKey)]),
    tx.query(writeTransfers, [
      institutionId,
      at,
      rows.map((row) => row.transferKey),
      rows.map((row) => row.id),
      rows.map((row) => row.transferType ?? null),
      rows.map((row) => row.fromAccountId),
      rows.map((row) => row.toAccountId),
      rows.map((row) => row.fromKey),
      rows.map((row) => row.toKey),
      rows.map((row) => row.amountMinor),
      rows.map((row) => row.currencyCode),
      rows.map((row) => row.status),
      rows.map((row) => row.failureCode ?? null),
      rows.map((row) => row.failureDetail ?? null),
      rows.map((row) => row.clientId),
      rows.map((row) => row.userKey),
    ]),
  ]);
  expectRows('used_ids', ids.rowCount, rows.length);
  expectRows('transfers', transfers.rowCount, rows.length);
}

export interface LoanPayment {
  readonly accountKey: bigint;
  readonly seq: bigint;
  readonly toFees: bigint;
  readonly toInterest: bigint;
  readonly toPrincipal: bigint;
}

const writeLoanPayments = sql(
  'transfers_write_loan_payments',
  `insert into loan_payments (institution_id, account_key, seq, to_fees, to_interest, to_principal)
   select $1, v.* from unnest($2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[]) as v`,
);

const payLoans = sql(
  'transfers_pay_loans',
  `update loans l
   set fees_due = l.fees_due - v.fees, accrued_interest = l.accrued_interest - v.interest
   from (select account_key, sum(fees) as fees, sum(interest) as interest
         from unnest($2::bigint[], $3::bigint[], $4::bigint[]) as p (account_key, fees, interest)
         group by account_key) v
   where l.institution_id = $1 and l.account_key = v.account_key`,
);

/** The payments' parts, and what is left due. The account's balance row is locked by the batch. */
export async function insertLoanPayments(
  tx: Queryable,
  institutionId: InstitutionId,
  payments: readonly LoanPayment[],
): Promise<void> {
  if (payments.length === 0) return;
  const keys = payments.map((payment) => payment.accountKey);
  const [written, paid] = await Promise.all([
    tx.query(writeLoanPayments, [
      institutionId,
      keys,
      payments.map((payment) => payment.seq),
      payments.map((payment) => payment.toFees),
      payments.map((payment) => payment.toInterest),
      payments.map((payment) => payment.toPrincipal),
    ]),
    tx.query(payLoans, [
      institutionId,
      keys,
      payments.map((payment) => payment.toFees),
      payments.map((payment) => payment.toInterest),
    ]),
  ]);
  expectRows('loan_payments', written.rowCount, payments.length);
  expectRows('loans', paid.rowCount, new Set(keys).size);
}

/** A write hidden by a policy touches fewer rows and raises no error: then the whole batch must not stand. */
function expectRows(table: string, written: number, sent: number): void {
  if (written !== sent) throw new Error(`transfers: ${written} rows of ${table} were written, ${sent} sent`);
}
