import { isIssuerOfProvider } from '../../auth/index.ts';
import { appendAudit, type CommandOrigin, whatChanged } from '../../events/index.ts';
import {
  findInstitution,
  isColor,
  isLogo,
  isReadable,
  lockInstitution,
  logoHashOf,
  mostLogoBytes,
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
  readonly settings: Partial<Omit<Settings, 'logoHash'>>;
  /** A PNG, or null for none. */
  readonly logo?: Uint8Array | null | undefined;
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
 * the settings that differ, the logo by its hash. Problem `invalid_request` for a host name that is taken, here or in another cell, for a
 * color that is hard to read, and for a logo that is none.
 */
export async function changeInstitution(
  { database, clock, auth }: Deps,
  institutionId: InstitutionId,
  { settings: given, logo, statedReason, origin }: Change,
): Promise<{ readonly before: Partial<Settings>; readonly after: Partial<Settings> }> {
  const { host, brandColor } = given;
  if (typeof brandColor === 'string') refuseUnreadable(brandColor);
  if (logo) refuseOtherImage(logo);
  const settings: Partial<Settings> =
    logo === undefined ? given : { ...given, logoHash: logo && logoHashOf(logo) };
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
      await updateInstitution(tx, settings, logo);
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

function refuseUnreadable(color: string): void {
  if (!isColor(color)) throw refused('/brandColor', 'Must be a color like #0b5d4a.');
  if (!isReadable(color))
    throw refused('/brandColor', 'Is too light: white words need a contrast of 4.5 on it (WCAG 2.2, 1.4.3).');
}

function refuseOtherImage(logo: Uint8Array): void {
  if (!isLogo(logo)) throw refused('/logo', `Must be a PNG of at most ${mostLogoBytes / 1_024} KiB.`);
}

function refusedHost(detail: string): Problem {
  return refused('/host', detail);
}

function refused(pointer: string, detail: string): Problem {
  return new Problem('invalid_request', detail, { errors: [{ pointer, detail }] });
}
