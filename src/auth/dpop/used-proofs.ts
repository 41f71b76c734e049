import { hash } from 'node:crypto';
import type { Database, InstitutionId } from '../../storage/index.ts';
import { clockSkewMillis } from '../keys/key-states.ts';
import { InvalidProofError } from './invalid-proof-error.ts';
import type { Proof } from './proof.ts';
import { recordProofs, type UsedProof } from './proof-queries.ts';

interface Waiting extends UsedProof {
  readonly settle: (error: Error | null) => void;
}

/** One institution's proofs: those of the next statement by their hash, and whether a statement is under way. */
interface Line {
  next: Map<string, Waiting>;
  isBusy: boolean;
}

/**
 * Accepts each proof once, in all processes (RFC 9449 section 11.1). The proofs of a turn, and those that come while a statement is under way,
 * share one statement.
 */
export class UsedProofs {
  readonly #database: Database;
  readonly #lines = new Map<InstitutionId, Line>();

  constructor(database: Database) {
    this.#database = database;
  }

  /** Throws InvalidProofError if the proof was used before. */
  use(institutionId: InstitutionId, { thumbprint, id, acceptedUntilMillis }: Proof): Promise<void> {
    const proofHash = hash('sha256', `${thumbprint}\0${id}`, 'buffer');
    const key = proofHash.toString('base64');
    const line = this.#lineOf(institutionId);
    if (line.next.has(key)) return Promise.reject(usedBefore());
    return new Promise((resolve, reject) => {
      const settle = (error: Error | null) => (error === null ? resolve() : reject(error));
      // A process with a late clock accepts it longer.
      const expiresAt = new Date(acceptedUntilMillis + clockSkewMillis);
      line.next.set(key, { proofHash, expiresAt, settle });
      if (!line.isBusy && line.next.size === 1) setImmediate(() => this.#record(institutionId, line));
    });
  }

  #lineOf(institutionId: InstitutionId): Line {
    const line = this.#lines.get(institutionId) ?? { next: new Map(), isBusy: false };
    this.#lines.set(institutionId, line);
    return line;
  }

  #record(institutionId: InstitutionId, line: Line): void {
    const waiting = [...line.next.values()].sort((one, other) => one.proofHash.compare(other.proofHash));
    line.next = new Map();
    line.isBusy = true;
    this.#database
      .write(institutionId, (db) => recordProofs(db, waiting))
      .then(
        (recorded) => {
          const isNew = new Set(recorded.map((one) => one.toString('base64')));
          for (const { proofHash, settle } of waiting) {
            settle(isNew.has(proofHash.toString('base64')) ? null : usedBefore());
          }
        },
        (error) => {
          for (const { settle } of waiting) settle(error);
        },
      )
      .finally(() => {
        line.isBusy = false;
        if (line.next.size > 0) this.#record(institutionId, line);
      });
  }
}

function usedBefore(): InvalidProofError {
  return new InvalidProofError('The proof was used before: each request needs a proof of its own.');
}
