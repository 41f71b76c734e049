import type { Queryable } from '../storage/index.ts';
import { type Check, type Form, formFor, type Rows } from './check.ts';
import { coreChecks } from './core-checks.ts';
import { type Finding, type FoundRow, findingOf } from './finding.ts';
import type { FindingKind } from './finding-kinds.ts';
import { ledgerChecks } from './ledger-checks.ts';
import { selectAhead, selectUncounted, transferChecks } from './transfer-checks.ts';

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
    if (its === walk) await ask(db, name, { statement, values }, onFinding);
  }
}

async function ask(
  db: Queryable,
  check: FindingKind,
  { statement, values }: Form,
  onFinding: (finding: Finding) => void,
): Promise<void> {
  const { rows } = await db.query<FoundRow>(statement, values);
  for (const row of rows) onFinding(findingOf(check, row));
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
    if (form !== undefined) await ask(db, each.name, form, onFinding);
  }
  if (walk === 'transfers') {
    for (const missing of await selectUncounted(db, rows, at)) onFinding(findingOf('limit-counter', missing));
  }
  if (walk === 'accounts') {
    for (const account of await selectAhead(db, rows, at)) onFinding(findingOf('ahead-of-clock', account));
  }
}
