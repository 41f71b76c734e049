import type { BusinessTime } from '../../institutions/index.ts';
import type { Basis } from '../../memory/index.ts';
import type { Clock, Database, InstitutionId } from '../../storage/index.ts';
import { type Exposure, oldestUndelivered, selectExposure } from '../../transfers/index.ts';
import { saveHeard, selectHeard } from './connection-queries.ts';
import { type Ages, type ConnectionState, type Patience, silenceOf, stateOf } from './connection-state.ts';

export interface StatesDeps {
  readonly database: Database;
  readonly clock: Clock;
  readonly businessTime: BusinessTime;
  readonly patience: Patience;
}

/** The connection of an institution to its core, with the figures that an operator watches. */
export interface CoreConnection {
  readonly state: ConnectionState;
  /** The last request of the core; null: there was none. */
  readonly heardAt: Date | null;
  readonly heardClient: string | null;
  readonly oldestUndeliveredAt: Date | null;
  readonly exposure: readonly Exposure[];
}

const ageMillis = 1_000;

/** Knows how each core is doing, from its requests and the age of its oldest undelivered instruction. */
export class ConnectionStates {
  readonly #deps: StatesDeps;
  readonly #known = new Map<InstitutionId, { readonly at: number; readonly read: Promise<Standing> }>();
  readonly #heard = new Map<InstitutionId, { readonly at: number; readonly written: Promise<void> }>();

  constructor(deps: StatesDeps) {
    this.#deps = deps;
  }

  /** Notes a request of the core, at most once a second. */
  heard(institutionId: InstitutionId, clientId: string): Promise<void> {
    const { database, clock } = this.#deps;
    const at = clock();
    const before = this.#heard.get(institutionId);
    if (before !== undefined && Math.abs(at.getTime() - before.at) < ageMillis) return before.written;
    const written = database.transaction(institutionId, (tx) => saveHeard(tx, at, clientId));
    this.#heard.set(institutionId, { at: at.getTime(), written });
    // A failed write is tried again by the next request.
    written.catch(() => this.#heard.delete(institutionId));
    return written;
  }

  /** At most a second old, so that each batch of orders can ask. */
  async standing(institutionId: InstitutionId): Promise<Standing> {
    const known = this.#known.get(institutionId);
    const now = this.#deps.clock().getTime();
    // By the clock that the ages are measured with, so that none is kept when it is moved.
    if (known !== undefined && Math.abs(now - known.at) < ageMillis) return known.read;
    const read = this.#read(institutionId);
    this.#known.set(institutionId, { at: now, read });
    // A failed read is not cached.
    read.catch(() => this.#known.delete(institutionId));
    return read;
  }

  async isAway(institutionId: InstitutionId): Promise<boolean> {
    return (await this.standing(institutionId)).state === 'away';
  }

  /**
   * The time that balances are true for while the core is away; null while it is there. The core goes away by the clock alone. It
   * comes back by a sign of life, which is noted, or because it fetched its oldest instruction, which is not.
   */
  async balancesAsOf(institutionId: InstitutionId, basis: Basis): Promise<Date | null> {
    const { awayMillis } = this.#deps.patience;
    const begun = this.#deps.clock().getTime();
    const { state, heardAt, ages } = await this.#read(institutionId);
    if (state !== 'away') {
      basis.endAt(begun + awayMillis - silenceOf(ages));
      return null;
    }
    basis.addCore();
    if (ages.undeliveredMillis !== null && ages.undeliveredMillis >= awayMillis)
      basis.endAt(begun + ageMillis);
    return heardAt;
  }

  async connection(institutionId: InstitutionId): Promise<CoreConnection> {
    const [standing, exposure] = await Promise.all([
      this.#read(institutionId),
      this.#deps.database.read(institutionId, selectExposure),
    ]);
    return { ...standing, exposure };
  }

  async #read(institutionId: InstitutionId): Promise<Standing> {
    const { database, clock, businessTime, patience } = this.#deps;
    const [heard, oldest] = await database.read(institutionId, (db) =>
      Promise.all([selectHeard(db), oldestUndelivered(db)]),
    );
    const now = clock();
    const heardAt = heard?.heardAt ?? null;
    const ages = {
      heardMillisAgo: heardAt === null ? null : now.getTime() - heardAt.getTime(),
      // Issued by the time of business, which a sandbox can move.
      undeliveredMillis:
        oldest === null ? null : businessTime(institutionId, now).getTime() - oldest.getTime(),
    };
    const heardClient = heard?.heardClient ?? null;
    return { state: stateOf(ages, patience), ages, heardAt, heardClient, oldestUndeliveredAt: oldest };
  }
}

type Standing = Omit<CoreConnection, 'exposure'> & { readonly ages: Ages };
