import { timingSafeEqual } from 'node:crypto';
import type { Clock } from '../../storage/index.ts';
import type { Vault } from '../keys/vault.ts';

const slotMillis = 120_000;
const markBytes = 16;

/**
 * Nonces of proofs (RFC 9449 section 8), the same for all callers of two minutes. They are made of the time and the service's key, so that
 * every process accepts those of every other. A nonce can be used for two to four minutes.
 */
export class ProofNonces {
  readonly #vault: Vault;
  readonly #clock: Clock;
  readonly #bySlot = new Map<number, string>();

  constructor(vault: Vault, clock: Clock) {
    this.#vault = vault;
    this.#clock = clock;
  }

  current(): string {
    return this.#of(this.#slot());
  }

  /** The slot after this one is that of a process whose clock is ahead. */
  isCurrent = (nonce: string): boolean => {
    const slot = this.#slot();
    return [slot, slot - 1, slot + 1].some((one) => isSame(nonce, this.#of(one)));
  };

  #slot(): number {
    return Math.floor(this.#clock().getTime() / slotMillis);
  }

  #of(slot: number): string {
    const known = this.#bySlot.get(slot);
    if (known !== undefined) return known;
    const mark = this.#vault.hash('dpop nonce', String(slot)).subarray(0, markBytes);
    const nonce = mark.toString('base64url');
    if (this.#bySlot.size > 8) this.#bySlot.clear();
    this.#bySlot.set(slot, nonce);
    return nonce;
  }
}

function isSame(given: string, nonce: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(nonce)];
  return one.length === other.length && timingSafeEqual(one, other);
}
