import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { generateOpenApi } from '../../src/http/openapi/openapi.ts';
import { problemKinds } from '../../src/http/problems.ts';
import { openApiDocument, pointer, schemaChecker } from '../support/contract.ts';

// biome-ignore lint/suspicious/noExplicitAny: a document whose shape is under test
type Json = any;

const document: Json = openApiDocument;
const check = schemaChecker(document);
const methods = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'];

const operations: { path: string; method: string; operation: Json; at: string[] }[] = Object.entries<Json>(
  document.paths,
).flatMap(([path, item]) =>
  Object.entries<Json>(item).map(([method, operation]) => ({
    path,
    method,
    operation,
    at: ['paths', path, method],
  })),
);

function resolve(value: Json): Json {
  if (value?.$ref === undefined) return value;
  return value.$ref
    .slice(2)
    .split('/')
    .reduce((part: Json, token: string) => part[token], document);
}

describe('openapi.json', () => {
  it('openapi.json equals the generated document exactly', async () => {
    const text = readFileSync(new URL('../../openapi.json', import.meta.url), 'utf8');
    assert.equal(text, `${JSON.stringify(await generateOpenApi(), null, 2)}\n`);
  });

  it('openapi.json resolves every reference within itself', () => {
    const references = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g)].map(
      ([, target = '']) => target,
    );
    assert.ok(references.length > 0);
    for (const $ref of references) assert.ok(resolve({ $ref }), $ref);
  });

  it('openapi.json contains only schemas of JSON Schema 2020-12', () => {
    const ajv = new Ajv2020({ strict: true, validateFormats: false });
    const schemas: [string, Json][] = Object.entries<Json>(document.components.schemas);
    for (const { operation } of operations) {
      const { operationId, parameters, requestBody } = operation;
      for (const parameter of parameters) schemas.push([operationId, resolve(parameter).schema]);
      for (const media of Object.values<Json>(requestBody?.content ?? {}))
        schemas.push([operationId, media.schema]);
    }
    for (const [name, schema] of schemas) assert.equal(ajv.validateSchema(schema), true, String(name));
  });

  it('openapi.json writes each object and enumeration of requests and responses once, so that generators make one type', () => {
    const places = new Map<string, string[]>();
    const walk = (value: Json, at: string) => {
      if (typeof value !== 'object' || value === null) return;
      if (value.properties !== undefined || value.enum !== undefined) {
        const { description: _, ...shape } = value;
        const key = JSON.stringify(shape);
        places.set(key, [...(places.get(key) ?? []), at]);
      }
      for (const [name, part] of Object.entries(value)) walk(part, `${at}/${name}`);
    };
    for (const [name, schema] of Object.entries(document.components.schemas)) walk(schema, name);
    for (const { operation } of operations) {
      const { schema } = operation.requestBody?.content['application/json'] ?? {};
      for (const part of [...operation.parameters, ...Object.values(schema?.properties ?? {})]) {
        walk(part, operation.operationId);
      }
      for (const [status, { content }] of Object.entries<Json>(operation.responses)) {
        for (const { schema } of Object.values<Json>(content ?? {}))
          walk(schema, `${operation.operationId} ${status}`);
      }
    }
    assert.ok(places.size > 40);
    assert.deepEqual(
      [...places.values()].filter(({ length }) => length > 1),
      [],
    );
  });

  it('openapi.json has one shape for every successful response, because generated clients cannot choose between several', () => {
    const unions: string[] = [];
    const walk = (value: Json, at: string, seen: ReadonlySet<string>) => {
      if (typeof value !== 'object' || value === null) return;
      if (typeof value.$ref === 'string' && !seen.has(value.$ref)) {
        walk(resolve(value), at, new Set([...seen, value.$ref]));
      }
      for (const [name, part] of Object.entries<Json>(value)) {
        if (['anyOf', 'oneOf', 'allOf'].includes(name) || (name === 'type' && Array.isArray(part)))
          unions.push(at);
        walk(part, `${at}/${name}`, seen);
      }
    };
    for (const { operation } of operations) {
      for (const [status, { content }] of Object.entries<Json>(operation.responses)) {
        if (!status.startsWith('2')) continue;
        for (const { schema } of Object.values<Json>(content ?? {}))
          walk(schema, `${operation.operationId} ${status}`, new Set());
      }
    }
    assert.deepEqual(unions, []);
    const { responses } = document.paths['/digitalbanking/db-transfers/v1/transfers'].post;
    for (const status of ['200', '201']) {
      assert.deepEqual(responses[status].content['application/json'].schema, {
        $ref: '#/components/schemas/Transfer',
      });
    }
  });

  it('openapi.json has no component without a reference', () => {
    const text = JSON.stringify(document);
    for (const [kind, components] of Object.entries<Json>(document.components)) {
      if (kind === 'securitySchemes') continue;
      for (const name of Object.keys(components)) {
        assert.ok(text.includes(`"$ref":"#/components/${kind}/${name}"`), `${kind} ${name}`);
      }
    }
  });

  it('openapi.json names every object, so that generated clients have a name for its type', () => {
    const inline: string[] = [];
    const walk = (value: Json, at: string) => {
      if (typeof value !== 'object' || value === null) return;
      if (Object.keys(value.properties ?? {}).length > 0) inline.push(at);
      for (const [name, part] of Object.entries(value)) walk(part, `${at}/${name}`);
    };
    for (const [name, schema] of Object.entries<Json>(document.components.schemas)) {
      for (const [key, part] of Object.entries(schema.properties ?? {})) walk(part, `${name}/${key}`);
    }
    for (const { operation } of operations) {
      walk(operation.requestBody?.content, operation.operationId);
      for (const [status, { content }] of Object.entries<Json>(operation.responses)) {
        for (const { schema } of Object.values<Json>(content ?? {}))
          walk(schema, `${operation.operationId} ${status}`);
      }
    }
    assert.deepEqual(inline, []);
  });

  it('openapi.json has no two named enumerations with a common value, which would be one constant twice in Go', () => {
    const values = Object.values<Json>(document.components.schemas).flatMap((schema) => schema.enum ?? []);
    assert.ok(values.length >= 11);
    assert.deepEqual(
      values.filter((value, index) => values.indexOf(value) !== index),
      [],
    );
  });

  it('openapi.json has no constant, and no enumeration of codes, roles or kinds that may grow', () => {
    const walk = (value: Json, at: string) => {
      if (typeof value !== 'object' || value === null) return;
      assert.ok(!('const' in value), at);
      assert.ok(value.enum === undefined || value['x-extensible-enum'] === undefined, at);
      for (const [name, part] of Object.entries(value)) walk(part, `${at}/${name}`);
    };
    walk(document, '');
    const { ProblemCode, FailureCode, Problem } = document.components.schemas;
    assert.deepEqual(ProblemCode['x-extensible-enum'], Object.keys(problemKinds));
    for (const schema of [ProblemCode, FailureCode])
      assert.deepEqual([schema.type, schema.enum], ['string', undefined]);
    assert.equal(Problem.properties.code.$ref, '#/components/schemas/ProblemCode');
  });

  it('openapi.json allows new fields in responses, and only its own fields in requests', () => {
    // Parts of requests.
    const requests = new Set<string>(['AlertRuleUpdate', 'QuietHoursUpdate']);
    for (const { operation } of operations) {
      const { content = {} } = operation.requestBody ?? {};
      const { schema } = content['application/json'] ?? content['application/x-ndjson'] ?? {};
      if (schema?.$ref && operation.tags[0] !== 'Token') requests.add(schema.$ref.split('/').at(-1));
    }
    assert.ok(requests.size >= 4);
    for (const [name, schema] of Object.entries<Json>(document.components.schemas)) {
      if (schema.type !== 'object') continue;
      assert.equal(schema.additionalProperties !== false, !requests.has(name), name);
    }
  });

  it('openapi.json bounds no number of a response, which a generated Python model with decimals would refuse', () => {
    const walk = (value: Json, at: string) => {
      if (typeof value !== 'object' || value === null) return;
      if (value.type === 'number')
        assert.deepEqual(Object.keys(value).toSorted(), ['description', 'type'], at);
      for (const [name, part] of Object.entries(value)) walk(part, `${at}/${name}`);
    };
    const { TransferOrder: _, ...responses } = document.components.schemas;
    walk(responses, '');
  });

  it('openapi.json requires no transaction id for each call, and has absolute addresses', () => {
    const names = operations.flatMap(({ operation }) => operation.parameters.map((each: Json) => each.name));
    assert.ok(!names.includes('transactionId'));
    assert.match(document.info.description, /`transactionId`/);
    const { flows } = document.components.securitySchemes.oauth2;
    for (const url of [
      ...document.servers.map((server: Json) => server.url),
      flows.clientCredentials.tokenUrl,
      flows.password.tokenUrl,
    ])
      assert.equal(new URL(url).origin, 'http://127.0.0.1:8080');
  });

  it('openapi.json shows exactly the problem members that each operation returns', () => {
    for (const { operation } of operations) {
      for (const [status, response] of Object.entries<Json>(operation.responses)) {
        const media = response.content?.['application/problem+json'];
        for (const [code, example] of Object.entries<Json>(media?.examples ?? {})) {
          const { value } = resolve(example);
          assert.deepEqual([value.code, value.status], [code, Number(status)], operation.operationId);
          const { properties } = resolve(media.schema);
          const more = Object.keys(value).filter((member) => !(member in properties));
          assert.deepEqual(more, [], `${operation.operationId} ${status} ${code}`);
        }
      }
    }
  });

  it('openapi.json has the interface’s six operations at their paths', () => {
    const paths = operations.map(({ method, path }) => `${method.toUpperCase()} ${path}`);
    for (const expected of [
      'POST /auth/v2/token',
      'PATCH /digitalbanking/ux-users/v1/customers/{customerId}/contact-info',
      'POST /digitalbanking/db-transfers/v1/transfers',
      'POST /digitalbanking/v1/customers/register',
      'GET /digitalbanking/db-accounts/v1/accounts/{accountId}',
      'GET /digitalbanking/ux-users/v1/customers/{customerId}/contact-methods',
    ]) {
      assert.ok(paths.includes(expected), expected);
    }
  });

  it('openapi.json declares OpenAPI 3.1, with the members that 3.1 requires', () => {
    assert.match(document.openapi, /^3\.1\.\d+$/);
    assert.ok(document.info.title && document.info.version);
    const tags = new Set(document.tags.map((tag: Json) => tag.name));
    const ids = operations.map(({ operation }) => operation.operationId);
    assert.equal(new Set(ids).size, ids.length, 'operation ids are unique');
    for (const { path, method, operation } of operations) {
      assert.ok(methods.includes(method), `${method} ${path}`);
      assert.ok(operation.summary && operation.description, operation.operationId);
      for (const tag of operation.tags) assert.ok(tags.has(tag), tag);
      const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
      const declared = operation.parameters.map(resolve).filter((parameter: Json) => parameter.in === 'path');
      assert.deepEqual(
        declared.map((parameter: Json) => parameter.name),
        inPath,
      );
      for (const parameter of declared) assert.equal(parameter.required, true);
      for (const response of Object.values<Json>(operation.responses)) assert.ok(response.description);
    }
  });

  it('openapi.json secures every operation under /digitalbanking with an existing scope', () => {
    const { oauth2 } = document.components.securitySchemes;
    for (const { path, operation } of operations) {
      if (!path.startsWith('/digitalbanking/')) continue;
      const [{ oauth2: scopes }] = operation.security;
      assert.equal(scopes.length, 1, operation.operationId);
      for (const flow of Object.values<Json>(oauth2.flows)) assert.ok(flow.scopes[scopes[0]], scopes[0]);
    }
  });

  it('openapi.json has a schema for every status and body, and examples that match it', () => {
    let examples = 0;
    const checkContent = (at: string[], content: Json, name: string) => {
      assert.ok(Object.keys(content ?? {}).length > 0, `${name} has no content`);
      for (const [type, media] of Object.entries<Json>(content)) {
        assert.ok(media.schema, `${name} ${type} has no schema`);
        assert.ok(Object.keys(media.examples ?? {}).length > 0, `${name} ${type} has no example`);
        for (const [label, example] of Object.entries<Json>(media.examples)) {
          const { value } = resolve(example);
          assert.equal(check(pointer(...at, type, 'schema'), value), true, `${name} ${type} ${label}`);
          examples += 1;
        }
      }
    };
    for (const { operation, at } of operations) {
      if (operation.requestBody !== undefined) {
        checkContent([...at, 'requestBody', 'content'], operation.requestBody.content, operation.operationId);
      }
      for (const [status, response] of Object.entries<Json>(operation.responses)) {
        const name = `${operation.operationId} ${status}`;
        // RFC 9110 section 15.4.5: it has no body.
        if (status === '304') continue;
        checkContent([...at, 'responses', status, 'content'], response.content, name);
      }
    }
    assert.ok(examples > 100);
  });

  it('openapi.json lists each problem code, of an operation or of every request', () => {
    const listed = new Set(
      operations.flatMap(({ operation }) =>
        Object.values<Json>(operation.responses).flatMap((response) => response['x-problem-codes'] ?? []),
      ),
    );
    // Every path returns these, even if the operation takes no input: two Hosts, a malformed escape.
    const anywhere = new Set(['invalid_request']);
    // Of /operations/v1, which has a document of its own.
    const ofOperators = new Set(['act_refused']);
    for (const [code, { status }] of Object.entries(problemKinds)) {
      if ((listed.has(code) && !anywhere.has(code)) || ofOperators.has(code)) continue;
      assert.ok(document.info.description.includes(`${status} \`${code}\``), code);
    }
  });

  it('openapi.json puts each problem code at its own status, with an example', () => {
    for (const { operation } of operations) {
      for (const [status, response] of Object.entries<Json>(operation.responses)) {
        const codes: (keyof typeof problemKinds)[] = response['x-problem-codes'] ?? [];
        for (const code of codes) {
          assert.equal(problemKinds[code].status, Number(status), `${operation.operationId} ${code}`);
          assert.ok(response.content?.['application/problem+json'].examples[code], code);
        }
      }
    }
  });
});
