import * as Type from 'typebox/type';
import { changeClient, listClients, retireSecrets, rotateSecret } from '../../../auth/index.ts';
import { Problem } from '../../../shared/problem.ts';
import { type OperatorOperation, operatorOperation } from '../operation.ts';
import {
  body,
  Changed,
  flag,
  line,
  moment,
  oneOf,
  optional,
  orNull,
  reason,
  shape,
  text,
  texts,
  whole,
} from '../shapes.ts';

export const clientOperations: readonly OperatorOperation[] = [
  operatorOperation({
    operationId: 'listClients',
    method: 'GET',
    path: '/clients',
    right: 'institution:read',
    summary: 'The OAuth clients of the institution with their rights.',
    response: Type.Array(
      shape({
        clientId: text,
        name: text,
        active: flag,
        tokenLifetimeSeconds: orNull(whole),
        grants: texts,
        scopes: texts,
        secrets: whole,
        kids: texts,
        certificateThumbprints: texts,
        requiresDpop: flag,
        bindsToCertificate: flag,
        securityProfile: text,
      }),
    ),
    handle: ({ auth }, { institutionId }) => listClients(auth, institutionId),
  }),
  operatorOperation({
    operationId: 'changeClient',
    method: 'PATCH',
    path: '/clients/{clientId}',
    right: 'institution:change',
    summary: 'Rename a client, switch it off or on, or change the lifetime of its tokens.',
    body: body({
      reason,
      name: optional(line(128)),
      active: optional(flag),
      tokenLifetimeSeconds: optional(orNull(Type.Integer({ minimum: 60, maximum: 86_400 }))),
    }),
    response: Changed,
    async handle({ auth }, { institutionId, params: { clientId }, body: { reason: _, ...change }, origin }) {
      const changed = await changeClient(auth, institutionId, { clientId, change, origin });
      return changed ? { changed: true } : undefined;
    },
  }),
  operatorOperation({
    operationId: 'rotateClientSecret',
    method: 'POST',
    path: '/clients/{clientId}/rotate-secret',
    right: 'clients:empower',
    summary: 'A second secret, shown once; the first stays valid for a while.',
    body: body({ reason, overlapHours: optional(Type.Integer({ minimum: 0, maximum: 8_760 })) }),
    response: shape({ secret: text }),
    async handle({ auth }, { institutionId, params: { clientId }, body: { overlapHours = 168 }, origin }) {
      const overlapMillis = overlapHours * 3_600_000;
      const rotated = await rotateSecret(auth, institutionId, { clientId, overlapMillis, origin });
      if (rotated === 'no_such_client') return undefined;
      if (rotated === 'two_already')
        throw new Problem('act_refused', 'Two secrets are valid already: retire the older one first.');
      return rotated;
    },
  }),
  operatorOperation({
    operationId: 'retireClientSecrets',
    method: 'POST',
    path: '/clients/{clientId}/retire-secret',
    right: 'institution:change',
    summary: 'End the older of two secrets at once, or all.',
    body: body({ reason, which: oneOf(['older', 'all']) }),
    response: shape({ retired: whole }),
    async handle({ auth }, { institutionId, params: { clientId }, body: { which }, origin }) {
      const retired = await retireSecrets(auth, institutionId, { clientId, which, origin });
      return retired === undefined ? undefined : { retired };
    },
  }),
  operatorOperation({
    operationId: 'listSigningKeys',
    method: 'GET',
    path: '/keys',
    right: 'institution:read',
    summary:
      'The keys that sign tokens, with their states. They are the service’s: only the command line rotates them.',
    response: Type.Array(
      shape({ kid: text, state: text, createdAt: moment, signsFrom: moment, hasPrivatePart: flag }),
    ),
    handle: ({ auth }) => auth.keys.list(),
  }),
];
