import * as Type from 'typebox/type';
import { declinedTransferExample } from '../../openapi/examples.ts';
import { operation } from '../../operation.ts';
import { presentTransfer } from '../../presenters.ts';
import { line, OutcomeUnknownProblem, Transfer } from '../../schemas.ts';

export const cancelTransfer = operation({
  operationId: 'cancelTransfer',
  method: 'POST',
  path: '/digitalbanking/db-transfers/v1/transfers/{id}/cancel',
  tag: 'Transfers',
  summary: 'Cancel transfer',
  description:
    'Ends a transfer while it is PENDING: it becomes FAILED with `transfer_cancelled`, the money that it held is free again, and what it counted against limits is given back. By whoever ordered it, or who may pay from its source. Cancelling it again answers the same; any other end is final. A transfer whose time has come can be cancelled until it is posted or has expired, a moment later: while it is told as PENDING it is.',
  token: 'any',
  scope: 'transfer:write',
  params: Type.Object({ id: line(64, { description: 'Unique identifier of the transfer.' }) }),
  body: {
    schema: Type.Object({}, { additionalProperties: false, description: 'Nothing is needed.' }),
    mediaTypes: ['application/json'],
    examples: { nothing: { value: {} } },
    optional: true,
  },
  answers: {
    200: {
      description: 'The transfer, cancelled.',
      schema: Transfer,
      examples: {
        cancelled: { value: { ...declinedTransferExample, failureCode: 'transfer_cancelled' } },
      },
    },
  },
  problems: ['not_found', 'transfer_final', 'account_restricted', 'outcome_unknown'],
  problemSchemas: { 504: OutcomeUnknownProblem },
  async handle(services, { actor, params, origin }) {
    const transfer = await services.cancelTransfer(actor, params.id, origin);
    return { status: 200, body: presentTransfer(transfer) };
  },
});
