import path from 'node:path';
import {
  type Account,
  Books,
  type CoreRecord,
  type Entry,
  type Instruction,
  type Line,
  type Outcome,
} from './books.ts';
import { history } from './history.ts';
import { Journal } from './journal.ts';
import { addDays, type Day, dayOf, momentOn, stamp } from './local-time.ts';
import { lockFolder } from './lock.ts';
import { Schedule } from './schedule.ts';

export interface CoreOptions {
  readonly folder: string;
  /** The first start lays down these five; later ones find them in the journal. */
  readonly seed: string;
  readonly zone: string;
  readonly accounts: readonly Account[];
  /** Days that are history when the core goes on the air. */
  readonly historyDays: number;
  /** Days between the history and today, which pass with `speed`. */
  readonly replayDays: number;
  /** Days of the core in a real day, until its clock has caught up with the real one. 1: its clock is the real one. */
  readonly speed: number;
  readonly now?: () => Date;
}

/** Entries written with one fsync. */
const entriesAtOnce = 2_000;
/** The first comparison has the postings of a week. */
const firstComparisonMillis = 7 * 24 * 60 * 60_000;

/** The core itself: its clock, its day, and the books behind the journal. It knows nothing of the service. */
export class Core {
  readonly books: Omit<Books, 'apply'>;
  readonly #books: Books;
  readonly #journal: Journal<Entry>;
  readonly #lock: { release(): void };
  readonly #schedule: Schedule;
  readonly #now: () => Date;
  readonly #speed: number;
  readonly #startedAt: Date;
  /** The core's time when this process started. */
  readonly #from: Date;
  /** Lines up to this number are on disk, so they may leave the core. */
  #durableLines = 0;
  #durableRecords = 0;
  /** Every act until then is in the books. */
  #advancedTo: Date | undefined;
  #isComparisonAsked = false;

  private constructor(parts: {
    readonly books: Books;
    readonly journal: Journal<Entry>;
    readonly lock: { release(): void };
    readonly from: Date;
    readonly now: () => Date;
    readonly speed: number;
  }) {
    const { books, now, from } = parts;
    this.books = books;
    this.#books = books;
    this.#journal = parts.journal;
    this.#lock = parts.lock;
    this.#schedule = new Schedule(books, from);
    this.#now = now;
    this.#speed = parts.speed;
    this.#startedAt = now();
    this.#from = from;
    this.#durableLines = books.lines.length;
    this.#durableRecords = books.records.length;
  }

  /** Opens the books, or begins new ones with their history. Throws FolderInUseError and JournalDamagedError. */
  static async open(options: CoreOptions): Promise<Core> {
    const { folder, now = () => new Date(), speed, seed, zone, accounts } = options;
    const lock = await lockFolder(folder);
    const { journal, entries } = await Journal.open<Entry>(path.join(folder, 'journal'));
    const books = new Books();
    for (const entry of entries) books.apply(entry);
    const replayFrom = (days: number) => momentOn(addDays(dayOf(now(), zone), -days), 0, zone);
    const from =
      books.at !== undefined
        ? new Date(books.at)
        : options.replayDays > 0
          ? replayFrom(options.replayDays)
          : now();
    const core = new Core({ books, journal, lock, from, now, speed });
    if (books.at === undefined) {
      const begin = replayFrom(options.historyDays + options.replayDays);
      await core.#commit(history({ seed, zone, accounts, begin, end: from }));
    }
    return core;
  }

  /** The core's clock: behind the real one while it replays the past, never ahead of it. */
  time(): Date {
    const now = this.#now();
    if (this.#speed === 1) return now;
    const passed = (now.getTime() - this.#startedAt.getTime()) * this.#speed;
    return new Date(Math.min(now.getTime(), this.#from.getTime() + passed));
  }

  /** Does everything that is due by now. Returns the number of acts. */
  async advance(): Promise<number> {
    const until = this.time();
    for (let count = 0; ; ) {
      const entries: Entry[] = [];
      while (entries.length < entriesAtOnce) {
        const entry = this.#schedule.next(until);
        if (entry === undefined) break;
        this.#books.apply(entry);
        entries.push(entry);
      }
      if (entries.length === 0) {
        this.#advancedTo = until;
        return count;
      }
      await this.#write(entries);
      count += entries.length;
    }
  }

  /** Decides each instruction once. Its outcome is on disk when this resolves. `isRefused` overrules the books. */
  async decide(
    instructions: readonly Instruction[],
    isRefused: (instruction: Instruction) => boolean = () => false,
  ): Promise<void> {
    const at = this.#stamp();
    const entries: Entry[] = [];
    for (const instruction of instructions) {
      const entry = this.#books.decide(instruction, {
        at,
        day: at.slice(0, 10),
        isRefused: isRefused(instruction),
      });
      if (entry === undefined) continue;
      this.#books.apply(entry);
      entries.push(entry);
    }
    if (entries.length > 0) await this.#write(entries);
  }

  outcomeOf(id: string): Outcome | undefined {
    return this.#books.decided.get(id);
  }

  reported(ids: readonly string[]): Promise<void> {
    return this.#commit([{ at: this.#stamp(), reported: ids }]);
  }

  /** Lines that the service has not taken yet, oldest first, with their numbers. */
  undelivered(most: number): { readonly number: number; readonly line: Line }[] {
    const { again, deliveredUpTo, lines } = this.#books;
    const numbers = [...again];
    const last = Math.min(this.#durableLines, deliveredUpTo + most);
    for (let number = deliveredUpTo + 1; number <= last; number += 1) numbers.push(number);
    return numbers.flatMap((number) => {
      const line = lines[number - 1];
      return line === undefined ? [] : [{ number, line }];
    });
  }

  /** Records that the service has not answered yet, oldest first; the first has the number `announcedUpTo` + 1. */
  unannounced(most: number): readonly CoreRecord[] {
    const { announcedUpTo, records } = this.#books;
    return records.slice(announcedUpTo, Math.min(this.#durableRecords, announcedUpTo + most));
  }

  announced(announced: NonNullable<Entry['announced']>): Promise<void> {
    return this.#commit([{ at: this.#stamp(), announced }]);
  }

  delivered(delivered: NonNullable<Entry['delivered']>): Promise<void> {
    return this.#commit([{ at: this.#stamp(), delivered }]);
  }

  /** Today. No posting will have an earlier date. */
  today(): Day | undefined {
    return this.#advancedTo && dayOf(this.#advancedTo, this.#books.zone);
  }

  /** Postings of a day, for its file. */
  postingsOf(day: Day): Line[] {
    return this.#books.postingsBetween(momentOn(day, 0, this.#books.zone), this.endOf(day));
  }

  /** The last second of a day. */
  endOf(day: Day): Date {
    return new Date(momentOn(addDays(day, 1), 0, this.#books.zone).getTime() - 1_000);
  }

  /** Makes a comparison due now, not only at the end of the day. */
  askForComparison(): void {
    this.#isComparisonAsked = true;
  }

  get isComparing(): boolean {
    return this.#isComparisonAsked || this.#books.comparing !== undefined;
  }

  /**
   * The moment whose balances are due at the service, and the moment from which on it does not have the postings: once a day, or when
   * someone asked. Undefined if none are due. No posting will be dated before the moment any more, also after a crash.
   */
  async comparisonDue(): Promise<{ readonly asOf: Date; readonly since: Date } | undefined> {
    const { comparing, compared, zone } = this.#books;
    const newest = compared === undefined ? 0 : Date.parse(compared);
    let asOf = comparing === undefined ? undefined : new Date(comparing);
    if (asOf === undefined) {
      if (this.#advancedTo === undefined) return undefined;
      asOf = this.#isComparisonAsked
        ? new Date(Math.floor(this.#advancedTo.getTime() / 1_000) * 1_000 - 1_000)
        : this.endOf(addDays(dayOf(this.#advancedTo, zone), -1));
      this.#isComparisonAsked = false;
      if (asOf.getTime() <= newest) return undefined;
      await this.#commit([{ at: this.#stamp(), comparing: { asOf: asOf.toISOString() } }]);
    }
    return { asOf, since: new Date(newest === 0 ? asOf.getTime() - firstComparisonMillis : newest) };
  }

  compared(asOf: Date): Promise<void> {
    return this.#commit([{ at: this.#stamp(), compared: { asOf: asOf.toISOString() } }]);
  }

  async close(): Promise<void> {
    await this.#journal.close();
    this.#lock.release();
  }

  #stamp(): string {
    return stamp(this.time(), this.#books.zone);
  }

  #commit(entries: readonly Entry[]): Promise<void> {
    for (const entry of entries) this.#books.apply(entry);
    return this.#write(entries);
  }

  async #write(entries: readonly Entry[]): Promise<void> {
    const { lines, records } = this.#books;
    const counts = { lines: lines.length, records: records.length };
    await this.#journal.append(entries);
    this.#durableLines = Math.max(this.#durableLines, counts.lines);
    this.#durableRecords = Math.max(this.#durableRecords, counts.records);
  }
}
