import { compareAmounts, formatMoney } from '../../design/format/money.ts';
import { typedAmount } from './typed-amount.ts';

/* Values that a person reads in words, and changes in a form. */

interface Named {
  /** Of the operation. */
  readonly name: string;
  readonly label: string;
  readonly hint?: string;
  /** It is shown and never changed here. */
  readonly isFixed?: boolean;
}

type Kind =
  /** Without `ifNone`, the text is needed. `longWords` stand for a text of several lines. */
  | {
      readonly kind: 'text';
      readonly maxLength: number;
      readonly ifNone?: string;
      readonly longWords?: string;
    }
  | { readonly kind: 'amount' }
  | {
      readonly kind: 'whole';
      readonly least: number;
      readonly most: number;
      readonly words: (value: number) => string;
      /** An empty field is no value. */
      readonly ifNone?: string;
    }
  | { readonly kind: 'choice'; readonly choices: readonly Choice[] };

interface Choice {
  readonly value: string | boolean;
  readonly words: string;
}

export type Changeable = Named & Kind;
export type Values = Readonly<Record<string, unknown>>;
/** The texts of a form by the names of their values. */
export type Draft = Readonly<Record<string, string>>;

export const yesOrNo = {
  kind: 'choice',
  choices: [
    { value: true, words: 'yes' },
    { value: false, words: 'no' },
  ],
} as const;

/** `5 minutes`; `90 seconds`, which are no whole minutes. */
export function spanWords(seconds: number): string {
  const [unit, size] = ([
    ['day', 86_400],
    ['hour', 3_600],
    ['minute', 60],
  ].find(([, of]) => seconds > 0 && seconds % Number(of) === 0) ?? ['second', 1]) as [string, number];
  const count = seconds / size;
  return `${count.toLocaleString('en-US')} ${unit}${count === 1 ? '' : 's'}`;
}

/** A value in the words of the screen. */
export function wordsOfValue(field: Changeable, value: unknown, currency: string): string {
  switch (field.kind) {
    case 'text':
      if (value === null || value === undefined || value === '') return field.ifNone ?? 'none';
      return field.longWords ?? String(value);
    case 'amount':
      return value === null || value === undefined ? 'none' : formatMoney(String(value), currency);
    case 'whole':
      return value === null || value === undefined ? (field.ifNone ?? 'none') : field.words(Number(value));
    case 'choice':
      return field.choices.find((one) => one.value === value)?.words ?? 'none';
  }
}

export function draftOf(fields: readonly Changeable[], values: Values): Draft {
  return Object.fromEntries(fields.map(({ name }) => [name, String(values[name] ?? '')]));
}

export interface Difference {
  readonly field: Changeable;
  readonly before: unknown;
  readonly after: unknown;
}

/** The values that differ from those in force, and why a field is refused, by its name. */
export function differencesOf(
  fields: readonly Changeable[],
  { values, draft, currency }: { readonly values: Values; readonly draft: Draft; readonly currency: string },
): { readonly differences: readonly Difference[]; readonly faults: Draft } {
  const faults: Record<string, string> = {};
  const differences: Difference[] = [];
  for (const field of fields) {
    const before = values[field.name] ?? null;
    const read = readField(field, draft[field.name]?.trim() ?? '', currency);
    if ('fault' in read) faults[field.name] = read.fault;
    else if (!isSame(field, before, read.value)) differences.push({ field, before, after: read.value });
  }
  return { differences, faults };
}

function readField(
  field: Changeable,
  text: string,
  currency: string,
): { readonly value: unknown } | { readonly fault: string } {
  switch (field.kind) {
    case 'text':
      if (text === '' && field.ifNone === undefined) return { fault: 'Write a text.' };
      return { value: text || null };
    case 'amount':
      return oneOr(typedAmount(text, currency) ?? undefined, 'Write an amount in digits, like 105.25.');
    case 'whole': {
      if (text === '' && field.ifNone !== undefined) return { value: null };
      const number = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
      const isIn = number >= field.least && number <= field.most;
      const bounds = `${field.least.toLocaleString('en-US')} to ${field.most.toLocaleString('en-US')}`;
      return oneOr(isIn ? number : undefined, `Write a whole number from ${bounds}.`);
    }
    case 'choice':
      return oneOr(field.choices.find(({ value }) => String(value) === text)?.value, 'Choose one.');
  }
}

function oneOr(value: unknown, fault: string) {
  return value === undefined ? { fault } : { value };
}

function isSame({ kind }: Changeable, before: unknown, after: unknown): boolean {
  if (kind === 'amount' && before !== null) return compareAmounts(String(before), String(after)) === 0;
  return before === after;
}
