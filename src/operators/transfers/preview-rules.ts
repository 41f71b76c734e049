import { appendAudit, type CommandOrigin } from '../../events/index.ts';
import type { BusinessTime } from '../../institutions/index.ts';
import type { Clock, Database, InstitutionId } from '../../storage/index.ts';
import { type DecidingRules, previewRules, type RulesPreview } from '../../transfers/index.ts';
import { institutionOf } from '../institutions/institution-of.ts';

interface Deps {
  readonly database: Database;
  readonly clock: Clock;
  readonly businessTime: BusinessTime;
}

/** The decisions that other rules would have made on the orders of the last days. The audit records the read. */
export async function previewTransferRules(
  deps: Deps,
  institutionId: InstitutionId,
  {
    proposed,
    days,
    origin,
  }: { readonly proposed: DecidingRules; readonly days: number; readonly origin: CommandOrigin },
): Promise<RulesPreview> {
  const { database, clock, businessTime } = deps;
  const { timeZone } = await institutionOf(deps, institutionId);
  const entry = {
    action: 'transfer.rules_previewed',
    outcome: 'succeeded',
    origin,
    after: { days },
  } as const;
  await database.transaction(institutionId, (tx) => appendAudit(tx, entry, clock()));
  const now = businessTime(institutionId, clock());
  return previewRules(database, institutionId, { proposed, days, now, timeZone });
}
