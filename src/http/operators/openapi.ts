import { freshSeconds, operatorRoles, rights } from '../../operators/index.ts';
import { programVersion } from '../../shared/process/program-version.ts';
import type { Page } from '../operation.ts';
import { ProblemDocument } from '../schemas.ts';
import { type OperatorOperation, operationsBase } from './operation.ts';
import { operationsByTag, operationsOfOperators } from './operations.ts';
import { idsOf, querySchemaOf } from './schemas-of.ts';

/** The contract of the operations of operators, OpenAPI 3.1, from the table that the server registers. */
export function generateOperatorsOpenApi(server = 'http://127.0.0.1:8080'): object {
  const paths: Record<string, Record<string, object>> = {};
  for (const [tag, operations] of Object.entries(operationsByTag)) {
    for (const operation of operations) {
      const path = `${operationsBase}${operation.path}`;
      paths[path] = { ...paths[path], [operation.method.toLowerCase()]: describe(tag, operation) };
    }
  }
  return {
    openapi: '3.1.1',
    info: {
      title: 'Sharedraft operations',
      version: programVersion,
      summary: 'The work of the people who run an institution.',
      description:
        'For the console and the command line. Each operation needs a role of the signed-in operator, and each act leaves an audit entry with the operator’s name. Amounts are decimal text, times are ISO 8601 in UTC. A list has the next page in `Link`.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: server || '/' }],
    tags: Object.keys(operationsByTag).map((name) => ({ name })),
    paths,
    components: {
      schemas: { Problem: ProblemDocument },
      securitySchemes: {
        session: {
          type: 'http',
          scheme: 'bearer',
          description: 'The session of `sharedraft login`, or the cookie of /operations/sign-in.',
        },
      },
    },
  };
}

function describe(tag: string, operation: OperatorOperation): object {
  const { operationId, summary, right, body, response, positionWords, path, isStream } = operation;
  const isList = positionWords !== undefined;
  const query = querySchemaOf(operation);
  return {
    operationId,
    tags: [tag],
    summary,
    description: needs(right),
    'x-roles': right === 'any' ? 'any' : rights[right],
    security: [{ session: [] }],
    parameters: [
      ...Object.entries(idsOf(path).properties).map(([name, schema]) => ({
        name,
        in: 'path',
        required: true,
        schema,
      })),
      ...Object.entries(query.properties).map(([name, schema]) => ({ name, in: 'query', schema })),
    ],
    ...(body && { requestBody: { required: true, content: { 'application/json': { schema: body } } } }),
    responses: {
      200: {
        description: isStream ? streamed : isList ? 'A page of the list.' : 'The document.',
        ...(isList && { headers: { Link: { description: 'The next page.', schema: { type: 'string' } } } }),
        content: {
          [isStream ? 'text/event-stream' : 'application/json']: {
            schema: isList ? { type: 'array', items: response } : response,
          },
        },
      },
      default: {
        description: 'A problem document (RFC 9457).',
        content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
      },
    },
  };
}

const streamed =
  'Server-sent events: `figures` with the document of GET /today, `changed` with `screens`, `beat`, and `end` with `reason`, one of session, roles, unchecked, stopping.';

function needs(right: OperatorOperation['right']): string {
  if (right === 'any') return 'For every signed-in operator.';
  const fresh = freshSeconds[right];
  const recent = fresh === undefined ? '' : ` Needs a sign-in within ${fresh / 60} minutes.`;
  return `For the roles ${rights[right].join(', ')}.${recent}`;
}

/** The operations in docs/operators.md. */
export function operationsTable(): string {
  const rows = operationsOfOperators.map(({ method, path, right, summary }) => {
    const roles =
      right === 'any' || rights[right].length === operatorRoles.length ? 'all' : rights[right].join(', ');
    const recent = right !== 'any' && freshSeconds[right] !== undefined ? ', with a recent sign-in' : '';
    return `| \`${method} ${path}\` | ${roles}${recent} | ${summary} |`;
  });
  return ['| operation | roles | |', '|---|---|---|', ...rows].join('\n');
}

/** For the console and for programs. */
export const operationsOpenApiPage: Page = {
  path: `${operationsBase}/openapi.json`,
  handle: async ({ publicUrl }) => ({
    headers: { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'public, max-age=300' },
    body: JSON.stringify(generateOperatorsOpenApi(publicUrl)),
  }),
};
