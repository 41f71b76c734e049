import * as Type from 'typebox/type';
import {
  changeOperator,
  institutionOf,
  listOperators,
  type OperatorRole,
  rightsOf,
} from '../../../operators/index.ts';
import { type OperatorOperation, operatorOperation } from '../operation.ts';
import { flag, moment, oneOf, optional, reason, roles, shape, text, texts } from '../shapes.ts';

const statuses = ['INVITED', 'ACTIVE', 'SUSPENDED', 'ENDED'] as const;

const Operator = shape({
  operatorId: text,
  name: text,
  roles: texts,
  status: oneOf(statuses),
  source: oneOf(['INVITATION', 'PROVIDER', 'DEMO']),
  createdAt: moment,
});

export const operatorOperations: readonly OperatorOperation[] = [
  operatorOperation({
    operationId: 'showOwnSession',
    method: 'GET',
    path: '/session',
    right: 'any',
    summary: 'The signed-in operator, with roles and rights.',
    response: shape({
      operatorId: text,
      name: text,
      roles: texts,
      rights: texts,
      method: text,
      authenticatedAt: moment,
      expiresAt: moment,
      institution: shape({ code: text, name: text, currency: text, timeZone: text, demo: flag }),
    }),
    async handle(deps, { operator, institutionId }) {
      const { code, name, currency, timeZone, demo } = await institutionOf(deps, institutionId);
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
        },
        institution: { code, name, currency, timeZone, demo },
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
