import { randomUUID } from 'node:crypto';
import * as Type from 'typebox/type';
import {
  balancesOfTransfer,
  deliveryStates,
  institutionOf,
  mayUse,
  ordersOfAge,
  proposalDocuments,
  type Right,
  readTransfer,
  searchTransfers,
  transferDocument,
  transferOrders,
  usualOfTransfer,
  waitingActs,
  waitingAges,
} from '../../../operators/index.ts';
import { Problem } from '../../../shared/problem.ts';
import {
  checkFigures,
  checkNames,
  checkOutcomes,
  checkSources,
  decisions,
  failureCodes,
  formatMinor,
  reverseTransfer,
  reviewTransfer,
  transferTypes,
} from '../../../transfers/index.ts';
import { endpointStatuses } from '../../../webhooks/index.ts';
import { decimalText, minorOf } from '../amounts.ts';
import { type OperatorOperation, operatorOperation } from '../operation.ts';
import { periodParameters, readSpan } from '../period.ts';
import {
  amount,
  anything,
  flag,
  moment,
  oneOf,
  optional,
  orNull,
  shape,
  text,
  texts,
  whole,
  withReason,
} from '../shapes.ts';

const heldFor = ['REVIEW', 'CUT_OFF', 'CORE'] as const;
const statuses = ['PENDING', 'COMPLETED', 'FAILED'] as const;

const FoundTransfer = shape({
  id: text,
  transferType: orNull(text),
  fromAccountId: text,
  toAccountId: text,
  amount,
  currencyCode: text,
  status: oneOf(statuses),
  failureCode: orNull(text),
  userId: orNull(text),
  operator: orNull(text),
  createdAt: moment,
  settledAt: orNull(moment),
});

const coreModes = ['WAIT', 'MEMO', 'STAND_IN'] as const;
const coreStates = ['OPEN', 'ACCEPTED', 'REJECTED', 'WITHDRAWN'] as const;

const Delivery = shape({
  endpointId: text,
  clientId: orNull(text),
  url: text,
  endpointStatus: oneOf(endpointStatuses),
  state: Type.Unsafe<(typeof deliveryStates)[number]>({
    ...oneOf(deliveryStates),
    description:
      'PASSED: the endpoint is past the event, and its log does not go back so far. It accepted the event, or did not want the type then.',
  }),
  behind: orNull(whole),
  attempts: whole,
  lastAttempt: orNull(
    shape({ attemptedAt: moment, delivered: flag, status: orNull(whole), error: orNull(text) }),
  ),
  nextAttemptAt: orNull(moment),
});

const Check = shape({
  check: oneOf(checkNames),
  outcome: oneOf(checkOutcomes),
  source: Type.Union([oneOf(checkSources), Type.Null()], {
    description:
      'STORED with the decision; RECOMPUTED as of its moment from the rules and orders of then; NOT_KEPT: no figure is known. Null: it was not asked.',
  }),
  limit: orNull(shape({ subject: text, period: oneOf(['TRANSFER', 'DAY', 'MONTH']) })),
  figures: Type.Array(shape({ name: oneOf(checkFigures), amount: optional(amount), count: optional(whole) })),
  headroom: orNull(amount),
});

const Decisions = Type.Array(oneOf(decisions), {
  description: 'The decisions that the signed-in operator may take now.',
});

/** The documented part of a transfer's document. */
const TransferRead = shape({
  id: text,
  status: oneOf(statuses),
  amount,
  currencyCode: text,
  checks: Type.Array(Check, { description: 'In the order in which the rules ask them.' }),
  pending: optional(
    shape({
      heldFor: oneOf(heldFor),
      dueAt: moment,
      whenDue: oneOf(['POST', 'EXPIRE']),
      approvalsNeeded: whole,
      notBefore: orNull(moment),
      isOrdererShutOut: flag,
      isWithCore: flag,
      decisions: Decisions,
    }),
  ),
  core: orNull(
    shape({
      mode: oneOf(coreModes),
      state: oneOf(coreStates),
      issuedAt: moment,
      deliveredAt: orNull(moment),
      fileNumber: orNull(whole),
      decidedAt: orNull(moment),
      coreReference: orNull(text),
      refusalCode: orNull(text),
      refusalReason: orNull(text),
      decidedBy: orNull(text),
      decidedOperator: orNull(text),
    }),
  ),
  events: Type.Array(
    shape({ eventId: text, sequence: whole, eventType: text, at: moment, deliveries: Type.Array(Delivery) }),
  ),
});

const SideOfTransfer = shape({
  ...{ accountId: text, accountType: text, description: text, category: text, memberNumber: text },
  ...{ currency: text, closed: flag, coreRestriction: orNull(text), operatorRestriction: orNull(text) },
  current: amount,
  available: Type.Union([amount, Type.Null()], { description: 'Null for a loan, which pays nothing out.' }),
  ...{ holdsOut: amount, holdsIn: amount },
});

const Proposal = Type.Array(
  shape({
    kind: oneOf(['proposal']),
    type: oneOf(['REVERSAL', 'RULES', 'ADJUSTMENT']),
    id: Type.String({ description: 'Of the transfer or the break; the SHA-256 of the proposed rules.' }),
    proposedBy: text,
    proposedAt: moment,
    expiresAt: moment,
    reason: orNull(text),
    amount: optional(amount),
    currencyCode: optional(text),
    fromAccountId: optional(text),
    toAccountId: optional(text),
    accountId: optional(text),
    change: optional(
      Type.Object(
        {
          days: Type.Array(shape({ day: text, open: orNull(flag) })),
          policies: texts,
          limits: texts,
          contributionLimits: texts,
        },
        { description: 'With RULES: the rows that change, by their names. `open` null ends an exception.' },
      ),
    ),
    mayConfirm: Type.Boolean({
      description:
        'Whether the same act of the signed-in operator confirms it: `reverse`, `adjust` with the amount as `difference`, or `calendar` with the day.',
    }),
  }),
);

const Usual = shape({
  transfers: whole,
  isCut: Type.Boolean({ description: 'There are more: the newest 5,000 of an account count.' }),
  median: orNull(amount),
  largest: orNull(amount),
  atLeastAsLarge: whole,
  toPayee: Type.Integer({ description: 'To the destination of the transfer.' }),
  lastToPayee: orNull(shape({ id: text, amount, at: moment })),
});

const waitsFor = {
  waits_for_approval: 'SECOND_APPROVAL',
  waits_for_time: 'PROCESSING_TIME',
  waits_for_core: 'CORE',
} as const;

const Decided = shape({
  outcome: oneOf(['DONE', 'WAITS', 'PROPOSED']),
  waitsFor: optional(
    Type.Unsafe<(typeof waitsFor)[keyof typeof waitsFor]>({
      ...oneOf(Object.values(waitsFor)),
      description:
        'With WAITS. SECOND_APPROVAL: another person must approve it too. PROCESSING_TIME: it is approved, and posts at its processing time. CORE: it completes when the core accepts it.',
    }),
  ),
  id: text,
  status: optional(oneOf(statuses)),
  failureCode: optional(orNull(text)),
  proposedBy: optional(text),
  expiresAt: optional(moment),
});

export const transferOperations: readonly OperatorOperation[] = [
  operatorOperation({
    operationId: 'searchTransfers',
    method: 'GET',
    path: '/transfers',
    right: 'members:read',
    summary:
      'Transfers, the newest first unless `order` says otherwise. A page in the order of time may be short, or empty, before the last.',
    query: Type.Object({
      status: optional(oneOf(statuses)),
      transferType: optional(oneOf(transferTypes)),
      failureCode: optional(oneOf(failureCodes)),
      accountId: optional(text),
      userId: optional(text),
      leastAmount: optional(decimalText),
      mostAmount: optional(decimalText),
      ...periodParameters,
      order: optional(
        Type.Unsafe<(typeof transferOrders)[number]>({
          ...oneOf(transferOrders),
          description:
            'A minus is the newest, or the largest, first; `-time` when left out. Amounts compare in the smallest units of their currencies, and are sorted anew for each page: narrow the period of a long list.',
        }),
      ),
    }),
    response: FoundTransfer,
    positionWords: 1,
    async handle(deps, { institutionId, query, page, origin }) {
      const { status, transferType, failureCode, accountId, userId, order } = query;
      const { currency: own, timeZone } = await institutionOf(deps, institutionId);
      const filter = {
        ...{ status, transferType, failureCode, accountId, userId },
        leastMinor: minorOf(query.leastAmount, own, 'leastAmount'),
        mostMinor: minorOf(query.mostAmount, own, 'mostAmount'),
        ...readSpan(query, timeZone),
      };
      const found = await searchTransfers(deps, institutionId, { filter, order, page, origin });
      return {
        next: found.next,
        items: found.items.map(
          ({ transferKey: _, matches: __, transferId: id, amount: minor, currency, ...row }) => ({
            ...row,
            id,
            amount: formatMinor(minor, currency),
            currencyCode: currency,
          }),
        ),
      };
    },
  }),
  operatorOperation({
    operationId: 'listPendingActs',
    method: 'GET',
    path: '/pending',
    right: 'members:read',
    summary:
      'Transfers that wait, the first due first, and acts that wait for a second person. At most 1,000. With a filter, transfers alone.',
    query: Type.Object({
      heldFor: optional(oneOf(heldFor)),
      age: optional(
        Type.Unsafe<(typeof waitingAges)[number]>({
          ...oneOf(waitingAges),
          description:
            'The time since the order, by the clock of the service; a band ends where the next one begins.',
        }),
      ),
    }),
    response: Type.Array(anything),
    async handle(deps, { institutionId, query: { heldFor: reason, age }, operator, origin }) {
      const { clock, businessTime } = deps;
      const now = clock();
      const at = businessTime(institutionId, now);
      const decider = mayUse(operator.roles, 'transfers:decide') ? { origin, at } : null;
      const ordered = age && ordersOfAge(age, at);
      const filter = reason === undefined && age === undefined ? undefined : { heldFor: reason, ordered };
      const waiting: object[] = [];
      const confirmer = { origin, may: (right: Right) => mayUse(operator.roles, right) };
      const readers = { now, filter, origin, decider, confirmer };
      for await (const act of waitingActs(deps, institutionId, readers)) {
        waiting.push(act);
        if (waiting.length === 1_000) break;
      }
      return waiting;
    },
  }),
  operatorOperation({
    operationId: 'listProposals',
    method: 'GET',
    path: '/proposals',
    right: 'institution:read',
    summary:
      'Acts that wait for a second person, the oldest first, with the reason of the first one and the content. Reversals are for roles that read members.',
    response: Proposal,
    async handle({ database, clock, auth: { audit } }, { institutionId, operator, origin }) {
      const may = (right: Right) => mayUse(operator.roles, right);
      const asked = { now: clock(), confirmer: { origin, may } };
      const proposals = await proposalDocuments(database, institutionId, asked);
      const shown = proposals.filter(({ type }) => type !== 'REVERSAL' || may('members:read'));
      // All but rules name accounts of members.
      const read = { action: 'transfer.read', outcome: 'succeeded', reason: 'proposals', origin } as const;
      if (may('members:read') || shown.some(({ type }) => type !== 'RULES'))
        await audit.noteRead(institutionId, read);
      return shown;
    },
  }),
  operatorOperation({
    operationId: 'showTransfer',
    method: 'GET',
    path: '/transfers/{transferId}',
    right: 'members:read',
    summary:
      'A transfer with the checks of its decision, approvals, entries on both sides, steps, the outcome of the core, and the deliveries of its events.',
    response: TransferRead,
    async handle(deps, { institutionId, params: { transferId }, operator, origin }) {
      const shown = await readTransfer(deps, institutionId, { transferId, origin });
      const at = deps.businessTime(institutionId, deps.clock());
      const decider = mayUse(operator.roles, 'transfers:decide') ? { origin, at } : null;
      return shown && transferDocument(shown, decider);
    },
  }),
  operatorOperation({
    operationId: 'showAccountsOfTransfer',
    method: 'GET',
    path: '/transfers/{transferId}/accounts',
    right: 'members:read',
    summary:
      'Both accounts of a transfer with their current and available balances of now. The audit records the read of each account.',
    response: shape({ from: orNull(SideOfTransfer), to: orNull(SideOfTransfer) }),
    handle: (deps, { institutionId, params: { transferId }, origin }) =>
      balancesOfTransfer(deps, institutionId, { transferId, origin }),
  }),
  operatorOperation({
    operationId: 'showUsualOfTransfer',
    method: 'GET',
    path: '/transfers/{transferId}/usual',
    right: 'members:read',
    summary:
      'The usual transfers in the 90 days before a transfer: those that completed out of its source, and out of the other accounts of the membership. The audit records the read of the source.',
    response: shape({
      since: moment,
      until: moment,
      currencyCode: text,
      source: Usual,
      others: Usual,
    }),
    handle: (deps, { institutionId, params: { transferId }, origin }) =>
      usualOfTransfer(deps, institutionId, { transferId, origin }),
  }),
  review(
    'approve',
    'Approve a transfer that waits for review. Under dual control two persons do this once each.',
  ),
  review('decline', 'Decline a pending transfer: it fails for good, and the held money is free again.'),
  operatorOperation({
    operationId: 'reverseTransfer',
    method: 'POST',
    path: '/transfers/{transferId}/reverse',
    right: 'transfers:decide',
    summary: 'Take a completed transfer back by a new one. Under dual control two persons do this once each.',
    body: Type.Object(
      {
        ...withReason.properties,
        reversalId: optional(
          Type.String({
            pattern: '^[A-Za-z0-9][A-Za-z0-9._:-]{0,63}$',
            description: 'The id of the new transfer; with it the request can be repeated safely.',
          }),
        ),
      },
      { additionalProperties: false },
    ),
    response: Decided,
    async handle({ desk }, { institutionId, params: { transferId: originalId }, body, origin }) {
      const { reason: statedReason, reversalId: transferId = randomUUID() } = body;
      const outcome = await reverseTransfer(desk, institutionId, {
        originalId,
        transferId,
        statedReason,
        origin,
      });
      switch (outcome.kind) {
        case 'unknown':
          return undefined;
        case 'proposed': {
          const { proposedBy, expiresAt } = outcome;
          return { outcome: 'PROPOSED', id: originalId, proposedBy, expiresAt };
        }
        case 'new':
        case 'replayed': {
          const { id, status, failureCode } = outcome.transfer;
          return { outcome: 'DONE', id, status, failureCode };
        }
        case 'id_reused':
          throw new Problem('transfer_id_reused', 'This id belongs to another transfer.');
        default:
          throw new Problem(
            'transfer_final',
            'Only a completed transfer that is not a reversal, and has none, can be reversed.',
          );
      }
    },
  }),
];

function review(kind: 'approve' | 'decline', summary: string): OperatorOperation {
  return operatorOperation({
    operationId: `${kind}Transfer`,
    method: 'POST',
    path: `/transfers/{transferId}/${kind}`,
    right: 'transfers:decide',
    summary,
    body: withReason,
    response: Decided,
    async handle({ desk }, { institutionId, params: { transferId }, body, origin }) {
      const act = { kind, statedReason: body.reason, origin } as const;
      const outcome = await reviewTransfer(desk, institutionId, { transferId, act });
      if (outcome.kind === 'unknown') return undefined;
      const { id, status, failureCode } = outcome.transfer;
      if (outcome.kind === 'changed') return { outcome: 'DONE', id, status, failureCode };
      switch (outcome.why) {
        case 'waits_for_approval':
        case 'waits_for_time':
        case 'waits_for_core':
          return { outcome: 'WAITS', waitsFor: waitsFor[outcome.why], id, status, failureCode };
        case 'not_in_review':
          throw new Problem(
            'act_refused',
            'It needs no approval: it waits for its processing time or for the core.',
          );
        case 'approved_before':
          throw new Problem('act_refused', 'You have approved it already. Another person must approve it.');
        case 'with_core':
          throw new Problem(
            'transfer_with_core',
            'The core has the transfer, and may have carried it out. Only its outcome ends it.',
          );
        default:
          throw new Problem('transfer_final', `The transfer is ${status} and not pending.`);
      }
    },
  });
}
