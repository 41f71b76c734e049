import { type ListClass, listClasses } from '../ledger/index.ts';
import { type InstitutionId, type Queryable, sql } from '../storage/index.ts';
import { gotItBack, reversalLinks } from './queries.ts';
import type { FailureCode, Transfer, TransferStatus, TransferType } from './rules/transfer.ts';

/** Which transfers a list wants, as its statements take it. */
export interface ListWanted {
  /** Of each status and type that is wanted. */
  readonly classes: readonly number[];
  /** Created at or after this. */
  readonly start: Date | null;
  /** Older than this: created before it or, at that instant, with a smaller key. Null: from the newest. */
  readonly before: { readonly at: Date; readonly key: bigint } | null;
  readonly limit: number;
}

export function classesOf(status: TransferStatus | null, transferType: TransferType | null): number[] {
  return listClasses
    .filter((one) => status === null || one.status === status)
    .filter((one) => transferType === null || one.transferType === transferType)
    .map((one) => one.code);
}

const columns = `t.transfer_key, t.transfer_id, t.transfer_type, t.from_account_id, t.to_account_id, t.from_key, t.to_key, t.reverses_key,
  t.amount, t.currency, t.status, t.failure_code, t.failure_detail, t.user_key, t.created_at, t.memo`;
const newestFirst = 'order by created_at desc, transfer_key desc';

/**
 * A branch for each status and type: there the index gives the rows in order, and the branches are merged until there
 * are enough. A branch that is not wanted is not run at all; none reads more rows than `most`, however it is planned.
 */
function merged(
  scope: string,
  { classes = listClasses, most = '$6' }: { classes?: readonly ListClass[]; most?: string } = {},
): string {
  return classes
    .map(
      ({ code }) => `
       (select ${columns} from transfers t
        where t.institution_id = $1 and ${scope} and t.list_class = ${code} and ${code} = any ($2::smallint[])
          and t.created_at >= $3 and (t.created_at, t.transfer_key) < ($4, $5)
        order by t.created_at desc, t.transfer_key desc limit ${most})`,
    )
    .join(' union all');
}

/** A page with the other end of each reversal: looked up for the rows of the page alone, which keep their order. */
function linked(page: string, originalIsSeen: string): string {
  return `select t.*, ${reversalLinks(originalIsSeen)} from (${page}) t`;
}

interface Row {
  readonly transfer_key: bigint;
  readonly transfer_id: string;
  readonly transfer_type: TransferType | null;
  readonly from_account_id: string;
  readonly to_account_id: string;
  readonly amount: bigint;
  readonly currency: string;
  readonly status: TransferStatus;
  readonly failure_code: FailureCode | null;
  readonly failure_detail: string | null;
  readonly created_at: Date;
  readonly reverses: string | null;
  readonly reversed_by: string | null;
  readonly memo: string | null;
}

export interface ListedTransfer {
  readonly transferKey: bigint;
  readonly transfer: Transfer;
}

function valuesOf(institutionId: InstitutionId, { classes, start, before, limit }: ListWanted): unknown[] {
  return [institutionId, classes, start ?? '-infinity', before?.at ?? 'infinity', before?.key ?? 0n, limit];
}

// True of every transfer: said by who asks for all, and lets no other statement take the index of all by mistake.
const ofInstitution = sql(
  'transfers_list_of_institution',
  linked(`select * from (${merged('t.transfer_key > 0')}) t ${newestFirst} limit $6`, 'true'),
);

export async function selectTransfersOfInstitution(
  db: Queryable,
  institutionId: InstitutionId,
  wanted: ListWanted,
): Promise<ListedTransfer[]> {
  const { rows } = await db.query<Row>(ofInstitution, valuesOf(institutionId, wanted));
  return rows.map(toListed);
}

// What leaves it and what reaches it; of one refused because both are the same account, once.
const touchesAccount = (most: string) => `${merged('t.from_key = $7', { most })} union all
  ${merged('t.to_key = $7 and t.from_key is distinct from t.to_key', { most })}`;

const ofAccount = sql(
  'transfers_list_of_account',
  linked(`select * from (${touchesAccount('$6')}) t ${newestFirst} limit $6`, 'true'),
);

export async function selectTransfersOfAccount(
  db: Queryable,
  institutionId: InstitutionId,
  accountKey: bigint,
  wanted: ListWanted,
): Promise<ListedTransfer[]> {
  const { rows } = await db.query<Row>(ofAccount, [...valuesOf(institutionId, wanted), accountKey]);
  return rows.map(toListed);
}

const notFailed = listClasses.filter((one) => one.status !== 'FAILED');

// What they ordered themselves leaves an account of theirs as a rule, and is found twice.
const ofMember = sql(
  'transfers_list_of_member',
  linked(
    `select distinct on (created_at, transfer_key) * from (
     (select * from (${merged('t.user_key = $7')}) t ${newestFirst} limit $6)
     union all
     (select t.* from holders h
      cross join lateral (
        select * from (${merged('t.from_key = h.account_key', { classes: notFailed })}) t ${newestFirst} limit $6) t
      where h.institution_id = $1 and h.person_key = $8)
   ) t ${newestFirst} limit $6`,
    gotItBack('$8'),
  ),
);

export interface Asking {
  readonly userKey: bigint;
  readonly personKey: bigint;
}

/** What the user ordered and, unless it failed, what leaves the accounts that the person holds. */
export async function selectTransfersOfMember(
  db: Queryable,
  institutionId: InstitutionId,
  { userKey, personKey }: Asking,
  wanted: ListWanted,
): Promise<ListedTransfer[]> {
  const values = [...valuesOf(institutionId, wanted), userKey, personKey];
  return (await db.query<Row>(ofMember, values)).rows.map(toListed);
}

/** So many transfers of an account are looked at for a page of those that the member may see. */
const mostCandidates = 1_000;

// Others pay into the member's account, and others who hold it fail to pay from it: the one thing that no index tells
// apart. So at most $9 are looked at, and the last of these is told as well, for the next page to go on from.
const ofMemberAndAccount = sql(
  'transfers_list_of_member_and_account',
  linked(
    `select * from (
     select t.*, row_number() over (${newestFirst}) as place,
            t.user_key is not distinct from $10 or (t.status <> 'FAILED' and exists (
              select from holders h
              where h.institution_id = $1 and h.account_key = t.from_key and h.person_key = $8)) as visible
     from (${touchesAccount('$9')}) t ${newestFirst} limit $9
   ) t where visible or place = $9 ${newestFirst} limit $6`,
    gotItBack('$8'),
  ),
);

export async function selectTransfersOfMemberAndAccount(
  db: Queryable,
  institutionId: InstitutionId,
  { userKey, personKey }: Asking,
  accountKey: bigint,
  wanted: ListWanted,
): Promise<{ readonly seen: ListedTransfer[]; readonly lookedUpTo: ListedTransfer | null }> {
  const values = [...valuesOf(institutionId, wanted), accountKey, personKey, mostCandidates, userKey];
  const { rows } = await db.query<Row & { readonly place: bigint; readonly visible: boolean }>(
    ofMemberAndAccount,
    values,
  );
  const last = rows.at(-1);
  return {
    seen: rows.filter((row) => row.visible).map(toListed),
    lookedUpTo: last !== undefined && last.place === BigInt(mostCandidates) ? toListed(last) : null,
  };
}

function toListed(row: Row): ListedTransfer {
  return {
    transferKey: row.transfer_key,
    transfer: {
      id: row.transfer_id,
      transferType: row.transfer_type ?? undefined,
      fromAccountId: row.from_account_id,
      toAccountId: row.to_account_id,
      amountMinor: row.amount,
      currencyCode: row.currency,
      status: row.status,
      createdAt: row.created_at,
      failureCode: row.failure_code ?? undefined,
      failureDetail: row.failure_detail ?? undefined,
      memo: row.memo,
      reverses: row.reverses,
      reversedBy: row.reversed_by,
    },
  };
}
