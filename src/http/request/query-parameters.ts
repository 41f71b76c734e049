import * as Type from 'typebox/type';
import { Problem } from '../../shared/problem.ts';

/** Unknown query parameters are refused by name, as unknown fields are. */
export function closedQuery(query: Type.TObject | undefined): Type.TObject {
  return Type.Object(query?.properties ?? {}, { additionalProperties: false });
}

/** A query is text. Where the schema has an integer or a boolean, its text is read as one; other text is left to be refused. */
export function readScalars(query: Record<string, unknown>, schema: Type.TObject | undefined): object {
  const repeated = Object.keys(schema?.properties ?? {}).filter((name) => Array.isArray(query[name]));
  if (repeated.length > 0) {
    throw new Problem('invalid_request', 'A parameter stands more than once.', {
      errors: repeated.map((name) => ({ pointer: name, detail: 'Must stand once.' })),
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
  boolean: (text) => (text === 'true' || text === 'false' ? text === 'true' : text),
};
