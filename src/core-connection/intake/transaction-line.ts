import { parseFineMoment } from '../../core-system/index.ts';
import { addDays, isLocalDate, type LocalDate, localDate } from '../../institutions/index.ts';
import { parseDecimalAmount, toMinor } from '../../ledger/index.ts';
import { publicId } from '../../shared/public-id.ts';
import { isReadable } from '../../shared/text/readable-text.ts';
import type { Refusal } from './lines.ts';

export const coreKinds = [
  'CARD',
  'ACH_CREDIT',
  'ACH_DEBIT',
  'CHECK',
  'FEE',
  'INTEREST',
  'DIVIDEND',
  'ATM',
  'TELLER',
  'WIRE',
  'LOAN_PAYMENT',
  'TRANSFER',
  'ADJUSTMENT',
] as const;
export type CoreKind = (typeof coreKinds)[number];

export const lineStatuses = ['POSTED', 'AUTHORIZED', 'CHANGED', 'RELEASED'] as const;
type LineStatus = (typeof lineStatuses)[number];

/** One act of the core on an account, as a line of the stream or a row of the file states it. */
export interface TransactionLine {
  /** The core's id of the posting, or of the authorization. */
  readonly id: string;
  readonly status: LineStatus;
  readonly accountId: string;
  /** Minor units, credit positive. */
  readonly amountMinor: bigint;
  readonly currencyCode: string;
  readonly kind: CoreKind;
  readonly postedAt: Date;
  readonly effectiveDate: LocalDate;
  readonly description: string | null;
  readonly checkNumber: string | null;
  readonly merchant: string | null;
  readonly category: string | null;
  readonly runningBalanceMinor: bigint | null;
  readonly transferId: string | null;
  readonly authorizationId: string | null;
  readonly expiresAt: Date | null;
  readonly isHistoric: boolean;
}

/** Reasons why a line changes nothing. */
export type RefusalCode =
  | 'invalid_line'
  | 'line_too_long'
  | 'date_out_of_range'
  | 'account_not_found'
  | 'currency_mismatch'
  | 'id_reused'
  | 'not_authorized'
  | 'transfer_not_found'
  | 'transfer_not_completed'
  | 'amount_mismatch'
  | 'echo_repeated';

/** Dates are judged by the institution's clock and zone. */
export interface LineRules {
  readonly now: Date;
  readonly timeZone: string;
}

const earliest = new Date('1970-01-01T00:00:00Z');
const dayMillis = 24 * 60 * 60_000;
const longest = { description: 140, checkNumber: 32, merchant: 140, category: 64 } as const;

const names = new Set([
  'id',
  'status',
  'accountId',
  'amount',
  'currencyCode',
  'kind',
  'postedAt',
  'effectiveDate',
  'description',
  'checkNumber',
  'merchant',
  'category',
  'runningBalance',
  'transferId',
  'authorizationId',
  'expiresAt',
  'historic',
]);

/**
 * Reads the fields of a line. `amountText` is the source text of a number, so that no amount passes through a float. A field
 * that is null is absent. The refusal names each field that is wrong and never repeats a value.
 */
export function readTransactionLine(
  fields: Readonly<Record<string, unknown>>,
  amountText: (name: string) => string | undefined,
  { now, timeZone }: LineRules,
): TransactionLine | Refusal<RefusalCode> {
  const wrong: string[] = [];
  const given = (name: string): unknown => fields[name] ?? undefined;
  const text = (name: string, isNeeded: boolean, fits: (value: string) => boolean, expected: string) => {
    const value = given(name);
    if (value === undefined && !isNeeded) return null;
    if (typeof value === 'string' && fits(value)) return value;
    wrong.push(value === undefined ? `${name} is missing.` : `${name} must be ${expected}.`);
    return null;
  };
  const oneOf = <Choice extends string>(
    name: string,
    choices: readonly Choice[],
    fallback?: Choice,
  ): Choice => {
    const value = given(name) ?? fallback;
    if (choices.includes(value as Choice)) return value as Choice;
    wrong.push(`${name} must be one of ${choices.join(', ')}.`);
    return choices[0] as Choice;
  };
  const id = (name: string, isNeeded = false) =>
    text(name, isNeeded, (value) => publicId.test(value), 'an id of 1 to 64 letters, digits and . _ : -');
  const words = (name: keyof typeof longest, isNeeded = false) =>
    text(
      name,
      isNeeded,
      (value) => value.length <= longest[name] && /\S/.test(value) && isReadable(value),
      `visible text of at most ${longest[name]} characters in one line`,
    )?.trim() ?? null;
  const moment = (name: string, isNeeded = false) => {
    const isMoment = (value: string) => parseFineMoment(value) !== undefined;
    const value = text(name, isNeeded, isMoment, 'a moment with its offset, like 2026-03-02T06:00:00-05:00');
    return value === null ? null : (parseFineMoment(value) ?? null);
  };

  for (const name of Object.keys(fields)) if (!names.has(name)) wrong.push('A field is not known.');
  const lineId = id('id', true);
  const status = oneOf('status', lineStatuses, 'POSTED');
  const isNews = status !== 'POSTED';
  const accountId = id('accountId', true);
  const currencyCode = text('currencyCode', true, (value) => /^[A-Z]{3}$/.test(value), 'an ISO 4217 code');
  const amount = (name: string, isNeeded: boolean) => {
    if (given(name) === undefined) {
      if (isNeeded) wrong.push(`${name} is missing.`);
      return null;
    }
    const minor = currencyCode === null ? 0n : signedMinor(amountText(name), currencyCode);
    if (typeof minor !== 'string') return minor;
    wrong.push(`${name}: ${minor}`);
    return null;
  };
  const amountMinor = amount('amount', status !== 'RELEASED') ?? 0n;
  if (status === 'POSTED' && amountMinor === 0n && given('amount') !== undefined && wrong.length === 0) {
    wrong.push('amount must not be zero.');
  }
  if (isNews && (amountMinor > 0n || (status === 'AUTHORIZED' && amountMinor === 0n)) && wrong.length === 0) {
    wrong.push('amount of an authorization must be negative.');
  }
  const line = {
    status,
    kind: oneOf('kind', coreKinds, status === 'RELEASED' ? 'CARD' : undefined),
    amountMinor,
    description: words('description', status === 'POSTED' || status === 'AUTHORIZED'),
    checkNumber: words('checkNumber'),
    merchant: words('merchant'),
    category: words('category'),
    runningBalanceMinor: amount('runningBalance', false),
    transferId: id('transferId'),
    authorizationId: id('authorizationId'),
    expiresAt: moment('expiresAt'),
    isHistoric: given('historic') === true,
  };
  const postedAt = moment('postedAt', true);
  const effective = text('effectiveDate', false, isLocalDate, 'a date like 2026-03-02');
  if (given('historic') !== undefined && typeof given('historic') !== 'boolean') {
    wrong.push('historic must be true or false.');
  }
  if (isNews && (line.transferId ?? line.authorizationId) !== null) {
    wrong.push('An authorization has no transferId and no authorizationId.');
  }
  if (!isNews && line.expiresAt !== null) wrong.push('Only an authorization has expiresAt.');
  if (
    lineId === null ||
    accountId === null ||
    currencyCode === null ||
    postedAt === null ||
    wrong.length > 0
  ) {
    return {
      ...(lineId !== null && { id: lineId }),
      code: 'invalid_line',
      detail: [...new Set(wrong)].join(' '),
    };
  }
  const effectiveDate = effective ?? localDate(postedAt, timeZone);
  const outOfRange = dateOutOfRange({ ...line, postedAt, effectiveDate }, { now, timeZone });
  if (outOfRange !== undefined) return { id: lineId, code: 'date_out_of_range', detail: outOfRange };
  return { ...line, id: lineId, accountId, currencyCode, postedAt, effectiveDate };
}

function dateOutOfRange(
  line: Pick<TransactionLine, 'postedAt' | 'effectiveDate' | 'expiresAt'>,
  { now, timeZone }: LineRules,
): string | undefined {
  const { postedAt, effectiveDate, expiresAt } = line;
  if (postedAt < earliest || postedAt.getTime() > now.getTime() + dayMillis) {
    return 'postedAt must be from 1970 on and at most a day ahead of the clock.';
  }
  const yearAfter = addDays(localDate(postedAt, timeZone), 366);
  if (effectiveDate < '1970-01-01' || effectiveDate > yearAfter) {
    return 'effectiveDate must be from 1970 on and at most a year after postedAt.';
  }
  if (
    expiresAt !== null &&
    (expiresAt < postedAt || expiresAt.getTime() > postedAt.getTime() + 366 * dayMillis)
  ) {
    return 'expiresAt must be at most a year after postedAt, and not before it.';
  }
  return undefined;
}

/** A signed decimal number in minor units, or a sentence that refuses it. */
export function signedMinor(source: string | undefined, currencyCode: string): bigint | string {
  if (source === undefined || source.length > 64) return 'The amount must be a number.';
  if (/^-?0+(?:\.0+)?$/.test(source)) return 0n;
  const isNegative = source.startsWith('-');
  const amount = parseDecimalAmount(isNegative ? source.slice(1) : source);
  if ('invalid' in amount) return amount.invalid;
  const minor = toMinor(amount, currencyCode);
  if (typeof minor === 'object') return minor.invalid;
  return isNegative ? -minor : minor;
}
