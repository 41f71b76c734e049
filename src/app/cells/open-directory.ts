import {
  CellDirectory,
  type CellNames,
  type KeyOfOther,
  type PublishedKey,
} from '../../cell-directory/index.ts';
import type { Origin } from '../../events/index.ts';
import {
  findCell,
  findInstitution,
  type NameClaims,
  reserveInstitutionId,
} from '../../institutions/index.ts';
import { Problem } from '../../shared/problem.ts';
import {
  type Clock,
  type Database,
  type Directory,
  type InstitutionId,
  refuseUnverifiedUrl,
} from '../../storage/index.ts';
import type { Config } from '../config.ts';

/** How far this cell and the directory agree, as this process last saw. */
export class DirectoryState {
  /** Sentences about what they say in two ways. */
  conflicts: readonly string[] = [];
  /** The institutions of this cell by the issuers of their providers. */
  issuers: ReadonlyMap<string, InstitutionId> = new Map();
  /** The keys of the other cells. Nothing here is verified with them. */
  keysOfOthers: readonly KeyOfOther[] = [];
  /** False: the directory could not be reached, or refused this cell. */
  isReached = true;

  /** The keys of the issuer that the cells have in common: this cell's own, which come first, and those of the others. */
  withKeysOfOthers(own: readonly PublishedKey['publicJwk'][], now: Date): object[] {
    const kids = new Set(own.map((jwk) => (jwk as { readonly kid?: string }).kid));
    const others = this.keysOfOthers.filter(({ kid, listedUntil }) => listedUntil > now && !kids.has(kid));
    return [...own, ...others.map(({ publicJwk }) => publicJwk)];
  }
}

interface DirectoryDeps {
  /** This cell's database, by which the directory's audit names the cell. */
  readonly db: Directory;
  readonly clock: Clock;
  readonly origin: Origin;
  readonly onIdleError?: (error: Error) => void;
}

/** The directory of DIRECTORY_DATABASE_URL; undefined without it. It connects at its first use. Throws DatabaseStartError for an unsafe URL. */
export async function openDirectory(
  { directoryDatabaseUrl: url, allowUnverifiedDatabase }: Config,
  { db, clock, origin, onIdleError }: DirectoryDeps,
): Promise<CellDirectory | undefined> {
  if (url === undefined) return undefined;
  if (!allowUnverifiedDatabase) refuseUnverifiedUrl(url, 'DIRECTORY_DATABASE_URL');
  const cell = (await findCell(db))?.name ?? 'no cell yet';
  const { operator } = origin as { readonly operator?: { readonly user?: string; readonly host?: string } };
  const who = operator?.user === undefined ? 'the service' : `${operator.user} at ${operator.host}`;
  return new CellDirectory({ url, clock, actor: `${cell}, ${who}`, ...(onIdleError && { onIdleError }) });
}

/** Names are claimed in the directory before they are written here; so of two cells that take one name, one is refused. */
export function claimsIn(directory: CellDirectory, database: Database): NameClaims {
  const claim = async (institutionId: InstitutionId, names: Partial<CellNames>) => {
    const [cell, institution] = await database.directory((db) =>
      Promise.all([findCell(db), findInstitution(db, institutionId)]),
    );
    if (cell === undefined || institution === undefined) return;
    const { code, moves } = institution;
    const own = { institutions: [{ institutionId, code, moves }], hosts: [], clients: [], providers: [] };
    await reached(directory.claim(cell.name, { ...own, ...names }));
  };
  return {
    institution: async (code) => {
      const cell = await database.directory(findCell);
      const institutionId = await database.directory(reserveInstitutionId);
      if (cell === undefined) return institutionId;
      return reached(directory.claimInstitution(cell.name, { institutionId, code }));
    },
    host: (institutionId, host) => claim(institutionId, { hosts: [{ institutionId, host }] }),
    client: (institutionId, clientId) => claim(institutionId, { clients: [{ institutionId, clientId }] }),
    provider: (institutionId, { issuer, audience }) =>
      claim(institutionId, { providers: [{ institutionId, issuer, audience }] }),
  };
}

async function reached<T>(claim: Promise<T>): Promise<T> {
  return claim.catch((error) => {
    if (!(error instanceof Problem && error.code === 'database_unavailable')) throw error;
    throw new Problem(
      'database_unavailable',
      'The directory of the cells cannot be reached, so another cell could have this name. Nothing was written.',
      { cause: error, retryAfterSeconds: 1 },
    );
  });
}
