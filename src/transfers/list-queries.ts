import { type ListClass, listClasses } from '../ledger/index.ts';
import { type Queryable, sql } from '../storage/index.ts';
import type { Transfer, TransferStatus, TransferType } from './rules/transfer.ts';
import { gotItBack, reversalLinks } from './transfer-queries.ts';

/** The filter of a list, as its statements take it. */
export interface ListWanted {
  /** List classes: the pairs of status and type that are wanted. */
  readonly classes: readonly number[];
  /** The earliest time of creation, inclusive. */
  readonly start: Date | null;
  /** The position behind which the page begins: earlier, or at the same instant with a smaller key. Null for the newest. */
  readonly before: { readonly at: Date; readonly key: bigint } | null;
  readonly limit: number;
}

export function classesOf(status: TransferStatus | null, transferType: TransferType | null): number[] {
  return listClasses
    .filter((one) => status === null || one.status === status)
    .filter((one) => transferType === null || one.transferType === transferType)
    .map((one) => one.code);
}

const columns = `t.transfer_key, t.transfer_id as id, t.transfer_type, t.from_account_id, t.to_account_id, t.from_key, t.to_key,
  t.reverses_key, t.amount as amount_minor, t.currency as currency_code, t.status, t.failure_code, t.failure_detail, t.user_key, t.created_at, t.memo`;
const newestFirst = 'order by created_at desc, transfer_key desc';

/**
 * A branch for each status and type, in which the index returns the rows in order; the branches are merged. A branch that is
 * not wanted does not run, and no branch reads more rows than `most`, in any plan.
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

/** A page with the other end of each reversal, which is looked up only for the rows of the page. */
function linked(page: string, originalIsSeen: string): string {
  return `select t.*, ${reversalLinks(originalIsSeen)} from (${page}) t`;
}

export interface ListedTransfer extends Transfer {
  readonly transferKey: bigint;
  readonly toKey: bigint | null;
}

function valuesOf({ institutionId }: Queryable, { classes, start, before, limit }: ListWanted): unknown[] {
  return [institutionId, classes, start ?? '-infinity', before?.at ?? 'infinity', before?.key ?? 0n, limit];
}

// The condition is true of every transfer: it names the index of all, which no other statement takes by mistake.
const ofInstitution = sql(
  'transfers_list_of_institution',
  linked(`select * from (${merged('t.transfer_key > 0')}) t ${newestFirst} limit $6`, 'true'),
);

export async function selectTransfersOfInstitution(
  db: Queryable,
  wanted: ListWanted,
): Promise<ListedTransfer[]> {
  return (await db.query<ListedTransfer>(ofInstitution, valuesOf(db, wanted))).rows;
}

// Transfers from the account and to it. A transfer that was refused because both accounts are the same is listed once.
const touchesAccount = (most: string) => `${merged('t.from_key = $7', { most })} union all
  ${merged('t.to_key = $7 and t.from_key is distinct from t.to_key', { most })}`;

const ofAccount = sql(
  'transfers_list_of_account',
  linked(`select * from (${touchesAccount('$6')}) t ${newestFirst} limit $6`, 'true'),
);

export async function selectTransfersOfAccount(
  db: Queryable,
  accountKey: bigint,
  wanted: ListWanted,
): Promise<ListedTransfer[]> {
  return (await db.query<ListedTransfer>(ofAccount, [...valuesOf(db, wanted), accountKey])).rows;
}

const notFailed = listClasses.filter((one) => one.status !== 'FAILED');
const failed = listClasses.filter((one) => one.status === 'FAILED');

// An order of the member usually leaves an account of the member, and so is found twice.
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

/** The user's orders and, unless they failed, the transfers from accounts that the person holds. */
export async function selectTransfersOfMember(
  db: Queryable,
  { userKey, personKey }: Asking,
  wanted: ListWanted,
): Promise<ListedTransfer[]> {
  const values = [...valuesOf(db, wanted), userKey, personKey];
  return (await db.query<ListedTransfer>(ofMember, values)).rows;
}

// Beside the covered accounts that the person holds, none is looked at: others' transfers and the member's own orders from elsewhere
// do not exist for the app. Own orders that failed are found by their member, who has few: the sum keeps the planner from the accounts' index.
const withinConsent = sql(
  'transfers_list_within_consent',
  linked(
    `select * from (
     (select t.* from unnest($8::bigint[]) as k (account_key)
      cross join lateral (
        select * from (${merged('t.from_key = k.account_key', { classes: notFailed })}) t ${newestFirst} limit $6) t)
     union all
     (select * from (${merged('t.user_key = $7 and t.from_key + 0 = any ($8)', { classes: failed })}) t ${newestFirst} limit $6)
   ) t ${newestFirst} limit $6`,
    'true',
  ),
);

/** Within the covered accounts: the transfers from them, and the user's own orders from them that failed. */
export async function selectTransfersWithinConsent(
  db: Queryable,
  { userKey, covered }: { readonly userKey: bigint; readonly covered: readonly bigint[] },
  wanted: ListWanted,
): Promise<ListedTransfer[]> {
  const values = [...valuesOf(db, wanted), userKey, covered];
  return (await db.query<ListedTransfer>(withinConsent, values)).rows;
}

/** Transfers of an account that are read for one page of those that the member may see. */
const mostCandidates = 1_000;

// No index separates the transfers that others pay into the member's account, or fail to pay from it. So the statement reads
// at most $9 candidates, and returns the last of them as well: the next page continues there.
const ofMemberAndAccount = sql(
  'transfers_list_of_member_and_account',
  linked(
    `select * from (
     select t.*, row_number() over (${newestFirst}) as candidate,
            ($11::bigint[] is null or t.from_key = any ($11)) and (t.user_key is not distinct from $10
              or (t.status <> 'FAILED' and exists (
                select from holders h
                where h.institution_id = $1 and h.account_key = t.from_key and h.person_key = $8))) as is_visible
     from (${touchesAccount('$9')}) t ${newestFirst} limit $9
   ) t where is_visible or candidate = $9 ${newestFirst} limit $6`,
    gotItBack('$8'),
  ),
);

export async function selectTransfersOfMemberAndAccount(
  db: Queryable,
  {
    userKey,
    personKey,
    accountKey,
    covered,
  }: Asking & { readonly accountKey: bigint; readonly covered: readonly bigint[] | null },
  wanted: ListWanted,
): Promise<{ readonly rows: ListedTransfer[]; readonly lookedUpTo: ListedTransfer | null }> {
  const values = [...valuesOf(db, wanted), accountKey, personKey, mostCandidates, userKey, covered];
  const { rows } = await db.query<
    ListedTransfer & { readonly candidate: bigint; readonly isVisible: boolean }
  >(ofMemberAndAccount, values);
  const last = rows.at(-1);
  return {
    rows: rows.filter((row) => row.isVisible),
    lookedUpTo: last !== undefined && last.candidate === BigInt(mostCandidates) ? last : null,
  };
}
