import { isIssuerOfProvider } from '../../auth/index.ts';
import { appendAudit, type CommandOrigin, whatChanged } from '../../events/index.ts';
import {
  findInstitution,
  lockInstitution,
  type NameClaims,
  type Settings,
  settingsOf,
  updateInstitution,
} from '../../institutions/index.ts';
import { Problem } from '../../shared/problem.ts';
import {
  type Clock,
  type Database,
  type InstitutionId,
  isUniqueViolation,
  type Transaction,
} from '../../storage/index.ts';

interface Change {
  /** Settings that are left out stay as they are. */
  readonly settings: Partial<Settings>;
  readonly statedReason?: string | undefined;
  readonly origin: CommandOrigin;
}

interface Deps {
  readonly database: Database;
  readonly clock: Clock;
  /** With PUBLIC_URL. */
  readonly auth: { readonly issuer: string; readonly claims?: NameClaims | undefined };
}

/**
 * Changes an institution's settings. Every process uses the new ones within a second, and a host name from its next request on. Returns
 * the settings that differ. Problem `invalid_request` for a host name that is taken, here or in another cell.
 */
export async function changeInstitution(
  { database, clock, auth }: Deps,
  institutionId: InstitutionId,
  { settings, statedReason, origin }: Change,
): Promise<{ readonly before: Partial<Settings>; readonly after: Partial<Settings> }> {
  const { host } = settings;
  if (typeof host === 'string' && host === new URL(auth.issuer).hostname)
    throw refusedHost('PUBLIC_URL has this host name, so all institutions are found there.');
  if (typeof host === 'string' && auth.claims !== undefined) {
    const standing = await database.directory((db) => findInstitution(db, institutionId));
    // A name that is given up is free once the cell has published what it has.
    if (standing?.host !== host) await auth.claims.host(institutionId, host);
  }
  const changing = database.transaction(institutionId, async (tx) => {
    const standing = settingsOf(await lockInstitution(tx));
    const { before = {}, after = {} } = whatChanged<Settings>(standing, { ...standing, ...settings });
    if (Object.keys(after).length > 0) {
      if (typeof host === 'string' && 'host' in after) await refuseIssuerOfProvider(tx, host);
      await updateInstitution(tx, settings);
      const entry = { action: 'institution.changed', outcome: 'succeeded', statedReason, origin } as const;
      await appendAudit(tx, { ...entry, before, after }, clock());
    }
    return { before, after };
  });
  return changing.catch((error) => {
    if (!isUniqueViolation(error, 'institutions_host_is_free')) throw error;
    throw refusedHost('Another institution has this host name.');
  });
}

/** The issuer of an institution is no other party's: each is known by its name alone. */
async function refuseIssuerOfProvider(tx: Transaction, host: string): Promise<void> {
  if (await isIssuerOfProvider(tx, `https://${host}`))
    throw refusedHost('An identity provider is registered with this name as its issuer.');
}

function refusedHost(detail: string): Problem {
  return new Problem('invalid_request', detail, { errors: [{ pointer: '/host', detail }] });
}
