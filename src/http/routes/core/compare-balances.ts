import * as Type from 'typebox/type';
import { publicId } from '../../../shared/public-id.ts';
import { operation } from '../../operation.ts';
import { readInstant } from '../../request/moments.ts';
import { answersOf, formatOf } from './delivery.ts';

const id = (description: string) => Type.String({ pattern: publicId.source, description });
const count = (description: string) => Type.Optional(Type.Integer({ description }));
const dayMillis = 24 * 60 * 60_000;

export const CoreBalance = Type.Object(
  {
    accountId: id('The account.'),
    balance: Type.Optional(
      Type.Number({ description: "In major units. A credit to the member's position is positive." }),
    ),
    currencyCode: Type.String({ pattern: '^[A-Z]{3}$', description: 'The currency of the account.' }),
    transactionId: Type.Optional(
      id("In place of a balance: the core's id of a posting, for its list of postings."),
    ),
    amount: Type.Optional(Type.Number({ description: 'With `transactionId`: the amount of the posting.' })),
  },
  {
    additionalProperties: false,
    description: 'A balance of the core, or a posting of its list: a line of the stream.',
  },
);

export const ComparisonSummary = Type.Object(
  {
    accounts: count('Accounts compared.'),
    postings: count("Postings of the core's list."),
    inFlight: count('Accounts whose difference is that of instructions under way.'),
    differing: count('Accounts that differ otherwise.'),
    opened: count('Breaks that were opened.'),
    changed: count('Open breaks whose difference has changed.'),
    closed: count('Breaks that were closed.'),
    refused: count('Lines that were refused.'),
  },
  { description: 'The comparison is complete.' },
);

export const ComparisonAnswer = Type.Object(
  {
    line: Type.Optional(Type.Integer({ description: 'The line, from 1.' })),
    id: Type.Optional(Type.String({ description: 'The transactionId of the line, if it has a valid one.' })),
    result: Type.Optional(Type.Unsafe<string>({ type: 'string', description: '`refused`.' })),
    code: Type.Optional(Type.String({ description: 'The reason.' })),
    detail: Type.Optional(Type.String({ description: 'The reason in a sentence.' })),
    summary: Type.Optional(ComparisonSummary),
  },
  { description: 'A line that is refused. The last answer is the summary.' },
);

export const compareBalances = operation({
  operationId: 'compareBalances',
  method: 'POST',
  path: '/digitalbanking/core/v1/balances',
  tag: 'Core',
  summary: 'Compare balances',
  description:
    "Takes the core's balances as of a moment, an object a line (NDJSON), and compares them with those here when the delivery has ended. Instructions under way are taken into account. Each difference is a break; a break whose accounts agree now is closed. The same delivery again changes nothing, and no balance is adjusted. The response has the lines that were refused, and the `summary`; without it nothing was compared, and the last answer says why.",
  token: 'client',
  scope: 'core:write',
  query: Type.Object({
    asOf: Type.String({
      maxLength: 40,
      description:
        'The moment of the balances, a date-time (2026-11-20T06:00:00Z), not before that of the newest comparison.',
    }),
    complete: Type.Optional(
      Type.Boolean({
        description:
          '`true`: the delivery has all accounts, so one that it does not have is a break. Default: `false`.',
      }),
    ),
    since: Type.Optional(
      Type.String({
        maxLength: 40,
        description: "The beginning of the core's list of postings. Default: a day before `asOf`.",
      }),
    ),
  }),
  headers: { 'Content-Encoding': '`gzip` if the body is compressed.' },
  body: {
    schema: CoreBalance,
    mediaTypes: ['application/x-ndjson', 'application/json'],
    streamed: true,
    examples: {
      balance: { value: { accountId: 'a-1001-checking', balance: 1180.55, currencyCode: 'USD' } },
      posting: {
        summary: "A posting of the core's list",
        value: {
          transactionId: 'core-2026-000187',
          accountId: 'a-1001-checking',
          amount: -12.34,
          currencyCode: 'USD',
        },
      },
    },
  },
  responses: {
    200: {
      description: 'The lines that were refused, then the summary.',
      mediaType: 'application/x-ndjson',
      schema: ComparisonAnswer,
      examples: {
        refused: {
          value: {
            line: 2,
            result: 'refused',
            code: 'invalid_line',
            detail: 'balance: The amount must be a number.',
          },
        },
        summary: {
          value: {
            summary: {
              accounts: 3,
              postings: 0,
              inFlight: 1,
              differing: 1,
              opened: 1,
              changed: 0,
              closed: 0,
              refused: 0,
            },
          },
        },
      },
    },
  },
  async handle(services, { actor, origin, bytes, query, header, log }) {
    const asOf = readInstant('asOf', query.asOf);
    const since =
      query.since === undefined ? new Date(asOf.getTime() - dayMillis) : readInstant('since', query.since);
    const request = { asOf, since, isComplete: query.complete === true };
    const answers = services.compareCoreBalances(actor, {
      bytes,
      origin,
      request,
      format: formatOf(header('content-type')),
    });
    return { status: 200, stream: await answersOf(answers, 'all', log) };
  },
});
