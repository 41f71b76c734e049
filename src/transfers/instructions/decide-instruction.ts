import { randomUUID } from 'node:crypto';
import type { Origin } from '../../events/index.ts';
import type { PresentedToken } from '../../institutions/index.ts';
import type { InstitutionId } from '../../storage/index.ts';
import type { TransferDesk } from '../desk/transfer-desk.ts';
import type { ActOutcome, CoreAct } from '../rules/transfer.ts';
import { selectTransferById } from '../transfer-queries.ts';

/** The outcome of an instruction, as the core reports it. */
export type CoreOutcome =
  | { readonly kind: 'ACCEPTED'; readonly coreReference: string | null }
  | { readonly kind: 'REJECTED'; readonly code: string; readonly reason: string | null };

/** The client or the operator who reports an outcome. */
export interface OutcomeReport {
  readonly transferId: string;
  readonly outcome: CoreOutcome;
  /** Null: an operator reports it, whom the origin names. */
  readonly clientId: string | null;
  readonly token?: PresentedToken | undefined;
  readonly origin: Origin;
}

/**
 * Applies the outcome of an instruction, once. A held transfer completes or fails; one that had completed stays, or is reversed.
 * `unchanged` if the outcome was reported before (`decided_so`), or the other one (`decided_otherwise`); `unknown` if the
 * institution has no such instruction.
 *
 * The echo of a transfer in the core's own postings is an acceptance too: its reporter calls this after the commit that
 * recorded the echo.
 */
export async function decideInstruction(
  desk: TransferDesk,
  institutionId: InstitutionId,
  { transferId, outcome, clientId, token, origin }: OutcomeReport,
): Promise<ActOutcome> {
  const known = await desk.database.read(institutionId, (db) => selectTransferById(db, transferId));
  if (known === undefined) return { kind: 'unknown' };
  const { fromAccountId, toAccountId } = known;
  const act: CoreAct =
    outcome.kind === 'ACCEPTED'
      ? { kind: 'core_accepted', coreReference: outcome.coreReference, clientId, token, origin }
      : {
          kind: 'core_rejected',
          code: outcome.code,
          reason: outcome.reason,
          reversalId: randomUUID(),
          clientId,
          token,
          origin,
        };
  const order = { kind: 'transition', transferId, fromAccountId, toAccountId, act } as const;
  return (await desk.queue.submit(institutionId, order)) as ActOutcome;
}
