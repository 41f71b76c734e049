import { findInstitution, selectBusinessDays } from '../../institutions/index.ts';
import type { Database, InstitutionId } from '../../storage/index.ts';
import { selectLimits } from '../limits/limit-queries.ts';
import type { TransferSettings } from '../rules/facts.ts';
import {
  selectContributionLimits,
  selectIdPrefixes,
  selectPolicies,
  selectScreening,
} from './setting-queries.ts';

export type ReadSettings = (institutionId: InstitutionId) => Promise<TransferSettings>;

const ageMillis = 1_000;

/** Reads the settings at most once a second, so a change binds in every process within that time. */
export function rememberSettings(database: Database): ReadSettings {
  const remembered = new Map<
    InstitutionId,
    { readonly settings: Promise<TransferSettings>; readonly at: number }
  >();
  return (institutionId) => {
    const known = remembered.get(institutionId);
    if (known !== undefined && performance.now() - known.at < ageMillis) return known.settings;
    const settings = readSettings(database, institutionId);
    remembered.set(institutionId, { settings, at: performance.now() });
    // A failed read is not cached.
    settings.catch(() => remembered.delete(institutionId));
    return settings;
  };
}

async function readSettings(database: Database, institutionId: InstitutionId): Promise<TransferSettings> {
  const [institution, [policies, days, contributionLimits, recentLimits, idPrefixes, screening]] =
    await Promise.all([
      database.directory((db) => findInstitution(db, institutionId)),
      database.read(institutionId, (db) =>
        Promise.all([
          selectPolicies(db),
          selectBusinessDays(db),
          selectContributionLimits(db),
          selectLimits(db),
          selectIdPrefixes(db),
          selectScreening(db),
        ]),
      ),
    ]);
  if (institution === undefined) throw new Error('an order for an institution that does not exist');
  return {
    institution,
    policies,
    calendar: {
      timeZone: institution.timeZone,
      opensAt: '00:00',
      exceptions: new Map(days.map(({ day, open }) => [day, open ? 'OPEN' : 'CLOSED'])),
    },
    contributionLimits,
    recentLimits,
    idPrefixes,
    screening: screening === null ? null : { ...screening, currency: institution.currency },
  };
}
