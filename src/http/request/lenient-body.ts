import type * as Type from 'typebox/type';
import type { BodyFacts } from './body-parsers.ts';

/** How a JSON number is written (RFC 8259, section 6). */
const number = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/;

/**
 * A JSON body before it is validated: without its ignored fields, without `null` in optional fields, which is their
 * absence, and with decimal strings as the numbers that they write. All else is left for validation to refuse.
 */
export function readLeniently(
  body: unknown,
  facts: BodyFacts,
  {
    schema,
    ignored = [],
    decimals = [],
  }: {
    readonly schema: Type.TSchema;
    readonly ignored?: readonly string[];
    readonly decimals?: readonly string[];
  },
): { readonly body: unknown; readonly facts: BodyFacts } {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return { body, facts };
  const { properties = {}, required = [] } = schema as { properties?: object; required?: readonly string[] };
  const isAbsent = ([name, value]: [string, unknown]) =>
    ignored.includes(name) || (value === null && Object.hasOwn(properties, name) && !required.includes(name));
  const read: Record<string, unknown> = Object.fromEntries(
    Object.entries(body).filter((entry) => !isAbsent(entry)),
  );
  const numbers = new Map(facts.numbers);
  for (const name of decimals) {
    const text = read[name];
    if (typeof text !== 'string' || !number.test(text)) continue;
    numbers.set(`/${name}`, text);
    read[name] = Number(text);
  }
  return { body: read, facts: { ...facts, numbers } };
}
