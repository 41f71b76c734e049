import * as Type from 'typebox/type';
import { Problem } from '../../shared/problem.ts';

/** A schema that refuses unknown query parameters by name, as unknown fields are refused. */
export function closedQuery(query: Type.TObject | undefined): Type.TObject {
  return Type.Object(query?.properties ?? {}, { additionalProperties: false });
}

/** Turns the text of numbers and booleans into values. Validation refuses other text. */
export function readScalars(query: Record<string, unknown>, schema: Type.TObject | undefined): object {
  const repeated = Object.keys(schema?.properties ?? {}).filter((name) => Array.isArray(query[name]));
  if (repeated.length > 0) {
    throw new Problem('invalid_request', 'A parameter is repeated.', {
      errors: repeated.map((name) => ({ pointer: name, detail: 'Must be sent once.' })),
    });
  }
  return Object.fromEntries(
    Object.entries(query).map(([name, value]) => {
      const { type } = (schema?.properties[name] ?? {}) as { readonly type?: string };
      const read = readers[type ?? ''];
      return [name, typeof value === 'string' && read ? read(value) : value];
    }),
  );
}

const readers: Readonly<Record<string, (text: string) => unknown>> = {
  integer: (text) => (/^-?[0-9]{1,15}$/.test(text) ? Number(text) : text),
  number: (text) => (/^[0-9]{1,13}(?:\.[0-9]{1,4})?$/.test(text) ? Number(text) : text),
  boolean: (text) => (text === 'true' || text === 'false' ? text === 'true' : text),
};
