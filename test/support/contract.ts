import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import * as ajvFormats from 'ajv-formats';
import { securityHeaders } from '../../src/http/server/security-headers.ts';
import { currencyDecimals } from '../../src/ledger/index.ts';
import { fieldsIn, noteFields } from './seen-fields.ts';

/** One response as received. */
export interface Exchange {
  readonly method: string;
  /** With or without a query. */
  readonly path: string;
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

interface HeaderObject {
  readonly $ref?: string;
  /** Every such response has it. */
  readonly required?: boolean;
}

interface ResponseObject {
  readonly headers?: Record<string, HeaderObject>;
  readonly content?: Record<string, { readonly schema: unknown }>;
  readonly 'x-problem-codes'?: readonly string[];
}

interface OperationObject {
  readonly operationId: string;
  readonly responses: Record<string, ResponseObject>;
}

export interface OpenApiDocument {
  readonly openapi: string;
  readonly paths: Record<string, Record<string, OperationObject>>;
  readonly components: {
    readonly schemas: Record<string, unknown>;
    readonly headers: Record<string, HeaderObject>;
  };
}

export const openApiDocument: OpenApiDocument = JSON.parse(
  readFileSync(new URL('../../openapi.json', import.meta.url), 'utf8'),
);

export type Verdict = true | string;

/** Whether a value matches a schema of an OpenAPI document; `pointer` is a JSON pointer to the schema. */
export function schemaChecker(document: object): (pointer: string, value: unknown) => Verdict {
  const ajv = new Ajv2020({ strict: false, validateSchema: false, allErrors: true });
  ajvFormats.default.default(ajv);
  ajv.addSchema(document, 'openapi.json');
  const compiled = new Map<string, ValidateFunction>();
  return (pointer, value) => {
    const validate = compiled.get(pointer) ?? ajv.compile({ $ref: `openapi.json#${encodeURI(pointer)}` });
    compiled.set(pointer, validate);
    return validate(value) || ajv.errorsText(validate.errors);
  };
}

/** RFC 6901: the tokens of a JSON pointer, escaped and joined. */
export function pointer(...tokens: (string | number)[]): string {
  return tokens.map((token) => `/${String(token).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

const check = schemaChecker(closed(openApiDocument) as object);

/** Members that openapi.json does not name must be missing, although a client should accept them. */
function closed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(closed);
  if (typeof value !== 'object' || value === null) return value;
  const copy = Object.fromEntries(Object.entries(value).map(([key, part]) => [key, closed(part)]));
  return copy.type === 'object' && Object.keys(copy.properties ?? {}).length > 0
    ? { ...copy, additionalProperties: false }
    : copy;
}

/** Headers of HTTP, security and CORS, which belong to no operation. */
const onAnyAnswer: ReadonlySet<string> = new Set([
  ...['connection', 'content-length', 'content-type', 'date', 'keep-alive', 'pragma', 'transfer-encoding'],
  ...['access-control-allow-origin', 'access-control-expose-headers', 'vary', 'dpop-nonce'],
  ...Object.keys(securityHeaders('https://bank.example')),
]);

function resolve(header: HeaderObject): HeaderObject {
  const name = header.$ref?.split('/').at(-1);
  return name === undefined ? header : (openApiDocument.components.headers[name] ?? {});
}

/** Throws unless openapi.json allows the response: status, media type, headers, body, problem code. */
export function assertInContract(exchange: Exchange): void {
  const { method, status, headers, text } = exchange;
  const { pathname, searchParams } = new URL(exchange.path, 'http://sharedraft.test');
  // The undocumented spelling of a dry run must match the contract of the documented one.
  const path = searchParams.get('dryRun') === 'true' ? `${pathname}/dry-run` : pathname;
  const exchangeText = `${method} ${path} answered ${status} ${text.slice(0, 500)}`;
  assert.match(
    headers.get('transactionId') ?? '',
    /^[!-~]{1,128}$/,
    `${exchangeText}\nwithout a transactionId`,
  );

  const template = Object.keys(openApiDocument.paths).find((candidate) => matches(candidate, path));
  const item = template === undefined ? undefined : openApiDocument.paths[template];
  const verb = method === 'HEAD' ? 'get' : method.toLowerCase();
  const operation = item?.[verb];
  const problem = headers.get('content-type')?.startsWith('application/problem+json') === true;
  if (template === undefined || operation === undefined) {
    // Pages and missing paths: the contract contains only their problems.
    if (problem) assertSchema(exchangeText, pointer('components', 'schemas', 'Problem'), parse(text));
    if (item !== undefined && method !== 'OPTIONS') assert.equal(status, 405, exchangeText);
    if (status === 405) assert.ok(headers.get('allow'), `${exchangeText}\nwithout Allow`);
    return;
  }

  const response = operation.responses[status];
  assert.ok(response, `${exchangeText}\nbut ${operation.operationId} has no such status in openapi.json`);
  const documented = Object.entries(response.headers ?? {}).map(([name, header]) => ({
    name,
    ...resolve(header),
  }));
  for (const { name, required } of documented) {
    assert.ok(required !== true || headers.has(name), `${exchangeText}\nwithout the header ${name}`);
  }
  const names = new Set(documented.map(({ name }) => name.toLowerCase()));
  for (const name of headers.keys()) {
    assert.ok(
      names.has(name) || onAnyAnswer.has(name),
      `${exchangeText}\nwith the header ${name}, which openapi.json does not have there`,
    );
  }
  if (method === 'HEAD' || status === 304) return;
  const [mediaType = ''] = (headers.get('content-type') ?? '').split(';');
  assert.ok(
    response.content?.[mediaType],
    `${exchangeText}\nas ${mediaType}, which openapi.json does not have there`,
  );
  const { schema } = response.content[mediaType];
  const noteBody = (body: Record<string, unknown>) => {
    assertSchema(exchangeText, where, body);
    noteFields(
      fieldsIn(
        openApiDocument,
        schema,
        body,
        (component, value) => check(pointer('components', 'schemas', component), value) === true,
      ),
    );
  };
  const where = pointer('paths', template, verb, 'responses', status, 'content', mediaType, 'schema');
  if (mediaType === 'application/x-ndjson') {
    for (const line of text.trimEnd().split('\n')) noteBody(parse(line));
    return;
  }
  const body = parse(text);
  noteBody(body);
  if (problem) {
    assert.equal(body.status, status, `${exchangeText}\nwith another status inside`);
    assert.ok(
      response['x-problem-codes']?.includes(String(body.code)),
      `${exchangeText}\nbut openapi.json does not name its code there`,
    );
  }
  assertExactAmounts(exchangeText, text);
}

function matches(template: string, path: string): boolean {
  const pattern = template.split(/\{\w+\}/).map((literal) => RegExp.escape(literal));
  return new RegExp(`^${pattern.join('[^/]+')}$`).test(path);
}

function parse(text: string): Record<string, unknown> {
  return JSON.parse(text) as Record<string, unknown>;
}

function assertSchema(exchangeText: string, where: string, value: unknown): void {
  const verdict = check(where, value);
  assert.equal(verdict, true, `${exchangeText}\nis not as openapi.json says: ${verdict}`);
}

/** An amount has exactly the decimals of the currency beside it, which parsing would hide. */
function assertExactAmounts(exchangeText: string, text: string): void {
  for (const [, amount = '', currency = ''] of text.matchAll(/"amount":([^,]+),"currencyCode":"(\w+)"/g)) {
    const decimals = amount.split('.')[1]?.length ?? 0;
    assert.equal(decimals, currencyDecimals(currency), `${exchangeText}\nhas ${amount} ${currency}`);
  }
}

/** For a client: compares each response with openapi.json. */
export const checkedFetch: typeof fetch = async (input, init) => {
  const response = await fetch(input, init);
  const { pathname, search } = new URL(String(input));
  const { status, headers } = response;
  const text = await response.clone().text();
  assertInContract({ method: init?.method ?? 'GET', path: `${pathname}${search}`, status, headers, text });
  return response;
};
