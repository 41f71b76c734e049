import { selectAllClientIds, selectAllIssuers, selectPublicKeys, type Vault } from '../auth/index.ts';
import type { CellNames, OwnCell, Publication } from '../cell-directory/index.ts';
import { findCell, listAllInstitutions } from '../institutions/index.ts';
import { programVersion } from '../shared/process/program-version.ts';
import { type Clock, type Directory, newestMigration } from '../storage/index.ts';

/** The settings of the service that the cells of one directory have in common. */
interface CommonSettings {
  readonly publicUrl: string;
  readonly vault: Vault;
}

/** All that the directory knows of a cell beside its name and its numbers. */
export async function describeSettings({
  publicUrl,
  vault,
}: CommonSettings): Promise<Omit<OwnCell, 'name' | 'firstNumber' | 'lastNumber'>> {
  // The key of stored hashes comes from the first SECRET_KEY and outlives its changes (ADR 48).
  const fingerprint = vault.hash('fingerprint of a cell', '');
  return { publicUrl, program: programVersion, schemaVersion: await newestMigration(), fingerprint };
}

/** The institutions that this cell serves, and their names. Those that are arriving or have left are another cell's to publish. */
async function listNames(db: Directory): Promise<CellNames> {
  const [all, clients, providers] = await Promise.all([
    listAllInstitutions(db),
    selectAllClientIds(db),
    selectAllIssuers(db),
  ]);
  const institutions = all.filter(({ served }) => served === 'here' || served === 'leaving');
  const own = new Set(institutions.map(({ institutionId }) => institutionId));
  return {
    institutions: institutions.map(({ institutionId, code, moves }) => ({ institutionId, code, moves })),
    hosts: institutions.flatMap(({ institutionId, host }) =>
      host === null ? [] : [{ institutionId, host }],
    ),
    clients: clients.filter(({ institutionId }) => own.has(institutionId)),
    providers: providers.filter(({ institutionId }) => own.has(institutionId)),
  };
}

/** All that a cell publishes, and the settings that it has in common with the others. Undefined for a database that is no cell. */
export async function readPublication(
  db: Directory,
  { clock, ...settings }: CommonSettings & { readonly clock: Clock },
): Promise<{ readonly own: OwnCell; readonly publication: Publication } | undefined> {
  const [cell, names, keys, common] = await Promise.all([
    findCell(db),
    listNames(db),
    selectPublicKeys(db, clock()),
    describeSettings(settings),
  ]);
  if (cell === undefined) return undefined;
  const { name, firstNumber, lastNumber } = cell;
  return { own: { ...common, name, firstNumber, lastNumber }, publication: { ...names, keys } };
}
