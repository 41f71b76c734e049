import type { Database, InstitutionId } from '../../storage/index.ts';
import { type AnchorRow, selectAnchors } from './anchor-queries.ts';
import { type AuditPublicKeys, openAnchor, readAuditPublicKeys } from './anchors.ts';
import { type Chain, chainHashOf, contentHashOf, firstHash, personalHashOf } from './canonical.ts';
import {
  type ChainEnd,
  type SealedEntry,
  selectChainEnd,
  selectHashAt,
  selectSealed,
} from './chain-queries.ts';

/** The first place at which a chain is not as it was sealed. */
interface Break {
  readonly number: number;
  /** Undefined if the entry is missing. */
  readonly auditKey?: bigint;
  readonly recordedAt?: string;
  readonly problem: string;
}

export interface ChainVerdict {
  readonly chain: Chain;
  /** The entries checked. */
  readonly from: number;
  readonly to: number;
  readonly entries: number;
  readonly erased: number;
  readonly anchors: number;
  readonly broken?: Break;
}

/** An anchor kept outside the database, with the keys that the reader trusts; without them the database's keys. */
export interface OutsideAnchor {
  readonly jws: string;
  readonly keys?: AuditPublicKeys | undefined;
}

const pageLength = 1_000;

/**
 * Verifies a chain from its beginning, from where it was pruned, or from an anchor that was kept outside. Each hash is recomputed
 * from the stored rows, and compared at each anchor and at the end.
 */
export async function verifyChain(
  database: Database,
  institutionId: InstitutionId,
  chain: Chain,
  outside: readonly OutsideAnchor[] = [],
  fromAnchor = false,
): Promise<ChainVerdict> {
  const keys = await readAuditPublicKeys(database);
  const end = await database.read(institutionId, (db) => selectChainEnd(db, chain));
  const stored = await database.read(institutionId, (db) =>
    selectAnchors(db, chain, 1, Number.MAX_SAFE_INTEGER),
  );
  const claims = [
    ...stored.map((anchor) => readStored(anchor, institutionId, keys)),
    ...outside.map(({ jws, keys: trusted }) => readOutside(jws, trusted ?? keys)),
  ].filter((claim) => claim.problem !== undefined || claim.isOf(institutionId, chain));
  const start = fromAnchor ? claims.find(({ isOutside }) => isOutside) : undefined;
  const check = new ChainCheck(chain, end, claims);
  if (start !== undefined && start.number > end.prunedTo + 1) {
    const before = await database.read(institutionId, (db) => selectHashAt(db, chain, start.number - 1));
    check.startAt(start.number, before);
  }
  while (!check.isOver) {
    const page = await database.read(institutionId, (db) =>
      selectSealed(db, chain, check.number, pageLength),
    );
    for (const entry of page) check.take(entry);
    if (page.length < pageLength) break;
  }
  return check.verdict();
}

/** A hash at a number that an anchor states, or the reason why the anchor counts for nothing. */
interface Claim {
  readonly number: number;
  readonly hash: Buffer;
  readonly isOutside: boolean;
  readonly problem?: string;
  isOf(institution: number, chain: Chain): boolean;
}

function readStored(anchor: AnchorRow, institutionId: InstitutionId, keys: AuditPublicKeys): Claim {
  const { number, hash, chain } = anchor;
  const opened = openAnchor(anchor.jws, keys);
  const isRight =
    opened?.institution === institutionId &&
    opened.chain === chain &&
    opened.number === number &&
    opened.hash.equals(hash);
  return {
    ...{ number, hash, isOutside: false, isOf: () => true },
    ...(!isRight && { problem: `the stored anchor at ${number} is not signed by a known key` }),
  };
}

function readOutside(jws: string, keys: AuditPublicKeys): Claim {
  const opened = openAnchor(jws, keys);
  if (opened === undefined) {
    const problem = 'the given anchor is not signed by a known key';
    return { number: 0, hash: firstHash, isOutside: true, problem, isOf: () => true };
  }
  const { number, hash, institution, chain } = opened;
  return { number, hash, isOutside: true, isOf: (id, name) => institution === id && chain === name };
}

class ChainCheck {
  readonly #chain: Chain;
  readonly #end: ChainEnd;
  readonly #claims: readonly Claim[];
  #from: number;
  #number: number;
  #hash: Buffer;
  #entries = 0;
  #erased = 0;
  #met = 0;
  #broken: Break | undefined;

  constructor(chain: Chain, end: ChainEnd, claims: readonly Claim[]) {
    this.#chain = chain;
    this.#end = end;
    this.#claims = claims;
    const bad = claims.find(({ problem }) => problem !== undefined);
    this.#number = end.prunedTo;
    this.#hash = end.prunedHash;
    this.#from = this.#number + 1;
    if (bad?.problem !== undefined) this.#breakAt(bad.number, bad.problem);
    else if (this.#number === 0 && !this.#hash.equals(firstHash)) {
      this.#breakAt(0, 'the chain does not begin with zeros');
    } else if (this.#number > 0 && !this.#meet(this.#number)) {
      this.#breakAt(this.#number, 'the chain was pruned to here without a signed anchor');
    }
  }

  /** Begins at the entry of an anchor, which must follow the hash that stands before it. */
  startAt(number: number, before: Buffer | undefined): void {
    if (before === undefined) this.#breakAt(number - 1, 'the entry is missing');
    this.#from = number;
    this.#number = number - 1;
    this.#hash = before ?? firstHash;
  }

  get number(): number {
    return this.#number;
  }

  get isOver(): boolean {
    return this.#broken !== undefined;
  }

  take(entry: SealedEntry): void {
    if (this.#broken !== undefined) return;
    const expected = this.#number + 1;
    if (entry.number !== expected) {
      this.#breakAt(expected, 'the entry is missing');
      return;
    }
    const problem = this.#problemOf(entry);
    this.#number = expected;
    this.#hash = entry.hash;
    this.#entries += 1;
    if (entry.isErased) this.#erased += 1;
    if (problem !== undefined) this.#breakAt(expected, problem, entry);
    else this.#meet(expected, entry);
    // The chain may grow behind the end that was read before the entries.
    if (expected === this.#end.number && !this.#hash.equals(this.#end.hash)) {
      this.#breakAt(expected, 'the recorded end of the chain has another hash', entry);
    }
  }

  #problemOf({ isErased, salt, personal, personalHash, content, hash }: SealedEntry): string | undefined {
    const holdsPersonal = Object.values(personal).some((field) => field !== undefined);
    if (isErased && (salt !== null || holdsPersonal)) return 'an erased entry has personal fields';
    if (!isErased && (salt === null || !personalHashOf(salt, personal).equals(personalHash)))
      return 'a personal field was changed';
    if (!chainHashOf(this.#hash, contentHashOf(content)).equals(hash)) return 'the entry was changed';
    return undefined;
  }

  /** Compares the hash with the anchors at a number. Returns whether there is one and all are equal. */
  #meet(number: number, entry?: SealedEntry): boolean {
    const here = this.#claims.filter((claim) => claim.number === number);
    this.#met += here.length;
    if (here.every(({ hash }) => hash.equals(this.#hash))) return here.length > 0;
    this.#breakAt(number, 'an anchor states another hash: the chain was rewritten', entry);
    return true;
  }

  #breakAt(number: number, problem: string, entry?: SealedEntry): void {
    this.#broken ??= {
      number,
      problem,
      ...(entry && { auditKey: entry.auditKey, recordedAt: entry.recordedAt }),
    };
  }

  verdict(): ChainVerdict {
    if (this.#broken === undefined) this.#checkEnd();
    return {
      chain: this.#chain,
      from: this.#from,
      to: this.#number,
      entries: this.#entries,
      erased: this.#erased,
      anchors: this.#met,
      ...(this.#broken && { broken: this.#broken }),
    };
  }

  #checkEnd(): void {
    const furthest = Math.max(this.#end.number, ...this.#claims.map(({ number }) => number));
    if (furthest > this.#number) this.#breakAt(this.#number + 1, 'the entry is missing');
  }
}
