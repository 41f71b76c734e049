import * as Type from 'typebox/type';
import { auditedNameHash } from '../../../auth/index.ts';
import { auditActions, chains, verifyChain } from '../../../events/index.ts';
import { auditDocument, exportAuditPage, institutionOf, searchAudit } from '../../../operators/index.ts';
import { Problem } from '../../../shared/problem.ts';
import { isNetwork } from '../../../shared/text/network.ts';
import { type OperatorOperation, operatorOperation } from '../operation.ts';
import { periodParameters, readSpan } from '../period.ts';
import { anything, flag, line, moment, oneOf, optional, shape, text, whole } from '../shapes.ts';

export const auditOperations: readonly OperatorOperation[] = [
  operatorOperation({
    operationId: 'searchAudit',
    method: 'GET',
    path: '/audit',
    right: 'audit:read',
    summary: 'Sign-ins, refusals, reads and changes, the oldest first. The search is an act of its own.',
    query: Type.Object({
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
    }),
    response: shape({
      key: whole,
      at: moment,
      action: text,
      outcome: text,
      transactionId: text,
      times: whole,
    }),
    positionWords: 1,
    async handle(deps, { institutionId, query, page, origin }) {
      const {
        since,
        until,
        name,
        address: network,
        limit: _,
        after: __,
        ...filter
      } = query as typeof query & {
        limit?: number;
        after?: string;
      };
      if (network !== undefined && !isNetwork(network)) {
        throw new Problem('invalid_request', 'A parameter is not valid.', {
          errors: [{ pointer: 'address', detail: 'Must be an address, or a network like 192.0.2.0/24.' }],
        });
      }
      const { timeZone } = await institutionOf(deps, institutionId);
      const wanted = {
        ...filter,
        network,
        ...readSpan({ since, until }, timeZone),
        nameHash: name === undefined ? undefined : auditedNameHash(deps.auth.vault, name),
      };
      const found = [];
      const [afterKey] = page.after ?? [];
      for await (const entry of searchAudit(deps, institutionId, { filter: wanted, afterKey, origin })) {
        found.push(entry);
        if (found.length > page.limit) break;
      }
      const items = found.slice(0, page.limit);
      const last = items.at(-1);
      const next = found.length > page.limit && last !== undefined ? [last.auditKey] : null;
      return { items: items.map(auditDocument), next };
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
