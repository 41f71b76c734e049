import type { Change } from '../../memberships/index.ts';
import type { Commit, WrittenRanges } from './ranges.ts';

/** The changes that an import will make. */
export interface ImportPlan {
  /** Undefined if the operator has to decide. */
  readonly commit: Commit | undefined;
  /** The institution's settings that differ; without `before` if the institution is new. */
  readonly settings: {
    readonly before?: Readonly<Record<string, unknown>>;
    readonly after: Readonly<Record<string, unknown>>;
    /** Settings of which the extract has another value. Operators change them, an import does not. */
    readonly kept: Readonly<Record<string, { readonly extract: unknown; readonly stored: unknown }>>;
  };
  readonly persons: Change;
  readonly members: Change;
  readonly memberPersons: Change;
  readonly accounts: Change;
  readonly holders: Change;
  readonly loans: Change;
  /** The number of accounts that open with a balance, and of balances adjusted to the extract's figure. */
  readonly opened: number;
  readonly adjusted: number;
  /** Accounts without a holder, which no member sees; `accountIds` has the first ones. */
  readonly unheld: { readonly count: number; readonly accountIds: readonly string[] };
  /** The rows that the import leaves out, by file. */
  readonly rejected: Readonly<Record<string, number>>;
  /** Undefined for all: the institution has no members yet. */
  readonly ranges?: WrittenRanges;
}

const tables = ['persons', 'members', 'memberPersons', 'accounts', 'holders', 'loans'] as const;

/** An import that rejects rows leaves audit entries, even if the other rows change nothing. */
export function leavesNothing(plan: ImportPlan): boolean {
  return Object.keys(plan.rejected).length === 0 && changesNothing(plan);
}

function changesNothing(plan: ImportPlan): boolean {
  return (
    Object.keys(plan.settings.after).length === 0 &&
    plan.opened + plan.adjusted === 0 &&
    tables.every((table) => plan[table].added + plan[table].changed + plan[table].removed === 0)
  );
}

const removedUnasked = 20;
const removedPercent = 1;

/**
 * Removals in a number that suggests a truncated file, and any removal if a rejected row of the file is in `misplaced`: the row may be
 * the one that seems to be gone.
 */
export function suspiciousRemovals(plan: ImportPlan, misplaced: ReadonlySet<string>): string[] {
  const files = { memberPersons: 'member-persons.csv', holders: 'holders.csv' } as const;
  return (['memberPersons', 'holders'] as const)
    .filter((table) => {
      const { removed, standing } = plan[table];
      const isTruncated = removed > removedUnasked && removed * 100 > standing * removedPercent;
      return isTruncated || (removed > 0 && misplaced.has(files[table]));
    })
    .map(
      (table) => `${plan[table].removed} of ${plan[table].standing} rows that ${files[table]} no longer has`,
    );
}

/** The import changed nothing, because its effect is rarely intended. */
export class ImportRefusedError extends Error {
  override readonly name = 'ImportRefusedError';
}

/** The plan in the audit: counts, without members' data. */
export function countsOf(plan: ImportPlan): Record<string, object | number> {
  const { opened, adjusted, rejected } = plan;
  const changes = tables.flatMap((table) => {
    const { added, changed, removed } = plan[table];
    return added + changed + removed === 0 ? [] : [[table, { added, changed, removed }] as const];
  });
  return {
    ...Object.fromEntries(changes),
    opened,
    adjusted,
    ...(Object.keys(rejected).length > 0 && { rejected }),
  };
}
