import * as Type from 'typebox/type';
import {
  findingDocument,
  readFindings,
  reconcileRunDocument,
  runWithKindsDocument,
  selectInstitutionFacts,
} from '../../../../operators/index.ts';
import { findingKinds, findRun, listRuns } from '../../../../reconciliation/index.ts';
import { type OperatorOperation, operatorOperation } from '../../operation.ts';
import { amount, flag, moment, oneOf, optional, orNull, shape, text, whole } from '../../shapes.ts';

const kind = oneOf(findingKinds);
const aboutKind = { kind, meaning: text, advice: text };
const run = { id: text, startedAt: moment, finishedAt: moment, changedSince: orNull(moment) };
const counts = { findings: whole, kept: whole };

export const reconcileOperations: readonly OperatorOperation[] = [
  operatorOperation({
    operationId: 'showReconcile',
    method: 'GET',
    path: '/reconcile',
    right: 'institution:read',
    summary: 'The last run of reconcile, with the number of rows that break a rule.',
    response: shape({ finishedAt: orNull(moment), findings: orNull(whole), runId: orNull(text) }),
    async handle({ database }, { institutionId }) {
      const { reconciledAt, findings, reconcileRun } = await database.read(
        institutionId,
        selectInstitutionFacts,
      );
      return { finishedAt: reconciledAt, findings, runId: reconcileRun && String(reconcileRun) };
    },
  }),
  operatorOperation({
    operationId: 'listReconcileRuns',
    method: 'GET',
    path: '/reconcile/runs',
    right: 'institution:read',
    summary: 'The complete runs of reconcile of the last 400 days, the newest first.',
    query: Type.Object({ findings: optional(flag) }),
    response: shape({ ...run, ...counts }),
    positionWords: 1,
    async handle({ database }, { institutionId, query: { findings = false }, page }) {
      const found = await listRuns(database, institutionId, { withFindings: findings, page });
      return { ...found, items: found.items.map(reconcileRunDocument) };
    },
  }),
  operatorOperation({
    operationId: 'showReconcileRun',
    method: 'GET',
    path: '/reconcile/runs/{runId}',
    right: 'institution:read',
    summary: 'A run of reconcile with its kinds of findings, and a sentence about each.',
    response: shape({ ...run, ...counts, kinds: Type.Array(shape({ ...aboutKind, findings: whole })) }),
    async handle({ database }, { institutionId, params: { runId } }) {
      const runKey = keyOf(runId);
      if (runKey === undefined) return undefined;
      const found = await findRun(database, institutionId, runKey);
      return found && runWithKindsDocument(found);
    },
  }),
  operatorOperation({
    operationId: 'listFindings',
    method: 'GET',
    path: '/reconcile/runs/{runId}/findings',
    right: 'members:read',
    summary:
      'The rows that a run of reconcile found off, in the order in which it found them: the first hundred of each kind. The audit records the read.',
    query: Type.Object({ kind: optional(kind) }),
    response: shape({
      ...aboutKind,
      ...{ place: whole, subject: text, detail: text },
      ...{ accountId: optional(text), entry: optional(whole), transferId: optional(text) },
      ...{ expected: optional(amount), found: optional(amount), difference: optional(amount) },
      currencyCode: optional(text),
    }),
    positionWords: 1,
    async handle(deps, { institutionId, params: { runId }, query, page, origin }) {
      const runKey = keyOf(runId);
      if (runKey === undefined) return undefined;
      const wanted = { runKey, kind: query.kind, page, origin };
      const found = await readFindings(deps, institutionId, wanted);
      return found && { ...found, items: found.items.map(findingDocument) };
    },
  }),
];

function keyOf(runId: string): bigint | undefined {
  return /^[1-9][0-9]{0,17}$/.test(runId) ? BigInt(runId) : undefined;
}
