import { randomBytes } from 'node:crypto';
import type { Clock, Database, InstitutionId } from '../../storage/index.ts';
import { accessActions } from '../audit/audit-entry.ts';
import { type Chain, chains, contentHashOf, personalHashOf } from './canonical.ts';
import {
  type Seal,
  selectChainEnd,
  selectUnsealed,
  takeSealingTurn,
  type UnsealedEntry,
  writeSeals,
} from './chain-queries.ts';

const batchLength = 500;
/** Ends a run behind a flood; the next run continues. */
const mostBatches = 200;

/**
 * Seals the committed entries of an institution, and returns their number. Each batch is one transaction: after a kill it is sealed
 * whole or not at all. A transaction that still runs delays its own entries only, since numbers are given in the
 * order of sealing. If another process seals at this moment, it returns at once.
 */
export async function sealAudit(
  database: Database,
  institutionId: InstitutionId,
  clock: Clock,
): Promise<number> {
  let sealed = 0;
  for (let batch = 0; batch < mostBatches; batch += 1) {
    const now = await sealBatch(database, institutionId, clock());
    sealed += now;
    if (now < batchLength) break;
  }
  return sealed;
}

function sealBatch(database: Database, institutionId: InstitutionId, at: Date): Promise<number> {
  return database.transaction(institutionId, async (tx) => {
    if (!(await takeSealingTurn(tx))) return 0;
    const entries = await selectUnsealed(tx, batchLength);
    for (const chain of chains) {
      const own = entries.filter(({ action }) => chainOf(action) === chain);
      if (own.length === 0) continue;
      const end = await selectChainEnd(tx, chain);
      await writeSeals(tx, end, sealsOf(own, institutionId, chain, end.number, at), at);
    }
    return entries.length;
  });
}

function chainOf(action: string): Chain {
  return accessActions.has(action) ? 'access' : 'changes';
}

function sealsOf(
  entries: readonly UnsealedEntry[],
  institution: InstitutionId,
  chain: Chain,
  last: number,
  at: Date,
): readonly Seal[] {
  return entries.map((entry, index) => {
    const salt = randomBytes(32);
    const personalHash = personalHashOf(salt, entry.personal);
    const content = entry.contentAt({
      institution,
      chain,
      number: last + index + 1,
      sealedAt: at.toISOString(),
      personal: personalHash.toString('hex'),
    });
    const { auditKey, isErased } = entry;
    return { auditKey, contentHash: contentHashOf(content), personalHash, salt: isErased ? null : salt };
  });
}
