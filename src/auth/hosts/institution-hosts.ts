import { wholeService } from '../../events/index.ts';
import { listHosts, refusalOf, type ServedState } from '../../institutions/index.ts';
import type { ValidatedMemory } from '../../memory/index.ts';
import type { Database, InstitutionId } from '../../storage/index.ts';

/** An institution at its own host name. */
export interface InstitutionHost {
  readonly name: string;
  readonly institutionId: InstitutionId;
}

interface Known extends InstitutionHost {
  readonly served: ServedState;
}

/** A name with its institution, as estimated. */
const bytesOfHost = 300;

/** The host names of institutions, all of them as one remembered answer (ADR 33): a change of any is noted by note_hosts(). */
export class InstitutionHosts {
  readonly #database: Database;
  readonly #memory: ValidatedMemory;

  constructor(database: Database, memory: ValidatedMemory) {
    this.#database = database;
    this.#memory = memory;
  }

  /** Undefined if no institution has the name now. Problem `institution_moving`, `institution_elsewhere`. */
  async find(name: string): Promise<InstitutionHost | undefined> {
    const known = (await this.#all()).get(name);
    if (known === undefined) return undefined;
    const refusal = refusalOf(known.served);
    if (refusal !== undefined) throw refusal;
    return known;
  }

  /** The same, whichever cell serves it. */
  async institutionOf(name: string): Promise<InstitutionId | undefined> {
    return (await this.#all()).get(name)?.institutionId;
  }

  async #all(): Promise<ReadonlyMap<string, Known>> {
    const about = { key: 'institution hosts', institutionId: wholeService };
    const known = this.#memory.find<ReadonlyMap<string, Known>>(about.key);
    if (known !== undefined && (await this.#memory.confirm(known))) return known.value;
    const basis = this.#memory.begin(wholeService);
    const rows = await this.#database.directory(listHosts);
    const all = new Map(rows.map(({ host: name, ...row }) => [name, { name, ...row }]));
    this.#memory.keep(about.key, all, bytesOfHost * all.size, basis);
    return all;
  }
}
