import * as Type from 'typebox/type';
import {
  changeOperator,
  type Invitation,
  institutionOf,
  inviteAgain,
  inviteOperator,
  listOperators,
  type OperatorRole,
  rightsOf,
  secondsLeft,
} from '../../../operators/index.ts';
import { consoleStyleUrl, logoUrl } from '../../sign-in/brand.ts';
import { type OperatorOperation, operatorOperation } from '../operation.ts';
import {
  body,
  flag,
  moment,
  oneOf,
  optional,
  orNull,
  reason,
  roles,
  shape,
  text,
  texts,
  whole,
  withReason,
} from '../shapes.ts';

const statuses = ['INVITED', 'ACTIVE', 'SUSPENDED', 'ENDED'] as const;

const Operator = shape({
  operatorId: text,
  name: text,
  email: orNull(text),
  roles: texts,
  status: oneOf(statuses),
  source: oneOf(['INVITATION', 'PROVIDER', 'DEMO']),
  createdAt: moment,
});

const name = Type.String({
  minLength: 1,
  maxLength: 128,
  pattern: '^[^\\p{C}\\s](?:[^\\p{C}]*[^\\p{C}\\s])?$',
  description: 'Stands in the audit. Unique in the institution, look-alikes included.',
});
const email = Type.String({ minLength: 3, maxLength: 254, pattern: '^[^\\s\\p{C}@]+@[^\\s\\p{C}@]+$' });

const Invited = shape({
  operator: Operator,
  code: Type.String({ description: 'Entered at /operations/invitation. Shown once.' }),
  expiresAt: moment,
});

function invited({ operator, code, expiresAt }: Invitation) {
  return { operator, code, expiresAt };
}

export const operatorOperations: readonly OperatorOperation[] = [
  operatorOperation({
    operationId: 'showOwnSession',
    method: 'GET',
    path: '/session',
    right: 'any',
    summary:
      'The signed-in operator, with roles and rights, and the seconds until the session ends: without use, and in any case.',
    response: shape({
      operatorId: text,
      name: text,
      roles: texts,
      rights: texts,
      method: text,
      authenticatedAt: moment,
      expiresAt: moment,
      idleInSeconds: whole,
      expiresInSeconds: whole,
      institution: shape({
        ...{ code: text, name: text, currency: text, timeZone: text, demo: flag },
        ...{ logoUrl: orNull(text), styleUrl: orNull(text) },
      }),
    }),
    async handle(deps, { operator, institutionId }) {
      const { brandColor, logoHash, ...institution } = await institutionOf(deps, institutionId);
      const { code, name, currency, timeZone, demo } = institution;
      const { operatorId, roles: own, method, authenticatedAt, expiresAt } = operator;
      return {
        ...{
          operatorId,
          name: operator.name,
          roles: own,
          rights: rightsOf(own),
          method,
          authenticatedAt,
          expiresAt,
          ...secondsLeft(operator, deps.clock()),
        },
        institution: {
          ...{ code, name, currency, timeZone, demo },
          logoUrl: logoHash === null ? null : logoUrl(logoHash),
          styleUrl: brandColor === null ? null : consoleStyleUrl(brandColor),
        },
      };
    },
  }),
  operatorOperation({
    operationId: 'listOperators',
    method: 'GET',
    path: '/operators',
    right: 'institution:read',
    summary: 'The operators of the institution with their roles.',
    response: Type.Array(Operator),
    handle: (deps, { institutionId }) => listOperators(deps, institutionId),
  }),
  operatorOperation({
    operationId: 'inviteOperator',
    method: 'POST',
    path: '/operators',
    right: 'operators:manage',
    summary: 'Invite a person. The code is shown once; it is good for 72 hours and five tries.',
    body: body({ name, email, roles, reason }),
    response: Invited,
    async handle(
      deps,
      { institutionId, body: { name: named, email: address, roles: given, reason: why }, origin },
    ) {
      const wanted = {
        name: named,
        email: address,
        roles: given as OperatorRole[],
        statedReason: why,
        origin,
      };
      return invited(await inviteOperator(deps, institutionId, wanted));
    },
  }),
  operatorOperation({
    operationId: 'inviteOperatorAgain',
    method: 'POST',
    path: '/operators/{operatorId}/invitation',
    right: 'operators:manage',
    summary:
      'A new code, for lost passkeys too: all of the operator’s passkeys and sessions end. Nobody invites themselves.',
    body: withReason,
    response: Invited,
    async handle(deps, { institutionId, params: { operatorId }, body: { reason: statedReason }, origin }) {
      return invited(await inviteAgain(deps, institutionId, { operatorId, statedReason, origin }));
    },
  }),
  operatorOperation({
    operationId: 'changeOperator',
    method: 'PATCH',
    path: '/operators/{operatorId}',
    right: 'operators:manage',
    summary: 'Change the roles of an operator, suspend, resume or end one. Nobody changes their own.',
    body: Type.Object(
      { roles: optional(roles), status: optional(oneOf(['ACTIVE', 'SUSPENDED', 'ENDED'])), reason },
      { additionalProperties: false },
    ),
    response: Operator,
    handle: (deps, { institutionId, params: { operatorId }, body, origin }) => {
      const { roles: wanted, status, reason: statedReason } = body;
      const change = {
        operatorId,
        roles: wanted as OperatorRole[] | undefined,
        status,
        statedReason,
        origin,
      };
      return changeOperator(deps, institutionId, change);
    },
  }),
];
