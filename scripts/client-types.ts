// Types of the client library, from openapi.json: an interface for each schema, and a row for each operation.

interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly description?: string;
  readonly enum?: readonly string[];
  readonly 'x-extensible-enum'?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly additionalProperties?: boolean;
}

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly description?: string;
  readonly schema: Schema;
}

interface Content {
  readonly content?: Readonly<Record<string, { readonly schema: Schema }>>;
}

interface Described {
  readonly operationId: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: Content & { readonly required?: boolean };
  readonly responses: Readonly<Record<string, Content>>;
}

export interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

const head = `// Generated from openapi.json by \`npm run generate\`.

/** A number of any size as its digits, for instance \`'105.25'\`: no amount passes through a float. */
export type Decimal = string;
`;

/** The text of client/src/schema.ts. */
export function clientTypes({ paths, components }: OpenApi): string {
  const schemas = Object.entries(components.schemas);
  return [
    head,
    ...schemas.map(([name, schema]) => declaration(name, schema)),
    `/** Input and result of each operation. */\nexport interface Operations {\n${describedIn(paths).map(operationType).join('\n')}\n}\n`,
  ].join('\n');
}

/** The text of client/src/tables.ts: the part of the schema that runs. Types leave nothing for a browser to load. */
export function clientTables({ paths, components }: OpenApi): string {
  const decimals = decimalNames(Object.values(components.schemas));
  return [
    '// Generated from openapi.json by `npm run generate`.\n',
    `/** Method and path of each operation. */\nexport const operations = {\n${describedIn(paths)
      .map(({ operationId, method, path }) => `  ${operationId}: ['${method}', '${path}'],`)
      .join('\n')}\n} as const;\n`,
    `/** Names of the members that are decimals. */\nexport const decimalMembers: ReadonlySet<string> = new Set([\n${decimals
      .map((name) => `  '${name}',`)
      .join('\n')}\n]);\n`,
  ].join('\n');
}

function describedIn(paths: OpenApi['paths']) {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, one]) => ({ ...one, path, method: method.toUpperCase() })),
  );
}

function declaration(name: string, schema: Schema): string {
  const comment = schema.description === undefined ? '' : `${commented(schema.description, '')}\n`;
  return schema.properties === undefined
    ? `${comment}export type ${name} = ${typeOf(schema)};\n`
    : `${comment}export interface ${name} ${objectType(schema, '')}\n`;
}

function operationType({ operationId, parameters = [], requestBody, responses }: Described): string {
  const group = (place: string) => parameters.filter((parameter) => parameter.in === place);
  const body = requestBody?.content?.['application/json']?.schema;
  const [, success] = Object.entries(responses).find(([status]) => status.startsWith('2')) ?? [];
  const result = success?.content?.['application/json']?.schema;
  const members = [
    ...parametersType('params', group('path')),
    ...parametersType('query', group('query')),
    ...(body === undefined || isEmpty(body) ? [] : [`    body: ${typeOf(body)};`]),
    `    result: ${result === undefined ? 'unknown' : typeOf(result)};`,
  ];
  return `  ${operationId}: {\n${members.join('\n')}\n  };`;
}

function parametersType(name: string, parameters: readonly Parameter[]): string[] {
  if (parameters.length === 0) return [];
  const properties = Object.fromEntries(
    parameters.map(({ name, schema, description }) => [
      name,
      description === undefined ? schema : { ...schema, description },
    ]),
  );
  const required = parameters.filter((parameter) => parameter.required === true).map(({ name }) => name);
  return [`    ${name}: ${objectType({ properties, required }, '    ')};`];
}

function isEmpty({ properties, additionalProperties }: Schema): boolean {
  return additionalProperties !== true && properties !== undefined && Object.keys(properties).length === 0;
}

function objectType(
  { properties = {}, required = [], additionalProperties }: Schema,
  indent: string,
): string {
  const members = Object.entries(properties).map(([name, schema]) => {
    const comment =
      schema.description === undefined ? '' : `${commented(schema.description, `${indent}  `)}\n`;
    const optional = required.includes(name) ? '' : '?';
    const undefinable = required.includes(name) ? '' : ' | undefined';
    const key = /^[A-Za-z_]\w*$/.test(name) ? name : `'${name}'`;
    return `${comment}${indent}  ${key}${optional}: ${typeOf(schema, `${indent}  `)}${undefinable};`;
  });
  if (additionalProperties === true) members.push(`${indent}  [name: string]: unknown;`);
  return members.length === 0 ? 'Record<never, never>' : `{\n${members.join('\n')}\n${indent}}`;
}

function typeOf(schema: Schema, indent = ''): string {
  const { $ref, type, items } = schema;
  if ($ref !== undefined) return $ref.slice($ref.lastIndexOf('/') + 1);
  if (schema.enum !== undefined) return schema.enum.map((value) => `'${value}'`).join(' | ');
  const known = schema['x-extensible-enum'];
  // Later versions may add values; an editor still offers the known ones.
  if (known !== undefined) return `${known.map((value) => `'${value}'`).join(' | ')} | (string & {})`;
  if (type === 'array') return `readonly ${arrayItem(items ?? {}, indent)}[]`;
  if (type === 'object') return schema.properties === undefined ? 'object' : objectType(schema, indent);
  if (type === 'number') return 'Decimal';
  if (type === 'integer') return 'number';
  return type === 'string' || type === 'boolean' ? type : 'unknown';
}

function arrayItem(schema: Schema, indent: string): string {
  const text = typeOf(schema, indent);
  return /^[\w.]+$/.test(text) ? text : `(${text})`;
}

function commented(text: string, indent: string): string {
  const lines = text.replaceAll('*/', '*\\/').split('\n');
  return lines.length === 1
    ? `${indent}/** ${lines[0]} */`
    : `${indent}/**\n${lines.map((line) => `${indent} *${line === '' ? '' : ` ${line}`}`).join('\n')}\n${indent} */`;
}

/** A name is a decimal in every schema or in none, so that a reader of JSON needs no schema. */
function decimalNames(schemas: readonly Schema[]): string[] {
  const kinds = new Map<string, Set<string>>();
  const visit = ({ properties = {}, items }: Schema): void => {
    if (items !== undefined) visit(items);
    for (const [name, schema] of Object.entries(properties)) {
      if (schema.type !== undefined) kinds.set(name, (kinds.get(name) ?? new Set()).add(schema.type));
      visit(schema);
    }
  };
  schemas.forEach(visit);
  const decimals = [...kinds].filter(([, types]) => types.has('number'));
  const mixed = decimals.find(([, types]) => types.has('integer') || types.has('string'));
  if (mixed !== undefined) throw new Error(`openapi.json: ${mixed[0]} is a decimal in one schema only`);
  return decimals.map(([name]) => name).sort();
}
