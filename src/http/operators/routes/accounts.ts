import * as Type from 'typebox/type';
import {
  balanceHistory,
  closeAccount,
  institutionOf,
  limitDocument,
  listEntries,
  restrictAccount,
  showAccount,
  showLimits,
  showPosting,
} from '../../../operators/index.ts';
import { Problem } from '../../../shared/problem.ts';
import { formatMinor } from '../../../transfers/index.ts';
import { type OperatorOperation, operatorOperation } from '../operation.ts';
import {
  amount,
  anything,
  Changed,
  flag,
  moment,
  oneOf,
  optional,
  orNull,
  reason,
  shape,
  text,
  whole,
  withReason,
} from '../shapes.ts';

const restrictions = ['EXCLUDE_ALL', 'EXCLUDE_AS_FROM', 'EXCLUDE_AS_TO', 'NONE'] as const;

export const accountOperations: readonly OperatorOperation[] = [
  operatorOperation({
    operationId: 'showAccount',
    method: 'GET',
    path: '/accounts/{accountId}',
    right: 'members:read',
    summary:
      'An account with balance, holds, restrictions, holders, pending transfers and last entries. One of the institution itself has a purpose and no member.',
    response: Type.Object({
      ...{ accountId: text, purpose: orNull(text), memberNumber: orNull(text) },
      ...{ currency: text, balance: amount, closed: flag },
    }),
    handle: (deps, { institutionId, params, origin }) =>
      showAccount(deps, institutionId, { accountId: params.accountId, origin }),
  }),
  operatorOperation({
    operationId: 'listEntries',
    method: 'GET',
    path: '/accounts/{accountId}/entries',
    right: 'members:read',
    summary: 'The entries of an account with the balance after each, the newest first.',
    response: shape({
      entry: whole,
      at: moment,
      kind: text,
      amount,
      balanceAfter: amount,
      holdsOutAfter: amount,
      holdsInAfter: amount,
      transferId: orNull(text),
    }),
    positionWords: 1,
    handle: (deps, { institutionId, params, page, origin }) =>
      listEntries(deps, institutionId, { accountId: params.accountId, page, origin }),
  }),
  operatorOperation({
    operationId: 'showPosting',
    method: 'GET',
    path: '/accounts/{accountId}/entries/{entry}',
    right: 'members:read',
    summary:
      'The posting of an entry with the entries on both sides, as the ledger has them: credit is positive. The audit records the read.',
    response: shape({
      kind: text,
      at: moment,
      currency: text,
      transferId: orNull(text),
      core: orNull(
        shape({
          ...{ transactionId: text, kind: text, postedAt: moment, effectiveDate: text, description: text },
          ...{ merchant: orNull(text), checkNumber: orNull(text), authorizationId: orNull(text) },
        }),
      ),
      sides: Type.Array(
        shape({
          ...{
            accountId: text,
            accountType: text,
            description: text,
            isInternal: flag,
            entry: whole,
            kind: text,
          },
          ...{ amount, balanceAfter: amount, holdsOutAfter: amount, holdsInAfter: amount },
        }),
      ),
    }),
    async handle(deps, { institutionId, params: { accountId, entry }, origin }) {
      // A number of an entry, and nothing that another text could mean.
      if (!/^[1-9][0-9]{0,17}$/.test(entry)) return undefined;
      return showPosting(deps, institutionId, { accountId, entry: BigInt(entry), origin });
    },
  }),
  operatorOperation({
    operationId: 'showBalances',
    method: 'GET',
    path: '/accounts/{accountId}/balances',
    right: 'members:read',
    summary:
      'The balance of an account at the end of each of the last days, and now. The audit records the read.',
    query: Type.Object({ days: optional(Type.Integer({ minimum: 1, maximum: 366 })) }),
    response: shape({ currency: text, balances: Type.Array(shape({ before: moment, balance: amount })) }),
    handle: async (deps, { institutionId, params: { accountId }, query: { days = 90 }, origin }) =>
      balanceHistory(deps, await institutionOf(deps, institutionId), { accountId, days, origin }),
  }),
  operatorOperation({
    operationId: 'showAccountLimits',
    method: 'GET',
    path: '/accounts/{accountId}/limits',
    right: 'members:read',
    summary: 'The limits of an account and its membership, with what is used of them.',
    response: Type.Array(anything),
    async handle(deps, { institutionId, params, origin }) {
      const { timeZone } = await institutionOf(deps, institutionId);
      const now = deps.businessTime(institutionId, deps.clock());
      const asked = { of: { accountId: params.accountId }, now, timeZone, origin };
      return (await showLimits(deps, institutionId, asked))?.map(limitDocument);
    },
  }),
  operatorOperation({
    operationId: 'restrictAccount',
    method: 'POST',
    path: '/accounts/{accountId}/restrict',
    right: 'members:serve',
    summary: 'Freeze an account, exclude one side of it, or end either. The core’s restriction stays.',
    body: Type.Object({ restriction: oneOf(restrictions), reason }, { additionalProperties: false }),
    response: Changed,
    async handle(deps, { institutionId, params: { accountId }, body, origin }) {
      const restriction = body.restriction === 'NONE' ? null : body.restriction;
      const act = { accountId, restriction, statedReason: body.reason, origin };
      const { kind } = await restrictAccount(deps, institutionId, act);
      if (kind === 'unknown') return undefined;
      if (kind === 'closed')
        throw new Problem('act_refused', 'The account is closed, so nothing moves on it.');
      return { changed: kind === 'changed' };
    },
  }),
  operatorOperation({
    operationId: 'closeAccount',
    method: 'POST',
    path: '/accounts/{accountId}/close',
    right: 'members:erase',
    summary: 'Close an empty account for good.',
    body: withReason,
    response: Changed,
    async handle(deps, { institutionId, params: { accountId }, body, origin }) {
      const closing = await closeAccount(deps, institutionId, {
        accountId,
        statedReason: body.reason,
        origin,
      });
      switch (closing.kind) {
        case 'unknown':
          return undefined;
        case 'kept_by_core':
          throw new Problem(
            'act_refused',
            'The core keeps the books of this institution: close the account there.',
          );
        case 'not_empty': {
          const { currency, postedMinor, heldMinor, duesMinor } = closing;
          const [posted, held, due] = [postedMinor, heldMinor, duesMinor].map((one) =>
            formatMinor(one, currency),
          );
          throw new Problem(
            'act_refused',
            `The account is not empty: balance ${posted}, held ${held}, due ${due} ${currency}. Empty it first.`,
          );
        }
        default:
          return { changed: closing.kind === 'changed' };
      }
    },
  }),
];
