import type { Change, KeyRange } from '../../memberships/index.ts';

/** What an import is about to do. */
export interface ImportPlan {
  /** The institution's settings that differ; no `before`: the institution is new. */
  readonly settings: {
    readonly before?: Readonly<Record<string, unknown>>;
    readonly after: Readonly<Record<string, unknown>>;
  };
  readonly persons: Change;
  readonly members: Change;
  readonly memberPersons: Change;
  readonly accounts: Change;
  readonly holders: Change;
  readonly loans: Change;
  /** Accounts whose balance is opened, and those whose balance is brought to the extract's figure. */
  readonly opened: number;
  readonly adjusted: number;
  /** Accounts of the extract that nobody holds: nobody sees them. Of many the first ones. */
  readonly unheld: { readonly count: number; readonly accountIds: readonly string[] };
  /** Where something changes. Undefined: everywhere. */
  readonly ranges?: { readonly persons: readonly KeyRange[]; readonly members: readonly KeyRange[] };
}

const tables = ['persons', 'members', 'memberPersons', 'accounts', 'holders', 'loans'] as const;

export function changesNothing(plan: ImportPlan): boolean {
  return (
    Object.keys(plan.settings.after).length === 0 &&
    plan.opened + plan.adjusted === 0 &&
    tables.every((table) => plan[table].added + plan[table].changed + plan[table].removed === 0)
  );
}

const removedUnasked = 20;
const removedPercent = 1;

/** Rows that would be removed in a number that looks like a file that was cut off. */
export function suspiciousRemovals(plan: ImportPlan): string[] {
  const files = { memberPersons: 'member-persons.csv', holders: 'holders.csv' } as const;
  return (['memberPersons', 'holders'] as const)
    .filter((table) => {
      const { removed, standing } = plan[table];
      return removed > removedUnasked && removed * 100 > standing * removedPercent;
    })
    .map(
      (table) => `${plan[table].removed} of ${plan[table].standing} rows that ${files[table]} no longer has`,
    );
}

/** An import that did nothing, because it would do what is rarely meant. */
export class ImportRefused extends Error {
  override readonly name = 'ImportRefused';
}

/** For the audit: counts, and no member's data. */
export function countsOf(plan: ImportPlan): Record<string, object | number> {
  const { opened, adjusted } = plan;
  const changes = tables.flatMap((table) => {
    const { added, changed, removed } = plan[table];
    return added + changed + removed === 0 ? [] : [[table, { added, changed, removed }] as const];
  });
  return { ...Object.fromEntries(changes), opened, adjusted };
}
