import * as Type from 'typebox/type';
import { adjustBreak, breakClasses, changeBreak } from '../../../core-connection/index.ts';
import { breakDocument, openInstructions, readBreak, readBreaks } from '../../../operators/index.ts';
import { Problem } from '../../../shared/problem.ts';
import { formatMinor } from '../../../transfers/index.ts';
import { presentCoreConnection } from '../../presenters.ts';
import { CoreConnection } from '../../schemas.ts';
import { type OperatorOperation, operatorOperation } from '../operation.ts';
import {
  amount,
  anything,
  body,
  flag,
  line,
  moment,
  oneOf,
  optional,
  orNull,
  reason,
  shape,
  text,
  whole,
} from '../shapes.ts';

const Break = shape({
  id: text,
  class: oneOf(breakClasses),
  accountId: text,
  difference: amount,
  currencyCode: text,
  openedAt: moment,
  owner: optional(text),
  closedAt: optional(moment),
});

export const coreOperations: readonly OperatorOperation[] = [
  operatorOperation({
    operationId: 'showCore',
    method: 'GET',
    path: '/core',
    right: 'institution:read',
    summary: 'The connection to the core, and what it has not decided.',
    response: CoreConnection,
    handle: async ({ coreConnection }, { institutionId }) =>
      presentCoreConnection(await coreConnection(institutionId)),
  }),
  operatorOperation({
    operationId: 'listOpenInstructions',
    method: 'GET',
    path: '/core/instructions',
    right: 'members:read',
    summary: 'The undecided instructions, in the order of delivery. At most 1,000.',
    response: Type.Array(
      shape({
        sequence: whole,
        id: text,
        mode: text,
        fromAccountId: text,
        toAccountId: text,
        amount,
        currencyCode: text,
        leasedBy: orNull(text),
        leaseUntil: orNull(moment),
      }),
    ),
    async handle(deps, { institutionId, origin }) {
      const open: object[] = [];
      for await (const { amountMinor, ...one } of openInstructions(deps, institutionId, origin)) {
        open.push({ ...one, amount: formatMinor(amountMinor, one.currencyCode) });
        if (open.length === 1_000) break;
      }
      return open;
    },
  }),
  operatorOperation({
    operationId: 'listBreaks',
    method: 'GET',
    path: '/breaks',
    right: 'institution:read',
    summary: 'The differences between the core’s books and these, the oldest first.',
    query: Type.Object({ open: optional(flag), class: optional(oneOf(breakClasses)) }),
    response: Break,
    positionWords: 1,
    async handle(deps, { institutionId, query: { open = true, class: wanted }, page, origin }) {
      const filter = { isOpen: open, class: wanted };
      const found = await readBreaks(deps, institutionId, { filter, page, origin });
      return { ...found, items: found.items.map(breakDocument) };
    },
  }),
  operatorOperation({
    operationId: 'showBreak',
    method: 'GET',
    path: '/breaks/{breakId}',
    right: 'members:read',
    summary: 'A break with its story, which names the balance of its account.',
    response: Type.Intersect([Break, shape({ story: Type.Array(anything) })]),
    async handle(deps, { institutionId, params: { breakId }, origin }) {
      const breakKey = keyOf(breakId);
      if (breakKey === undefined) return undefined;
      return withStory(await readBreak(deps, institutionId, { breakKey, origin }));
    },
  }),
  operatorOperation({
    operationId: 'changeBreak',
    method: 'PATCH',
    path: '/breaks/{breakId}',
    right: 'breaks:work',
    summary: 'Give a break an owner, or its story a note.',
    body: body({ owner: optional(orNull(line(128))), note: optional(reason) }),
    response: Type.Intersect([Break, shape({ story: Type.Array(anything) })]),
    async handle(deps, { institutionId, operator, params: { breakId }, body: change, origin }) {
      const breakKey = keyOf(breakId);
      if (breakKey === undefined) return undefined;
      if (Object.keys(change).length === 0)
        throw new Problem('invalid_request', 'Name an owner, a note or both.');
      const author = { name: operator.name, origin };
      const changed = await changeBreak(deps, institutionId, { breakKey, change, author });
      if (changed === 'closed') throw new Problem('act_refused', 'The break is closed. It takes notes only.');
      return withStory(changed);
    },
  }),
  operatorOperation({
    operationId: 'adjustBreak',
    method: 'POST',
    path: '/breaks/{breakId}/adjust',
    right: 'transfers:decide',
    summary:
      'Post the difference of an account’s break here, and close the break. Under dual control two persons do this once each.',
    body: body({
      difference: Type.String({
        ...amount,
        maxLength: 24,
        description:
          'The difference of the break, as you saw it. Another one is refused: a comparison has changed it.',
      }),
      reason,
    }),
    response: shape({
      outcome: oneOf(['DONE', 'PROPOSED']),
      proposedBy: optional(text),
      expiresAt: optional(moment),
    }),
    async handle(deps, { institutionId, params: { breakId }, body: { difference, reason: why }, origin }) {
      const breakKey = keyOf(breakId);
      if (breakKey === undefined) return undefined;
      const order = { breakKey, difference, reason: why, origin };
      const outcome = await adjustBreak(deps, institutionId, order);
      switch (outcome.kind) {
        case 'unknown':
          return undefined;
        case 'adjusted':
          return { outcome: 'DONE' };
        case 'proposed': {
          const { proposedBy, expiresAt } = outcome;
          return { outcome: 'PROPOSED', proposedBy, expiresAt };
        }
        case 'changed':
          throw new Problem(
            'act_refused',
            `The difference of the break is now ${outcome.difference}. Look at it again before you adjust it.`,
          );
        default:
          throw new Problem('act_refused', notAdjusted[outcome.kind]);
      }
    },
  }),
];

const notAdjusted = {
  closed: 'The break is closed.',
  not_of_an_account:
    'The break is not a lasting difference of an account that is here: it closes by what the core still sends or decides.',
  outdated: 'Postings of the core have arrived since the break was found. Compare the balances again first.',
} as const;

function keyOf(breakId: string): bigint | undefined {
  return /^[1-9][0-9]{0,17}$/.test(breakId) ? BigInt(breakId) : undefined;
}

function withStory(found: Awaited<ReturnType<typeof readBreak>>) {
  return found && { ...breakDocument(found), story: found.story };
}
