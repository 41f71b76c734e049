import { Problem } from '../../shared/problem.ts';
import type { Clock, Database, InstitutionId } from '../../storage/index.ts';
import { appendAuditEntries } from './audit.ts';
import { type AuditEntry, type TimedAuditEntry, wholeService } from './audit-entry.ts';

export interface AuditTrailOptions {
  readonly database: Database;
  readonly clock: Clock;
  /** Called if entries could not be written. */
  readonly onError?: (error: unknown) => void;
  /**
   * Distinct kinds per minute about names that do not exist; `knownShare` times as many for the rest. Beyond that, entries
   * are noted without caller and address.
   */
  readonly mostKinds?: number;
}

interface Note {
  readonly institutionId: InstitutionId;
  readonly entry: TimedAuditEntry;
}

interface Kind {
  readonly institutionId: InstitutionId;
  last: AuditEntry;
  /** The number of entries after the first. */
  again: number;
  /** Of a read: settled when the first entry is written or refused. */
  readonly written?: Promise<void>;
}

const minuteMillis = 60_000;
const mostWaiting = 10_000;
const batchLength = 500;
/** Factor for kinds about existing clients and users. */
const knownShare = 50;

/**
 * Notes events that any caller can cause without limit, mostly refusals. The first of a kind in a minute is written at
 * once; equal ones are counted and written as one entry at the end of the minute, so that a flood leaves few rows. Writing
 * happens behind the requests, whose duration would otherwise reveal it. A crash loses at most a minute's count of repeats.
 *
 * Reads that pages repeat by themselves are counted likewise, but each waits until an entry of its minute stands for it.
 *
 * Deliberate changes are not noted: `appendAudit` writes them in the change's own transaction.
 */
export class AuditTrail {
  readonly #options: AuditTrailOptions;
  readonly #kinds = new Map<string, Kind>();
  /** Kinds about names that do not exist. Callers can invent them without limit, and they must not displace the others. */
  #nobodys = 0;
  readonly #timer: NodeJS.Timeout;
  #waiting: Note[] = [];
  #writing: Promise<void> | undefined;

  constructor(options: AuditTrailOptions) {
    this.#options = options;
    this.#timer = setInterval(() => this.settle(), minuteMillis).unref();
  }

  note(institutionId: InstitutionId, entry: AuditEntry): void {
    if (this.#countedAgain(institutionId, entry)) return;
    const nobodys = entry.nameHash !== undefined;
    if (nobodys ? this.#nobodys < this.#mostKinds : this.#hasRoom()) {
      if (nobodys) this.#nobodys += 1;
      this.#begin(institutionId, entry);
      return;
    }
    const { action, outcome, reason, origin } = entry;
    const faceless = { action, outcome, reason, origin: { ...origin, address: null } };
    if (!this.#countedAgain(institutionId, faceless)) this.#begin(institutionId, faceless);
  }

  /**
   * Notes a read of members' data by an operator. Resolves when an entry of this minute is written: the caller shows nothing before. Rejects if
   * it cannot be written.
   */
  async noteRead(institutionId: InstitutionId, entry: AuditEntry): Promise<void> {
    const key = kindOf(institutionId, entry);
    const kind = this.#kinds.get(key);
    if (kind !== undefined) {
      countAgain(kind, entry);
      return kind.written;
    }
    const written = this.#append(institutionId, [{ ...entry, at: this.#options.clock(), times: 1 }]);
    if (this.#hasRoom()) this.#kinds.set(key, { institutionId, last: entry, again: 0, written });
    try {
      await written;
    } catch (error) {
      // The next read tries again. A kind of a later minute stays.
      if (this.#kinds.get(key)?.written === written) this.#kinds.delete(key);
      throw error;
    }
  }

  /** Ends the minute. Resolves when every noted entry is written or dropped. */
  async settle(): Promise<void> {
    for (const { institutionId, last, again } of this.#kinds.values()) {
      if (again > 0) this.#enqueue(institutionId, last, again);
    }
    this.#kinds.clear();
    this.#nobodys = 0;
    await this.#write();
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.settle();
    // Those of an institution that is still moving cannot wait any longer.
    for (const { institutionId, entry } of this.#waiting.splice(0)) {
      await this.#appendApart(institutionId, [entry]).catch((error) => this.#options.onError?.(error));
    }
  }

  get #mostKinds(): number {
    return this.#options.mostKinds ?? 1_000;
  }

  #hasRoom(): boolean {
    return this.#kinds.size < knownShare * this.#mostKinds;
  }

  #countedAgain(institutionId: InstitutionId, entry: AuditEntry): boolean {
    const kind = this.#kinds.get(kindOf(institutionId, entry));
    if (kind === undefined) return false;
    countAgain(kind, entry);
    return true;
  }

  #begin(institutionId: InstitutionId, entry: AuditEntry): void {
    this.#kinds.set(kindOf(institutionId, entry), { institutionId, last: entry, again: 0 });
    this.#enqueue(institutionId, entry, 1);
    void this.#write();
  }

  #enqueue(institutionId: InstitutionId, entry: AuditEntry, times: number): void {
    // So many wait only while the database is away; the newest are dropped.
    if (this.#waiting.length >= mostWaiting) return;
    this.#waiting.push({ institutionId, entry: { ...entry, at: this.#options.clock(), times } });
  }

  async #write(): Promise<void> {
    if (this.#waiting.length > 0) this.#writing ??= this.#writeAll();
    await this.#writing;
  }

  async #writeAll(): Promise<void> {
    const moving = new Set<InstitutionId>();
    let most = batchLength;
    for (;;) {
      const first = this.#waiting.find(({ institutionId }) => !moving.has(institutionId));
      if (first === undefined) break;
      const { institutionId } = first;
      const batch = this.#waiting.filter((note) => note.institutionId === institutionId).slice(0, most);
      const entries = batch.map(({ entry }) => entry);
      try {
        await this.#append(institutionId, entries);
      } catch (error) {
        // The end of a move decides where they go.
        if (error instanceof Problem && error.code === 'institution_moving') {
          moving.add(institutionId);
          continue;
        }
        // The database refuses a single entry, like that of an operator who has been suspended meanwhile. The others are written.
        if (!(error instanceof Problem) && batch.length > 1) {
          most = 1;
          continue;
        }
        this.#options.onError?.(error);
        // While the database is away, the entries wait. An entry that it refused is dropped, since it would refuse it again.
        if (error instanceof Problem) break;
      }
      const done = new Set(batch);
      this.#waiting = this.#waiting.filter((note) => !done.has(note));
    }
    this.#writing = undefined;
  }

  async #append(institutionId: InstitutionId, entries: readonly TimedAuditEntry[]): Promise<void> {
    try {
      await this.#options.database.write(institutionId, (db) => appendAuditEntries(db, entries));
    } catch (error) {
      if (!(error instanceof Problem && error.code === 'institution_elsewhere')) throw error;
      await this.#appendApart(institutionId, entries);
    }
  }

  /** Entries about an institution that has moved away stand in this cell's own audit, with its number. */
  async #appendApart(institutionId: InstitutionId, entries: readonly TimedAuditEntry[]): Promise<void> {
    const named = entries.map((entry) => ({ ...entry, after: { ...entry.after, institutionId } }));
    await this.#options.database.write(wholeService, (db) => appendAuditEntries(db, named));
  }
}

function countAgain(kind: Kind, entry: AuditEntry): void {
  kind.last = entry;
  kind.again += 1;
}

/** Two persons at one address are two kinds. */
function kindOf(institutionId: InstitutionId, entry: AuditEntry): string {
  const { action, outcome, reason, clientId, userId, subject, nameHash, origin } = entry;
  const name = nameHash && Buffer.from(nameHash).toString('base64');
  return JSON.stringify([
    institutionId,
    action,
    outcome,
    reason,
    clientId,
    userId,
    subject,
    name,
    origin.address,
    origin.operator?.operatorId ?? origin.operator?.user,
  ]);
}
