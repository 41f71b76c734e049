import { currencyDecimals } from '../ledger/index.ts';
import type { FindingKind } from './finding-kinds.ts';

/** A row that breaks a check. It names rows by their ids and has no personal data. */
export interface Finding extends FoundRow {
  readonly check: FindingKind;
}

/** A row as a check returns it. */
export interface FoundRow {
  /** The name of the row, for people. */
  readonly row: string;
  /** The difference in words. Amounts are in minor units. */
  readonly detail: string;
  readonly accountId: string | null;
  /** Number of the entry on the account. */
  readonly entry: bigint | null;
  readonly transferId: string | null;
  /** Whole minor units, beyond 64 bits if a sum is. Null, as its currency is, unless an amount differs. */
  readonly expected: string | null;
  readonly found: string | null;
  readonly currency: string | null;
}

interface FoundColumns {
  readonly row: string;
  readonly detail: string;
  readonly accountId?: string;
  readonly entry?: string;
  readonly transferId?: string;
  readonly amounts?: { readonly expected: string; readonly found: string; readonly currency: string };
}

/** SQL: the columns of a row that breaks a check. Each is an expression. */
export function foundColumns({ row, detail, accountId, entry, transferId, amounts }: FoundColumns): string {
  const orNull = (expression: string | undefined, type: string) =>
    expression === undefined ? `null::${type}` : `(${expression})::${type}`;
  return `${row} as row, ${detail} as detail,
            ${orNull(accountId, 'text')} as account_id, ${orNull(entry, 'bigint')} as entry,
            ${orNull(transferId, 'text')} as transfer_id, ${orNull(amounts?.expected, 'numeric')} as expected,
            ${orNull(amounts?.found, 'numeric')} as found, ${orNull(amounts?.currency, 'text')} as currency`;
}

/**
 * Amounts that agree, or that one side has not, are no difference: the row differs in something else. The number of an entry says nothing
 * without its account.
 */
export function findingOf(check: FindingKind, row: FoundRow): Finding {
  const entry = row.accountId === null ? null : row.entry;
  const { expected, found, currency } = row;
  const isDifference =
    expected !== null &&
    found !== null &&
    expected !== found &&
    currency !== null &&
    currencyDecimals(currency) !== undefined;
  const amounts = isDifference
    ? { expected, found, currency }
    : { expected: null, found: null, currency: null };
  return { check, ...row, entry, ...amounts };
}

/** The first findings of each kind that a run keeps. */
const keptOfOneKind = 100;

/** The findings of a run: their number, and the first hundred of each kind in the order in which the run found them. */
export class KeptFindings {
  readonly #kept: Finding[] = [];
  readonly #ofKind = new Map<FindingKind, number>();
  #total = 0;

  add(finding: Finding): void {
    this.#total += 1;
    const ofKind = (this.#ofKind.get(finding.check) ?? 0) + 1;
    this.#ofKind.set(finding.check, ofKind);
    if (ofKind <= keptOfOneKind) this.#kept.push(finding);
  }

  get total(): number {
    return this.#total;
  }

  get kept(): readonly Finding[] {
    return this.#kept;
  }
}
