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
    'Cancels a PENDING transfer: it becomes FAILED with `transfer_cancelled`, its hold is released, and its amount no longer counts against limits. The member who ordered it may cancel it, and so may any caller who may pay from its source. A repeated request gets the same response; any other end is final. A due transfer can be cancelled until it has posted or expired, a moment later.',
  token: 'any',
  scope: 'transfer:write',
  params: Type.Object({ id: line(64, { description: 'Unique identifier of the transfer.' }) }),
  body: {
    schema: Type.Object({}, { additionalProperties: false, description: 'No field is needed.' }),
    mediaTypes: ['application/json'],
    examples: { nothing: { value: {} } },
    optional: true,
  },
  responses: {
    200: {
      description: 'The cancelled transfer.',
      schema: Transfer,
      examples: {
        cancelled: { value: { ...declinedTransferExample, failureCode: 'transfer_cancelled' } },
      },
    },
  },
  problems: ['not_found', 'transfer_final', 'transfer_with_core', 'account_restricted', 'outcome_unknown'],
  problemSchemas: { 504: OutcomeUnknownProblem },
  async handle(services, { actor, params, origin }) {
    const transfer = await services.cancelTransfer(actor, params.id, origin);
    return { status: 200, transferId: params.id, body: presentTransfer(transfer) };
  },
});
