import type { Clock, Database, InstitutionId } from '../../storage/index.ts';
import {
  type AlertFacts,
  type MailFacts,
  type RuleCount,
  selectAlertFacts,
  selectMailFacts,
  selectRuleCounts,
} from './alert-queries.ts';

interface ShownAlertState {
  readonly alerts: AlertFacts;
  /** Undefined for an institution that sends no mail. */
  readonly mail: MailFacts | undefined;
  readonly rules: readonly RuleCount[];
}

/** How far the alerts of an institution are, their rules by type, and its mail. Figures only: no data of a member. */
export async function showAlertState(
  { database, clock }: { readonly database: Database; readonly clock: Clock },
  institutionId: InstitutionId,
): Promise<ShownAlertState> {
  return database.read(institutionId, async (db) => {
    const [alerts, mail, rules] = await Promise.all([
      selectAlertFacts(db, clock()),
      selectMailFacts(db),
      selectRuleCounts(db),
    ]);
    return { alerts, mail, rules };
  });
}
