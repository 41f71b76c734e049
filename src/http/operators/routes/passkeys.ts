import * as Type from 'typebox/type';
import { listOwnPasskeys, removeOwnPasskey } from '../../../operators/index.ts';
import { type OperatorOperation, operatorOperation } from '../operation.ts';
import { Changed, flag, moment, orNull, shape, text } from '../shapes.ts';

const Passkey = shape({
  passkeyId: text,
  name: text,
  isSynced: flag,
  createdAt: moment,
  lastUsedAt: orNull(moment),
});

export const passkeyOperations: readonly OperatorOperation[] = [
  operatorOperation({
    operationId: 'listOwnPasskeys',
    method: 'GET',
    path: '/passkeys',
    right: 'any',
    summary: 'The passkeys of the signed-in operator. The page /operations/passkeys adds one.',
    response: Type.Array(Passkey),
    async handle(deps, { operator }) {
      const passkeys = await listOwnPasskeys(deps, operator);
      return passkeys.map(({ credentialId: _credentialId, ...passkey }) => passkey);
    },
  }),
  operatorOperation({
    operationId: 'removeOwnPasskey',
    method: 'DELETE',
    path: '/passkeys/{passkeyId}',
    right: 'passkeys:own',
    summary: 'Remove an own passkey, but not the last one. The operator’s other sessions end.',
    response: Changed,
    async handle(deps, { operator, params: { passkeyId }, origin }) {
      const changed = await removeOwnPasskey(deps, operator, { passkeyId, origin });
      return changed ? { changed } : undefined;
    },
  }),
];
