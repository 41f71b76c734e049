import type { Queryable } from '../storage/index.ts';
import { type Check, formFor, type Rows } from './check.ts';
import { coreChecks } from './core-checks.ts';
import { ledgerChecks } from './ledger-checks.ts';
import { selectAhead, selectUncounted, transferChecks } from './transfer-checks.ts';

/** A row that breaks a check. */
export interface Finding {
  readonly check: string;
  readonly row: string;
  readonly detail: string;
}

const checks: readonly Check[] = [...ledgerChecks, ...transferChecks, ...coreChecks];

interface Asked {
  readonly onFinding: (finding: Finding) => void;
}

/** Runs the checks of a walk that take no rows, or keys of several columns. */
export async function askChecks(
  db: Queryable,
  walk: 'whole' | 'counters',
  values: readonly unknown[],
  { onFinding }: Asked,
): Promise<void> {
  for (const { name, statement, walk: its } of checks) {
    if (its !== walk) continue;
    const { rows } = await db.query<Omit<Finding, 'check'>>(statement, values);
    for (const found of rows) onFinding({ check: name, ...found });
  }
}

/** Runs all checks of a walk on these rows. */
export async function askChecksOn(
  db: Queryable,
  walk: 'accounts' | 'transfers' | 'ids' | 'events',
  rows: Rows,
  { onFinding, at }: Asked & { readonly at: Date },
): Promise<void> {
  for (const each of checks) {
    const form = each.walk === walk ? formFor(db.institutionId, each, rows) : undefined;
    if (form === undefined) continue;
    const answer = await db.query<Omit<Finding, 'check'>>(form.statement, form.values);
    for (const found of answer.rows) onFinding({ check: each.name, ...found });
  }
  if (walk === 'transfers') {
    for (const missing of await selectUncounted(db, rows, at))
      onFinding({ check: 'limit-counter', ...missing });
  }
  if (walk === 'accounts') {
    for (const account of await selectAhead(db, rows, at)) onFinding({ check: 'ahead-of-clock', ...account });
  }
}
