import type { InstitutionId } from '../storage/index.ts';

/** The first number of each kind of thing, as in note_changes(). Each kind has 4,096 numbers. */
const firstOf = {
  account: 4_096,
  person: 8_192,
  user: 12_288,
  customer: 16_384,
  revocation: 20_480,
} as const;
const lastBits = 4_095n;

/** The institution, its clients and its providers. Every answer stands on it. */
const wholeInstitution = 0;
/** The last sign of life of the institution's core. */
const core = 1;
/** A subject's number has its institution in the digits above these. */
const subjectsOfInstitution = 65_536;

/** The balance of an account as an answer shows it: at the account's newest entry. */
export interface KnownBalance {
  readonly accountKey: bigint;
  readonly seq: bigint;
}

/**
 * Collects the things that an answer is made of. A use case adds each row that it reads, found or not, so that a change of any
 * of them ends the answer. It is made before the first row is read.
 */
export class Basis {
  readonly institutionId: InstitutionId;
  /** Changes up to here are in the rows. */
  readonly position: number;
  /** With the institution, as the database numbers them. */
  readonly subjects: number[] = [];
  readonly balances: KnownBalance[] = [];
  /** The time at which the answer expires, in milliseconds. */
  validUntilMillis = Number.POSITIVE_INFINITY;
  /** False: the answer is sent once and not remembered. */
  isKept = true;

  /** For an answer that nobody remembers. */
  static none(institutionId: InstitutionId): Basis {
    return new Basis(institutionId, -1);
  }

  constructor(institutionId: InstitutionId, position: number) {
    this.institutionId = institutionId;
    this.position = position;
    this.#stand(wholeInstitution);
  }

  add(kind: Exclude<keyof typeof firstOf, 'revocation'>, key: bigint): void {
    this.#stand(firstOf[kind] + Number(key & lastBits));
  }

  /** A token's jti or sid, a UUID. */
  addRevocation(id: string): void {
    this.#stand(firstOf.revocation + Number.parseInt(id.slice(-3), 16));
  }

  addCore(): void {
    this.#stand(core);
  }

  addBalance(accountKey: bigint, seq: bigint): void {
    this.balances.push({ accountKey, seq });
  }

  /** For an answer that changes with the clock. */
  endAt(millis: number): void {
    this.validUntilMillis = Math.min(this.validUntilMillis, millis);
  }

  /** For an answer that changes with a row that is not noted. */
  doNotKeep(): void {
    this.isKept = false;
  }

  #stand(subject: number): void {
    const number = this.institutionId * subjectsOfInstitution + subject;
    if (!this.subjects.includes(number)) this.subjects.push(number);
  }
}
