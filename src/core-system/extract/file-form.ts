import { isLocalDate, type LocalDate } from '../../institutions/index.ts';
import type { CsvForm } from '../../shared/text/csv.ts';

/** The order of day, month and year in the dates of a file. */
export type DateForm = 'YYYY-MM-DD' | 'YYYYMMDD' | 'MM/DD/YYYY' | 'DD.MM.YYYY' | 'DD/MM/YYYY';

/** The form of a core's own export: a CSV file with other dates and numbers than the service's. */
export interface FileForm extends CsvForm {
  readonly dates: DateForm;
  readonly decimal: '.' | ',';
}

const choices = {
  encoding: ['utf-8', 'windows-1252'],
  delimiter: [',', ';', '\t', '|'],
  dates: ['YYYY-MM-DD', 'YYYYMMDD', 'MM/DD/YYYY', 'DD.MM.YYYY', 'DD/MM/YYYY'],
  decimal: ['.', ','],
} as const;

export const formParts: readonly string[] = Object.keys(choices);

/** A mapping of a core's files that is not as it must be. The message is a sentence for the operator. */
export class MappingError extends Error {
  override readonly name = 'MappingError';
}

/** The form that a mapping names; each part has a default. MappingError. */
export function readForm(given: Readonly<Record<string, unknown>>): FileForm {
  const choose = <Name extends keyof typeof choices>(name: Name): (typeof choices)[Name][number] => {
    const chosen = given[name] ?? choices[name][0];
    if ((choices[name] as readonly unknown[]).includes(chosen))
      return chosen as (typeof choices)[Name][number];
    throw new MappingError(
      `${name} must be one of ${choices[name].map((one) => JSON.stringify(one)).join(', ')}.`,
    );
  };
  return {
    encoding: choose('encoding'),
    delimiter: choose('delimiter'),
    dates: choose('dates'),
    decimal: choose('decimal'),
  };
}

/** MappingError if it is something else. */
export function objectOf(value: unknown, what: string): Record<string, unknown> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return value as Record<string, unknown>;
  throw new MappingError(`${what} must be an object.`);
}

/** MappingError if it is something else. */
export function textsOf(value: unknown, what: string): Record<string, string> {
  const given = objectOf(value, what);
  if (Object.values(given).every((one) => typeof one === 'string')) return given as Record<string, string>;
  throw new MappingError(`${what} must have texts as values.`);
}

/** Without separators of thousands, with a point; `1.234,50-` is -1234.50. */
export function plainNumber(text: string, decimal: '.' | ','): string {
  const thousands = decimal === '.' ? ',' : '.';
  const plain = text.replaceAll(thousands, '').replace(decimal, '.').replace(/^\+/, '');
  const [, digits] = /^([0-9.]+)-$/.exec(plain) ?? [];
  const signed = digits === undefined ? plain : `-${digits}`;
  return signed.replace(/^(-?)0+(?=[0-9])/, '$1').replace(/^(-?)\./, '$10.');
}

const forms: Readonly<Record<DateForm, RegExp>> = {
  'YYYY-MM-DD': /^(?<y>[0-9]{4})-(?<m>[0-9]{2})-(?<d>[0-9]{2})(?<rest>.*)$/,
  YYYYMMDD: /^(?<y>[0-9]{4})(?<m>[0-9]{2})(?<d>[0-9]{2})(?<rest>.*)$/,
  'MM/DD/YYYY': /^(?<m>[0-9]{1,2})\/(?<d>[0-9]{1,2})\/(?<y>[0-9]{4})(?<rest>.*)$/,
  'DD/MM/YYYY': /^(?<d>[0-9]{1,2})\/(?<m>[0-9]{1,2})\/(?<y>[0-9]{4})(?<rest>.*)$/,
  'DD.MM.YYYY': /^(?<d>[0-9]{1,2})\.(?<m>[0-9]{1,2})\.(?<y>[0-9]{4})(?<rest>.*)$/,
};

/** The date at the start of a text, and the text behind it. */
export function splitDate(
  text: string,
  form: DateForm,
): { readonly day: LocalDate; readonly rest: string } | undefined {
  const { y = '', m = '', d = '', rest = '' } = forms[form].exec(text)?.groups ?? {};
  const day = `${y}-${m.padStart(2, '0')}-${d.padStart(2, '0')}`;
  return isLocalDate(day) ? { day, rest } : undefined;
}

export function dayIn(text: string, form: DateForm): LocalDate | undefined {
  const found = splitDate(text, form);
  return found?.rest === '' ? found.day : undefined;
}
