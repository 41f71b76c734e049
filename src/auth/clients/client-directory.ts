import type { Database, InstitutionId } from '../../storage/index.ts';
import { selectInstitutionOfClient } from '../queries.ts';

/** Which institution a client belongs to. That never changes, so that it is looked up once; who is unknown, each time. */
export class ClientDirectory {
  readonly #database: Database;
  readonly #known = new Map<string, InstitutionId>();

  constructor(database: Database) {
    this.#database = database;
  }

  async institutionOf(clientId: string): Promise<InstitutionId | undefined> {
    const known = this.#known.get(clientId);
    if (known !== undefined) return known;
    const found = await this.#database.directory((db) => selectInstitutionOfClient(db, clientId));
    if (found !== undefined) this.#known.set(clientId, found);
    return found;
  }
}
