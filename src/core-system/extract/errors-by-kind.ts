import type { ErrorList } from './extract-table.ts';

const linesOfAKind = 100;

/**
 * Errors as `file:line: …`. Errors that differ only by their line are of one kind. Beyond a hundred of a kind they are only
 * counted, so that a million wrong lines need no memory.
 */
export class ErrorsByKind implements ErrorList {
  readonly #kinds = new Map<string, { readonly errors: string[]; more: number }>();

  push(error: string): void {
    const kind = error.replace(/:[0-9]+:/, ':');
    const known = this.#kinds.get(kind);
    if (known === undefined) this.#kinds.set(kind, { errors: [error], more: 0 });
    else if (known.errors.length < linesOfAKind) known.errors.push(error);
    else known.more += 1;
  }

  get isEmpty(): boolean {
    return this.#kinds.size === 0;
  }

  /** Ordered by file and line; then the number of omitted errors of each kind. */
  list(files: readonly string[]): string[] {
    const all = [...this.#kinds.values()]
      .flatMap(({ errors }) => errors)
      .map((error) => ({ error, ...placeOf(error, files) }))
      .sort((one, other) => one.file - other.file || one.line - other.line);
    const more = [...this.#kinds]
      .filter(([, { more }]) => more > 0)
      .map(([kind, { more }]) => `${kind.replace(/:$/, '')} (and ${more} more lines)`);
    return [...all.map(({ error }) => error), ...more];
  }
}

function placeOf(error: string, files: readonly string[]): { readonly file: number; readonly line: number } {
  const [, file = '', line] = /^([^:]*):([0-9]+)/.exec(error) ?? [];
  return { file: files.indexOf(file), line: Number(line) };
}
