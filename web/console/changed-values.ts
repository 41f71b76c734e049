/** A value of an audit entry that an act wrote, replaced or removed. */
export interface ChangedValue {
  /** `thresholds.reviewAbove` of a member within a member. */
  readonly name: string;
  readonly before: string;
  readonly after: string;
}

type Values = Readonly<Record<string, unknown>>;

/** The values before and after an act side by side, in the order in which the entry names them. A value that one side lacks is empty there. */
export function changedValues(before: Values | undefined, after: Values | undefined): ChangedValue[] {
  const [old, now] = [flat(before ?? {}), flat(after ?? {})];
  return [...new Set([...old.keys(), ...now.keys()])].map((name) => ({
    name,
    before: old.get(name) ?? '',
    after: now.get(name) ?? '',
  }));
}

function flat(values: Values, path = ''): Map<string, string> {
  return new Map(
    Object.entries(values).flatMap(([name, value]): [string, string][] =>
      isObject(value) && Object.keys(value).length > 0
        ? [...flat(value, `${path}${name}.`)]
        : [[`${path}${name}`, textOf(value)]],
    ),
  );
}

function isObject(value: unknown): value is Values {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value === '' ? '(empty text)' : value;
  if (value === null || value === undefined) return 'none';
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.map(itemOf).join('\n');
  return JSON.stringify(value);
}

/** `maxPerTransfer 500.00, period DAY` of an object within a list. */
function itemOf(value: unknown): string {
  if (!isObject(value)) return textOf(value);
  return [...flat(value)].map(([name, text]) => `${name} ${text}`).join(', ');
}
