import { InstitutionHosts } from '../../auth/index.ts';
import type { Clue } from '../../cell-directory/index.ts';
import type { OtherCells } from '../../http/index.ts';
import { findCell } from '../../institutions/index.ts';
import { Problem } from '../../shared/problem.ts';
import { type InstitutionId, institutionMoving } from '../../storage/index.ts';
import type { AppContext } from '../context.ts';

type Deps = Pick<AppContext, 'auth' | 'clock' | 'database' | 'directory' | 'directoryState' | 'served'>;

/** Undefined for a service that forwards nothing. */
export async function otherCellsOf({
  auth,
  clock,
  database,
  directory,
  directoryState,
  served,
}: Deps): Promise<OtherCells | undefined> {
  const cell = await database.directory(findCell);
  if (directory === undefined || cell === undefined) return undefined;

  const hosts = new InstitutionHosts(database, auth.memory);
  /** The institution, if this cell's own database knows it. */
  const knownHere = async (clue: Clue): Promise<InstitutionId | undefined> => {
    switch (clue.kind) {
      case 'institution':
        return served.stateOf(clue.institutionId) && clue.institutionId;
      case 'client':
        return auth.clientDirectory.institutionOf(clue.clientId);
      case 'issuer':
        return directoryState.issuers.get(clue.issuer);
      case 'host':
        return hosts.institutionOf(clue.host);
    }
  };
  const findOne = async (clue: Clue) => {
    const known = await knownHere(clue);
    const state = known === undefined ? undefined : served.stateOf(known);
    // One that arrives or leaves is this cell's to refuse.
    if (state === 'here' || state === 'arriving' || state === 'leaving') return 'here';
    // A host name may have gone to another institution since the one that is known here left.
    const asked: Clue =
      known === undefined || clue.kind === 'host' ? clue : { kind: 'institution', institutionId: known };
    const place = await directory.find(asked).catch((error) => {
      // A name of a host alone stops no request while the directory is away.
      if (clue.kind === 'host') return undefined;
      throw error;
    });
    if (place === undefined) return undefined;
    if (place.cell === cell.name) {
      // It has let go, and the directory is about to be switched.
      if (state === 'left' || state === 'gone') throw institutionMoving();
      return 'here';
    }
    if (place.state === 'out')
      throw new Problem(
        'database_unavailable',
        `The cell "${place.cell}" is out of service. Nothing was written.`,
        {
          retryAfterSeconds: 60,
        },
      );
    return place;
  };
  return {
    issuer: auth.issuer,
    key: auth.vault.hash('requests between cells', ''),
    now: clock,
    isHere: (clue) => clue.kind === 'institution' && served.stateOf(clue.institutionId) === 'here',
    find: async (clues) => {
      for (const clue of clues) {
        const found = await findOne(clue);
        if (found === 'here') return undefined;
        if (found !== undefined) return found;
      }
      return undefined;
    },
  };
}
