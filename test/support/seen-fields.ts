import { appendFileSync, globSync, readFileSync } from 'node:fs';
import path from 'node:path';

/*
 * The optional fields of responses that tests have seen, as `Schema.field`. Each process of a run of all tests writes them to a folder;
 * the runner fails if one is missing at the end (scripts/test.mjs). Clients rely on a field that the tests never produce.
 */

interface Schema {
  readonly $ref?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly allOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, unknown>> };
}

interface Operation {
  readonly responses: Readonly<
    Record<string, { readonly content?: Readonly<Record<string, { readonly schema: unknown }>> }>
  >;
}

/** Whether a value matches the component of this name. */
export type Matches = (component: string, value: unknown) => boolean;

/** Every optional field of the responses of an OpenAPI document. */
export function optionalFields(document: Document): Set<string> {
  const found = new Set<string>();
  const visited = new Set<Schema>();
  const visit = (schema: Schema, name: string) => {
    const [own, ownName] = resolve(document, schema, name);
    if (visited.has(own)) return;
    visited.add(own);
    for (const [field, part] of Object.entries(own.properties ?? {})) {
      if (own.required?.includes(field) !== true && !isGeneral(document, ownName, field)) {
        found.add(`${ownName}.${field}`);
      }
      visit(part, `${ownName}.${field}`);
    }
    if (own.items !== undefined) visit(own.items, ownName);
    for (const branch of branchesOf(own)) visit(branch, ownName);
  };
  for (const item of Object.values(document.paths)) {
    for (const operation of Object.values(item)) {
      for (const { content = {} } of Object.values(operation.responses)) {
        for (const { schema } of Object.values(content)) visit(schema as Schema, 'inline');
      }
    }
  }
  return found;
}

/** The optional fields that a value of the schema has. */
export function fieldsIn(document: Document, schema: unknown, value: unknown, matches: Matches): Set<string> {
  const found = new Set<string>();
  const visit = (given: Schema, part: unknown, name: string) => {
    const [own, ownName] = resolve(document, given, name);
    if (Array.isArray(part) && own.items !== undefined) {
      for (const item of part) visit(own.items, item, ownName);
    }
    for (const branch of branchesOf(own)) {
      const component = branch.$ref?.split('/').at(-1);
      if (component === undefined || matches(component, part)) visit(branch, part, ownName);
    }
    if (typeof part !== 'object' || part === null) return;
    for (const [field, member] of Object.entries(part)) {
      const schemaOfField = own.properties?.[field];
      if (schemaOfField === undefined) continue;
      if (own.required?.includes(field) !== true) found.add(`${ownName}.${field}`);
      visit(schemaOfField, member, `${ownName}.${field}`);
    }
  };
  visit(schema as Schema, value, 'inline');
  return found;
}

const noted = new Set<string>();

/** Writes the fields that this process has not seen before, in a run that collects them. */
export function noteFields(fields: Iterable<string>, folder = process.env.SEEN_FIELDS): void {
  if (folder === undefined) return;
  for (const field of fields) {
    if (noted.has(field)) continue;
    noted.add(field);
    appendFileSync(path.join(folder, String(process.pid)), `${field}\n`);
  }
}

/** The optional fields of openapi.json that no process has noted in the folder. */
export function unseenFields(folder: string): string[] {
  const document = JSON.parse(readFileSync(new URL('../../openapi.json', import.meta.url), 'utf8'));
  const seen = new Set(
    globSync('*', { cwd: folder }).flatMap((file) =>
      readFileSync(path.join(folder, file), 'utf8').split('\n'),
    ),
  );
  return [...optionalFields(document)].filter((field) => !seen.has(field));
}

function resolve(document: Document, schema: Schema, name: string): [Schema, string] {
  const component = schema.$ref?.split('/').at(-1);
  return component === undefined
    ? [schema, name]
    : [(document.components.schemas[component] ?? {}) as Schema, component];
}

/** Every kind of problem repeats the fields of Problem; they count there. */
function isGeneral(document: Document, component: string, field: string): boolean {
  const general = document.components.schemas.Problem as Schema | undefined;
  return (
    component.endsWith('Problem') && component !== 'Problem' && general?.properties?.[field] !== undefined
  );
}

function branchesOf({ allOf = [], anyOf = [], oneOf = [] }: Schema): readonly Schema[] {
  return [...allOf, ...anyOf, ...oneOf];
}
