import { type Queryable, sql } from '../../storage/index.ts';
import type { CoreMode } from '../rules/controls/core-path.ts';
import type { Screening } from '../rules/controls/screening.ts';

/** The facts of a transfer that only operators see. */
export interface CircumstancesRow {
  readonly userId: string | null;
  /** The transaction id of the request or command that ordered it. */
  readonly requestId: string | null;
  /** Null while it is pending. */
  readonly settledAt: Date | null;
}

const circumstances = sql(
  'transfers_circumstances',
  `select u.user_id, t.request_id, t.settled_at
   from transfers t
   left join users u on u.institution_id = $1 and u.user_key = t.user_key
   where t.institution_id = $1 and t.transfer_key = $2`,
);

export async function selectCircumstances(db: Queryable, transferKey: bigint): Promise<CircumstancesRow> {
  const { rows } = await db.query<CircumstancesRow>(circumstances, [db.institutionId, transferKey]);
  return rows[0] as CircumstancesRow;
}

const screening = sql(
  'transfers_screening_of',
  `select verdict, answer, reference, asked_millis from transfer_screenings where institution_id = $1 and transfer_key = $2`,
);

/** The verdict of screening; null for an order that was not screened. */
export async function selectScreeningOf(db: Queryable, transferKey: bigint): Promise<Screening | null> {
  return (await db.query<Screening>(screening, [db.institutionId, transferKey])).rows[0] ?? null;
}

/** The instruction to the core, with the outcome that the core reported. */
export interface CoreInstructionRow {
  readonly mode: CoreMode;
  readonly state: 'OPEN' | 'ACCEPTED' | 'REJECTED' | 'WITHDRAWN';
  readonly issuedAt: Date;
  /** The core first had it then. */
  readonly deliveredAt: Date | null;
  readonly fileNumber: number | null;
  readonly decidedAt: Date | null;
  /** The receipt of the core. */
  readonly coreReference: string | null;
  readonly refusalCode: string | null;
  readonly refusalReason: string | null;
  /** The client that reported the outcome; an operator did for a file. */
  readonly decidedBy: string | null;
  readonly decidedOperator: string | null;
}

const coreInstruction = sql(
  'transfers_core_instruction_of',
  `select mode, state, issued_at, delivered_at, file_number, decided_at, core_reference, refusal_code, refusal_reason, decided_by,
          decided_operator
   from core_instructions where institution_id = $1 and instruction_key = $2`,
);

/** Null if no core carries the transfer out. */
export async function selectCoreInstruction(
  db: Queryable,
  transferKey: bigint,
): Promise<CoreInstructionRow | null> {
  const { rows } = await db.query<CoreInstructionRow>(coreInstruction, [db.institutionId, transferKey]);
  return rows[0] ?? null;
}

export interface EntryOfTransferRow {
  readonly accountKey: bigint;
  readonly seq: bigint;
  readonly kind: string;
  readonly amount: bigint;
  readonly postedAfter: bigint;
  readonly debitsPendingAfter: bigint;
  readonly creditsPendingAfter: bigint;
  /** The least available balance and the greatest balance that the order allowed; null: no bound. */
  readonly floor: bigint | null;
  readonly ceiling: bigint | null;
  readonly recordedAt: Date;
}

const entries = sql(
  'transfers_entries',
  `select e.account_key, e.seq, e.kind, e.amount, e.posted_after, e.debits_pending_after, e.credits_pending_after, e.floor, e.ceiling, e.recorded_at
   from unnest($2::bigint[]) as a (account_key)
   cross join lateral (select entries_before($1, a.account_key, $4) as number offset 0) before
   join entries e on e.institution_id = $1 and e.account_key = a.account_key and e.seq > before.number
     and e.posting_key = $3
   order by e.recorded_at, e.posting_key, e.account_key, e.seq`,
);

/** On both accounts, from the time of the order on. */
export async function selectEntriesOfTransfer(
  db: Queryable,
  of: { readonly accountKeys: readonly bigint[]; readonly transferKey: bigint; readonly createdAt: Date },
): Promise<EntryOfTransferRow[]> {
  const values = [db.institutionId, of.accountKeys, of.transferKey, of.createdAt];
  return (await db.query<EntryOfTransferRow>(entries, values)).rows;
}

export interface ApprovalRow {
  readonly operator: string;
  readonly approvedAt: Date;
}

const approvals = sql(
  'transfers_approvals',
  `select operator, approved_at from transfer_approvals where institution_id = $1 and transfer_key = $2 order by approved_at`,
);

/** They stay when the transfer has ended. */
export async function selectApprovals(db: Queryable, transferKey: bigint): Promise<ApprovalRow[]> {
  return (await db.query<ApprovalRow>(approvals, [db.institutionId, transferKey])).rows;
}
