import { nameOf, type Operator } from '../../events/index.ts';
import {
  columnsOf,
  counted,
  type Directory,
  type InstitutionId,
  inserting,
  type Queryable,
  sql,
  type Write,
} from '../../storage/index.ts';
import type { PendingTerms } from '../rules/controls/policies.ts';

/** A pending transfer's terms and approvals. */
export interface PendingRow extends PendingTerms {
  readonly transferKey: bigint;
  /** The names of each person who approved it. */
  readonly approvedBy: readonly (readonly string[])[];
  /** An operator has locked or deactivated the user who ordered it: it does not post by the clock. */
  readonly isOrdererShutOut: boolean;
}

/** SQL: an operator has locked or deactivated the user who ordered the transfer `t`. */
const ordererShutOut = `exists (
            select from users u
            where u.institution_id = $1 and u.user_key = t.user_key and (u.locked_by_operator or not u.active))`;

const pendingById = sql(
  'transfers_pending_by_id',
  `select p.transfer_key, p.held_for, p.due_at, p.when_due, p.approvals_needed, p.not_before,
          (select coalesce(json_agg(array_remove(array[a.operator, a.sudo_user], null)), '[]') from transfer_approvals a
           where a.institution_id = $1 and a.transfer_key = p.transfer_key) as approved_by,
          ${ordererShutOut} as is_orderer_shut_out
   from idempotency_keys i
   join pending_transfers p on p.institution_id = $1 and p.transfer_key = i.transfer_key
   join transfers t on t.institution_id = $1 and t.transfer_key = i.transfer_key
   where i.institution_id = $1 and i.transfer_id = any ($2::text[])`,
);

export async function selectPending(db: Queryable, transferIds: readonly string[]): Promise<PendingRow[]> {
  return (await db.query<PendingRow>(pendingById, [db.institutionId, transferIds])).rows;
}

/** The members of a transfer that an act needs before the accounts are locked. */
export interface PendingName {
  readonly transferId: string;
  readonly fromAccountId: string;
  readonly toAccountId: string;
}

/** A position in the list of pending transfers, the first due first. */
export interface PendingPosition {
  readonly dueAt: Date;
  readonly transferKey: bigint;
}

/** The position before the first pending transfer. */
export const firstPosition: PendingPosition = { dueAt: new Date(0), transferKey: 0n };

const due = sql(
  'transfers_due',
  `select p.due_at, p.transfer_key, t.transfer_id, t.from_account_id, t.to_account_id
   from pending_transfers p
   join transfers t on t.institution_id = p.institution_id and t.transfer_key = p.transfer_key
   where p.institution_id = $1 and p.due_at <= $2 and (p.due_at, p.transfer_key) > ($3::timestamptz, $4::bigint)
     and not (p.when_due = 'POST' and ${ordererShutOut})
     and not (p.held_for = 'CORE' and exists (
       select from core_instructions i
       where i.institution_id = $1 and i.instruction_key = p.transfer_key and i.delivered_at is not null))
   order by p.due_at, p.transfer_key limit $5`,
);

/** The next due transfers after a position, without those that the clock does not end. */
export async function selectDue(
  db: Queryable,
  { now, after, most }: { readonly now: Date; readonly after: PendingPosition; readonly most: number },
): Promise<(PendingName & PendingPosition)[]> {
  const values = [db.institutionId, now, after.dueAt, after.transferKey, most];
  return (await db.query<PendingName & PendingPosition>(due, values)).rows;
}

const toSettle = sql('transfers_to_settle', 'select institution from transfers_to_settle($1)');

/** Institutions with a due transfer, by the condition of `selectDue`. */
export async function selectInstitutionsToSettle(db: Directory, now: Date): Promise<InstitutionId[]> {
  const { rows } = await db.query<{ institution: InstitutionId }>(toSettle, [now]);
  return rows.map(({ institution }) => institution);
}

/** Runs after the ledger has the holds and the transfers are written. */
export const insertPending = inserting<PendingTerms & { readonly transferKey: bigint }>(
  'transfers_hold',
  'pending_transfers',
  {
    transferKey: 'bigint',
    heldFor: 'text',
    dueAt: 'timestamptz',
    whenDue: 'text',
    approvalsNeeded: 'smallint',
    notBefore: 'timestamptz',
  },
);

const postpone = counted(
  'transfers_postpone',
  'pending_transfers',
  'cardinality($2::bigint[])',
  `update pending_transfers p set held_for = v.held_for, due_at = v.due_at, when_due = v.when_due
   from unnest($2::bigint[], $3::text[], $4::timestamptz[], $5::text[]) as v (transfer_key, held_for, due_at, when_due)
   where p.institution_id = $1 and p.transfer_key = v.transfer_key and p.transfer_key = any ($2::bigint[])`,
);

export function updatePending(
  institutionId: InstitutionId,
  rows: readonly Pick<PendingRow, 'transferKey' | 'heldFor' | 'dueAt' | 'whenDue'>[],
): readonly Write[] {
  if (rows.length === 0) return [];
  const columns = columnsOf(rows, 'transferKey', 'heldFor', 'dueAt', 'whenDue');
  return [{ statement: postpone, values: [institutionId, ...columns] }];
}

export interface Approval {
  readonly transferKey: bigint;
  readonly operator: Operator;
}

const addApprovals = inserting<{
  readonly transferKey: bigint;
  readonly operator: string;
  readonly sudoUser: string | undefined;
  readonly approvedAt: Date;
}>('transfers_approve', 'transfer_approvals', {
  transferKey: 'bigint',
  operator: 'text',
  sudoUser: 'text',
  approvedAt: 'timestamptz',
});

/** The database refuses (SD021) a person who has approved it before. */
export function insertApprovals(
  institutionId: InstitutionId,
  rows: readonly Approval[],
  approvedAt: Date,
): readonly Write[] {
  const named = rows.map(({ transferKey, operator }) => {
    return { transferKey, operator: nameOf(operator), sudoUser: operator.sudoUser, approvedAt };
  });
  return addApprovals(institutionId, named);
}

/** For the operator's list. */
export interface ReviewRow extends PendingTerms, PendingPosition {
  readonly transferId: string;
  readonly transferType: string;
  readonly fromAccountId: string;
  readonly toAccountId: string;
  readonly amountMinor: bigint;
  readonly currencyCode: string;
  readonly createdAt: Date;
  /** The names of each person who approved it, the first first. */
  readonly approvedBy: readonly (readonly string[])[];
  readonly isOrdererShutOut: boolean;
  /** The core has its instruction, and may have carried it out. */
  readonly isWithCore: boolean;
}

const pendingPage = sql(
  'transfers_pending_page',
  `select p.transfer_key, t.transfer_id, t.transfer_type, t.from_account_id, t.to_account_id, t.amount as amount_minor,
          t.currency as currency_code, t.created_at,
          p.held_for, p.due_at, p.when_due, p.approvals_needed, p.not_before,
          (select coalesce(json_agg(array_remove(array[a.operator, a.sudo_user], null) order by a.approved_at), '[]')
           from transfer_approvals a
           where a.institution_id = $1 and a.transfer_key = p.transfer_key) as approved_by,
          ${ordererShutOut} as is_orderer_shut_out,
          exists (select from core_instructions i
                  where i.institution_id = $1 and i.instruction_key = p.transfer_key and i.state = 'OPEN'
                    and i.delivered_at is not null) as is_with_core
   from pending_transfers p
   join transfers t on t.institution_id = p.institution_id and t.transfer_key = p.transfer_key
   where p.institution_id = $1 and (p.due_at, p.transfer_key) > ($2::timestamptz, $3::bigint)
     and ($5::text is null or p.held_for = $5)
     and ($6::timestamptz is null or t.created_at > $6) and ($7::timestamptz is null or t.created_at <= $7)
   order by p.due_at, p.transfer_key limit $4`,
);

/** Undefined and null: any. */
export interface PendingFilter {
  readonly heldFor?: PendingTerms['heldFor'] | undefined;
  /** Behind `after`, up to and including `until`. */
  readonly ordered?: { readonly after: Date | null; readonly until: Date | null } | undefined;
}

/** The next pending transfers after a position, the first due first. */
export async function selectPendingPage(
  db: Queryable,
  position: PendingPosition,
  { filter: { heldFor, ordered }, limit }: { readonly filter: PendingFilter; readonly limit: number },
): Promise<ReviewRow[]> {
  const of = [heldFor ?? null, ordered?.after ?? null, ordered?.until ?? null];
  const values = [db.institutionId, position.dueAt, position.transferKey, limit, ...of];
  return (await db.query<ReviewRow>(pendingPage, values)).rows;
}
