import { type Database, type InstitutionId, sql } from '../../storage/index.ts';

const institutionOfClient = sql(
  'auth_institution_of_client',
  'select institution_id from client_directory where client_id = $1',
);

/** The institution of a client. A client never moves, so a hit is kept for good; an unknown id is read each time. */
export class ClientDirectory {
  readonly #database: Database;
  readonly #institutions = new Map<string, InstitutionId>();

  constructor(database: Database) {
    this.#database = database;
  }

  async institutionOf(clientId: string): Promise<InstitutionId | undefined> {
    const known = this.#institutions.get(clientId);
    if (known !== undefined) return known;
    const { rows } = await this.#database.directory((db) =>
      db.query<{ institutionId: InstitutionId }>(institutionOfClient, [clientId]),
    );
    const found = rows[0]?.institutionId;
    if (found !== undefined) this.#institutions.set(clientId, found);
    return found;
  }
}
