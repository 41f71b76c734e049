import type * as Type from 'typebox/type';
import type { Actor } from '../institutions/index.ts';
import { Problem } from '../shared/problem.ts';
import { isReadable } from '../shared/text/readable-text.ts';
import { uuidv7 } from '../shared/uuid.ts';
import { type DecimalAmount, parseDecimalAmount, type TransferOrder } from '../transfers/index.ts';
import { transferIdFromKey } from './request/idempotency-key.ts';
import { TransferOrder as TransferOrderSchema } from './schemas.ts';

/** Request body of the operations that take an order, without its examples. */
export const orderBody = {
  schema: TransferOrderSchema,
  mediaTypes: ['application/json'],
  ignored: ['status', 'createdAt'],
  decimals: ['amount'],
} as const;

/** Request header of the operations that take an order. */
export const idempotencyKeyHeader = {
  'Idempotency-Key':
    'If the body has no `id`: 1 to 255 visible ASCII characters from which the id is derived, together with institution, client and user.',
};

/** The order of a request. Its id comes from the body, else from `Idempotency-Key`, else it is new. */
export function readOrder(input: {
  readonly actor: Actor;
  readonly body: Type.Static<typeof TransferOrderSchema>;
  readonly numbers: ReadonlyMap<string, string>;
  header(name: string): string | undefined;
}): TransferOrder {
  const { actor, body, numbers, header } = input;
  return {
    ...readId(body.id, header('idempotency-key'), actor),
    fromAccountId: body.fromAccountId,
    toAccountId: body.toAccountId,
    amount: readAmount(numbers),
    currencyCode: body.currencyCode ?? null,
    transferType: body.transferType ?? null,
    paymentOption: body.paymentOption ?? null,
    previousYearContribution: body.previousYearContribution ?? null,
    memo: readMemo(body.memo),
  };
}

function readId(
  id: string | undefined,
  key: string | undefined,
  actor: Actor,
): Pick<TransferOrder, 'transferId' | 'isIdDerived'> {
  if (id !== undefined) return { transferId: id };
  if (key === undefined) return { transferId: uuidv7(new Date()) };
  return { transferId: transferIdFromKey(key, actor), isIdDerived: true };
}

/** Read from the source text of the number, since JavaScript's value is a float. */
function readAmount(numbers: ReadonlyMap<string, string>): DecimalAmount {
  const amount = parseDecimalAmount(numbers.get('/amount') ?? '');
  if ('invalid' in amount) throw invalidOrder('/amount', amount.invalid);
  return amount;
}

function readMemo(memo: string | undefined): string | null {
  if (memo === undefined) return null;
  if (isReadable(memo) && memo.trim() !== '') return memo;
  throw invalidOrder('/memo', 'Must be text without control, bidirectional or invisible characters.');
}

export function invalidOrder(pointer: string, detail: string): Problem {
  return new Problem('invalid_request', 'The transfer is not valid.', { errors: [{ pointer, detail }] });
}

/** `differs` is null if the caller may not see the transfer that has the id. */
export function idReused(differs: readonly string[] | null): Problem {
  return new Problem('transfer_id_reused', 'The id belongs to another order.', {
    errors: (differs ?? []).map((field) => ({
      pointer: `/${field}`,
      detail: 'Differs from the order that has this id.',
    })),
  });
}
