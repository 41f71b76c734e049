import type { ClientActor } from '../../institutions/index.ts';
import type { Clock } from '../../storage/index.ts';
import { type DeliveredInstruction, type TransferDesk, takeInstructions } from '../../transfers/index.ts';
import { lockConnectionOf, saveHeard } from '../standing/connection-queries.ts';
import type { CoreWatch } from './core-watch.ts';

export interface AskDeps {
  readonly desk: TransferDesk;
  readonly watch: CoreWatch;
  readonly clock: Clock;
}

export interface InstructionRequest {
  /** The last sequence that the client has. */
  readonly after: bigint;
  readonly limit: number;
  /** How long to wait for the first instruction. */
  readonly waitMillis: number;
}

/**
 * Leases the next instructions to a connector, or waits for some. Each is delivered at least once: an answer that is lost is
 * given again, at once to a client that names its last sequence, and to any client when the lease has ended.
 */
export async function askInstructions(
  { desk, watch, clock }: AskDeps,
  { institutionId, clientId }: ClientActor,
  { after, limit, waitMillis, left }: InstructionRequest & { readonly left: AbortSignal },
): Promise<DeliveredInstruction[]> {
  const until = performance.now() + waitMillis;
  for (;;) {
    // Registered before the look, so that no instruction is committed unseen between the two.
    const millis = Math.max(until - performance.now(), 0);
    const ended = new AbortController();
    const instructed = watch.untilInstructed(institutionId, {
      millis,
      left: AbortSignal.any([left, ended.signal]),
    });
    try {
      const given = await desk.database.transaction(institutionId, async (tx) => {
        const at = clock();
        if (!(await lockConnectionOf(tx))) await saveHeard(tx, at, clientId);
        return takeInstructions(tx, { clientId, at, after, limit });
      });
      if (given.length > 0 || millis === 0) return given;
      if ((await instructed) === undefined) return [];
    } finally {
      ended.abort();
    }
  }
}
