import type { Queryable } from '../../storage/index.ts';
import { type LeaseRequest, LeaseWalk, leaseMillis } from './lease.ts';
import { type DeliveredInstruction, leaseInstructions, selectUndecided } from './lease-queries.ts';

const rowsAtOnce = 500;

/**
 * Leases the next undecided instructions to a client, in the caller's transaction, and renews the leases that it has. Returns
 * the new ones, in order. The caller lets one transaction of an institution do so at a time.
 */
export async function takeInstructions(
  tx: Queryable,
  request: LeaseRequest,
): Promise<DeliveredInstruction[]> {
  const walk = new LeaseWalk(request);
  for (let after: bigint | undefined = 0n; after !== undefined; ) {
    const rows = await selectUndecided(tx, after, rowsAtOnce);
    for (const row of rows) {
      if (walk.isFull) break;
      walk.take(row);
    }
    after = walk.isFull || rows.length < rowsAtOnce ? undefined : rows.at(-1)?.sequence;
  }
  const transferKeys = [...walk.given, ...walk.renewed];
  if (transferKeys.length === 0) return [];
  const { clientId, at } = request;
  const leaseUntil = new Date(at.getTime() + leaseMillis);
  const leased = await leaseInstructions(tx, { transferKeys, clientId, leaseUntil, at });
  const given = new Set(walk.given);
  return leased.filter(({ transferKey }) => given.has(transferKey));
}
