import { STATUS_CODES } from 'node:http';
import type * as Type from 'typebox/type';
import type { scopes } from '../../auth/index.ts';
import type { ProblemCode } from '../../shared/problem.ts';
import { programVersion } from '../../shared/process/program-version.ts';
import { FdxError, fdxErrorOf, interactionHeader } from '../fdx/fdx-error.ts';
import type { Operation, ResponseDescription } from '../operation.ts';
import { operations } from '../operations.ts';
import { readProblemPage } from '../pages/problem-pages.ts';
import { problemCodes, problemKinds } from '../problems.ts';
import { ProblemDocument } from '../schemas.ts';
import { parameterExamples } from './examples.ts';
import { namedSchemas } from './named-schemas.ts';

/**
 * The contract, OpenAPI 3.1, from the operations that the server registers. Needs no database. `server` is the base URL
 * without a final slash: the demo's address in the repository's copy, empty for the reference page, which calls its own
 * address.
 */
export async function generateOpenApi(server = 'http://127.0.0.1:8080'): Promise<object> {
  const tokenUrl = `${server}/auth/v2/token`;
  const paths = pathsOf(operations);
  const inPaths = JSON.stringify(paths);
  const shown = problemCodes.filter((code) => inPaths.includes(`"#/components/examples/${code}"`));
  return {
    openapi: '3.1.1',
    info: {
      title: 'Sharedraft',
      version: programVersion,
      summary: 'Digital banking for the members of a financial institution.',
      description: introduction,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: server || '/' }],
    tags: [
      { name: 'Token', description: 'OAuth 2.0 access tokens.' },
      { name: 'Members', description: 'Registration, profile and contact of members.' },
      { name: 'Accounts', description: 'Accounts of members, with their transactions and balances.' },
      { name: 'Transfers', description: 'Transfers between two accounts.' },
      { name: 'Events', description: 'The feed of events, for the institution’s own systems.' },
      { name: 'Core', description: 'The doors of the institution’s core system, for its connector.' },
      { name: 'Alerts', description: 'Messages that members choose to get about their accounts.' },
      { name: 'Webhooks', description: 'Events sent to addresses of the institution’s own systems.' },
      { name: 'Aggregators', description: 'Reading by consent, aligned with FDX 6.' },
      { name: 'Service', description: 'Probes and version, for operators.' },
    ],
    paths,
    components: {
      schemas: Object.fromEntries(
        Object.entries(namedSchemas).map(([name, schema]) => [name, copySchema(schema, { named: false })]),
      ),
      examples: Object.fromEntries(
        shown.map((code) => [
          code,
          { summary: problemKinds[code].title, value: readProblemPage(code).example },
        ]),
      ),
      headers: Object.fromEntries(
        headersInTwoForms().filter(([name]) => inPaths.includes(`"#/components/headers/${name}"`)),
      ),
      securitySchemes: {
        oauth2: {
          type: 'oauth2',
          description: 'A token for the client itself, or for one member: a JWT (RFC 9068, RFC 8725).',
          flows: {
            clientCredentials: { tokenUrl, scopes: scopeTexts },
            password: { tokenUrl, refreshUrl: tokenUrl, scopes: scopeTexts },
          },
        },
        bearer: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'JWT',
          description:
            'An existing token of this service, or of an identity provider that the institution registered (RFC 9068, RFC 8725).',
        },
      },
    },
  };
}

const introduction = `A digital banking interface for the members of a financial institution: access tokens, registration, profiles and contact, accounts, transfers.

**Tokens.** A *client token* (\`client_credentials\`) acts for the institution within its scopes, a *member token* (\`password\`) for one user. An object that the caller may not see gets the same 404 as one that does not exist.

**Money.** Amounts are JSON numbers in major units. They are read and written exactly, never through a float.

**Lists** are bare arrays, a page at a time. The response header \`Link\` (RFC 8288) has the next page's URL as \`<…>; rel="next"\`; without it the list has ended. The feed of events always has one.

**Each request has an id.** Send \`transactionId\` or \`X-Request-Id\`, 1 to 128 visible ASCII characters, with any request; the service logs it and returns it as the response header \`transactionId\`. Without either, the service generates a UUID.

**Errors** are [problem documents](/problems) (RFC 9457); \`code\` is for programs. The 400 and 401 responses of the token operation follow RFC 6749. Errors under \`/fdx/v6\` have the shape of FDX; a token without consent gets 403 \`consent_required\` there. Beside the responses of each operation, any request can get 400 \`invalid_request\` if it is not HTTP/1.1, 404 \`path_not_found\`, 405 \`method_not_allowed\`, 408 \`request_timeout\` and 431 \`headers_too_large\`.`;

const scopeTexts: Readonly<Record<(typeof scopes)[number], string>> = {
  'account:read': 'Accounts and balances',
  'institution-users:read': 'Profiles',
  'institution-users:write': 'Register, activate, change contact',
  'transfer:read': 'Read transfers',
  'transfer:write': 'Initiate transfers',
  'alertPref:read': 'Read alert preferences',
  'alertPref:write': 'Change alert preferences, mark alerts as read',
  'alertHist:read': 'Read alerts',
  'alertMail:write': 'Report e-mail that came back',
  'events:read': 'Events',
  'webhooks:manage': 'Webhooks of the client',
  'core:read': 'Instructions for the core',
  'core:write': 'Transactions and records of the core',
  openid: 'Sign-in with an ID token',
  profile: 'Name of the member',
  email: 'E-mail address of the member',
  offline_access: 'A refresh token for a member’s login',
};

function pathsOf(listed: readonly Operation[]): Record<string, object> {
  const paths: Record<string, Record<string, object>> = {};
  for (const operation of listed) {
    paths[operation.path] = {
      ...paths[operation.path],
      [operation.method.toLowerCase()]: describe(operation),
    };
  }
  return paths;
}

function describe(operation: Operation): object {
  const { operationId, tag, summary, description, token, scope, body } = operation;
  return {
    operationId,
    tags: [tag],
    summary,
    description: scope === undefined ? description : `${description}\n\nScope: \`${scope}\`.`,
    security: token === 'none' ? [] : [{ oauth2: scope === undefined ? [] : [scope] }, { bearer: [] }],
    parameters: [
      ...parametersOf(operation.params, 'path'),
      ...parametersOf(operation.query, 'query', operation.undocumentedQuery),
      ...Object.entries({
        ...operation.headers,
        ...(operation.remembers && conditional),
        ...(operation.fdx && interaction),
      }).map(([name, text]) => ({
        name,
        in: 'header',
        description: text,
        schema: { type: 'string' },
      })),
    ],
    ...(body && {
      requestBody: {
        required: body.optional !== true,
        content: Object.fromEntries(
          body.mediaTypes.map((type) => [type, { schema: copySchema(body.schema), examples: body.examples }]),
        ),
      },
    }),
    responses: {
      ...Object.fromEntries(
        Object.entries(operation.responses).map(([status, response]) => [
          status,
          describeResponse(response, status, operation),
        ]),
      ),
      ...(operation.remembers && {
        304: {
          description: 'The document is still the one that `If-None-Match` names.',
          headers: {
            ...rateHeaders(operation, 304),
            ...refer(['ETag']),
            ...idHeaders(operation),
          },
        },
      }),
      ...describeProblems(operation),
    },
  };
}

const conditional = {
  'If-None-Match': 'The `ETag` of an earlier response; the same document gets 304 and no body.',
};

const interaction = {
  [interactionHeader]: 'A UUID for this request, returned in the response. Default: a new one.',
};

function parametersOf(
  schema: Type.TObject | undefined,
  place: 'path' | 'query',
  undocumented: readonly string[] = [],
): object[] {
  const shown = Object.entries(schema?.properties ?? {}).filter(([name]) => !undocumented.includes(name));
  return shown.map(([name, property]) => {
    const description = descriptionOf(property);
    const { description: _, ...rest } = copySchema(property) as Record<string, unknown>;
    const required = schema?.required?.includes(name) === true;
    return {
      name,
      in: place,
      ...(required && { required }),
      ...(description !== undefined && { description }),
      schema: rest,
      ...(required && name in parameterExamples && { example: parameterExamples[name] }),
    };
  });
}

const commonHeaders = {
  transactionId: {
    description: 'The id of this request: the caller’s own, else a UUID.',
    schema: { type: 'string' },
  },
  [interactionHeader]: {
    description: 'The caller’s UUID of this request, else a new one.',
    schema: { type: 'string' },
  },
  RateLimit: {
    description:
      'The rest of the share, and the seconds until it is renewed (draft-ietf-httpapi-ratelimit-headers). Counted once the client has authenticated.',
    schema: { type: 'string' },
  },
  'RateLimit-Policy': {
    description: 'The share of each client, or of each user with a member’s token.',
    schema: { type: 'string' },
  },
  ETag: { description: 'Names this document; for `If-None-Match`.', schema: { type: 'string' } },
  'Retry-After': { description: 'Seconds.', schema: { type: 'integer', format: 'int32' } },
  'WWW-Authenticate': {
    description: 'RFC 6750, section 3; RFC 9449, section 7.1.',
    schema: { type: 'string' },
  },
} as const;
type CommonHeader = keyof typeof commonHeaders;

/** The headers of every response, and by name those that some responses have. */
function headersInTwoForms(): [string, object][] {
  return Object.entries(commonHeaders).flatMap(([name, { description, schema }]) => [
    [name, { description, required: true, schema }],
    [`${name}.optional`, { description, schema }],
  ]);
}

function refer(names: readonly CommonHeader[], always = true): Record<string, object> {
  return Object.fromEntries(
    names.map((name) => [name, { $ref: `#/components/headers/${name}${always ? '' : '.optional'}` }]),
  );
}

function ownHeaders(headers: ResponseDescription['headers'] = {}): Record<string, object> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, header]) => [
      name,
      typeof header === 'string'
        ? { description: header, required: true, schema: { type: 'string' } }
        : { description: header.description, schema: { type: 'string' } },
    ]),
  );
}

function idHeaders({ fdx }: Operation): Record<string, object> {
  return refer(fdx ? ['transactionId', interactionHeader] : ['transactionId']);
}

/** Refused before the caller is counted. */
const uncounted: readonly number[] = [403, 408];

function rateHeaders({ rate, token }: Operation, status: number): Record<string, object> {
  if (rate === undefined || uncounted.includes(status) || (status === 401 && token === 'none')) return {};
  return refer(['RateLimit', 'RateLimit-Policy'], status < 400 || status === 429);
}

function describeResponse(
  { description, mediaType, headers, schema, examples }: ResponseDescription,
  status: string,
  operation: Operation,
): object {
  return {
    description,
    headers: {
      ...ownHeaders(headers),
      ...rateHeaders(operation, Number(status)),
      ...(operation.remembers && refer(['ETag'])),
      ...idHeaders(operation),
    },
    content: { [mediaType ?? 'application/json']: { schema: copySchema(schema), examples } },
  };
}

const challenging: readonly ProblemCode[] = [
  'missing_token',
  'invalid_token',
  'invalid_dpop_proof',
  'use_dpop_nonce',
  'insufficient_scope',
  'insufficient_user_authentication',
];

/** Whether the response names the needed token in `WWW-Authenticate` (see authenticate.ts). */
function challenges(code: ProblemCode): boolean {
  return challenging.includes(code);
}

/** The problems that every operation with the same kind of token, body and rate can return. */
function commonProblems({ tag, token, body, rate }: Operation): ProblemCode[] {
  const codes: ProblemCode[] = ['not_acceptable', 'internal_error', 'overloaded'];
  if (token !== 'none') {
    codes.push(
      'invalid_request',
      'missing_token',
      'invalid_token',
      'invalid_dpop_proof',
      'use_dpop_nonce',
      'insufficient_scope',
    );
  }
  // The institution of a token, of a client, or of the host name.
  if (tag !== 'Service') codes.push('database_unavailable', 'institution_moving', 'institution_elsewhere');
  if (rate !== undefined) codes.push('too_many_requests');
  if (token === 'client') codes.push('client_token_required');
  if (token === 'member') codes.push('member_token_required');
  if (token === 'consented') codes.push('consent_required');
  if (body !== undefined) {
    codes.push(
      'malformed_json',
      'invalid_request',
      'request_timeout',
      'body_too_large',
      'unsupported_media_type',
    );
  }
  return codes;
}

function describeProblems(operation: Operation): Record<string, object> {
  const own = operation.problems ?? [];
  const codes = [...new Set([...commonProblems(operation), ...own])];
  const byStatus = Map.groupBy(codes, (code) => problemKinds[code].status);
  return Object.fromEntries(
    [...byStatus]
      // The token operation returns these as errors of RFC 6749.
      .filter(([status]) => !(operation.oauth && (status === 400 || status === 401)))
      .map(([status, together]) => [
        status,
        {
          description: `${STATUS_CODES[status]}: ${together.map((code) => `[\`${code}\`](/problems/${code})`).join(', ')}.`,
          ...(!operation.fdx && { 'x-problem-codes': together }),
          headers: {
            ...ownHeaders(operation.problemHeaders?.[status]),
            ...(together.some(challenges) && refer(['WWW-Authenticate'], together.every(challenges))),
            ...rateHeaders(operation, status),
            ...((status === 429 || status === 503) && refer(['Retry-After'])),
            ...idHeaders(operation),
          },
          content: operation.fdx
            ? fdxErrors(together)
            : {
                'application/problem+json': {
                  schema: copySchema(operation.problemSchemas?.[status] ?? ProblemDocument),
                  examples: Object.fromEntries(
                    together.map((code) => [code, exampleOf(code, operation.problemSchemas?.[status])]),
                  ),
                },
              },
        },
      ]),
  );
}

function fdxErrors(codes: readonly ProblemCode[]): object {
  const examples = codes.map((code) => {
    const { detail = '' } = readProblemPage(code).example as { readonly detail?: string };
    return [code, { summary: problemKinds[code].title, value: fdxErrorOf({ code, detail, errors: [] }) }];
  });
  return {
    'application/json': { schema: copySchema(FdxError), examples: Object.fromEntries(examples) },
  };
}

/** The example of the code's page, without the members that only other operations have. */
function exampleOf(code: ProblemCode, schema: Type.TObject = ProblemDocument): object {
  const example = Object.entries(readProblemPage(code).example);
  const said = example.filter(([member]) => member in schema.properties);
  if (said.length === example.length) return { $ref: `#/components/examples/${code}` };
  return { summary: problemKinds[code].title, value: Object.fromEntries(said) };
}

const namesOfShapes = new Map(
  Object.entries(namedSchemas).map(([name, schema]) => [
    shapeOf(schema),
    { name, description: descriptionOf(schema) },
  ]),
);

function descriptionOf(schema: object): string | undefined {
  return 'description' in schema ? String(schema.description) : undefined;
}

function formatOf({ maximum = Number.POSITIVE_INFINITY }: { readonly maximum?: number }): string {
  return maximum < 2 ** 31 ? 'int32' : 'int64';
}

/** The schema without its description, to compare shapes. */
function shapeOf(schema: object): string {
  return JSON.stringify({ ...schema, description: undefined });
}

/**
 * Plain JSON with a reference for each named shape, and beside the reference the description of that use. `named: false`
 * writes out the outermost shape. Integers get a format: without one, generated clients read all of them as 32 bits.
 */
function copySchema(schema: unknown, { named = true } = {}): unknown {
  if (Array.isArray(schema)) return schema.map((part) => copySchema(part));
  if (typeof schema !== 'object' || schema === null) return schema;
  const known = named ? namesOfShapes.get(shapeOf(schema)) : undefined;
  if (known === undefined) {
    const parts = Object.fromEntries(Object.entries(schema).map(([key, part]) => [key, copySchema(part)]));
    return parts.type === 'integer' ? { ...parts, format: formatOf(schema) } : parts;
  }
  const description = descriptionOf(schema);
  return {
    $ref: `#/components/schemas/${known.name}`,
    ...(description !== known.description && { description }),
  };
}
