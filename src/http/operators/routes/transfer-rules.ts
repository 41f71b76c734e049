import * as Type from 'typebox/type';
import { mayUse, previewTransferRules } from '../../../operators/index.ts';
import { Problem } from '../../../shared/problem.ts';
import {
  type DecidingRules,
  formatMinor,
  mostRead,
  type RulesPreview,
  ruleOutcomes,
  selectDecidingRules,
  transferTypes,
} from '../../../transfers/index.ts';
import { decimalText, minorOf } from '../amounts.ts';
import { type OperatorOperation, operatorOperation } from '../operation.ts';
import { amount, body, flag, moment, oneOf, optional, orNull, shape, text, whole } from '../shapes.ts';

const currency = Type.String({ pattern: '^[A-Z]{3}$' });
const bound = orNull(decimalText);

const Thresholds = body({
  transferType: oneOf(transferTypes),
  currency,
  reviewAbove: bound,
  secondApprovalAbove: bound,
});
const Limit = body({
  limitKey: Type.Integer({ minimum: 1, maximum: 2_147_483_647 }),
  subject: oneOf(['USER', 'CUSTOMER', 'ACCOUNT']),
  period: oneOf(['DAY', 'MONTH']),
  transferType: orNull(oneOf(transferTypes)),
  sourceType: orNull(Type.String({ pattern: '^[A-Z_]{1,64}$' })),
  currency,
  maxPerTransfer: bound,
  maxAmount: bound,
  maxCount: orNull(Type.Integer({ minimum: 0, maximum: 2_147_483_647 })),
  reviewAbove: bound,
});
const rules = {
  thresholds: Type.Array(Thresholds, { maxItems: 100 }),
  limits: Type.Array(Limit, { maxItems: 100 }),
};
type Rules = Type.Static<Type.TObject<typeof rules>>;

const outcomes = { present: oneOf(ruleOutcomes), proposed: oneOf(ruleOutcomes) };

export const transferRuleOperations: readonly OperatorOperation[] = [
  operatorOperation({
    operationId: 'showTransferRules',
    method: 'GET',
    path: '/transfer-rules',
    right: 'institution:read',
    summary: 'The thresholds of review and the limits that decide on orders.',
    response: shape(rules),
    handle: async ({ database }, { institutionId }) =>
      documentOf(await selectDecidingRules(database, institutionId)),
  }),
  operatorOperation({
    operationId: 'previewTransferRules',
    method: 'POST',
    path: '/transfer-rules/preview',
    right: 'rules:preview',
    summary: `The decisions that these rules would have made on the orders of the last days, beside those of the rules in force: a dry run over the newest ${mostRead.toLocaleString('en-US')} transfers, which changes nothing. Orders are named to auditors only.`,
    body: body({ ...rules, days: optional(Type.Integer({ minimum: 1, maximum: 30 })) }),
    response: shape({
      since: moment,
      until: moment,
      isCut: flag,
      mostRead: whole,
      leftOut: whole,
      figures: Type.Array(shape({ currency: text, ...outcomes, transfers: whole, amount })),
      differing: whole,
      newest: optional(
        Type.Array(
          shape({ id: text, transferType: text, amount, currencyCode: text, createdAt: moment, ...outcomes }),
        ),
      ),
    }),
    async handle(deps, { institutionId, operator, body: given, origin }) {
      const proposed = proposedBy(given);
      const days = given.days ?? 30;
      const preview = await previewTransferRules(deps, institutionId, { proposed, days, origin });
      return previewDocument(preview, mayUse(operator.roles, 'members:read'));
    },
  }),
];

function documentOf({ thresholds, limits }: DecidingRules): Rules {
  const textOf = (minor: bigint | null, code: string) => (minor === null ? null : formatMinor(minor, code));
  return {
    thresholds: thresholds.map(({ reviewAboveMinor, secondApprovalAboveMinor, ...names }) => ({
      ...names,
      reviewAbove: textOf(reviewAboveMinor, names.currency),
      secondApprovalAbove: textOf(secondApprovalAboveMinor, names.currency),
    })),
    limits: limits.map((limit) => ({
      limitKey: limit.limitKey,
      subject: limit.subject as Rules['limits'][number]['subject'],
      period: limit.period,
      transferType: limit.transferType,
      sourceType: limit.sourceType,
      currency: limit.currency,
      maxPerTransfer: textOf(limit.maxPerTransfer, limit.currency),
      maxAmount: textOf(limit.maxAmount, limit.currency),
      maxCount: limit.maxCount,
      reviewAbove: textOf(limit.reviewAbove, limit.currency),
    })),
  };
}

/** Problem `invalid_request` for rules that `sharedraft transfer rules` would refuse too. */
function proposedBy({ thresholds, limits }: Rules): DecidingRules {
  requireDistinct(
    thresholds.map(({ transferType, currency: code }) => `${transferType} ${code}`),
    '/thresholds',
  );
  requireDistinct(
    limits.map(({ limitKey }) => String(limitKey)),
    '/limits',
  );
  return {
    thresholds: thresholds.map(({ reviewAbove, secondApprovalAbove, ...names }, at) => {
      const minor = (decimal: string | null, member: string) =>
        minorOf(decimal ?? undefined, names.currency, `/thresholds/${at}/${member}`) ?? null;
      const reviewAboveMinor = minor(reviewAbove, 'reviewAbove');
      const secondApprovalAboveMinor = minor(secondApprovalAbove, 'secondApprovalAbove');
      if (
        secondApprovalAboveMinor !== null &&
        !(reviewAboveMinor !== null && secondApprovalAboveMinor >= reviewAboveMinor)
      )
        throw invalid(`/thresholds/${at}/secondApprovalAbove`, 'Must be no less than reviewAbove.');
      return { ...names, reviewAboveMinor, secondApprovalAboveMinor };
    }),
    limits: limits.map((limit, at) => {
      const minor = (member: 'maxPerTransfer' | 'maxAmount' | 'reviewAbove') =>
        minorOf(limit[member] ?? undefined, limit.currency, `/limits/${at}/${member}`) ?? null;
      const maxAmount = minor('maxAmount');
      const reviewAbove = minor('reviewAbove');
      if (reviewAbove !== null && maxAmount !== null && reviewAbove >= maxAmount)
        throw invalid(`/limits/${at}/reviewAbove`, 'Must be less than maxAmount.');
      const bounds = { maxPerTransfer: minor('maxPerTransfer'), maxAmount, reviewAbove };
      if ([...Object.values(bounds), limit.maxCount].every((one) => one === null))
        throw invalid(`/limits/${at}`, 'Must have a bound.');
      return { ...limit, ...bounds };
    }),
  };
}

function requireDistinct(names: readonly string[], pointer: string): void {
  if (new Set(names).size < names.length) throw invalid(pointer, 'Must have one row for each.');
}

function invalid(pointer: string, detail: string): Problem {
  return new Problem('invalid_request', 'A part of the request is not valid.', {
    errors: [{ pointer, detail }],
  });
}

/** Amounts as decimal text. Orders of members are named only to roles that may read them. */
function previewDocument({ figures, newest, ...preview }: RulesPreview, mayReadOrders: boolean) {
  return {
    ...preview,
    mostRead,
    figures: figures.map(({ amountMinor, ...figure }) => ({
      ...figure,
      amount: formatMinor(amountMinor, figure.currency),
    })),
    ...(mayReadOrders && {
      newest: newest.map(({ transferId: id, amountMinor, currency: currencyCode, ...order }) => ({
        ...{ id, currencyCode, amount: formatMinor(amountMinor, currencyCode) },
        ...order,
      })),
    }),
  };
}
