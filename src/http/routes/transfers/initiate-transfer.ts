import * as Type from 'typebox/type';
import { Problem } from '../../../shared/problem.ts';
import { failureCodes, type Outcome, type Transfer } from '../../../transfers/index.ts';
import { orderExample, pendingTransferExample, transferExample } from '../../openapi/examples.ts';
import { type Input, type OperationResponse, operation } from '../../operation.ts';
import { presentLimit, presentTransfer } from '../../presenters.ts';
import { type PreferredWait, preferWaitHeader, readPreferredWait } from '../../request/prefer.ts';
import {
  DeclinedTransferProblem,
  OutcomeUnknownProblem,
  StepUpProblem,
  Transfer as TransferSchema,
} from '../../schemas.ts';
import type { Services } from '../../services.ts';
import { idempotencyKeyHeader, idReused, invalidOrder, orderBody, readOrder } from '../../transfer-order.ts';
import { answerDryRun } from './dry-run-transfer.ts';
import { getTransfer } from './get-transfer.ts';

const preferenceApplied = {
  description: '`wait=…` if the request preferred a time to wait for the core.',
  optional: true,
} as const;

export const initiateTransfer = operation({
  operationId: 'initiateTransfer',
  method: 'POST',
  path: '/digitalbanking/db-transfers/v1/transfers',
  tag: 'Transfers',
  summary: 'Initiate transfer',
  description:
    '`id` is the idempotency key, for ever: repeating the same order with it moves the money once and responses the transfer as it stands, with 200 and `Idempotent-Replayed: true`, or with the same 422 where it was declined. Another order under a used id is refused with 409. 400, 401, 403, 413, 415, 429 and 5xx use up no id; a 401 with `insufficient_user_authentication` wants a more recent sign-in of the member, then the same order again; a 503 means that nothing was or will be written, a 504 that nobody knows yet. A decline is an outcome: it is kept as FAILED, and `code` says why, the first that applies of the codes listed at 422 in their order.',
  token: 'any',
  scope: 'transfer:write',
  query: Type.Object({
    // An earlier spelling of `dryRunTransfer` (ADR 0017).
    dryRun: Type.Optional(Type.Boolean()),
  }),
  undocumentedQuery: ['dryRun'],
  headers: { ...idempotencyKeyHeader, ...preferWaitHeader },
  body: {
    ...orderBody,
    examples: {
      full: { value: orderExample },
      least: {
        summary: 'Without type, currency and id',
        value: { fromAccountId: 'a-1001-checking', toAccountId: 'a-1001-savings', amount: 105.25 },
      },
    },
  },
  responses: {
    200: {
      description: 'The same order was sent before: the transfer in its current state.',
      headers: { 'Idempotent-Replayed': '`true`.' },
      schema: TransferSchema,
      examples: { replayed: { value: transferExample } },
    },
    201: {
      description: 'Transfer initiated: COMPLETED, or PENDING while the money is held.',
      headers: {
        Location: 'URL of the transfer.',
        'Preference-Applied': preferenceApplied,
      },
      schema: TransferSchema,
      examples: { completed: { value: transferExample }, pending: { value: pendingTransferExample } },
    },
  },
  problems: [
    'transfer_id_reused',
    ...failureCodes,
    'outcome_unknown',
    'too_many_requests',
    'insufficient_user_authentication',
  ],
  problemHeaders: {
    422: {
      'Idempotent-Replayed': {
        description: '`true` if the same order was sent before, and declined.',
        optional: true,
      },
      'Preference-Applied': preferenceApplied,
    },
  },
  problemSchemas: { 401: StepUpProblem, 422: DeclinedTransferProblem, 504: OutcomeUnknownProblem },
  verifiesItself: true,
  async handle(services, input) {
    const { actor, origin, query } = input;
    const order = readOrder(input);
    if (query.dryRun === true) {
      input.count('dry-run');
      await input.verifyCaller();
      return answerDryRun(services, actor, order);
    }
    const initiate = async () => {
      const outcome = await services.initiateTransfer(actor, order, origin);
      if (outcome.kind === 'id_reused') tellConflict(services, input);
      // A declined order moves nothing and reveals which accounts exist, so it counts as a dry run.
      if (outcome.kind === 'new' && outcome.transfer.status === 'FAILED') input.note('dry-run');
      return outcome;
    };
    const waitSeconds = readPreferredWait(input.header('prefer'));
    // Without this limit a member could probe which ids exist.
    const outcome =
      actor.kind === 'client'
        ? await initiate()
        : await input.whileLeft('id-conflict', () => input.whileLeft('dry-run', initiate));
    return outcome.kind === 'new' && outcome.awaitsCore
      ? whenCoreDecides(services, input, { transfer: outcome.transfer, waitSeconds })
      : responseFor(outcome);
  },
});

/** Waits for the core, since most decide in a moment. The response has the outcome, or a PENDING transfer if it takes longer. */
async function whenCoreDecides(
  services: Services,
  { actor, stepAside }: Pick<Input<unknown, unknown, unknown, 'any'>, 'actor' | 'stepAside'>,
  { transfer, waitSeconds }: { readonly transfer: Transfer; readonly waitSeconds: PreferredWait },
): Promise<OperationResponse> {
  const { seconds, isPreferred } = waitSeconds;
  const patience = { millis: seconds * 1000, left: stepAside() };
  const ended = seconds === 0 ? undefined : await services.awaitTransfer(actor, transfer.id, patience);
  const response = responseFor({ kind: 'new', transfer: ended ?? transfer });
  return isPreferred
    ? { ...response, headers: { ...response.headers, 'preference-applied': `wait=${seconds}` } }
    : response;
}

/** Logs and audits the conflict, and counts it against the user's share. Leaves out the id, which may be a secret of its owner. */
function tellConflict(
  services: Services,
  {
    actor,
    origin,
    log,
    note,
  }: Pick<Input<unknown, unknown, unknown, 'any'>, 'actor' | 'origin' | 'log' | 'note'>,
): void {
  note('id-conflict');
  services.noteIdConflict(actor, origin);
  const userId = actor.kind === 'member' ? actor.userId : undefined;
  log.warn({ clientId: actor.clientId, userId }, 'a transfer id of another order was named');
}

function responseFor(outcome: Outcome): OperationResponse {
  switch (outcome.kind) {
    case 'malformed':
      throw invalidOrder(outcome.pointer, outcome.detail);
    case 'id_reused':
      throw idReused(outcome.differs);
    case 'new':
      return outcome.transfer.status === 'FAILED'
        ? declined(outcome.transfer)
        : {
            status: 201,
            headers: { location: getTransfer.path.replace('{id}', outcome.transfer.id) },
            transferId: outcome.transfer.id,
            body: presentTransfer(outcome.transfer),
          };
    case 'replayed': {
      const answered =
        outcome.transfer.status === 'FAILED'
          ? declined(outcome.transfer)
          : { status: 200, transferId: outcome.transfer.id, body: presentTransfer(outcome.transfer) };
      return { ...answered, headers: { 'idempotent-replayed': 'true' } };
    }
  }
}

/** A declined order is an outcome, sent as a problem. */
function declined(transfer: Transfer): OperationResponse {
  const { failureCode, failureDetail } = transfer;
  if (failureCode === null) throw new Error('http: a failed transfer without a reason');
  const limit = transfer.exceededLimit;
  const members = {
    transfer: presentTransfer(transfer),
    ...(limit && { limit: presentLimit(limit, transfer.currencyCode) }),
  };
  return { problem: new Problem(failureCode, failureDetail ?? 'The transfer was declined.', { members }) };
}
