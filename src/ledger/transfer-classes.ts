export const transferTypes = [
  'STANDARD',
  'CROSS_MEMBER',
  'IRA_CONTRIBUTION',
  'LOAN_PAYMENT',
  'INTRA_FI',
] as const;
export type TransferType = (typeof transferTypes)[number];

const transferStatuses = ['PENDING', 'COMPLETED', 'FAILED'] as const;
export type TransferStatus = (typeof transferStatuses)[number];

/** One status with one type, under the number that `list_class_of` of the database gives it. */
export interface ListClass {
  readonly code: number;
  readonly status: TransferStatus;
  /** Undefined for an order that was refused before its type was known; it is FAILED. */
  readonly transferType: TransferType | undefined;
}

/** Codes of a status are below the next multiple of this. */
const codesPerStatus = 10;

/**
 * Every class that a transfer may have. The function of the database and this list are the two places that number types; a
 * test compares them. Statements take the numbers from here.
 */
export const listClasses: readonly ListClass[] = transferStatuses.flatMap((status) => {
  const types = status === 'FAILED' ? [undefined, ...transferTypes] : transferTypes;
  return types.map((transferType) => ({ code: codeOf(status, transferType), status, transferType }));
});

export const pendingClasses: readonly ListClass[] = listClasses.filter(({ status }) => status === 'PENDING');

/**
 * In SQL: the codes of PENDING and COMPLETED. They include the code without a type, which no sound transfer of these
 * statuses has, so that reconcile counts an unsound one too.
 */
export const countingClassCodes = `'{${(['PENDING', 'COMPLETED'] as const)
  .flatMap((status) => [undefined, ...transferTypes].map((type) => codeOf(status, type)))
  .join(',')}}'::smallint[]`;

/** The codes below this one are those of PENDING; for SQL. */
export const pendingCodesBelow = codesPerStatus;

function codeOf(status: TransferStatus, transferType: TransferType | undefined): number {
  const place = transferType === undefined ? 0 : transferTypes.indexOf(transferType) + 1;
  return transferStatuses.indexOf(status) * codesPerStatus + place;
}
