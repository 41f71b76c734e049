import * as Type from 'typebox/type';
import { recordKinds } from '../../../core-connection/index.ts';
import { publicId } from '../../../shared/public-id.ts';
import { operation } from '../../operation.ts';
import { answerSchema, answersOf, formatOf, ShownAnswers, summarySchema } from './delivery.ts';

/** A line has no more bytes. */
const maxLength = 16_384;
const id = (description: string) => Type.Optional(Type.String({ pattern: publicId.source, description }));
const text = (description: string) =>
  Type.Optional(Type.Union([Type.String({ maxLength }), Type.Null()], { description }));
const flag = (description: string) => Type.Optional(Type.Boolean({ description }));
const amount = (description: string) => Type.Optional(Type.Number({ description }));

export const CoreRecordPerson = Type.Object(
  {
    personId: Type.String({ pattern: publicId.source, description: 'The person.' }),
    role: Type.Optional(
      Type.String({
        maxLength,
        description:
          'PRIMARY, JOINT or AUTHORIZED_SIGNER; in the membership of a business also BUSINESS_ADMIN or BUSINESS_USER.',
      }),
    ),
    mayPay: flag('Of a holder: whether they may pay from the account.'),
  },
  { description: 'A person of a membership, or a holder of an account.' },
);

const persons = (description: string) =>
  Type.Optional(Type.Array(CoreRecordPerson, { maxItems: 100, description }));

/** One flat object, so that generated clients have one type for a line. */
export const CoreRecord = Type.Object(
  {
    record: Type.Unsafe<string>({
      type: 'string',
      enum: [...recordKinds],
      description: 'The kind of record, which decides the fields that it may have.',
    }),
    personId: id('person, memberPerson, holder: the person.'),
    firstName: text('person: first name.'),
    lastName: text('person: last name; a new person needs one.'),
    email: text('person: e-mail address.'),
    phoneNumber: text('person: phone number (E.164), together with phoneType.'),
    phoneType: text('person: MOBILE, HOME or WORK.'),
    birthDate: text('person: date of birth, from 1870 on.'),
    memberNumber: Type.Optional(
      Type.String({
        pattern: '^[A-Za-z0-9-]{1,32}$',
        description: 'member, memberPerson, account: the membership. It never changes.',
      }),
    ),
    customerId: id('member: its id; a new membership needs it, and it never changes.'),
    memberType: Type.Optional(
      Type.String({
        maxLength,
        description: 'member: RETAIL or BUSINESS; a new membership needs it, and it never changes.',
      }),
    ),
    persons: persons('member: persons added, or given another role. A new membership needs its PRIMARY.'),
    accountId: id('account, holder: the account.'),
    accountNumber: text('account: a new one needs it. Of a card the last four digits.'),
    type: text('account: DIAccountType; a new one needs it, and it never changes.'),
    description: text('account: its name.'),
    currency: Type.Optional(
      Type.String({
        pattern: '^[A-Z]{3}$',
        description: 'account: a new one needs it, and it never changes.',
      }),
    ),
    balance: amount('account: opening balance of a new one. It never changes an existing one.'),
    status: Type.Optional(
      Type.String({ maxLength, description: 'account: open or closed. Default of a new one: open.' }),
    ),
    delinquent: flag('account: whether a loan is not in good standing.'),
    overdraftLimit: amount('account: for deposits.'),
    creditLimit: amount('account: for cards and credit lines.'),
    accruedInterest: amount('account: for loans, the interest owed.'),
    feesDue: amount('account: for loans, the fees owed.'),
    amountDue: amount('account: for loans, the payment that brings it into good standing.'),
    nextDueOn: text('account: for loans, the day on which the amount due is to be paid, YYYY-MM-DD.'),
    transferRestriction: text('account: EXCLUDE_AS_FROM, EXCLUDE_AS_TO or EXCLUDE_ALL; null ends it.'),
    holders: persons('account: holders added or changed.'),
    role: Type.Optional(
      Type.String({ maxLength, description: 'memberPerson, holder: the role, as in the lists.' }),
    ),
    mayPay: flag('holder: whether they may pay from the account.'),
    changedAt: Type.Optional(
      Type.String({
        format: 'date-time',
        description:
          'When the core made the change. A record that is older than one of the same key is `stale` and changes nothing.',
      }),
    ),
    removed: flag('memberPerson, holder: `true` ends it. Nothing is removed by absence.'),
  },
  {
    additionalProperties: false,
    description:
      'One record of the core: a line of the stream. An omitted field is unchanged, null removes its value (RFC 7396).',
  },
);

const results = ['added', 'changed', 'removed', 'unchanged', 'stale', 'refused'] as const;
export const RecordSummary = summarySchema(results);
export const RecordAnswer = answerSchema(results, RecordSummary);

export const deliverRecords = operation({
  operationId: 'deliverRecords',
  method: 'POST',
  path: '/digitalbanking/core/v1/records',
  tag: 'Core',
  summary: 'Deliver records of the core',
  description:
    'Takes any number of persons, memberships, accounts and holders, an object a line (NDJSON), and answers each line after its commit. A line is taken as a whole or not at all, by the rules of an import. A record that stands already is `unchanged`, so a delivery that ended early is sent again from its beginning. With `changedAt` a record that arrives after a newer one is `stale` and changes nothing. Records never move money, except the opening balance of a new account. Read the answers while you send, or send at most 10,000 lines a request: the service reads no further than its answers are read. A line has at most 16 KiB. The last line of the response is the `summary`; without it the delivery is incomplete, and the last answer says why.',
  token: 'client',
  scope: 'core:write',
  query: Type.Object({
    answers: Type.Optional(ShownAnswers),
    asOf: Type.Optional(
      Type.String({
        format: 'date-time',
        description:
          'The moment of the loan figures in this delivery. Payments since then are subtracted. Default: the figures include every payment.',
      }),
    ),
  }),
  headers: { 'Content-Encoding': '`gzip` if the body is compressed.' },
  body: {
    schema: CoreRecord,
    mediaTypes: ['application/x-ndjson', 'application/json'],
    streamed: true,
    examples: {
      address: {
        summary: 'A person has another e-mail address',
        value: { record: 'person', personId: 'p-1001', email: 'new.address@example.test' },
      },
      membership: {
        summary: 'A new membership with its persons',
        value: {
          record: 'member',
          memberNumber: '100400',
          customerId: 'c-1400',
          memberType: 'RETAIL',
          persons: [{ personId: 'p-1400', role: 'PRIMARY' }],
        },
      },
      account: {
        summary: 'A new account with its holder',
        value: {
          record: 'account',
          accountId: 'a-1400-savings',
          memberNumber: '100400',
          accountNumber: '100400-00',
          type: 'SAVINGS',
          currency: 'USD',
          holders: [{ personId: 'p-1400', role: 'PRIMARY', mayPay: true }],
        },
      },
    },
  },
  responses: {
    200: {
      description: 'An answer a line, in the order of the lines, then the summary.',
      mediaType: 'application/x-ndjson',
      schema: RecordAnswer,
      examples: {
        answers: {
          summary: 'The answers to three lines are three documents; this is one of them',
          value: { line: 1, id: 'p-1001', result: 'changed' },
        },
        refused: {
          value: {
            line: 2,
            id: 'a-1400-savings',
            result: 'refused',
            code: 'member_not_found',
            detail: 'There is no membership with this memberNumber.',
          },
        },
        summary: {
          value: { summary: { added: 0, changed: 1, removed: 0, unchanged: 0, stale: 0, refused: 1 } },
        },
      },
    },
  },
  async handle(services, { actor, origin, bytes, query, header, log }) {
    const answers = services.takeCoreRecords(actor, {
      bytes,
      origin,
      format: formatOf(header('content-type')),
      asOf: query.asOf === undefined ? undefined : new Date(query.asOf),
    });
    return { status: 200, stream: await answersOf(answers, query.answers ?? 'all', log) };
  },
});
