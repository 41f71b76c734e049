import { hash } from 'node:crypto';

const most = 20_000;

/** What was found out of tokens, by their SHA-256; of too many the oldest goes. */
export class VerifiedTokenCache<T> {
  // A map keeps the order in which its keys came.
  readonly #known = new Map<string, T>();

  static nameOf(token: string): string {
    return hash('sha256', token, 'base64');
  }

  get(name: string): T | undefined {
    return this.#known.get(name);
  }

  set(name: string, value: T): void {
    this.#known.set(name, value);
    if (this.#known.size <= most) return;
    for (const oldest of this.#known.keys()) {
      this.#known.delete(oldest);
      break;
    }
  }
}
