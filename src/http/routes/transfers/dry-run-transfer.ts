import type { Actor } from '../../../institutions/index.ts';
import type { TransferOrder as Order } from '../../../transfers/index.ts';
import { orderExample, pendingTransferExample, transferExample } from '../../openapi/examples.ts';
import { type OperationResponse, operation } from '../../operation.ts';
import { presentDecision } from '../../presenters.ts';
import { TransferDecision } from '../../schemas.ts';
import type { Services } from '../../services.ts';
import { idempotencyKeyHeader, idReused, invalidOrder, orderBody, readOrder } from '../../transfer-order.ts';

export const dryRunTransfer = operation({
  operationId: 'dryRunTransfer',
  method: 'POST',
  path: '/digitalbanking/db-transfers/v1/transfers/dry-run',
  tag: 'Transfers',
  summary: 'Dry-run transfer',
  description:
    'Decides an order by the rules of `initiateTransfer`, and moves, stores and uses up nothing. Returns the transfer as it would stand, with the reasons if it fails or is held; only client tokens see reviews. If the same order came before under its id, returns that transfer as it stands, with `Idempotent-Replayed: true`.',
  token: 'any',
  scope: 'transfer:write',
  headers: idempotencyKeyHeader,
  body: {
    ...orderBody,
    examples: { full: { value: orderExample } },
  },
  responses: {
    200: {
      description: 'The decision. A transfer that would be declined has status FAILED here.',
      headers: { 'Idempotent-Replayed': '`true` if the same order came before, else `false`.' },
      schema: TransferDecision,
      examples: {
        posts: { value: { transfer: transferExample, reasons: [] } },
        held: {
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
  },
  problems: ['transfer_id_reused'],
  rate: 'dry-run',
  async handle(services, input) {
    return answerDryRun(services, input.actor, readOrder(input));
  },
});

export async function answerDryRun(
  services: Services,
  actor: Actor,
  order: Order,
): Promise<OperationResponse> {
  const outcome = await services.explainTransfer(actor, order);
  switch (outcome.kind) {
    case 'malformed':
      throw invalidOrder(outcome.pointer, outcome.detail);
    case 'id_reused':
      throw idReused(outcome.differs);
    case 'decision':
      return decided(outcome, false);
    case 'replayed': {
      const { failureCode: code, failureDetail } = outcome.transfer;
      const detail = failureDetail ?? 'The transfer was declined.';
      const limit = outcome.transfer.exceededLimit ?? null;
      const reasons = code === null ? [] : [{ code, detail, limit }];
      return decided({ transfer: outcome.transfer, reasons }, true);
    }
  }
}

function decided(decision: Parameters<typeof presentDecision>[0], isReplay: boolean): OperationResponse {
  return {
    status: 200,
    headers: { 'idempotent-replayed': String(isReplay) },
    body: presentDecision(decision),
  };
}
