import type { Origin } from '../events/index.ts';
import { countingClassCodes, type LoanPaymentOption } from '../ledger/index.ts';
import { counted, type InstitutionId, type Queryable, rowsOf, sql, type Write } from '../storage/index.ts';
import type { ExceededLimit, Transfer } from './rules/transfer.ts';

/** A stored transfer: with the keys behind its public ids, and its caller. */
export interface TransferRow extends Transfer {
  readonly transferKey: bigint;
  readonly fromKey: bigint | null;
  readonly toKey: bigint | null;
  /** Null if an operator ordered it. */
  readonly clientId: string | null;
  readonly userKey: bigint | null;
  readonly paymentOption: LoanPaymentOption | null;
  readonly previousYearContribution: boolean | null;
  /** The transfer that this one takes back. */
  readonly reversesKey: bigint | null;
  /** The operator who acted on it last. */
  readonly operator: string | null;
}

/** A new transfer, with the request or command that ordered it. */
export interface OrderedTransferRow extends TransferRow {
  readonly origin: Origin;
}

export interface SeenTransferRow extends TransferRow {
  /** The caller holds the source account or, for a reversal, the source account of its original. */
  readonly sourceHeld: boolean;
}

const idempotencyKeys = sql(
  'transfers_idempotency_keys',
  'select transfer_id from idempotency_keys where institution_id = $1 and transfer_id = any ($2::text[])',
);

/** The ids among these that are used. */
export async function selectIdempotencyKeys(
  db: Queryable,
  transferIds: readonly string[],
): Promise<ReadonlySet<string>> {
  const { rows } = await db.query<{ transferId: string }>(idempotencyKeys, [db.institutionId, transferIds]);
  return new Set(rows.map((row) => row.transferId));
}

/** SQL: the person holds the account that a reversal pays back to, which was the source of the original. */
export function gotItBack(person: string): string {
  return `exists (select from holders h where h.institution_id = $1 and h.account_key = t.to_key and h.person_key = ${person})`;
}

/** SQL: the other end of a reversal, for a transfer `t`. `originalIsSeen`: whether the caller may see the original of `t`. */
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
  `select t.transfer_key, t.transfer_id as id, t.transfer_type, t.from_account_id, t.to_account_id, t.from_key, t.to_key,
          t.amount as amount_minor, t.currency as currency_code, t.status, t.failure_code, t.failure_detail, t.client_id, t.user_key, t.created_at,
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

/** Minor units as text: a JSON number would pass through a float. */
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

/** A transfer as one caller may see it; `personKey` is the caller's, null for a client. */
export type AskedTransferRow = SeenTransferRow & { readonly personKey: bigint | null };

/** One row per id that exists. */
export async function selectTransfersById(
  db: Queryable,
  asked: readonly { readonly transferId: string; readonly personKey: bigint | null }[],
): Promise<AskedTransferRow[]> {
  if (asked.length === 0) return [];
  const { rows } = await db.query<AskedTransferRow & { readonly exceededLimit: LimitJson | null }>(
    transfersById,
    [db.institutionId, asked.map((one) => one.transferId), asked.map((one) => one.personKey)],
  );
  return rows.map((row) => ({ ...row, exceededLimit: row.exceededLimit && limitOfJson(row.exceededLimit) }));
}

/** The transfer, if this person may see it; without a person, as a client or the institution sees it. */
export async function selectTransferById(
  db: Queryable,
  transferId: string,
  personKey: bigint | null = null,
): Promise<SeenTransferRow | undefined> {
  return (await selectTransfersById(db, [{ transferId, personKey }]))[0];
}

const reversedKeys = sql(
  'transfers_reversed_keys',
  `select r.reverses_key
   from idempotency_keys i
   join transfers r on r.institution_id = $1 and r.reverses_key = i.transfer_key
     and r.reverses_key is not null and r.status <> 'FAILED'
   where i.institution_id = $1 and i.transfer_id = any ($2::text[])`,
);

/** The transfers among these that were reversed. */
export async function selectReversedKeys(
  db: Queryable,
  transferIds: readonly string[],
): Promise<ReadonlySet<bigint>> {
  const { rows } = await db.query<{ reversesKey: bigint }>(reversedKeys, [db.institutionId, transferIds]);
  return new Set(rows.map((row) => row.reversesKey));
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
                            memo, exceeded_limit, created_at, settled_at, list_class)
     select $1, v.*, $2,
            case when v.status = 'PENDING' then null when cardinality($4::bigint[]) = 0 then $2::timestamptz
                 else coalesce((select l.at from unnest($4::bigint[], $5::timestamptz[]) as l (transfer_key, at)
                                where l.transfer_key = v.transfer_key), $2) end,
            list_class_of(v.status, v.transfer_type)
     from unnest($3::new_transfer[]) as v
     returning 1
   )
   select expect_rows('idempotency_keys', (select count(*) from ids), cardinality($3::new_transfer[])),
          expect_rows('transfers', (select count(*) from written), cardinality($3::new_transfer[]))`,
);

/** The time of the batch, and the later time of each transfer whose entries had to be dated later (Book). */
interface Recorded {
  readonly at: Date;
  readonly recordedLater: ReadonlyMap<bigint, Date>;
}

/**
 * Inserts each id with its transfer, created at `at` and settled when its entries were recorded. A unique violation means
 * that another process used the id meanwhile.
 */
export function insertTransfers(
  institutionId: InstitutionId,
  transfers: readonly OrderedTransferRow[],
  { at, recordedLater }: Recorded,
): readonly Write[] {
  if (transfers.length === 0) return [];
  // Sorted, so that two processes with the same ids wait for each other in one direction only.
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

/** Ends pending transfers. Each is still pending: the accounts are locked, so no other process can have ended it. */
export function finishTransfers(
  institutionId: InstitutionId,
  rows: readonly TransferRow[],
  { at, recordedLater }: Recorded,
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

const paid = sql(
  'transfers_has_paid',
  `select exists (
     select from accounts a
     cross join lateral (
       select from transfers t
       where t.institution_id = $1 and t.from_key = a.account_key and t.list_class = any (${countingClassCodes})
         and t.created_at > $4 and t.to_key = $3 and t.status = 'COMPLETED'
       limit 1) t
     where a.institution_id = $1 and a.customer_key = $2) as has_paid`,
);

/** Whether an account of the membership has paid the account since. */
export async function hasPaid(
  db: Queryable,
  {
    customerKey,
    toKey,
    since,
  }: { readonly customerKey: bigint | null; readonly toKey: bigint; readonly since: Date },
): Promise<boolean> {
  const { rows } = await db.query<{ hasPaid: boolean }>(paid, [db.institutionId, customerKey, toKey, since]);
  return rows[0]?.hasPaid === true;
}
