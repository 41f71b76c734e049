import type { Clock, Database, InstitutionId } from '../../storage/index.ts';
import { appendAudit, whatChanged } from '../audit/audit.ts';
import { type CommandOrigin, ownOrigin } from '../origin.ts';
import { type AnchorDeps, anchorAt } from './anchors.ts';
import { type Chain, chains } from './canonical.ts';
import { selectChainEnd } from './chain-queries.ts';
import {
  type AuditRetention,
  deletePruned,
  pruneTo,
  selectOldestSealed,
  selectPrunable,
  selectRetention,
  upsertRetention,
} from './retention-queries.ts';

const dayMillis = 24 * 60 * 60_000;
/** The database refuses less (audit_retention, prune_audit_chain). */
export const leastRetention: AuditRetention = { accessDays: 90, changesDays: 1827 };
const prunedAtATime = 50_000;
const deletedAtATime = 5_000;

/** The institution's own periods, or else those of the settings. */
export async function readAuditRetention(
  database: Database,
  institutionId: InstitutionId,
  settings: AuditRetention,
): Promise<AuditRetention> {
  return (await database.read(institutionId, selectRetention)) ?? settings;
}

/** Changes how long an institution keeps its audit. Returns the periods that hold now. */
export async function changeAuditRetention(
  { database, clock }: { readonly database: Database; readonly clock: Clock },
  institutionId: InstitutionId,
  { settings, change }: { readonly settings: AuditRetention; readonly change: Partial<AuditRetention> },
  origin: CommandOrigin,
): Promise<AuditRetention> {
  return database.transaction(institutionId, async (tx) => {
    const before = (await selectRetention(tx)) ?? settings;
    const after = { ...before, ...change };
    await upsertRetention(tx, after);
    const entry = { action: 'audit.retention_changed', outcome: 'succeeded', origin } as const;
    await appendAudit(tx, { ...entry, ...whatChanged(before, after) }, clock());
    return after;
  });
}

/**
 * Prunes the oldest stretch of each chain whose time is over, with a signed anchor at its end, once a day, and deletes its entries some
 * thousands at a time. Returns the number of deleted entries.
 */
export async function pruneAudit(
  deps: AnchorDeps,
  institutionId: InstitutionId,
  settings: AuditRetention,
): Promise<number> {
  const { database, clock } = deps;
  const kept = await readAuditRetention(database, institutionId, settings);
  const days: Readonly<Record<Chain, number>> = { access: kept.accessDays, changes: kept.changesDays };
  for (const chain of chains) {
    const keptFrom = new Date(clock().getTime() - days[chain] * dayMillis);
    await pruneChain(deps, institutionId, chain, keptFrom);
  }
  return database.write(institutionId, (db) => deletePruned(db, deletedAtATime));
}

async function pruneChain(
  deps: AnchorDeps,
  institutionId: InstitutionId,
  chain: Chain,
  keptFrom: Date,
): Promise<void> {
  const { database, clock } = deps;
  const { prunedTo } = await database.read(institutionId, (db) => selectChainEnd(db, chain));
  const oldest = await database.read(institutionId, (db) => selectOldestSealed(db, chain, prunedTo));
  // Entries grow old every minute. A day's worth is pruned together, with one anchor.
  if (oldest === undefined || oldest.getTime() >= keptFrom.getTime() - dayMillis) return;
  const range = { chain, after: prunedTo, keptFrom, most: prunedAtATime };
  const last = await database.read(institutionId, (db) => selectPrunable(db, range));
  if (last === undefined) return;
  await anchorAt(deps, institutionId, { chain, ...last });
  await database.transaction(institutionId, async (tx) => {
    await pruneTo(tx, chain, last.number);
    const after = { chain, from: prunedTo + 1, to: last.number };
    const entry = { action: 'audit.pruned', outcome: 'succeeded', origin: ownOrigin(), after } as const;
    await appendAudit(tx, entry, clock());
  });
}
