import * as Type from 'typebox/type';
import { auditedNameHash } from '../../../auth/index.ts';
import {
  type AuditFilter,
  auditActions,
  chains,
  type RecordedAuditEntry,
  verifyChain,
} from '../../../events/index.ts';
import type { InstitutionId } from '../../../institutions/index.ts';
import {
  auditDocument,
  exportAuditPage,
  exportFoundAudit,
  institutionOf,
  type OperatorDeps,
  searchAudit,
} from '../../../operators/index.ts';
import type { PageRequest } from '../../../shared/page.ts';
import { Problem } from '../../../shared/problem.ts';
import { isNetwork } from '../../../shared/text/network.ts';
import { type OperatorOperation, operatorOperation } from '../operation.ts';
import { periodParameters, readSpan } from '../period.ts';
import { anything, flag, line, moment, oneOf, optional, shape, text, whole } from '../shapes.ts';

const Search = Type.Object({
  ...periodParameters,
  action: optional(oneOf(auditActions)),
  outcome: optional(oneOf(['succeeded', 'refused'])),
  clientId: optional(line(128)),
  userId: optional(line(64)),
  operator: optional(line(128)),
  subject: optional(line(256)),
  name: optional(line(254)),
  address: optional(line(64)),
  transactionId: optional(line(128)),
  order: optional(
    Type.Unsafe<'time' | '-time'>({
      ...oneOf(['time', '-time']),
      description: 'The oldest first when left out; a minus is the newest first.',
    }),
  ),
});

const FoundEntry = shape({
  key: whole,
  at: moment,
  action: text,
  outcome: text,
  transactionId: text,
  times: whole,
});

/** Problem `invalid_request` for an address or a period that is none. */
async function filterOf(
  deps: OperatorDeps,
  institutionId: InstitutionId,
  query: Type.Static<typeof Search>,
): Promise<AuditFilter> {
  const { since, until, action, outcome, clientId, userId, operator, subject, name, transactionId } = query;
  const { address: network } = query;
  if (network !== undefined && !isNetwork(network)) {
    throw new Problem('invalid_request', 'A parameter is not valid.', {
      errors: [{ pointer: 'address', detail: 'Must be an address, or a network like 192.0.2.0/24.' }],
    });
  }
  const { timeZone } = await institutionOf(deps, institutionId);
  return {
    ...{ action, outcome, clientId, userId, operator, subject, transactionId, network },
    ...readSpan({ since, until }, timeZone),
    nameHash: name === undefined ? undefined : auditedNameHash(deps.auth.vault, name),
  };
}

function readingOf({ order }: Type.Static<typeof Search>, { after }: PageRequest) {
  return { afterKey: after?.[0], newestFirst: order === '-time' };
}

function pageOfEntries(entries: readonly RecordedAuditEntry[], hasMore: boolean) {
  const last = entries.at(-1);
  return { items: entries.map(auditDocument), next: hasMore && last !== undefined ? [last.auditKey] : null };
}

export const auditOperations: readonly OperatorOperation[] = [
  operatorOperation({
    operationId: 'searchAudit',
    method: 'GET',
    path: '/audit',
    right: 'audit:read',
    summary:
      'Sign-ins, refusals, reads and changes, the oldest first unless `order` says otherwise. The search is an act of its own.',
    query: Search,
    response: FoundEntry,
    positionWords: 1,
    async handle(deps, { institutionId, query, page, origin }) {
      const found = [];
      const search = {
        filter: await filterOf(deps, institutionId, query),
        ...readingOf(query, page),
        origin,
      };
      for await (const entry of searchAudit(deps, institutionId, search)) {
        found.push(entry);
        if (found.length > page.limit) break;
      }
      return pageOfEntries(found.slice(0, page.limit), found.length > page.limit);
    },
  }),
  operatorOperation({
    operationId: 'exportFoundAudit',
    method: 'GET',
    path: '/audit/found',
    right: 'audit:export',
    summary:
      'The same entries for a file, which the console saves as CSV. The audit has each page as an export, with its filter and number of entries.',
    query: Search,
    response: FoundEntry,
    positionWords: 1,
    async handle(deps, { institutionId, query, page, origin }) {
      const filter = await filterOf(deps, institutionId, query);
      const search = { filter, ...readingOf(query, page), origin, most: page.limit };
      const { entries, hasMore } = await exportFoundAudit(deps, institutionId, search);
      return pageOfEntries(entries, hasMore);
    },
  }),
  operatorOperation({
    operationId: 'verifyAudit',
    method: 'POST',
    path: '/audit/verify',
    right: 'audit:read',
    summary: 'Recompute the hashes of both chains, and name the first entry that is not as it was sealed.',
    response: Type.Array(
      shape({ chain: oneOf(chains), from: whole, to: whole, entries: whole, anchors: whole, intact: flag }),
    ),
    async handle({ database }, { institutionId }) {
      const verdicts = [];
      for (const chain of chains) {
        const { broken, ...verdict } = await verifyChain(database, institutionId, chain);
        verdicts.push({ ...verdict, intact: broken === undefined, ...(broken && { broken }) });
      }
      return verdicts;
    },
  }),
  operatorOperation({
    operationId: 'exportAudit',
    method: 'GET',
    path: '/audit/export',
    right: 'audit:export',
    summary:
      'Sealed entries of a chain after a number, with the hashes that verify them; at most 500. The export is an act of its own.',
    query: Type.Object({
      chain: oneOf(chains),
      afterNumber: optional(Type.Integer({ minimum: 0 })),
      withPersonal: optional(flag),
    }),
    response: Type.Array(anything),
    handle: (deps, { institutionId, query: { chain, afterNumber = 0, withPersonal = false }, origin }) =>
      exportAuditPage(deps, institutionId, { chain, after: afterNumber, withPersonal, origin }),
  }),
];
