import type { SignedInOperator } from '../access/sessions.ts';
import { changedBetween, idOf, type Marks } from './marks.ts';

/**
 * Why the service ends a stream. `session`: it has ended; `roles`: they are others now; `unchecked`: the database did not say so in time;
 * `stopping`: the process ends.
 */
export type StreamEnd = 'session' | 'roles' | 'unchecked' | 'stopping';

export interface LiveMessage {
  readonly event: 'figures' | 'changed' | 'beat' | 'end';
  /** For `Last-Event-ID`. */
  readonly id?: string;
  /** JSON. */
  readonly data: string;
}

/** The state that all streams of an institution show. */
export interface LiveState {
  readonly marks: Marks;
  /** JSON, written once for all streams. */
  readonly figures: string | undefined;
}

/**
 * One open stream. It keeps no message for its reader: at each turn the reader gets the newest state if it has an older one, so a slow
 * reader costs no memory.
 */
export class LiveStream {
  readonly operator: SignedInOperator;
  readonly #cut = new AbortController();
  readonly #beatMillis: number;
  readonly #slowMillis: number;
  readonly #stateOf: () => LiveState | undefined;
  #seen: Marks | undefined;
  #seenFigures: string | undefined;
  #end: StreamEnd | 'left' | undefined;
  #wake: (() => void) | undefined;
  #sentAt = performance.now();

  constructor(
    operator: SignedInOperator,
    {
      seen,
      stateOf,
      beatMillis,
      slowMillis,
    }: {
      readonly seen: Marks | undefined;
      readonly stateOf: () => LiveState | undefined;
      readonly beatMillis: number;
      readonly slowMillis: number;
    },
  ) {
    this.operator = operator;
    this.#seen = seen;
    this.#stateOf = stateOf;
    this.#beatMillis = beatMillis;
    this.#slowMillis = slowMillis;
  }

  /** Aborted for a reader that takes nothing: the connection must be destroyed, since it takes no farewell either. */
  get cut(): AbortSignal {
    return this.#cut.signal;
  }

  /** The reader gets the reason as its last message. One that has not taken the message before is cut off. */
  end(why: StreamEnd | 'left'): void {
    this.#end ??= why;
    if (this.#wake === undefined) this.#cut.abort();
    else this.#wake();
  }

  /** The state may be another. A reader that has not taken the last message for too long is cut off. */
  turn(): void {
    if (this.#wake !== undefined) this.#wake();
    else if (performance.now() - this.#sentAt >= this.#slowMillis) this.#cut.abort();
  }

  async *messages(): AsyncGenerator<LiveMessage> {
    while (this.#end === undefined) {
      const message = this.#next() ?? (await this.#wait());
      if (message === undefined) continue;
      this.#sentAt = performance.now();
      yield message;
    }
    if (this.#end !== 'left') yield { event: 'end', data: JSON.stringify({ reason: this.#end }) };
  }

  #next(): LiveMessage | undefined {
    const state = this.#stateOf();
    if (state === undefined) return undefined;
    const { marks, figures } = state;
    const screens = changedBetween(this.#seen, marks);
    const id = idOf(marks);
    if (screens.length > 0) {
      this.#seen = marks;
      return { event: 'changed', id, data: JSON.stringify({ screens }) };
    }
    if (figures === undefined || figures === this.#seenFigures) return undefined;
    this.#seenFigures = figures;
    return { event: 'figures', id, data: figures };
  }

  /** Until the next turn. After some time without a message it returns one that says nothing, so that no proxy ends the connection. */
  async #wait(): Promise<LiveMessage | undefined> {
    const { promise, resolve } = Promise.withResolvers<LiveMessage | undefined>();
    const beat = () => resolve({ event: 'beat', data: '{}' });
    const timer = setTimeout(beat, Math.max(0, this.#sentAt + this.#beatMillis - performance.now()));
    this.#wake = () => resolve(undefined);
    const message = await promise;
    clearTimeout(timer);
    this.#wake = undefined;
    return message;
  }
}
