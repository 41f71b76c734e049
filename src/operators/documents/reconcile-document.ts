import {
  type KeptFinding,
  kindsOfFindings,
  type ReconcileRun,
  type RunWithKinds,
} from '../../reconciliation/index.ts';
import { formatMinor } from '../../transfers/index.ts';

/** A run of reconcile as operators see it. */
export function reconcileRunDocument({
  runKey,
  startedAt,
  finishedAt,
  changedSince,
  findings,
  kept,
}: ReconcileRun) {
  return { id: String(runKey), startedAt, finishedAt, changedSince, findings, kept };
}

/** The same with its kinds of findings, and a sentence about each. */
export function runWithKindsDocument(run: RunWithKinds) {
  const kinds = run.kinds.map(({ kind, findings }) => ({ kind, findings, ...kindsOfFindings[kind] }));
  return { ...reconcileRunDocument(run), kinds };
}

/** A finding with a sentence about its kind. Amounts are decimal text. */
export function findingDocument(one: KeptFinding) {
  const { place, kind, subject, detail, accountId, entry, transferId, expected, found, currency } = one;
  const amountOf = (minor: string | bigint) => formatMinor(BigInt(minor), currency ?? '');
  const isAmount = expected !== null && found !== null && currency !== null;
  return {
    ...{ place, kind, subject, detail },
    ...(accountId !== null && { accountId }),
    ...(entry !== null && { entry: Number(entry) }),
    ...(transferId !== null && { transferId }),
    ...(isAmount && {
      expected: amountOf(expected),
      found: amountOf(found),
      difference: amountOf(BigInt(found) - BigInt(expected)),
      currencyCode: currency,
    }),
    ...kindsOfFindings[kind],
  };
}
