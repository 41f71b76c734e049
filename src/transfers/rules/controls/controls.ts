import type { TransferType } from '../transfer.ts';

/**
 * By type: the type whose policy and limits bind a transfer. A type with controls of its own names itself. A new type that
 * takes transfers from an older one names that one, until the institutions have laid down controls for it: it would
 * otherwise leave the review and the limits of the older type.
 */
export const controlsOf: Readonly<Record<TransferType, TransferType>> = {
  STANDARD: 'STANDARD',
  CROSS_MEMBER: 'CROSS_MEMBER',
  IRA_CONTRIBUTION: 'IRA_CONTRIBUTION',
  LOAN_PAYMENT: 'LOAN_PAYMENT',
  INTRA_FI: 'INTRA_FI',
};

/** SQL: the same for a column with a transfer type. */
export function controlsOfColumn(column: string): string {
  return `('${JSON.stringify(controlsOf)}'::jsonb ->> ${column})`;
}
