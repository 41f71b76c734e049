import type { Origin } from '../../events/index.ts';
import type { PresentedToken } from '../../institutions/index.ts';
import type { InstitutionId } from '../../storage/index.ts';
import type { TransferDesk } from '../desk/transfer-desk.ts';
import { selectOpenAmong } from './standing-queries.ts';

/** A posting of the core that names one of our transfers. */
export interface Echo {
  readonly transferId: string;
  readonly accountId: string;
  /** Negative on the account that pays. */
  readonly amountMinor: bigint;
  readonly coreReference: string;
}

/**
 * The core has posted the debit of a transfer whose instruction is open: that is its acceptance, if account and amount fit.
 * Echoes of anything else change nothing here. Idempotent.
 */
export async function acceptByEcho(
  desk: TransferDesk,
  institutionId: InstitutionId,
  {
    echoes,
    clientId,
    token,
    origin,
  }: {
    readonly echoes: readonly Echo[];
    readonly clientId: string | null;
    /** Checked behind the locks. Problem `invalid_token` if it ended. */
    readonly token: PresentedToken | undefined;
    readonly origin: Origin;
  },
): Promise<void> {
  const debits = echoes.filter(({ amountMinor }) => amountMinor < 0n);
  if (debits.length === 0) return;
  const ids = debits.map(({ transferId }) => transferId);
  const open = await desk.database.read(institutionId, (db) => selectOpenAmong(db, ids));
  await Promise.all(
    open.map(({ transferId, fromAccountId, toAccountId, amountMinor }) => {
      const echo = debits.find(
        (one) =>
          one.transferId === transferId &&
          one.accountId === fromAccountId &&
          one.amountMinor === -amountMinor,
      );
      if (echo === undefined) return undefined;
      const act = {
        kind: 'core_accepted',
        coreReference: echo.coreReference,
        clientId,
        token,
        origin,
      } as const;
      const order = { kind: 'transition', transferId, fromAccountId, toAccountId, act } as const;
      return desk.queue.submit(institutionId, order);
    }),
  );
}
