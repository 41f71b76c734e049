import { type Queryable, sql } from '../../storage/index.ts';
import type { TransferType } from '../rules/transfer.ts';
import type { UndecidedInstruction } from './lease.ts';

const undecided = sql(
  'transfers_undecided_instructions',
  `select i.instruction_key as transfer_key, i.sequence, i.from_key, i.to_key, i.leased_by, i.lease_until,
          i.file_number is not null as is_in_file
   from core_instructions i
   where i.institution_id = $1 and i.state = 'OPEN' and i.sequence > $2
   order by i.sequence limit $3`,
);

/** The next undecided instructions, in the order of delivery. */
export async function selectUndecided(
  db: Queryable,
  after: bigint,
  most: number,
): Promise<UndecidedInstruction[]> {
  return (await db.query<UndecidedInstruction>(undecided, [db.institutionId, after, most])).rows;
}

/** An instruction as the core gets it. */
export interface DeliveredInstruction {
  readonly transferKey: bigint;
  readonly id: string;
  readonly sequence: bigint;
  /** Never null: only a transfer that failed at once has no type. */
  readonly transferType: TransferType | null;
  readonly fromAccountId: string;
  readonly toAccountId: string;
  readonly amountMinor: bigint;
  readonly currencyCode: string;
  /** YYYY-MM-DD */
  readonly businessDate: string;
  readonly memo: string | null;
  readonly orderedAt: Date;
  /** The transfer that this one takes back. */
  readonly reverses: string | null;
  readonly leaseUntil: Date | null;
}

/** The columns of DeliveredInstruction, of an instruction `i` and its transfer `t`. */
export const delivered = `i.instruction_key as transfer_key, t.transfer_id as id, i.sequence, t.transfer_type, t.from_account_id, t.to_account_id,
          i.amount as amount_minor, i.currency as currency_code, i.business_date, t.memo, t.created_at as ordered_at,
          (select o.transfer_id from transfers o
           where o.institution_id = $1 and o.transfer_key = t.reverses_key) as reverses,
          i.lease_until`;

const lease = sql(
  'transfers_lease_instructions',
  `with open as (
     select instruction_key from core_instructions
     where institution_id = $1 and instruction_key = any ($2::bigint[]) and state = 'OPEN'
     order by instruction_key for no key update
   ), leased as (
     update core_instructions i
     set leased_by = $3, lease_until = $4, delivered_at = coalesce(i.delivered_at, $5)
     from open o
     where i.institution_id = $1 and i.instruction_key = o.instruction_key and i.instruction_key = any ($2::bigint[])
     returning i.*
   )
   select ${delivered}
   from leased i
   join transfers t on t.institution_id = $1 and t.transfer_key = i.instruction_key
   order by i.sequence`,
);

/** Leases those that are still undecided. Locked in key order, as the desk locks them. */
export async function leaseInstructions(
  tx: Queryable,
  {
    transferKeys,
    clientId,
    leaseUntil,
    at,
  }: {
    readonly transferKeys: readonly bigint[];
    readonly clientId: string;
    readonly leaseUntil: Date;
    readonly at: Date;
  },
): Promise<DeliveredInstruction[]> {
  const values = [tx.institutionId, transferKeys, clientId, leaseUntil, at];
  return (await tx.query<DeliveredInstruction>(lease, values)).rows;
}
