import * as Type from 'typebox/type';
import { pageParameters } from '../request/paging.ts';
import type { OperatorOperation } from './operation.ts';

/** The parameters of the path, each an id; a malformed one is not found. */
export function idsOf(path: string): Type.TObject {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  const id = Type.String({ minLength: 1, maxLength: 128, pattern: '^[^\\u0000-\\u001f\\u007f]*$' });
  return Type.Object(Object.fromEntries(names.map((name) => [name, id])));
}

/** The query of an operation, with the parameters of paging for a list. */
export function querySchemaOf({ query, positionWords }: OperatorOperation): Type.TObject {
  const own = query?.properties ?? {};
  return Type.Object(positionWords === undefined ? own : { ...own, ...pageParameters });
}
