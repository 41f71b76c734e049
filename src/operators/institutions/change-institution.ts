import { appendAudit, type CommandOrigin, whatChanged } from '../../events/index.ts';
import { lockInstitution, type Settings, settingsOf, updateInstitution } from '../../institutions/index.ts';
import type { Clock, Database, InstitutionId } from '../../storage/index.ts';

interface Change {
  /** Settings that are left out stay as they are. */
  readonly settings: Partial<Settings>;
  readonly statedReason?: string | undefined;
  readonly origin: CommandOrigin;
}

/** Changes an institution's settings. Every process uses the new ones within a second. Returns the settings that differ. */
export async function changeInstitution(
  { database, clock }: { readonly database: Database; readonly clock: Clock },
  institutionId: InstitutionId,
  { settings, statedReason, origin }: Change,
): Promise<{ readonly before: Partial<Settings>; readonly after: Partial<Settings> }> {
  return database.transaction(institutionId, async (tx) => {
    const standing = settingsOf(await lockInstitution(tx));
    const { before = {}, after = {} } = whatChanged<Settings>(standing, { ...standing, ...settings });
    if (Object.keys(after).length > 0) {
      await updateInstitution(tx, settings);
      const entry = { action: 'institution.changed', outcome: 'succeeded', statedReason, origin } as const;
      await appendAudit(tx, { ...entry, before, after }, clock());
    }
    return { before, after };
  });
}
