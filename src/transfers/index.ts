/**
 * Transfers: initiate, types, limits, settle (the batch). Owns the tables transfers, used_ids, transfer_limits,
 * limit_counters and loan_payments.
 *
 * Invariants: an id means one order, for ever; money moves in the same transaction that uses up the id, counts the
 * limits and appends the event; authority and limits are read after the locks; COMPLETED and FAILED are final.
 */
export { type DecimalAmount, formatMinor, parseDecimalAmount } from '../ledger/index.ts';
export { getTransfer } from './get-transfer.ts';
export {
  deskSettings,
  initiateTransfer,
  openTransferDesk,
  type TransferDesk,
  transferLanes,
} from './initiate-transfer.ts';
export { listTransfers, type TransferFilter } from './list-transfers.ts';
export {
  type FailureCode,
  failureCodes,
  type Outcome,
  type Transfer,
  type TransferOrder,
  type TransferStatus,
  type TransferType,
  transferTypes,
} from './transfer.ts';
