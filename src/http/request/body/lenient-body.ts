import type * as Type from 'typebox/type';
import type { BodyFacts } from './body-parsers.ts';

/** A JSON number (RFC 8259, section 6). */
const number = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/;

/**
 * Prepares a JSON body for validation: removes ignored fields and optional fields that are null, and turns decimal strings
 * into numbers. Validation refuses the rest.
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
