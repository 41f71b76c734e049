import type { CommandOrigin } from '../events/index.ts';
import type { InstitutionId } from '../storage/index.ts';
import type { TransferDesk } from './desk/transfer-desk.ts';
import type { Act, ActOutcome } from './rules/transfer.ts';
import { selectTransferById } from './transfer-queries.ts';

/** Records an operator's approval or refusal of a pending transfer. A second approval by one person does not count. */
export async function reviewTransfer(
  desk: TransferDesk,
  institutionId: InstitutionId,
  { transferId, act }: { readonly transferId: string; readonly act: Extract<Act, { origin: CommandOrigin }> },
): Promise<ActOutcome> {
  const known = await desk.database.read(institutionId, (db) => selectTransferById(db, transferId));
  if (known === undefined) return { kind: 'unknown' };
  const { fromAccountId, toAccountId } = known;
  const order = { kind: 'transition', transferId, fromAccountId, toAccountId, act } as const;
  return (await desk.queue.submit(institutionId, order)) as ActOutcome;
}
