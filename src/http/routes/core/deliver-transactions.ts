import * as Type from 'typebox/type';
import { coreKinds, lineStatuses } from '../../../core-connection/index.ts';
import { publicId } from '../../../shared/public-id.ts';
import { operation } from '../../operation.ts';
import { answerSchema, answersOf, formatOf, ShownAnswers, summarySchema } from './delivery.ts';

const id = (description: string) => Type.String({ pattern: publicId.source, description });
const text = (maxLength: number, description: string) =>
  Type.String({ minLength: 1, maxLength, description });
const moment = (description: string) => Type.String({ format: 'date-time', description });

export const CoreTransaction = Type.Object(
  {
    id: id("The core's id of the transaction, used up for ever; of an authorization its id."),
    status: Type.Optional(
      Type.Unsafe<string>({
        type: 'string',
        enum: [...lineStatuses],
        description:
          'AUTHORIZED holds the amount, CHANGED holds another one, RELEASED ends the hold. Default: POSTED.',
      }),
    ),
    accountId: id('The account.'),
    amount: Type.Optional(
      Type.Number({
        description:
          "In major units. A credit to the member's position is positive. Only RELEASED may omit it.",
      }),
    ),
    currencyCode: Type.String({ pattern: '^[A-Z]{3}$', description: 'The currency of the account.' }),
    kind: Type.Optional(
      Type.Unsafe<string>({
        type: 'string',
        enum: [...coreKinds],
        description: 'The kind of posting. Only RELEASED may omit it.',
      }),
    ),
    postedAt: moment('The time at the core.'),
    effectiveDate: Type.Optional(
      Type.String({
        format: 'date',
        description: "The business date. Default: the day of postedAt in the institution's zone.",
      }),
    ),
    description: Type.Optional(text(140, 'As the member reads it. Required with POSTED and AUTHORIZED.')),
    checkNumber: Type.Optional(text(32, 'The number of a check.')),
    merchant: Type.Optional(text(140, 'The merchant of a card payment.')),
    category: Type.Optional(text(64, 'The kind of spending.')),
    runningBalance: Type.Optional(Type.Number({ description: 'The balance that the core states after it.' })),
    transferId: Type.Optional(id('The transfer of this service of which it is the echo.')),
    authorizationId: Type.Optional(id('The authorization that the posting ends.')),
    expiresAt: Type.Optional(moment('When an authorization ends by itself.')),
    historic: Type.Optional(Type.Boolean({ description: '`true`: imported as history, without an event.' })),
  },
  { additionalProperties: false, description: 'One act of the core on an account: a line of the stream.' },
);

const results = ['posted', 'already', 'held', 'changed', 'released', 'echo', 'conflict', 'refused'] as const;
export const DeliverySummary = summarySchema(results);
export const DeliveryAnswer = answerSchema(results, DeliverySummary);

const example = {
  id: 'core-2026-000187',
  accountId: 'a-1001-checking',
  amount: -12.34,
  currencyCode: 'USD',
  kind: 'CARD',
  postedAt: '2026-03-02T14:05:00-05:00',
  description: 'Corner Bakery',
  merchant: 'Corner Bakery',
  category: 'RESTAURANTS',
};

export const deliverTransactions = operation({
  operationId: 'deliverTransactions',
  method: 'POST',
  path: '/digitalbanking/core/v1/transactions',
  tag: 'Core',
  summary: 'Deliver transactions of the core',
  description:
    'Takes any number of transactions and authorizations, an object a line (NDJSON), and answers each line after its commit. Ids are used up for ever, so a delivery that ended early is sent again from its beginning: lines that stand answer `already`. Read the answers while you send, or send at most 10,000 lines a request: the service reads no further than its answers are read. A line has at most 16 KiB. The last line of the response is the `summary`; without it the delivery is incomplete, and the last answer says why.',
  token: 'client',
  scope: 'core:write',
  query: Type.Object({ answers: Type.Optional(ShownAnswers) }),
  headers: { 'Content-Encoding': '`gzip` if the body is compressed.' },
  body: {
    schema: CoreTransaction,
    mediaTypes: ['application/x-ndjson', 'application/json'],
    streamed: true,
    examples: {
      purchase: { summary: 'A card purchase', value: example },
      authorization: {
        summary: 'A pending card authorization',
        value: {
          id: 'auth-77120',
          status: 'AUTHORIZED',
          accountId: 'a-1001-checking',
          amount: -45,
          currencyCode: 'USD',
          kind: 'CARD',
          postedAt: '2026-03-02T14:00:00-05:00',
          description: 'Hilltop Fuel',
          expiresAt: '2026-03-05T14:00:00-05:00',
        },
      },
    },
  },
  responses: {
    200: {
      description: 'An answer a line, in the order of the lines, then the summary.',
      mediaType: 'application/x-ndjson',
      schema: DeliveryAnswer,
      examples: {
        answers: {
          summary: 'The answers to three lines are three documents; this is one of them',
          value: { line: 1, id: 'core-2026-000187', result: 'posted' },
        },
        refused: {
          value: {
            line: 2,
            id: 'core-2026-000188',
            result: 'refused',
            code: 'account_not_found',
            detail: 'The institution has no account with this accountId.',
          },
        },
        summary: { value: { summary: { posted: 1, already: 0, refused: 1 } } },
      },
    },
  },
  async handle(services, { actor, origin, bytes, query, header, log }) {
    const answers = services.takeCoreTransactions(actor, {
      bytes,
      origin,
      format: formatOf(header('content-type')),
    });
    return { status: 200, stream: await answersOf(answers, query.answers ?? 'all', log) };
  },
});
