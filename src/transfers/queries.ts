import type { Origin } from '../events/index.ts';
import type { LoanPaymentOption } from '../ledger/index.ts';
import { counted, type InstitutionId, type Queryable, rowsOf, sql, type Write } from '../storage/index.ts';
import type { ExceededLimit, FailureCode, Transfer, TransferStatus, TransferType } from './rules/transfer.ts';

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
  readonly transferRestriction: 'EXCLUDE_ALL' | 'EXCLUDE_AS_FROM' | 'EXCLUDE_AS_TO' | null;
  readonly loan: LoanDues | null;
  /** Whose yearly limit a contribution counts against: an IRA's holder of record. */
  readonly owner: { readonly personKey: bigint; readonly birthDate: string | null } | null;
}

/** What of a loan's debt is not principal, and what is asked for now; a batch takes its payments off. */
export interface LoanDues {
  fees: bigint;
  interest: bigint;
  amountDue: bigint;
}

// Holders are looked up account by account: asked for by person as well, the plan read all accounts that each person holds.
const accountFacts = sql(
  'transfers_account_facts',
  `select a.account_key, a.account_id, a.customer_key, a.di_account_type, a.category, a.currency, a.closed,
          a.overdraft_limit, a.transfer_restriction, h.person_key, h.may_pay
   from accounts a
   left join lateral (
     select h.person_key, h.may_pay from holders h
     where h.institution_id = $1 and h.account_key = a.account_key
     offset 0) h on true
   where a.institution_id = $1 and a.account_id = any ($2::text[]) and a.customer_key is not null`,
);

export interface HoldingRow {
  readonly accountKey: bigint;
  readonly personKey: bigint;
  readonly mayPay: boolean;
}

/** Accounts without what `selectDetails` tells of some, and the holder records of all. */
export async function selectAccountFacts(
  tx: Queryable,
  institutionId: InstitutionId,
  accountIds: readonly string[],
): Promise<{ readonly accounts: AccountFacts[]; readonly holdings: HoldingRow[] }> {
  const { rows } = await tx.query<{
    account_key: bigint;
    account_id: string;
    customer_key: bigint;
    di_account_type: string;
    category: string;
    currency: string;
    closed: boolean;
    overdraft_limit: bigint;
    transfer_restriction: AccountFacts['transferRestriction'];
    person_key: bigint | null;
    may_pay: boolean | null;
  }>(accountFacts, [institutionId, accountIds]);
  const accounts = new Map<bigint, AccountFacts>();
  const holdings: HoldingRow[] = [];
  for (const row of rows) {
    const { account_key: accountKey, person_key: personKey } = row;
    // A row for each holder.
    if (personKey !== null) holdings.push({ accountKey, personKey, mayPay: row.may_pay === true });
    if (accounts.has(accountKey)) continue;
    accounts.set(accountKey, {
      accountKey,
      accountId: row.account_id,
      customerKey: row.customer_key,
      diAccountType: row.di_account_type,
      category: row.category,
      currency: row.currency,
      closed: row.closed,
      overdraftLimit: row.overdraft_limit,
      transferRestriction: row.transfer_restriction,
      loan: null,
      owner: null,
    });
  }
  return { accounts: [...accounts.values()], holdings };
}

const details = sql(
  'transfers_account_details',
  `select a.account_key, l.fees_due, l.accrued_interest, l.amount_due, o.person_key as owner_key, o.birth_date
   from accounts a
   left join lateral (
     select l.fees_due, l.accrued_interest, l.amount_due from loans l
     where l.institution_id = $1 and l.account_key = a.account_key
     offset 0) l on true
   left join lateral (
     select h.person_key, p.birth_date
     from holders h
     join persons p on p.institution_id = h.institution_id and p.person_key = h.person_key
     where a.di_account_type = 'RETIREMENT_IRA'
       and h.institution_id = $1 and h.account_key = a.account_key and h.role = 'PRIMARY'
     order by h.person_key limit 1) o on true
   where a.institution_id = $1 and a.account_key = any ($2::bigint[])`,
);

/** These accounts with what is owed on a loan and whose an IRA is. */
export async function selectDetails(
  tx: Queryable,
  institutionId: InstitutionId,
  accounts: readonly AccountFacts[],
): Promise<AccountFacts[]> {
  if (accounts.length === 0) return [];
  const { rows } = await tx.query<{
    account_key: bigint;
    fees_due: bigint | null;
    accrued_interest: bigint | null;
    amount_due: bigint | null;
    owner_key: bigint | null;
    birth_date: string | null;
  }>(details, [institutionId, accounts.map((account) => account.accountKey)]);
  const known = new Map(rows.map((row) => [row.account_key, row]));
  return accounts.map((account) => {
    const row = known.get(account.accountKey);
    if (row === undefined) return account;
    return {
      ...account,
      loan:
        row.fees_due === null || row.accrued_interest === null || row.amount_due === null
          ? null
          : { fees: row.fees_due, interest: row.accrued_interest, amountDue: row.amount_due },
      owner: row.owner_key === null ? null : { personKey: row.owner_key, birthDate: row.birth_date },
    };
  });
}

const heldAccountIds = sql(
  'transfers_held_account_ids',
  `select a.account_id
   from holders h
   join accounts a on a.institution_id = h.institution_id and a.account_key = h.account_key
   where h.institution_id = $1 and h.person_key = $2 and a.customer_key is not null
   order by a.account_id`,
);

/** The accounts that a person holds. */
export async function selectHeldAccountIds(
  db: Queryable,
  institutionId: InstitutionId,
  personKey: bigint,
): Promise<string[]> {
  const { rows } = await db.query<{ account_id: string }>(heldAccountIds, [institutionId, personKey]);
  return rows.map((row) => row.account_id);
}

const neighbourAccountIds = sql(
  'transfers_neighbour_account_ids',
  `select a.account_id
   from accounts a
   where a.institution_id = $1 and a.customer_key in (
     select f.customer_key from accounts f where f.institution_id = $1 and f.account_id = $2
     union
     select other.customer_key
     from accounts f
     join customer_persons mine on mine.institution_id = $1 and mine.customer_key = f.customer_key
     join users u on u.institution_id = $1 and u.person_key = mine.person_key
     join customer_persons other on other.institution_id = $1 and other.person_key = mine.person_key
     where f.institution_id = $1 and f.account_id = $2)
   order by a.account_id`,
);

/** The accounts of an account's membership, and of the other memberships of its users. */
export async function selectNeighbourAccountIds(
  db: Queryable,
  institutionId: InstitutionId,
  accountId: string,
): Promise<string[]> {
  const { rows } = await db.query<{ account_id: string }>(neighbourAccountIds, [institutionId, accountId]);
  return rows.map((row) => row.account_id);
}

export interface MembershipRow {
  readonly customerKey: bigint;
  readonly personKey: bigint;
}

const membershipsOf = sql(
  'transfers_memberships_of',
  `select customer_key, person_key from customer_persons
   where institution_id = $1 and person_key = any ($2::bigint[])`,
);

/** The memberships that these persons belong to. */
export async function selectMembershipsOf(
  tx: Queryable,
  institutionId: InstitutionId,
  personKeys: readonly bigint[],
): Promise<MembershipRow[]> {
  if (personKeys.length === 0) return [];
  return (await tx.query<MembershipDbRow>(membershipsOf, [institutionId, personKeys])).rows.map(toMembership);
}

const usersOfCustomers = sql(
  'transfers_users_of_customers',
  `select cp.customer_key, cp.person_key
   from customer_persons cp
   join users u on u.institution_id = cp.institution_id and u.person_key = cp.person_key
   where cp.institution_id = $1 and cp.customer_key = any ($2::bigint[])`,
);

/** Persons with digital access in these memberships. */
export async function selectUsersOfCustomers(
  tx: Queryable,
  institutionId: InstitutionId,
  customerKeys: readonly bigint[],
): Promise<MembershipRow[]> {
  if (customerKeys.length === 0) return [];
  return (await tx.query<MembershipDbRow>(usersOfCustomers, [institutionId, customerKeys])).rows.map(
    toMembership,
  );
}

interface MembershipDbRow {
  customer_key: bigint;
  person_key: bigint;
}

function toMembership(row: MembershipDbRow): MembershipRow {
  return { customerKey: row.customer_key, personKey: row.person_key };
}

/** A transfer as it is kept: with the keys behind its public ids, and who ordered it. */
export interface TransferRow extends Transfer {
  readonly transferKey: bigint;
  readonly fromKey: bigint | null;
  readonly toKey: bigint | null;
  /** Null where an operator ordered it. */
  readonly clientId: string | null;
  readonly userKey: bigint | null;
  readonly paymentOption: LoanPaymentOption | null;
  readonly previousYearContribution: boolean | null;
  /** The transfer that this one takes back. */
  readonly reversesKey: bigint | null;
  /** Who at the institution gave the last order about it. */
  readonly operator: string | null;
}

/** One that is new, and the request or command that ordered it. */
export interface OrderedTransferRow extends TransferRow {
  readonly origin: Origin;
}

export interface SeenTransferRow extends TransferRow {
  /** The asking person holds the source account or, of a reversal, the source account of its original. */
  readonly sourceHeld: boolean;
}

const idempotencyKeys = sql(
  'transfers_idempotency_keys',
  'select transfer_id from idempotency_keys where institution_id = $1 and transfer_id = any ($2::text[])',
);

/** Which of these ids have a transfer. */
export async function selectIdempotencyKeys(
  db: Queryable,
  institutionId: InstitutionId,
  transferIds: readonly string[],
): Promise<ReadonlySet<string>> {
  const { rows } = await db.query<{ transfer_id: string }>(idempotencyKeys, [institutionId, transferIds]);
  return new Set(rows.map((row) => row.transfer_id));
}

/** The person holds the account that a reversal pays back to, which was the source of the original. */
export function gotItBack(person: string): string {
  return `exists (select from holders h where h.institution_id = $1 and h.account_key = t.to_key and h.person_key = ${person})`;
}

/** Of a transfer `t` the other end of a reversal. `originalIsSeen`, in SQL: whether the caller may see the original of `t`. */
export function reversalLinks(originalIsSeen: string): string {
  return `case when t.reverses_key is not null and (${originalIsSeen}) then (
            select o.transfer_id from transfers o
            where o.institution_id = $1 and o.transfer_key = t.reverses_key) end as reverses,
          case when t.status = 'COMPLETED' then (
            select r.transfer_id from transfers r
            where r.institution_id = $1 and r.reverses_key = t.transfer_key and r.reverses_key is not null
              and r.status <> 'FAILED') end as reversed_by`;
}

const transfersById = sql(
  'transfers_by_id',
  `select t.transfer_key, t.transfer_id, t.transfer_type, t.from_account_id, t.to_account_id, t.from_key, t.to_key,
          t.amount, t.currency, t.status, t.failure_code, t.failure_detail, t.client_id, t.user_key, t.created_at,
          t.payment_option, t.previous_year_contribution, t.reverses_key, t.operator, t.memo, t.exceeded_limit,
          asked.person_key,
          exists (select from holders h where h.institution_id = t.institution_id
                  and h.account_key = t.from_key and h.person_key = asked.person_key)
            or t.reverses_key is not null and ${gotItBack('asked.person_key')} as source_held,
          ${reversalLinks(`asked.person_key is null or ${gotItBack('asked.person_key')}`)}
   from unnest($2::text[], $3::bigint[]) as asked (transfer_id, person_key)
   join idempotency_keys u on u.institution_id = $1 and u.transfer_id = asked.transfer_id
     and u.transfer_id = any ($2::text[])
   join transfers t on t.institution_id = $1 and t.transfer_key = u.transfer_key`,
);

/** Minor units as text: a JSON number would be read through a float. */
interface LimitJson {
  readonly subject: ExceededLimit['subject'];
  readonly period: ExceededLimit['period'];
  readonly remainingMinor: string | null;
  readonly resetsAt: string | null;
}

function limitAsJson({ remainingMinor, resetsAt, ...limit }: ExceededLimit): string {
  const json: LimitJson = {
    ...limit,
    remainingMinor: remainingMinor === null ? null : String(remainingMinor),
    resetsAt: resetsAt?.toISOString() ?? null,
  };
  return JSON.stringify(json);
}

function limitOfJson({ subject, period, remainingMinor, resetsAt }: LimitJson): ExceededLimit {
  return {
    subject,
    period,
    remainingMinor: remainingMinor === null ? null : BigInt(remainingMinor),
    resetsAt: resetsAt === null ? null : new Date(resetsAt),
  };
}

/** One row per id asked for that exists; `personKey` is who asks, null for a client. */
export async function selectTransfersById(
  db: Queryable,
  institutionId: InstitutionId,
  asked: readonly { readonly transferId: string; readonly personKey: bigint | null }[],
): Promise<(SeenTransferRow & { readonly personKey: bigint | null })[]> {
  if (asked.length === 0) return [];
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
    client_id: string | null;
    user_key: bigint | null;
    created_at: Date;
    payment_option: LoanPaymentOption | null;
    previous_year_contribution: boolean | null;
    reverses_key: bigint | null;
    reverses: string | null;
    reversed_by: string | null;
    operator: string | null;
    memo: string | null;
    exceeded_limit: LimitJson | null;
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
    paymentOption: row.payment_option,
    previousYearContribution: row.previous_year_contribution,
    reversesKey: row.reverses_key,
    reverses: row.reverses,
    reversedBy: row.reversed_by,
    operator: row.operator,
    memo: row.memo,
    exceededLimit: row.exceeded_limit && limitOfJson(row.exceeded_limit),
    personKey: row.person_key,
    sourceHeld: row.source_held,
  }));
}

const reversedKeys = sql(
  'transfers_reversed_keys',
  `select r.reverses_key
   from idempotency_keys i
   join transfers r on r.institution_id = $1 and r.reverses_key = i.transfer_key
     and r.reverses_key is not null and r.status <> 'FAILED'
   where i.institution_id = $1 and i.transfer_id = any ($2::text[])`,
);

/** Which of these transfers have been reversed. */
export async function selectReversedKeys(
  db: Queryable,
  institutionId: InstitutionId,
  transferIds: readonly string[],
): Promise<ReadonlySet<bigint>> {
  const { rows } = await db.query<{ reverses_key: bigint }>(reversedKeys, [institutionId, transferIds]);
  return new Set(rows.map((row) => row.reverses_key));
}

const writeTransfers = sql(
  'transfers_write',
  `with ids as (
     insert into idempotency_keys (institution_id, transfer_id, transfer_key)
     select $1, v.transfer_id, v.transfer_key from unnest($3::new_transfer[]) as v
     returning 1
   ), written as (
     insert into transfers (institution_id, transfer_key, transfer_id, transfer_type, from_account_id, to_account_id,
                            from_key, to_key, amount, currency, status, failure_code, failure_detail, client_id,
                            user_key, payment_option, previous_year_contribution, reverses_key, operator, address, request_id,
                            memo, exceeded_limit, created_at, settled_at)
     select $1, v.*, $2,
            case when v.status = 'PENDING' then null when cardinality($4::bigint[]) = 0 then $2::timestamptz
                 else coalesce((select l.at from unnest($4::bigint[], $5::timestamptz[]) as l (transfer_key, at)
                                where l.transfer_key = v.transfer_key), $2) end
     from unnest($3::new_transfer[]) as v
     returning 1
   )
   select expect_rows('idempotency_keys', (select count(*) from ids), cardinality($3::new_transfer[])),
          expect_rows('transfers', (select count(*) from written), cardinality($3::new_transfer[]))`,
);

/**
 * The id and its transfer, together, created at `at` and settled when its money was recorded. A unique violation: another
 * process used the id meanwhile.
 */
export function insertTransfers(
  institutionId: InstitutionId,
  transfers: readonly OrderedTransferRow[],
  at: Date,
  recordedLater: ReadonlyMap<bigint, Date>,
): readonly Write[] {
  if (transfers.length === 0) return [];
  // Sorted, so that two processes that use the same ids wait for each other in one direction.
  const rows = transfers.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  return [
    {
      statement: writeTransfers,
      values: [
        institutionId,
        at,
        rowsOf(rows, (row) => [
          row.transferKey,
          row.id,
          row.transferType,
          row.fromAccountId,
          row.toAccountId,
          row.fromKey,
          row.toKey,
          row.amountMinor,
          row.currencyCode,
          row.status,
          row.failureCode,
          row.failureDetail,
          row.clientId,
          row.userKey,
          row.paymentOption,
          row.previousYearContribution,
          row.reversesKey,
          row.operator,
          row.origin.address,
          row.origin.transactionId,
          row.memo,
          row.exceededLimit && limitAsJson(row.exceededLimit),
        ]),
        [...recordedLater.keys()],
        [...recordedLater.values()],
      ],
    },
  ];
}

const changeStatus = counted(
  'transfers_change_status',
  'transfers',
  'cardinality($3::bigint[])',
  `update transfers t
   set status = v.status, failure_code = v.failure_code, failure_detail = v.failure_detail, settled_at = coalesce(v.settled_at, $2),
       operator = coalesce(v.operator, t.operator)
   from unnest($3::bigint[], $4::text[], $5::text[], $6::text[], $7::text[], $8::timestamptz[])
     as v (transfer_key, status, failure_code, failure_detail, operator, settled_at)
   where t.institution_id = $1 and t.transfer_key = v.transfer_key and t.status = 'PENDING'
     and t.transfer_key = any ($3::bigint[])`,
);

const endPending = counted(
  'transfers_end_pending',
  'pending_transfers',
  'cardinality($2::bigint[])',
  `delete from pending_transfers where institution_id = $1 and transfer_key = any ($2::bigint[])`,
);

/** Ends what was pending. Each must still be: the accounts are locked, so nobody else can have ended it. */
export function finishTransfers(
  institutionId: InstitutionId,
  rows: readonly TransferRow[],
  at: Date,
  recordedLater: ReadonlyMap<bigint, Date>,
): readonly Write[] {
  if (rows.length === 0) return [];
  const keys = rows.map((row) => row.transferKey);
  const changes = [
    institutionId,
    at,
    keys,
    rows.map((row) => row.status),
    rows.map((row) => row.failureCode ?? null),
    rows.map((row) => row.failureDetail ?? null),
    rows.map((row) => row.operator),
    rows.map((row) => recordedLater.get(row.transferKey) ?? null),
  ];
  return [
    { statement: changeStatus, values: changes },
    { statement: endPending, values: [institutionId, keys] },
  ];
}
