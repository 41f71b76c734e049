import type { Database, InstitutionId } from '../../storage/index.ts';
import type { Chain } from './canonical.ts';
import { type SealedEntry, selectChainEnd, selectHashAt, selectSealed } from './chain-queries.ts';

const pageLength = 500;

/** A sealed entry as it leaves the service: its content and the hashes that verify it. */
export interface ExportedEntry {
  readonly [member: string]: unknown;
  readonly chain: Chain;
  readonly number: number;
  readonly at: string;
  readonly action: string;
  readonly outcome: string;
}

/**
 * The sealed entries after a number of a chain, a page at a time, as far as the chain reaches now. `withPersonal` adds the personal
 * fields and their salt; without them the chain can be verified all the same. Throws RangeError for a number beyond the chain.
 */
export async function* exportAudit(
  database: Database,
  institutionId: InstitutionId,
  { chain, after, withPersonal }: { chain: Chain; after: number; withPersonal: boolean },
): AsyncGenerator<readonly ExportedEntry[]> {
  const { prunedTo, prunedHash } = await database.read(institutionId, (db) => selectChainEnd(db, chain));
  let number = Math.max(after, prunedTo);
  let previous =
    number === prunedTo
      ? prunedHash
      : await database.read(institutionId, (db) => selectHashAt(db, chain, number));
  if (previous === undefined) throw new RangeError(`audit: the chain ${chain} has no entry ${number}`);
  for (;;) {
    const page = await database.read(institutionId, (db) => selectSealed(db, chain, number, pageLength));
    const exported: ExportedEntry[] = [];
    for (const entry of page) {
      exported.push(toExported(entry, previous, withPersonal));
      previous = entry.hash;
      number = entry.number;
    }
    if (exported.length > 0) yield exported;
    if (page.length < pageLength) return;
  }
}

function toExported(entry: SealedEntry, previous: Uint8Array, withPersonal: boolean): ExportedEntry {
  const { content, personal, salt, hash, isErased } = entry;
  return {
    ...(content as unknown as ExportedEntry),
    ...(withPersonal && salt !== null && { personalData: personal, salt: salt.toString('hex') }),
    ...(isErased && { erased: true }),
    previous: Buffer.from(previous).toString('hex'),
    hash: hash.toString('hex'),
  };
}
