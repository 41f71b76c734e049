import type { InstitutionId } from '../storage/index.ts';
import type { Institution } from './queries.ts';

/** The time by which an institution does business, at a moment of the process's clock. */
export type BusinessTime = (institutionId: InstitutionId, now: Date) => Date;

/**
 * The clock offsets of the demo institutions, read from the directory at the start and twice a second. They affect due dates,
 * limits, cut-offs, codes and locks, and never tokens, keys and the audit.
 */
export class SandboxClocks {
  readonly #aheadMillis = new Map<InstitutionId, number>();

  learn(institutions: readonly Institution[]): void {
    for (const { institutionId, clockAheadSeconds } of institutions) {
      if (clockAheadSeconds > 0n) this.#aheadMillis.set(institutionId, Number(clockAheadSeconds) * 1000);
    }
  }

  readonly businessTime: BusinessTime = (institutionId, now) => {
    const ahead = this.#aheadMillis.get(institutionId);
    return ahead === undefined ? now : new Date(now.getTime() + ahead);
  };
}
