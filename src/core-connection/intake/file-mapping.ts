import { readFile } from 'node:fs/promises';
import {
  type FileForm,
  formParts,
  MappingError,
  objectOf,
  readForm,
  textsOf,
} from '../../core-system/index.ts';
import { Problem } from '../../shared/problem.ts';
import { parseJson } from '../../shared/text/json.ts';
import { type CoreKind, coreKinds } from './transaction-line.ts';

/** How a core's own export maps to the fields of a transaction. */
export interface FileMapping extends FileForm {
  /** The file's column of a field. A field that is not named has no column. */
  readonly columns: Readonly<Record<string, string>>;
  /** Fields with the same value in every row. */
  readonly constants: Readonly<Record<string, string>>;
  /** `asIs`: a credit is positive. `debitsPositive`: a debit is. `column`: a column marks the debits of unsigned amounts. */
  readonly sign: 'asIs' | 'debitsPositive' | { readonly column: string; readonly debit: string };
  /** The core's words for the kinds. */
  readonly kinds: Readonly<Record<string, CoreKind>>;
}

export const fileFields = [
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
] as const;

/** The service's own form: a column for each field, `account_id` for `accountId`. */
export const ownMapping: FileMapping = {
  columns: Object.fromEntries(
    fileFields.map((field) => [field, field.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)]),
  ),
  constants: {},
  dates: 'YYYY-MM-DD',
  decimal: '.',
  sign: 'asIs',
  kinds: {},
};

/** Reads columns.json. MappingError with a sentence for the operator. */
export async function readMapping(file: string): Promise<FileMapping> {
  const text = await readFile(file, 'utf8');
  try {
    return mappingOf(parseJson(text).value);
  } catch (error) {
    if (error instanceof Problem) throw new MappingError(`${file}: ${error.detail}`);
    throw error instanceof MappingError ? new MappingError(`${file}: ${error.message}`) : error;
  }
}

function mappingOf(value: unknown): FileMapping {
  const given = objectOf(value, 'The mapping');
  const unknown = Object.keys(given).filter(
    (name) => !['columns', 'constants', 'kinds', 'sign', ...formParts].includes(name),
  );
  if (unknown.length > 0) throw new MappingError(`${unknown.join(', ')} is not a part of a mapping.`);
  const texts = (name: string) => textsOf(given[name] ?? {}, name);
  const fields = (name: 'columns' | 'constants') => {
    const named = texts(name);
    const strange = Object.keys(named).filter((field) => !(fileFields as readonly string[]).includes(field));
    if (strange.length > 0)
      throw new MappingError(`${name}: ${strange.join(', ')} is not a field of a transaction.`);
    return named;
  };
  const kinds = texts('kinds');
  const wrong = Object.values(kinds).filter((kind) => !(coreKinds as readonly string[]).includes(kind));
  if (wrong.length > 0) throw new MappingError(`kinds: must be some of ${coreKinds.join(', ')}.`);
  return {
    ...readForm(given),
    columns: fields('columns'),
    constants: fields('constants'),
    sign: signOf(given.sign ?? 'asIs'),
    kinds: kinds as Record<string, CoreKind>,
  };
}

function signOf(sign: unknown): FileMapping['sign'] {
  if (sign === 'asIs' || sign === 'debitsPositive') return sign;
  const { column, debit } = textsOf(sign, 'sign');
  if (column !== undefined && debit !== undefined) return { column, debit };
  throw new MappingError('sign must be "asIs", "debitsPositive" or {"column": …, "debit": …}.');
}
