import type { CommandOrigin } from '../events/index.ts';
import type { Database, InstitutionId } from '../storage/index.ts';
import type { TransferDesk } from './desk/transfer-desk.ts';
import type { Act, ActOutcome } from './rules/transfer.ts';
import { selectTransferById } from './transfer-queries.ts';

/** Records an operator's approval or refusal of a pending transfer. A second approval by one person does not count. */
export async function reviewTransfer(
  desk: TransferDesk,
  database: Database,
  institutionId: InstitutionId,
  transferId: string,
  act: Extract<Act, { origin: CommandOrigin }>,
): Promise<ActOutcome> {
  const known = await database.read(institutionId, (db) => selectTransferById(db, transferId));
  if (known === undefined) return { kind: 'unknown' };
  const { fromAccountId, toAccountId } = known;
  const order = { kind: 'transition', transferId, fromAccountId, toAccountId, act } as const;
  return (await desk.queue.submit(institutionId, order)) as ActOutcome;
}
