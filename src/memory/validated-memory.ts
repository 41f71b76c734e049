import type { Clock, InstitutionId } from '../storage/index.ts';
import { Basis } from './basis.ts';
import type { Changes, Known, LogPosition } from './change-queries.ts';

/** The database's response to one question. Problem `database_unavailable`. */
export type Ask = (known: Known) => Promise<Changes>;

export interface MemoryOptions {
  readonly ask: Ask;
  readonly clock: Clock;
  /** The most bytes of all answers, their bases and the marks of changes, as estimated. */
  readonly maxBytes: number;
}

/** A value with what it stands on. It may be returned after `check`, if `isTrue`. */
export interface Remembered<Value> {
  readonly value: Value;
  readonly key: string;
  readonly basis: Basis;
  readonly bytes: number;
  /** A balance has moved. */
  isStale: boolean;
  /** Set by a use, cleared by the clock that evicts. */
  isUsed: boolean;
  usedAtMillis: number;
  /** The last question that had its balances. */
  question: number;
}

interface Waiting {
  readonly entries: readonly Remembered<unknown>[];
  readonly done: (error: Error | null) => void;
}

/** Balances of one question; more than a tick of busy connections has. */
const maxBalances = 2_048;
/** An answer with more accounts is not remembered. */
const maxBalancesOfEntry = 64;
/** The measured bytes of an entry besides its key and value: objects, numbers and the map's slots. */
const bytesOfEntry = 900;
const bytesOfBalance = 64;
/** Marks of changes stand in pages, which a change allocates. */
const marksOfPage = 256;
const bytesOfPage = 8 * marksOfPage + 200;
/** Personal data is not kept longer than this without a use. */
const idleMillis = 15 * 60_000;
const sweepMillis = 60_000;

/**
 * Values that were read, and whether they still hold. Requests of one turn of the event loop share a question, and so do those
 * that arrive while one is under way. The question begins after its requests arrived, so a value that passes is as
 * fresh as one that is read (ADR 33).
 */
export class ValidatedMemory {
  readonly #ask: Ask;
  readonly #clock: Clock;
  readonly #maxBytes: number;
  /** In the order in which the clock of the eviction meets them. */
  readonly #entries = new Map<string, Remembered<unknown>>();
  /** Of the entries and the pages of marks. */
  #bytes = 0;
  /** Counts the responses that had changes. A basis of an earlier position may lack them. */
  #position = 0;
  /** Bases of earlier positions are void. Infinite until the first response of a connection. */
  #firstPosition = Number.POSITIVE_INFINITY;
  /** The position of the last change, by subject. */
  readonly #changedAt = new Map<number, Float64Array>();
  #logPosition: LogPosition | null = null;
  #waiting: Waiting[] = [];
  #isSending = false;
  #isAsking = false;
  #questions = 0;
  readonly #sweep: NodeJS.Timeout;

  constructor({ ask, clock, maxBytes }: MemoryOptions) {
    this.#ask = ask;
    this.#clock = clock;
    this.#maxBytes = maxBytes;
    this.#sweep = setInterval(() => this.#forgetIdle(), sweepMillis).unref();
  }

  /** Call it before the first row of an answer is read. */
  begin(institutionId: InstitutionId): Basis {
    if (this.#firstPosition === Number.POSITIVE_INFINITY) this.check([], () => {});
    return new Basis(institutionId, this.#position);
  }

  /** `bytes`: of the value. Undefined if the answer is of a moment only. */
  keep<Value>(key: string, value: Value, bytes: number, basis: Basis): Remembered<Value> | undefined {
    if (!basis.isKept || basis.balances.length > maxBalancesOfEntry || !this.#holds(basis)) return undefined;
    const entry: Remembered<Value> = {
      value,
      key,
      basis,
      bytes: bytes + 2 * key.length + bytesOfEntry + bytesOfBalance * basis.balances.length,
      isStale: false,
      isUsed: false,
      usedAtMillis: Date.now(),
      question: 0,
    };
    this.#forget(key);
    this.#entries.set(key, entry);
    this.#bytes += entry.bytes;
    this.#evict();
    return entry;
  }

  /** A value that was true once. Its users `check` it. */
  find<Value>(key: string): Remembered<Value> | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    if (!this.isTrue(entry)) {
      this.#forget(key);
      return undefined;
    }
    entry.isUsed = true;
    return entry as Remembered<Value>;
  }

  /**
   * Asks what has changed, then calls `done`: with null, after which `isTrue` tells of each entry whether it holds now; or with
   * Problem `database_unavailable`.
   */
  check(entries: readonly Remembered<unknown>[], done: (error: Error | null) => void): void {
    this.#waiting.push({ entries, done });
    if (this.#isSending) return;
    this.#isSending = true;
    setImmediate(() => {
      this.#isSending = false;
      this.#send();
    });
  }

  /** The same for one value. */
  confirm(entry: Remembered<unknown>): Promise<boolean> {
    return new Promise((resolve, reject) => {
      this.check([entry], (error) => (error === null ? resolve(this.isTrue(entry)) : reject(error)));
    });
  }

  /** The value under this key if it holds, or else what `read` returns, which is kept unless it is undefined. */
  async read<Value>(
    {
      key,
      institutionId,
      bytes,
    }: { readonly key: string; readonly institutionId: InstitutionId; readonly bytes: number },
    read: () => Promise<Value>,
  ): Promise<Value> {
    const known = this.find<Value>(key);
    if (known !== undefined && (await this.confirm(known))) return known.value;
    const basis = this.begin(institutionId);
    const value = await read();
    if (value !== undefined) this.keep(key, value, bytes, basis);
    return value;
  }

  isTrue({ isStale, basis }: Remembered<unknown>): boolean {
    return !isStale && this.#holds(basis);
  }

  /**
   * The log as the last question found it; null without a connection, or if nobody reads from standbys. Taken together with a basis it
   * covers every change before the basis, and in a request whose caller was checked every commit that was confirmed before the request.
   */
  get logPosition(): LogPosition | null {
    return this.#logPosition;
  }

  get size(): { readonly entries: number; readonly bytes: number } {
    return { entries: this.#entries.size, bytes: this.#bytes };
  }

  close(): void {
    clearInterval(this.#sweep);
  }

  #holds({ position, subjects, validUntilMillis }: Basis): boolean {
    if (position < this.#firstPosition) return false;
    // Most answers end with a change only, and need no clock.
    if (validUntilMillis !== Number.POSITIVE_INFINITY && validUntilMillis <= this.#clock().getTime())
      return false;
    return subjects.every((subject) => {
      const page = this.#changedAt.get(Math.floor(subject / marksOfPage));
      return page === undefined || (page[subject % marksOfPage] as number) <= position;
    });
  }

  /** One question at a time: those who arrive meanwhile share the next one, which costs less than two that overlap. */
  #send(): void {
    if (this.#isAsking || this.#waiting.length === 0) return;
    this.#isAsking = true;
    this.#questions += 1;
    const known = { institutions: [] as number[], accountKeys: [] as bigint[], seqs: [] as bigint[] };
    const owners: Remembered<unknown>[] = [];
    let count = 0;
    while (count < this.#waiting.length && owners.length < maxBalances) {
      for (const entry of (this.#waiting[count] as Waiting).entries) this.#addBalances(entry, known, owners);
      count += 1;
    }
    const batch = count === this.#waiting.length ? this.#waiting : this.#waiting.slice(0, count);
    this.#waiting = this.#waiting.slice(count);
    void this.#ask(known)
      .then((changes) => this.#apply(changes, owners))
      .then(
        () => this.#respond(batch, null),
        (error) => {
          this.#reset();
          this.#firstPosition = Number.POSITIVE_INFINITY;
          this.#logPosition = null;
          this.#respond(batch, error);
        },
      );
  }

  /** Requests for the same answer ask for it once. */
  #addBalances(
    entry: Remembered<unknown>,
    {
      institutions,
      accountKeys,
      seqs,
    }: Record<'institutions', number[]> & Record<'accountKeys' | 'seqs', bigint[]>,
    owners: Remembered<unknown>[],
  ): void {
    if (entry.question === this.#questions) return;
    entry.question = this.#questions;
    for (const { accountKey, seq } of entry.basis.balances) {
      institutions.push(entry.basis.institutionId);
      accountKeys.push(accountKey);
      seqs.push(seq);
      owners.push(entry);
    }
  }

  #respond(batch: readonly Waiting[], error: Error | null): void {
    this.#isAsking = false;
    for (const { done } of batch) done(error);
    this.#send();
  }

  #apply(
    { isKept, changed, moved, flushed, timeline }: Changes,
    owners: readonly Remembered<unknown>[],
  ): void {
    if (!isKept) this.#reset();
    this.#logPosition = flushed && timeline ? { flushed, timeline } : null;
    if (changed !== null && changed.length > 0) {
      this.#position += 1;
      for (const subject of changed) this.#noteChange(Number(subject));
      // Marks for half of the memory end all of it: what is read next needs none of them.
      if (this.#changedAt.size * bytesOfPage > this.#maxBytes / 2) this.#reset();
      else this.#evict();
    }
    for (const place of moved ?? []) (owners[place - 1] as Remembered<unknown>).isStale = true;
  }

  #noteChange(subject: number): void {
    const number = Math.floor(subject / marksOfPage);
    let page = this.#changedAt.get(number);
    if (page === undefined) {
      page = new Float64Array(marksOfPage);
      this.#changedAt.set(number, page);
      this.#bytes += bytesOfPage;
    }
    page[subject % marksOfPage] = this.#position;
  }

  /** Bases that were made before this are void, also those of answers that are being read. */
  #reset(): void {
    this.#position += 1;
    this.#firstPosition = this.#position;
    this.#entries.clear();
    this.#changedAt.clear();
    this.#bytes = 0;
  }

  #forget(key: string): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    this.#entries.delete(key);
    this.#bytes -= entry.bytes;
  }

  /** CLOCK: an entry that was used since the hand last passed stays for another round. */
  #evict(): void {
    for (const [key, entry] of this.#entries) {
      if (this.#bytes <= this.#maxBytes) return;
      if (!entry.isUsed) this.#forget(key);
      else {
        entry.isUsed = false;
        this.#entries.delete(key);
        this.#entries.set(key, entry);
      }
    }
  }

  #forgetIdle(): void {
    const now = Date.now();
    for (const [key, entry] of this.#entries) {
      if (entry.isUsed) {
        entry.isUsed = false;
        entry.usedAtMillis = now;
      } else if (entry.usedAtMillis <= now - idleMillis || !this.isTrue(entry)) {
        this.#forget(key);
      }
    }
  }
}
