import { type Database, type InstitutionId, sql } from '../../storage/index.ts';

const institutionOfClient = sql(
  'auth_institution_of_client',
  'select institution_id from client_directory where client_id = $1',
);

/** Clients by their id. */
export interface Clients {
  /** Undefined for a client that is not known here. */
  institutionOf(clientId: string): Promise<InstitutionId | undefined>;
  /** The clients of one institution; all others are not known there. */
  of(institutionId: InstitutionId): Clients;
}

/** The institution of a client. A client never moves to another, so a hit is kept for good; an unknown id is read each time. */
export class ClientDirectory implements Clients {
  readonly #database: Database;
  readonly #institutions = new Map<string, InstitutionId>();

  constructor(database: Database) {
    this.#database = database;
  }

  async institutionOf(clientId: string): Promise<InstitutionId | undefined> {
    return this.#institutions.get(clientId) ?? this.#read(clientId);
  }

  of(institutionId: InstitutionId): Clients {
    return {
      // Another institution's client is read each time, as an unknown id is: the time tells no difference.
      institutionOf: async (clientId) => {
        if (this.#institutions.get(clientId) === institutionId) return institutionId;
        return (await this.#read(clientId)) === institutionId ? institutionId : undefined;
      },
      of: (other) => this.of(other),
    };
  }

  async #read(clientId: string): Promise<InstitutionId | undefined> {
    const { rows } = await this.#database.directory((db) =>
      db.query<{ institutionId: InstitutionId }>(institutionOfClient, [clientId]),
    );
    const found = rows[0]?.institutionId;
    if (found !== undefined) this.#institutions.set(clientId, found);
    return found;
  }
}
