import type { CommandOrigin } from '../events/index.ts';
import type { InstitutionId } from '../storage/index.ts';
import type { TransferDesk } from './desk/transfer-desk.ts';
import { type Consent, consentOfTwo } from './dual-control/dual-control.ts';
import type { ActOutcome, Outcome } from './rules/transfer.ts';
import { selectReversedKeys, selectTransfersById } from './transfer-queries.ts';

/**
 * Takes a completed transfer back by a new one in the other direction, at most once: `new` (COMPLETED, or FAILED if the
 * payee no longer has the money), `replayed` if the id repeats, `unchanged` if there is nothing to reverse. Under dual
 * control `proposed`, until another person gives the same order.
 */
export async function reverseTransfer(
  desk: TransferDesk,
  institutionId: InstitutionId,
  reversal: {
    readonly originalId: string;
    readonly transferId: string;
    readonly statedReason?: string | undefined;
    readonly origin: CommandOrigin;
  },
): Promise<Outcome | ActOutcome | Extract<Consent, { kind: 'proposed' }>> {
  const { database, deps, queue } = desk;
  const { originalId, transferId, origin } = reversal;
  const [original, used, isReversed] = await database.read(institutionId, async (db) => {
    const asked = [originalId, transferId].map((id) => ({ transferId: id, personKey: null }));
    const [rows, reversed] = await Promise.all([
      selectTransfersById(db, asked),
      selectReversedKeys(db, [originalId]),
    ]);
    const byId = (id: string) => rows.find((row) => row.id === id);
    return [byId(originalId), byId(transferId), reversed.size > 0] as const;
  });
  if (original === undefined) return { kind: 'unknown' };
  const { fromAccountId, toAccountId } = original;
  // The desk refuses the rest, which needs no second person.
  const isReversible = original.status === 'COMPLETED' && original.reversesKey === null && !isReversed;
  if (isReversible && used === undefined) {
    const about = { kind: 'REVERSAL', subject: originalId } as const;
    const consent = await database.transaction(institutionId, (tx) =>
      consentOfTwo(tx, about, { origin, at: deps.clock() }),
    );
    if (consent.kind === 'proposed') return consent;
  }
  return queue.submit(institutionId, { kind: 'reverse', ...reversal, fromAccountId, toAccountId });
}
