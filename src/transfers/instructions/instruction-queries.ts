import {
  columnsOf,
  counted,
  type InstitutionId,
  type Queryable,
  rowsOf,
  sql,
  type Write,
} from '../../storage/index.ts';
import type { CoreMode } from '../rules/controls/core-path.ts';

/** An instruction to the core. Its key is the key of its transfer. */
export interface Instruction {
  readonly transferKey: bigint;
  readonly mode: CoreMode;
  readonly state: 'OPEN' | 'ACCEPTED' | 'REJECTED' | 'WITHDRAWN';
  /** The core has fetched the instruction and may have carried it out. */
  readonly isDelivered: boolean;
}

const instructionsOf = sql(
  'transfers_instructions_for_update',
  `select i.instruction_key as transfer_key, i.mode, i.state, i.delivered_at is not null as is_delivered
   from core_instructions i
   where i.institution_id = $1 and i.instruction_key = any (array(
     select u.transfer_key from idempotency_keys u where u.institution_id = $1 and u.transfer_id = any ($2::text[])))
   order by i.instruction_key for no key update`,
);

/** Locked in key order, so that none is delivered between the decision on its transfer and the commit. */
export async function selectInstructionsForUpdate(
  tx: Queryable,
  transferIds: readonly string[],
): Promise<Instruction[]> {
  return (await tx.query<Instruction>(instructionsOf, [tx.institutionId, transferIds])).rows;
}

/** A new instruction, with the parts of its transfer that decide its order and the exposure. */
export interface IssuedInstruction {
  readonly transferKey: bigint;
  readonly mode: CoreMode;
  /** WITHDRAWN: its transfer ended in the batch that issued it. */
  readonly state: 'OPEN' | 'WITHDRAWN';
  /** YYYY-MM-DD */
  readonly businessDate: string;
  readonly fromKey: bigint;
  readonly toKey: bigint;
  readonly amountMinor: bigint;
  readonly currencyCode: string;
}

const issue = counted(
  'transfers_issue_instructions',
  'core_instructions',
  'cardinality($3::new_instruction[])',
  `insert into core_instructions (institution_id, instruction_key, mode, state, business_date, from_key, to_key, amount, currency,
                                  issued_at, decided_at)
   select $1, v.instruction_key, v.mode, v.state, v.business_date, v.from_key, v.to_key, v.amount, v.currency,
          $2, case v.state when 'WITHDRAWN' then $2::timestamptz end
   from unnest($3::new_instruction[]) with ordinality as v (instruction_key, mode, state, business_date, from_key, to_key, amount,
                                                            currency, place)
   order by v.place`,
);

/** Numbered in this order. Before the transfers and their terms, whose triggers look for them. */
export function insertInstructions(
  institutionId: InstitutionId,
  rows: readonly IssuedInstruction[],
  at: Date,
): readonly Write[] {
  if (rows.length === 0) return [];
  const cells = rowsOf(rows, (row) => [
    row.transferKey,
    row.mode,
    row.state,
    row.businessDate,
    row.fromKey,
    row.toKey,
    row.amountMinor,
    row.currencyCode,
  ]);
  return [{ statement: issue, values: [institutionId, at, cells] }];
}

/** The end of an instruction. */
export interface DecidedInstruction {
  readonly transferKey: bigint;
  readonly state: 'ACCEPTED' | 'REJECTED' | 'WITHDRAWN';
  readonly coreReference: string | null;
  readonly refusalCode: string | null;
  readonly refusalReason: string | null;
  readonly decidedBy: string | null;
  readonly decidedOperator: string | null;
  readonly decidedRequest: string | null;
}

const decide = counted(
  'transfers_decide_instructions',
  'core_instructions',
  'cardinality($3::bigint[])',
  `update core_instructions i
   set state = v.state, decided_at = $2, core_reference = v.core_reference, refusal_code = v.refusal_code,
       refusal_reason = v.refusal_reason, decided_by = v.decided_by, decided_operator = v.decided_operator,
       decided_request = v.decided_request,
       delivered_at = case v.state when 'WITHDRAWN' then i.delivered_at else coalesce(i.delivered_at, $2) end
   from unnest($3::bigint[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[])
     as v (instruction_key, state, core_reference, refusal_code, refusal_reason, decided_by, decided_operator, decided_request)
   where i.institution_id = $1 and i.instruction_key = v.instruction_key and i.instruction_key = any ($3::bigint[])`,
);

/** A core that reports an outcome has the instruction, even if this database never noted the delivery (a restored one). */
export function decideInstructions(
  institutionId: InstitutionId,
  rows: readonly DecidedInstruction[],
  at: Date,
): readonly Write[] {
  if (rows.length === 0) return [];
  const columns = columnsOf(
    rows,
    ...(['transferKey', 'state', 'coreReference', 'refusalCode', 'refusalReason'] as const),
    ...(['decidedBy', 'decidedOperator', 'decidedRequest'] as const),
  );
  return [{ statement: decide, values: [institutionId, at, ...columns] }];
}
