import * as Type from 'typebox/type';
import { declinedTransferExample, transferExample } from '../../openapi/examples.ts';
import { operation } from '../../operation.ts';
import { presentTransfer } from '../../presenters.ts';
import { line, Transfer } from '../../schemas.ts';

export const getTransfer = operation({
  operationId: 'getTransfer',
  method: 'GET',
  path: '/digitalbanking/db-transfers/v1/transfers/{id}',
  tag: 'Transfers',
  summary: 'Get transfer',
  description:
    'Returns a transfer in its current state. The member who ordered it sees it; once it is PENDING or COMPLETED, so do the holders of its source account.',
  token: 'any',
  scope: 'transfer:read',
  params: Type.Object({ id: line(64, { description: 'Unique identifier of the transfer.' }) }),
  responses: {
    200: {
      description: 'The transfer.',
      schema: Transfer,
      examples: { completed: { value: transferExample }, failed: { value: declinedTransferExample } },
    },
  },
  problems: ['not_found'],
  async handle(services, { actor, params }) {
    return {
      status: 200,
      transferId: params.id,
      body: presentTransfer(await services.getTransfer(actor, params.id)),
    };
  },
});
