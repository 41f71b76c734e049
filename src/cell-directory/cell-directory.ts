import { ChangeWatch, deleteOldChanges, ValidatedMemory } from '../memory/index.ts';
import { Problem } from '../shared/problem.ts';
import {
  type Clock,
  Database,
  type InstitutionId,
  isExclusionViolation,
  refuseUnfitLogin,
  type Transaction,
} from '../storage/index.ts';
import {
  type KeyOfOther,
  type KeysRead,
  type PublishedKey,
  publishKeys,
  readKeysOfOthers,
} from './key-queries.ts';
import {
  forgetNames,
  listCrossedNames,
  type PlacedElsewhere,
  type PublishedClient,
  type PublishedHost,
  type PublishedInstitution,
  type PublishedProvider,
  publishClients,
  publishHosts,
  publishInstitutions,
  publishProviders,
  renewClaims,
  selectElsewhere,
  selectNumberOf,
} from './name-queries.ts';
import {
  type Clue,
  type CommonSettings,
  type DirectoryCell,
  type HostPlace,
  type Place,
  selectCells,
  selectHosts,
  selectPlace,
  selectPlaceOfCode,
  selectUnlikeCells,
  setActor,
  updateCellOf,
  updateState,
  updateVersion,
  upsertCell,
} from './queries.ts';

/** A change that the directory refuses. The message is for the operator. */
export class DirectoryRefusedError extends Error {
  override readonly name = 'DirectoryRefusedError';
}

/** The names that a cell has: all of its institutions, or those of one that is claimed. */
export interface CellNames {
  readonly institutions: readonly PublishedInstitution[];
  readonly hosts: readonly PublishedHost[];
  readonly clients: readonly PublishedClient[];
  readonly providers: readonly PublishedProvider[];
}

/** All that a cell publishes. */
export interface Publication extends CellNames {
  /** By which it signs tokens, now or soon, or signed those that have not expired. */
  readonly keys: readonly PublishedKey[];
}

/** The cell as its own settings say. */
export type OwnCell = Pick<
  DirectoryCell,
  'name' | 'program' | 'schemaVersion' | 'publicUrl' | 'fingerprint' | 'firstNumber' | 'lastNumber'
>;

export interface Published {
  /** Rows that were added, and names that were deleted. */
  readonly changes: number;
  /** A sentence for each thing that this cell and the directory say in two ways. Nothing was changed about it. */
  readonly conflicts: readonly string[];
  /** The keys of all other cells, as they are published there. */
  readonly keysOfOthers: readonly KeyOfOther[];
}

export interface CellDirectoryOptions {
  readonly url: string;
  readonly clock: Clock;
  /** The writer, for the audit: the cell, and an operator or an act. */
  readonly actor: string;
  readonly onIdleError?: (error: Error) => void;
}

/** Its rows have no institution, so its transactions stand under a number that none has. */
const noInstitution = 0 as InstitutionId;
const mostConnections = 3;
const memoryBytes = 8_000_000;
const bytesOfPlace = 400;
/** A name that was claimed stays this long without its client: it may be about to be created. */
const claimMillis = 10 * 60_000;

/**
 * The directory as a cell uses it. Answers are remembered and validated as reads are (ADR 33), so a move is seen by the next request. Problem
 * `database_unavailable` if it cannot be reached.
 */
export class CellDirectory {
  readonly #database: Database;
  readonly #watched: Database;
  readonly #memory: ValidatedMemory;
  readonly #clock: Clock;
  readonly #actor: string;
  #keysRead: KeysRead | undefined;

  constructor({ url, clock, actor, onIdleError }: CellDirectoryOptions) {
    const shared = { connection: url, ...(onIdleError && { onIdleError }) };
    this.#database = new Database({ ...shared, maxConnections: mostConnections });
    this.#watched = new Database({ ...shared, maxConnections: 1 });
    const watch = new ChangeWatch(this.#watched);
    this.#memory = new ValidatedMemory({ ask: (known) => watch.ask(known), clock, maxBytes: memoryBytes });
    this.#clock = clock;
    this.#actor = actor;
  }

  /** The cell of an institution. */
  async find(clue: Clue): Promise<Place | undefined> {
    const key = Object.values(clue).join(' ');
    const read = () => this.#database.directory((db) => selectPlace(db, clue));
    // An unknown name is remembered too: a flood of requests under it is one read.
    const { place } = await this.#memory.read(
      { key, institutionId: noInstitution, bytes: bytesOfPlace },
      async () => ({ place: await read() }),
    );
    return place;
  }

  /** For commands, which ask once and remember nothing. */
  findCode(code: string): Promise<Place | undefined> {
    return this.#database.directory((db) => selectPlaceOfCode(db, code));
  }

  listCells(): Promise<DirectoryCell[]> {
    return this.#database.directory(selectCells);
  }

  listHosts(): Promise<HostPlace[]> {
    return this.#database.directory(selectHosts);
  }

  /** Throws DatabaseStartError for a login that owns the directory, or has no rights in it. */
  async requireFitLogin(): Promise<void> {
    await refuseUnfitLogin(this.#database, false, {
      setting: 'DIRECTORY_DATABASE_URL',
      table: 'directory_institutions',
    });
  }

  /** Adds this cell, or changes it. Throws DirectoryRefusedError. */
  async register(own: OwnCell, address: string): Promise<void> {
    await this.#change(async (tx) => {
      const cells = await selectCells(tx);
      requireSameSettings(own, cells);
      const other = cells.find(({ name, program }) => name !== own.name && program !== own.program);
      if (other !== undefined)
        throw new DirectoryRefusedError(
          `The cell "${other.name}" has version ${other.program} of the service, and this program is ${own.program}. Bring both to the same version first.`,
        );
      const namesake = cells.find(({ name }) => name === own.name);
      if (namesake && (namesake.lastNumber < own.firstNumber || own.lastNumber < namesake.firstNumber))
        throw new DirectoryRefusedError(
          `The directory has another cell "${own.name}", with the numbers ${namesake.firstNumber}-${namesake.lastNumber}. Choose another name.`,
        );
      await upsertCell(tx, { ...own, address }, this.#clock());
    }).catch((error) => {
      if (!isExclusionViolation(error, 'directory_cells_apart')) throw error;
      throw new DirectoryRefusedError('Another cell of the directory has some of these numbers.', {
        cause: error,
      });
    });
  }

  /**
   * Brings the directory to what this cell has. It never takes an institution or a name from another cell. Idempotent. With `isTrial` nothing
   * is changed. Throws DirectoryRefusedError for a cell whose settings are not those of the others.
   */
  publish(own: OwnCell, publication: Publication, { isTrial = false } = {}): Promise<Published> {
    const undone = new Error('a trial');
    let published: Published = { changes: 0, conflicts: [], keysOfOthers: [] };
    return this.#change(async (tx) => {
      const cells = await selectUnlikeCells(tx, own);
      if (!cells.some(({ name }) => name === own.name))
        throw new DirectoryRefusedError(
          `The directory does not have the cell "${own.name}". Run "sharedraft cell set" with --address.`,
        );
      requireSameSettings(own, cells);
      const now = this.#clock();
      await updateVersion(tx, own, now);
      const { name: cell } = own;
      const names = await this.#write(tx, cell, publication);
      const claimedBefore = new Date(now.getTime() - claimMillis);
      const forgotten = await forgetNames(tx, { cell, ...publication }, claimedBefore);
      const keys = await publishKeys(tx, { cell, keys: publication.keys }, now);
      this.#keysRead = await readKeysOfOthers(tx, { cell, last: this.#keysRead }, now);
      published = {
        changes: names.changes + forgotten + keys.changes,
        conflicts: [...names.conflicts, ...keys.conflicts],
        keysOfOthers: this.#keysRead.keys,
      };
      if (isTrial) throw undone;
      return published;
    }).catch((error) => {
      if (error !== undone) throw error;
      return published;
    });
  }

  /** Those of this cell's institutions that the directory places in another cell. */
  listElsewhere(cell: string, institutions: readonly InstitutionId[]): Promise<PlacedElsewhere[]> {
    return this.#database.directory((db) => selectElsewhere(db, cell, institutions));
  }

  /** Reserves names for this cell before it writes them in its own database. Problem `invalid_request` for one that is taken. */
  async claim(cell: string, names: CellNames): Promise<void> {
    await this.#change(async (tx) => {
      const { conflicts } = await this.#write(tx, cell, names);
      const crossed = await listCrossedNames(tx, names.hosts, names.providers);
      const refused = [...conflicts, ...crossed];
      if (refused.length > 0) throw new Problem('invalid_request', refused.join(' '));
      await renewClaims(tx, names.hosts, this.#clock());
    });
  }

  /**
   * Reserves the code of an institution that this cell is about to create, and returns its number: the given one, or that of a claim whose
   * institution was never created. Problem `invalid_request` for a code that another cell has.
   */
  claimInstitution(
    cell: string,
    { code, institutionId }: Pick<PublishedInstitution, 'code' | 'institutionId'>,
  ): Promise<InstitutionId> {
    const institution = { code, institutionId, moves: 0 };
    return this.#change(async (tx) => {
      const claimed = await selectNumberOf(tx, { code, cell });
      if (claimed !== undefined) return claimed;
      const { conflicts } = await publishInstitutions(tx, cell, [institution], this.#clock());
      if (conflicts.length === 0) return institutionId;
      // Two commands may have claimed it at the same time.
      const meanwhile = await selectNumberOf(tx, { code, cell });
      if (meanwhile === undefined) throw new Problem('invalid_request', conflicts.join(' '));
      return meanwhile;
    });
  }

  /**
   * Names the cell that serves the institution from now on, and returns the number of this move, which is higher than the given one.
   * Idempotent. Throws DirectoryRefusedError if a third cell has the institution.
   */
  async place(
    institution: PublishedInstitution,
    { from, to }: { readonly from: string; readonly to: string },
  ): Promise<number> {
    const { institutionId, code, moves } = institution;
    return this.#change(async (tx) => {
      const now = this.#clock();
      await publishInstitutions(tx, from, [institution], now);
      const placed = await updateCellOf(tx, { institutionId, moves, from, to }, now);
      if (placed !== undefined) return placed.moves;
      const found = await selectPlace(tx, { kind: 'institution', institutionId });
      throw new DirectoryRefusedError(
        found === undefined
          ? `The directory does not know "${code}". Run "sharedraft cell publish" in the cell that has it.`
          : `The directory says that the cell "${found.cell}" serves "${code}".`,
      );
    });
  }

  /** Throws DirectoryRefusedError. */
  async setState(name: string, state: DirectoryCell['state']): Promise<void> {
    if (!(await this.#change((tx) => updateState(tx, { name, state }, this.#clock()))))
      throw new DirectoryRefusedError(`The directory has no cell "${name}".`);
  }

  /** Changes are kept for ten to twenty minutes. */
  forgetChanges(): Promise<void> {
    return this.#database.directory((db) => deleteOldChanges(db, this.#clock()));
  }

  async close(): Promise<void> {
    this.#memory.close();
    await Promise.all([this.#database.close(), this.#watched.close()]);
  }

  #change<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    return this.#database.transaction(noInstitution, async (tx) => {
      await setActor(tx, this.#actor);
      return work(tx);
    });
  }

  async #write(
    tx: Transaction,
    cell: string,
    { institutions, hosts, clients, providers }: CellNames,
  ): Promise<Pick<Published, 'changes' | 'conflicts'>> {
    const now = this.#clock();
    const parts = [
      await publishInstitutions(tx, cell, institutions, now),
      await publishHosts(tx, hosts, now),
      await publishClients(tx, clients, now),
      await publishProviders(tx, providers, now),
    ];
    return {
      changes: parts.reduce((sum, { added }) => sum + added, 0),
      conflicts: parts.flatMap(({ conflicts }) => conflicts),
    };
  }
}

/** Sealed secrets, stored hashes and the issuer of tokens move with an institution. Throws DirectoryRefusedError. */
function requireSameSettings(own: OwnCell, cells: readonly CommonSettings[]): void {
  for (const { name, publicUrl, fingerprint } of cells) {
    // Its own row may be older than a change of the settings.
    if (name === own.name && cells.length === 1) continue;
    if (publicUrl !== own.publicUrl)
      throw new DirectoryRefusedError(
        `PUBLIC_URL is ${own.publicUrl} here, and ${publicUrl} for the cell "${name}". Cells of one directory have the same.`,
      );
    if (!Buffer.from(fingerprint).equals(own.fingerprint))
      throw new DirectoryRefusedError(
        `The cell "${name}" has another SECRET_KEY. Cells of one directory have the same, since what it sealed and hashed moves along.`,
      );
  }
}
