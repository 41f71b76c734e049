import type { Books, Entry } from './books.ts';
import { carryOut } from './carry-out.ts';
import { type Act, planDay } from './life.ts';
import { addDays, type Day, dayOf, momentOn } from './local-time.ts';

/** Finds the next act: of the days' plans, or of the agenda of open authorizations. */
export class Schedule {
  readonly #books: Books;
  /** The first act is on this day, or after the last one of the books. */
  readonly #from: Date;
  #plan: { readonly day: Day; readonly acts: readonly Act[] } | undefined;

  constructor(books: Books, from: Date) {
    this.#books = books;
    this.#from = from;
  }

  /** The entry of the earliest act until then; undefined if nothing is due. The caller applies it before it asks again. */
  next(until: Date): Entry | undefined {
    const planned = this.#nextPlanned(until);
    const [due] = this.#books.agenda;
    if (due !== undefined && Date.parse(due.at) <= (planned?.at ?? until).getTime()) {
      const { at, line } = due;
      // A hold that has ended meanwhile needs no news.
      const isNews = line !== undefined && (line.status === undefined || this.#books.isHeld(line.id));
      return { at, isNextDone: true, ...(isNews && { lines: [line] }) };
    }
    if (planned === undefined) return undefined;
    const { act, at, day, place } = planned;
    return carryOut(this.#books, act, { at, day, place });
  }

  #nextPlanned(until: Date) {
    const { lastAct, zone, seed, accounts } = this.#books;
    let day = lastAct?.day ?? dayOf(this.#from, zone);
    let place = (lastAct?.place ?? -1) + 1;
    for (; momentOn(day, 0, zone) <= until; day = addDays(day, 1), place = 0) {
      if (this.#plan?.day !== day) this.#plan = { day, acts: planDay(seed, day, [...accounts.values()]) };
      const act = this.#plan.acts[place];
      if (act === undefined) continue;
      const at = momentOn(day, act.minutes, zone);
      return at <= until ? { act, at, day, place } : undefined;
    }
    return undefined;
  }
}
