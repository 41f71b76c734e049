import { hash } from 'node:crypto';

const maxTokens = 20_000;

/** The results of verified tokens by the tokens' SHA-256. Beyond 20,000 the oldest is dropped. */
export class VerifiedTokenCache<T> {
  readonly #results = new Map<string, T>();

  static keyOf(token: string): string {
    return hash('sha256', token, 'base64');
  }

  get(key: string): T | undefined {
    return this.#results.get(key);
  }

  set(key: string, result: T): void {
    this.#results.set(key, result);
    if (this.#results.size <= maxTokens) return;
    // A map keeps the order of insertion.
    const [oldest = ''] = this.#results.keys();
    this.#results.delete(oldest);
  }
}
