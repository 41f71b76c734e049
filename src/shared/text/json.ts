import { Problem } from '../problem.ts';

export interface ParsedJson {
  readonly value: unknown;
  /**
   * The source text of each number by its JSON pointer (RFC 6901), for amounts that must not become floats.
   * Numbers at a pointer of more than 256 characters are left out: no operation has one, and a long key above many numbers
   * makes the map slow (measured: 4 s for 2,000 pointers of 30,000 characters).
   */
  readonly numbers: ReadonlyMap<string, string>;
}

const maxDepth = 32;
const maxPointerLength = 256;

/**
 * Reads a JSON document (RFC 8259) as `JSON.parse` does, and keeps the source text of its numbers. `JSON.parse` accepts a
 * repeated key, does not always report the position of an error, and may confuse a key with escapes with one of an earlier
 * document (https://github.com/nodejs/node/issues/63785).
 *
 * Throws Problem `malformed_json` with the position: UTF-16 units from 0, line and column from 1. It also refuses
 * documents that two readers could read differently (a repeated key, the key `__proto__`, a byte order mark), and more than
 * 32 levels of objects and arrays, so that recursion stays shallow.
 */
export function parseJson(text: string): ParsedJson {
  const reader = new Reader(text);
  const value = reader.document();
  return { value, numbers: reader.numbers };
}

/** Escapes of one letter (RFC 8259, section 7). */
const escapes: ReadonlyMap<string, string> = new Map([
  ['"', '"'],
  ['\\', '\\'],
  ['/', '/'],
  ['b', '\b'],
  ['f', '\f'],
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
]);

class Reader {
  readonly numbers = new Map<string, string>();
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  document(): unknown {
    if (this.#text.startsWith('\ufeff')) this.#refuse('byte order mark');
    const value = this.#value('', 0);
    this.#skipWhitespace();
    if (this.#at < this.#text.length) this.#unexpected();
    return value;
  }

  #value(pointer: string, depth: number): unknown {
    this.#skipWhitespace();
    switch (this.#text[this.#at]) {
      case '{':
        return this.#object(pointer, depth + 1);
      case '[':
        return this.#array(pointer, depth + 1);
      case '"':
        return this.#string();
      case 't':
        return this.#word('true', true);
      case 'f':
        return this.#word('false', false);
      case 'n':
        return this.#word('null', null);
      default:
        return this.#number(pointer);
    }
  }

  #object(pointer: string, depth: number): Record<string, unknown> {
    if (depth > maxDepth) this.#refuse(`level of nesting beyond ${maxDepth}`);
    const object: Record<string, unknown> = {};
    this.#at += 1;
    this.#skipWhitespace();
    if (this.#take('}')) return object;
    do {
      this.#skipWhitespace();
      const keyAt = this.#at;
      if (this.#text[keyAt] !== '"') this.#unexpected();
      const key = this.#string();
      if (key === '__proto__') this.#refuse('key __proto__', keyAt);
      if (Object.hasOwn(object, key)) this.#refuse('second key of the same name', keyAt);
      this.#skipWhitespace();
      this.#expect(':');
      object[key] = this.#value(`${pointer}/${escapePointer(key)}`, depth);
      this.#skipWhitespace();
    } while (this.#take(','));
    this.#expect('}');
    return object;
  }

  #array(pointer: string, depth: number): unknown[] {
    if (depth > maxDepth) this.#refuse(`level of nesting beyond ${maxDepth}`);
    const array: unknown[] = [];
    this.#at += 1;
    this.#skipWhitespace();
    if (this.#take(']')) return array;
    do {
      array.push(this.#value(`${pointer}/${array.length}`, depth));
      this.#skipWhitespace();
    } while (this.#take(','));
    this.#expect(']');
    return array;
  }

  #string(): string {
    this.#at += 1;
    let value = '';
    let copied = this.#at;
    for (;;) {
      const char = this.#text[this.#at];
      if (char === undefined || char < ' ') this.#unexpected();
      if (char === '"' || char === '\\') {
        value += this.#text.slice(copied, this.#at);
        this.#at += 1;
        if (char === '"') return value;
        value += this.#escape();
        copied = this.#at;
      } else {
        this.#at += 1;
      }
    }
  }

  /** Reads from behind the `\`. Halves of surrogate pairs are read one by one, and may stand alone, as RFC 8259 allows. */
  #escape(): string {
    const letter = this.#text[this.#at];
    if (letter === 'u') {
      const start = this.#at + 1;
      do {
        this.#at += 1;
        if (!/^[0-9a-fA-F]$/.test(this.#text[this.#at] ?? '')) this.#unexpected();
      } while (this.#at < start + 3);
      this.#at += 1;
      return String.fromCharCode(Number.parseInt(this.#text.slice(start, this.#at), 16));
    }
    const meant = escapes.get(letter ?? '');
    if (meant === undefined) this.#unexpected();
    this.#at += 1;
    return meant;
  }

  #number(pointer: string): number {
    const start = this.#at;
    this.#take('-');
    if (!this.#take('0')) this.#digits();
    if (this.#take('.')) this.#digits();
    if (this.#take('e') || this.#take('E')) {
      if (!this.#take('+')) this.#take('-');
      this.#digits();
    }
    const source = this.#text.slice(start, this.#at);
    if (pointer.length <= maxPointerLength) this.numbers.set(pointer, source);
    return Number(source);
  }

  #digits(): void {
    if (!this.#isDigit()) this.#unexpected();
    while (this.#isDigit()) this.#at += 1;
  }

  #isDigit(): boolean {
    const char = this.#text[this.#at];
    return char !== undefined && char >= '0' && char <= '9';
  }

  #word<T>(word: string, value: T): T {
    for (const char of word) this.#expect(char);
    return value;
  }

  #skipWhitespace(): void {
    for (;;) {
      const char = this.#text[this.#at];
      if (char !== ' ' && char !== '\n' && char !== '\r' && char !== '\t') return;
      this.#at += 1;
    }
  }

  #take(char: string): boolean {
    if (this.#text[this.#at] !== char) return false;
    this.#at += 1;
    return true;
  }

  #expect(char: string): void {
    if (!this.#take(char)) this.#unexpected();
  }

  #unexpected(): never {
    this.#refuse(this.#at < this.#text.length ? 'character' : 'end of the document');
  }

  /** The detail names the kind of the unexpected text, and never repeats it. */
  #refuse(what: string, position = this.#at): never {
    const lines = this.#text.slice(0, position).split(/\r\n|\r|\n/);
    const column = (lines.at(-1) ?? '').length + 1;
    throw new Problem(
      'malformed_json',
      `Unexpected ${what} at position ${position} (line ${lines.length}, column ${column}).`,
    );
  }
}

/** One reference token of a JSON pointer (RFC 6901, section 3). */
export function escapePointer(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1');
}
