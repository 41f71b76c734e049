import * as Type from 'typebox/type';
import type { Actor } from '../../institutions/index.ts';
import { Problem } from '../../problem.ts';
import {
  type DecimalAmount,
  type Decision,
  failureCodes,
  type Outcome,
  parseDecimalAmount,
  type Transfer,
} from '../../transfers/index.ts';
import { uuidv7 } from '../../uuid.ts';
import { pendingTransferExample, transferExample } from '../examples.ts';
import { transferIdFromKey } from '../idempotency-key.ts';
import { type Answer, operation } from '../operation.ts';
import { presentDecision, presentTransfer } from '../presenters.ts';
import {
  DeclinedTransferProblem,
  id,
  OutcomeUnknownProblem,
  PaymentOption,
  TransferDecision,
  Transfer as TransferSchema,
  TransferType,
} from '../schemas.ts';
import { getTransfer } from './get-transfer.ts';

const ordered = TransferSchema.properties;

const Order = Type.Object(
  {
    id: Type.Optional(
      Type.Unsafe<string>({
        ...id('The caller’s own id, and the idempotency key for ever. Left out, the service makes one.'),
        not: { const: 'options' },
      }),
    ),
    transferType: Type.Optional(TransferType),
    fromAccountId: ordered.fromAccountId,
    toAccountId: ordered.toAccountId,
    amount: Type.Number({
      exclusiveMinimum: 0,
      description:
        'In major units, with at most the decimals of the currency and 13 digits before the point.',
    }),
    currencyCode: Type.Optional(
      Type.String({ pattern: '^[A-Z]{3}$', description: 'ISO 4217. Left out, the source account’s.' }),
    ),
    paymentOption: Type.Optional(PaymentOption),
    previousYearContribution: Type.Optional(
      Type.Boolean({
        description:
          'Of an IRA_CONTRIBUTION: that it counts for the year before, from 1 January to the filing date.',
      }),
    ),
    status: Type.Optional(
      Type.Unsafe<string>({ ...ordered.status, description: 'The service’s to say: taken, and ignored.' }),
    ),
    createdAt: Type.Optional(
      Type.String({ format: 'date-time', description: 'The service’s to say: taken, and ignored.' }),
    ),
  },
  { additionalProperties: false },
);

const { status: _, createdAt: __, ...orderExample } = transferExample;

export const initiateTransfer = operation({
  operationId: 'initiateTransfer',
  method: 'POST',
  path: '/digitalbanking/db-transfers/v1/transfers',
  tag: 'Transfers',
  summary: 'Initiate transfer',
  description:
    '`id` is the idempotency key, for ever: repeating the same order with it moves the money once and answers the transfer as it stands, with 200 and `Idempotent-Replayed: true`, or with the same 422 where it was declined. Another order under a used id is refused with 409. 400, 401, 403, 413, 415, 429 and 5xx use up no id; a 503 means that nothing was or will be written, a 504 that nobody knows yet. A decline is an outcome: it is kept as FAILED, and `code` says why, the first that applies of the codes listed at 422 in their order.\n\nWith `dryRun=true` the same rules decide, and nothing is moved, stored or used up: the answer is what the transfer would become, with the reasons.',
  token: 'any',
  scope: 'transfer:write',
  query: Type.Object({
    dryRun: Type.Optional(Type.Boolean({ description: 'Only say what would become of it.' })),
  }),
  headers: {
    'Idempotency-Key':
      'Where the body has no `id`: 1 to 255 visible ASCII characters from which the id is derived, together with institution, client and user.',
  },
  body: {
    schema: Order,
    mediaTypes: ['application/json'],
    examples: {
      full: { value: orderExample },
      least: {
        summary: 'Type, currency and id left to the service',
        value: { fromAccountId: 'a-1001-checking', toAccountId: 'a-1001-savings', amount: 105.25 },
      },
    },
  },
  answers: {
    200: {
      description:
        'The same order came before: the transfer as it stands. Or, of a dry run: what would become of it.',
      headers: { 'Idempotent-Replayed': '`true`; of a dry run that no order came before, `false`.' },
      schema: Type.Union([TransferSchema, TransferDecision]),
      examples: {
        replayed: { value: transferExample },
        dryRun: {
          value: {
            transfer: pendingTransferExample,
            reasons: [
              {
                code: 'review',
                detail:
                  'A person at the institution must review it; without that it posts by itself at 2026-11-20T15:04:35.678Z.',
              },
            ],
          },
        },
      },
    },
    201: {
      description: 'Transfer initiated: COMPLETED, or PENDING while the money is held.',
      headers: { Location: 'Where the transfer can be read.' },
      schema: TransferSchema,
      examples: { completed: { value: transferExample }, pending: { value: pendingTransferExample } },
    },
  },
  problems: ['transfer_id_reused', ...failureCodes, 'outcome_unknown'],
  problemHeaders: {
    422: {
      'Idempotent-Replayed': {
        description: '`true` where the same order came before, and was declined then.',
        optional: true,
      },
    },
  },
  problemSchemas: { 422: DeclinedTransferProblem, 504: OutcomeUnknownProblem },
  presumes: true,
  async handle(services, { actor, condition, body, query, numbers, header }) {
    const transferId = body.id ?? idFromHeader(header('idempotency-key'), actor) ?? uuidv7(new Date());
    const order = {
      transferId,
      fromAccountId: body.fromAccountId,
      toAccountId: body.toAccountId,
      amount: readAmount(numbers),
      currencyCode: body.currencyCode ?? null,
      transferType: body.transferType ?? null,
      paymentOption: body.paymentOption ?? null,
      previousYearContribution: body.previousYearContribution ?? null,
    };
    return answer(
      query.dryRun === true
        ? await services.explainTransfer(actor, order)
        : await services.initiateTransfer(actor, order, condition),
    );
  },
});

function idFromHeader(key: string | undefined, actor: Actor): string | undefined {
  return key === undefined ? undefined : transferIdFromKey(key, actor);
}

/** From the number as it was written: what JavaScript made of it has been through a float. */
function readAmount(numbers: ReadonlyMap<string, string>): DecimalAmount {
  const amount = parseDecimalAmount(numbers.get('/amount') ?? '');
  if ('invalid' in amount) throw invalid('/amount', amount.invalid);
  return amount;
}

function invalid(pointer: string, detail: string): Problem {
  return new Problem('invalid_request', 'The transfer cannot be as it stands.', {
    errors: [{ pointer, detail }],
  });
}

function answer(outcome: Outcome | Decision): Answer {
  switch (outcome.kind) {
    case 'decision':
      return { status: 200, headers: { 'idempotent-replayed': 'false' }, body: presentDecision(outcome) };
    case 'malformed':
      throw invalid(outcome.pointer, outcome.detail);
    case 'id_reused':
      throw new Problem('transfer_id_reused', 'The id belongs to another order.', {
        errors: (outcome.differs ?? []).map((field) => ({
          pointer: `/${field}`,
          detail: 'Differs from the order that has this id.',
        })),
      });
    case 'new':
      return outcome.transfer.status === 'FAILED'
        ? declined(outcome.transfer)
        : {
            status: 201,
            headers: { location: getTransfer.path.replace('{id}', outcome.transfer.id) },
            body: presentTransfer(outcome.transfer),
          };
    case 'replayed': {
      const answered =
        outcome.transfer.status === 'FAILED'
          ? declined(outcome.transfer)
          : { status: 200, body: presentTransfer(outcome.transfer) };
      return { ...answered, headers: { 'idempotent-replayed': 'true' } };
    }
  }
}

/** An outcome like any other, only told as a problem. */
function declined(transfer: Transfer): Answer {
  const { failureCode, failureDetail } = transfer;
  if (failureCode === undefined) throw new Error('http: a failed transfer without a reason');
  const members = { transfer: presentTransfer(transfer) };
  return { problem: new Problem(failureCode, failureDetail ?? 'The transfer was declined.', { members }) };
}
