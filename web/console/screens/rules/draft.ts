import { typedAmount } from '../../form/typed-amount.ts';
import type { LimitRule, Thresholds, TransferRules } from '../../operations.ts';

const thresholdBounds = ['reviewAbove', 'secondApprovalAbove'] as const;
const limitBounds = ['maxPerTransfer', 'maxAmount', 'maxCount', 'reviewAbove'] as const;

/** The texts of a form, by the id of their field. An empty one is no bound. */
export type Draft = Readonly<Record<string, string>>;

interface DraftField {
  readonly id: string;
  readonly bound: (typeof thresholdBounds)[number] | (typeof limitBounds)[number];
}

type Kind = 'thresholds' | 'limits';

/** `key` tells the rules of a kind apart. */
export function fieldsOf(kind: Kind, key: string): DraftField[] {
  const bounds = kind === 'thresholds' ? thresholdBounds : limitBounds;
  return bounds.map((bound) => ({ id: `${kind}-${key}-${bound}`, bound }));
}

export function keyOfThresholds({ transferType, currency }: Thresholds): string {
  return `${transferType}-${currency}`;
}

export function keyOfLimit({ limitKey }: LimitRule): string {
  return String(limitKey);
}

/** The rules with a row of thresholds for each type: in the currency of the institution, if the type has none. */
export function withEachType(
  rules: TransferRules,
  types: readonly string[],
  currency: string,
): TransferRules {
  const missing = types
    .filter((type) => rules.thresholds.every(({ transferType }) => transferType !== type))
    .map((transferType) => ({ transferType, currency, reviewAbove: null, secondApprovalAbove: null }));
  return { ...rules, thresholds: [...rules.thresholds, ...missing] };
}

/** The measure of a new limit, and the transfers that it counts. */
export type NewLimit = Pick<LimitRule, 'subject' | 'period' | 'transferType' | 'sourceType' | 'currency'>;

/** A limit without bounds yet, with a number that no other one has. */
export function withLimit(limits: readonly LimitRule[], limit: NewLimit): LimitRule[] {
  const limitKey = Math.max(0, ...limits.map((one) => one.limitKey)) + 1;
  const bounds = { maxPerTransfer: null, maxAmount: null, maxCount: null, reviewAbove: null };
  return [...limits, { limitKey, ...limit, ...bounds }];
}

export function draftOf({ thresholds, limits }: TransferRules): Draft {
  const texts = (kind: Kind, key: string, row: object) =>
    fieldsOf(kind, key).map(({ id, bound }) => [
      id,
      String((row as Readonly<Record<string, unknown>>)[bound] ?? ''),
    ]);
  return Object.fromEntries([
    ...thresholds.flatMap((row) => texts('thresholds', keyOfThresholds(row), row)),
    ...limits.flatMap((row) => texts('limits', keyOfLimit(row), row)),
  ]);
}

/** The rules with the bounds of the form, or why a field is refused. A limit without a bound is none. */
export function rulesOf(
  draft: Draft,
  { thresholds, limits }: TransferRules,
): { readonly rules: TransferRules } | { readonly faults: Readonly<Record<string, string>> } {
  const faults: Record<string, string> = {};
  const read = (kind: Kind, key: string, currency: string) =>
    Object.fromEntries(
      fieldsOf(kind, key).map(({ id, bound }) => {
        const text = draft[id]?.trim() ?? '';
        const value = bound === 'maxCount' ? countOf(text) : typedAmount(text, currency);
        if (value === undefined)
          faults[id] =
            bound === 'maxCount'
              ? 'Write a whole number, like 20.'
              : 'Write an amount in digits, like 105.25.';
        return [bound, value ?? null];
      }),
    );
  const rules = {
    thresholds: thresholds.map(
      (row) => ({ ...row, ...read('thresholds', keyOfThresholds(row), row.currency) }) as Thresholds,
    ),
    limits: limits
      .map((row) => ({ ...row, ...read('limits', keyOfLimit(row), row.currency) }) as LimitRule)
      .filter((row) => limitBounds.some((bound) => row[bound] !== null)),
  };
  return Object.keys(faults).length > 0 ? { faults } : { rules };
}

function countOf(text: string): number | null | undefined {
  if (text === '') return null;
  return /^\d{1,9}$/.test(text) ? Number(text) : undefined;
}
