import { publicId } from '../../shared/public-id.ts';
import { parseFineMoment } from '../extract/extract.ts';

type FieldType = 'text' | 'flag' | 'amount';
type Fields = Readonly<Record<string, FieldType>>;

interface Form {
  /** The fields that name the record. */
  readonly keys: readonly string[];
  readonly fields: Fields;
  /** The field with dependants that are committed with the record, their form, and the key that they take from it. */
  readonly dependants?: { readonly field: string; readonly form: 'memberPerson' | 'holder' };
  /** Whether `removed` may end it. Persons, memberships and accounts stay. */
  readonly mayEnd?: boolean;
}

/** A kind of record for each file of an extract below the institution; its fields are the columns of the file. */
const forms = {
  person: {
    keys: ['personId'],
    fields: {
      personId: 'text',
      firstName: 'text',
      lastName: 'text',
      email: 'text',
      phoneNumber: 'text',
      phoneType: 'text',
      birthDate: 'text',
    },
  },
  member: {
    keys: ['memberNumber'],
    fields: { memberNumber: 'text', customerId: 'text', memberType: 'text' },
    dependants: { field: 'persons', form: 'memberPerson' },
  },
  memberPerson: {
    keys: ['memberNumber', 'personId'],
    fields: { memberNumber: 'text', personId: 'text', role: 'text' },
    mayEnd: true,
  },
  account: {
    keys: ['accountId'],
    fields: {
      accountId: 'text',
      memberNumber: 'text',
      accountNumber: 'text',
      type: 'text',
      description: 'text',
      currency: 'text',
      balance: 'amount',
      status: 'text',
      delinquent: 'flag',
      overdraftLimit: 'amount',
      creditLimit: 'amount',
      accruedInterest: 'amount',
      feesDue: 'amount',
      amountDue: 'amount',
      nextDueOn: 'text',
      transferRestriction: 'text',
    },
    dependants: { field: 'holders', form: 'holder' },
  },
  holder: {
    keys: ['accountId', 'personId'],
    fields: { accountId: 'text', personId: 'text', role: 'text', mayPay: 'flag' },
    mayEnd: true,
  },
} as const satisfies Readonly<Record<string, Form>>;

export type RecordKind = keyof typeof forms;
export const recordKinds = Object.keys(forms) as RecordKind[];

/** Texts by column, as a line of the extract's file has them; an empty text is none. */
export type Texts = Readonly<Record<string, string>>;

/** One record of the core. A column that `given` lacks is unchanged. */
export interface RecordLine {
  readonly kind: RecordKind;
  /** The key of the record, as its answer names it. */
  readonly id: string;
  readonly given: Texts;
  /** The holders of an account or the persons of a membership that come with it. */
  readonly dependants: readonly Texts[];
  readonly isRemoved: boolean;
  /** The time of the change at the core, if the core states it. */
  readonly changedAt?: Date | undefined;
}

/** Reasons why a record changes nothing. */
export type RecordRefusalCode =
  | 'invalid_line'
  | 'date_out_of_range'
  | 'person_not_found'
  | 'member_not_found'
  | 'account_not_found'
  | 'currency_mismatch'
  | 'id_reused'
  | 'role_not_allowed'
  | 'primary_required'
  | 'not_in_membership'
  | 'still_holder';

export interface RecordRefusal {
  readonly id?: string;
  readonly code: RecordRefusalCode;
  readonly detail: string;
}

/** More would be a whole extract in a line. */
const mostDependants = 100;

/**
 * Reads the fields of a line. `numberText` is the source text of a number by its JSON pointer, so that no amount passes through a
 * float. The refusal names each field that is wrong and never repeats a value. Whether the values fit is decided on what stands.
 */
export function readRecordLine(
  fields: Readonly<Record<string, unknown>>,
  numberText: (pointer: string) => string | undefined,
): RecordLine | RecordRefusal {
  const kind = fields.record as RecordKind;
  if (typeof kind !== 'string' || !Object.hasOwn(forms, kind)) {
    return { code: 'invalid_line', detail: `record must be one of ${recordKinds.join(', ')}.` };
  }
  const form: Form = forms[kind];
  const wrong: string[] = [];
  const given = readFields(form.fields, fields, { wrong, at: '', numberText });
  const { field, form: inner } = form.dependants ?? {};
  const dependants: Texts[] = [];
  if (field !== undefined && inner !== undefined && fields[field] !== undefined) {
    const list = fields[field];
    const { keys, fields: own } = forms[inner];
    const ownFields: Fields = Object.fromEntries(Object.entries(own).filter(([name]) => name !== keys[0]));
    if (!Array.isArray(list) || list.length > mostDependants || !list.every(isObject)) {
      wrong.push(`${field} must be a list of at most ${mostDependants} objects.`);
    } else {
      for (const [place, item] of list.entries()) {
        const at = `/${field}/${place}`;
        dependants.push(readFields(ownFields, item, { wrong, at, numberText }));
        refuseUnknown(item, [...Object.keys(ownFields)], wrong);
      }
      const persons = new Set(dependants.map((texts) => texts.person_id));
      if (persons.size < dependants.length) wrong.push(`${field} must name each person once.`);
    }
  }
  refuseUnknown(
    fields,
    [
      'record',
      'changedAt',
      ...Object.keys(form.fields),
      ...(field === undefined ? [] : [field]),
      ...(form.mayEnd ? ['removed'] : []),
    ],
    wrong,
  );
  const removed = fields.removed ?? false;
  if (typeof removed !== 'boolean') wrong.push('removed must be true or false.');
  const changedAt = momentOf(fields.changedAt);
  if (changedAt === undefined && fields.changedAt !== undefined) {
    wrong.push('changedAt must be a moment with its offset, like 2026-03-02T06:00:00-05:00.');
  }
  const keys = form.keys.map((key) => given[columnOf(key)] ?? '');
  for (const [place, key] of form.keys.entries()) {
    if (!patternOf(key).test(keys[place] ?? '')) wrong.push(`${key} is missing or no id.`);
  }
  const id = keys.join('/');
  if (wrong.length > 0) return { code: 'invalid_line', detail: [...new Set(wrong)].join(' ') };
  return { kind, id, given, dependants, isRemoved: removed === true, changedAt };
}

function momentOf(value: unknown): Date | undefined {
  return typeof value === 'string' ? parseFineMoment(value) : undefined;
}

const memberNumber = /^[A-Za-z0-9-]{1,32}$/;

function patternOf(key: string): RegExp {
  return key === 'memberNumber' ? memberNumber : publicId;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** An unknown field is not repeated: it may hold anything. */
function refuseUnknown(fields: object, known: readonly string[], wrong: string[]): void {
  if (Object.keys(fields).some((name) => !known.includes(name))) {
    wrong.push(`A field is not known. The fields are ${known.join(', ')}.`);
  }
}

function readFields(
  types: Fields,
  fields: Readonly<Record<string, unknown>>,
  {
    wrong,
    at,
    numberText,
  }: {
    readonly wrong: string[];
    readonly at: string;
    readonly numberText: (pointer: string) => string | undefined;
  },
): Texts {
  const texts: Record<string, string> = {};
  for (const [name, type] of Object.entries(types)) {
    const value = fields[name];
    if (value === undefined) continue;
    const text = textOf(value, type, () => numberText(`${at}/${name}`));
    if (text === undefined) wrong.push(`${name} must be ${expected[type]}.`);
    else texts[columnOf(name)] = text;
  }
  return texts;
}

const expected: Readonly<Record<FieldType, string>> = {
  text: 'a text, or null for none',
  flag: 'true or false',
  amount: 'a number, or null for zero',
};

/** The text of the extract's cell; null is an empty cell (as in RFC 7396, null removes the value). */
function textOf(value: unknown, type: FieldType, numberText: () => string | undefined): string | undefined {
  if (type === 'flag') return typeof value === 'boolean' ? (value ? 'yes' : 'no') : undefined;
  if (value === null) return '';
  if (type === 'amount' && typeof value === 'number') return numberText();
  // A decimal string is accepted, as in transfers.
  return typeof value === 'string' ? value.trim() : undefined;
}

const columns = new Map<string, string>();

function columnOf(field: string): string {
  let column = columns.get(field);
  if (column === undefined) {
    column = field.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    columns.set(field, column);
  }
  return column;
}

/** The field of a column, for texts that callers read. */
export function fieldOf(column: string): string {
  return column.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
