import type { InstitutionId } from '../../storage/index.ts';
import type { AnchorRow } from './anchor-queries.ts';
import { type AnchorDeps, anchorDaily } from './anchors.ts';
import { chains } from './canonical.ts';
import { pruneAudit } from './retention.ts';
import type { AuditRetention } from './retention-queries.ts';
import { sealAudit } from './seal-audit.ts';

/** Seals new entries, signs an anchor a day, and prunes. Returns the new anchors. */
export async function maintainAudit(
  deps: AnchorDeps,
  institutionId: InstitutionId,
  settings: AuditRetention,
): Promise<readonly AnchorRow[]> {
  await sealAudit(deps.database, institutionId, deps.clock);
  const signed: AnchorRow[] = [];
  for (const chain of chains) {
    const anchor = await anchorDaily(deps, institutionId, chain);
    if (anchor !== undefined) signed.push(anchor);
  }
  await pruneAudit(deps, institutionId, settings);
  return signed;
}
