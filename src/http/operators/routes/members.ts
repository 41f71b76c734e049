import * as Type from 'typebox/type';
import {
  endConsentByOperator,
  endSessions,
  reissueActivation,
  removeSecondFactor,
  setStanding,
} from '../../../auth/index.ts';
import {
  eraseMember,
  findMembers,
  institutionOf,
  limitDocument,
  searchWays,
  showLimits,
  showMember,
} from '../../../operators/index.ts';
import { Problem } from '../../../shared/problem.ts';
import { deviceName } from '../../../shared/text/device-name.ts';
import { type OperatorOperation, operatorOperation } from '../operation.ts';
import {
  anything,
  Changed,
  flag,
  moment,
  oneOf,
  optional,
  orNull,
  shape,
  text,
  whole,
  withReason,
} from '../shapes.ts';

const FoundPerson = shape({
  personId: text,
  firstName: text,
  lastName: text,
  email: orNull(text),
  userId: orNull(text),
  username: orNull(text),
  active: orNull(flag),
  locked: orNull(flag),
  memberships: Type.Array(shape({ memberNumber: text, role: text })),
});

/** The acts on the login of a member, each with the standing that it leaves. */
const standings = {
  lock: { change: { lockedByOperator: true }, summary: 'Lock a member out; every session ends.' },
  unlock: { change: { lockedByOperator: false }, summary: 'End any lock of a member.' },
  deactivate: { change: { active: false }, summary: 'Switch a member off; every session ends.' },
  activate: { change: { active: true }, summary: 'Switch a member on again.' },
} as const;

export const memberOperations: readonly OperatorOperation[] = [
  operatorOperation({
    operationId: 'findMembers',
    method: 'GET',
    path: '/members',
    right: 'members:read',
    summary:
      'Persons by member number, e-mail address, username, id or the beginning of a last or first name.',
    query: Type.Object({
      text: Type.String({ minLength: 1, maxLength: 254 }),
      by: optional(oneOf(searchWays)),
      limit: optional(Type.Integer({ minimum: 1, maximum: 200, description: '50 when left out.' })),
      afterPerson: optional(
        Type.String({ maxLength: 64, description: 'The last person of the page before.' }),
      ),
    }),
    response: Type.Array(FoundPerson),
    handle: (deps, { institutionId, query: { limit = 50, afterPerson: after, ...query }, origin }) =>
      findMembers(deps, institutionId, { ...query, limit, after, origin }),
  }),
  operatorOperation({
    operationId: 'showMember',
    method: 'GET',
    path: '/members/{personId}',
    right: 'members:read',
    summary:
      'A person with memberships, accounts, login, sessions, consents, means of sign-in, known devices, alerts and last acts.',
    response: Type.Object({
      ...{ personId: text, firstName: text, lastName: text, login: orNull(anything) },
      sessions: Type.Array(
        shape({
          ...{ clientId: orNull(text), startedAt: moment, refreshedAt: moment, idleUntil: moment },
          ...{ device: orNull(text), address: orNull(text) },
        }),
      ),
      passkeys: Type.Array(
        shape({ name: text, isSynced: flag, createdAt: moment, lastUsedAt: orNull(moment) }),
      ),
      authenticator: orNull(
        shape({ name: text, createdAt: moment, lastUsedAt: orNull(moment), recoveryCodes: whole }),
      ),
      devices: Type.Array(
        shape({
          ...{ kind: orNull(oneOf(['BROWSER', 'KEY', 'APP', 'APP_WITHOUT_ID'])), clientName: orNull(text) },
          ...{ name: orNull(text), firstSeenAt: moment, lastSeenAt: moment },
        }),
        { description: 'Devices of the sign-ins of the last 400 days, the last used first; at most 100.' },
      ),
      accounts: Type.Array(
        shape({
          ...{ accountId: text, accountType: text, memberNumber: text, role: text, mayPay: flag },
          ...{
            closed: flag,
            delinquent: flag,
            coreRestriction: orNull(text),
            operatorRestriction: orNull(text),
          },
          ...{ currency: text, balance: text },
        }),
      ),
      alerts: orNull(anything),
      activity: Type.Array(
        shape({
          ...{ key: text, at: moment, action: text, outcome: text, reason: orNull(text), isByOperator: flag },
          ...{ clientName: orNull(text), address: orNull(text), transferId: orNull(text), times: whole },
        }),
      ),
    }),
    async handle(deps, { institutionId, params: { personId }, origin }) {
      const now = deps.businessTime(institutionId, deps.clock());
      const shown = await showMember(deps, institutionId, { text: personId, now, origin });
      if (shown.kind === 'several')
        throw new Problem('ambiguous_user_id', 'Several persons match. Name one by its person id.');
      if (shown.kind !== 'found') return undefined;
      const sessions = shown.member.sessions.map(({ userAgent, ...session }) => ({
        ...session,
        device: deviceName(userAgent) ?? null,
      }));
      return { ...shown.member, sessions };
    },
  }),
  ...Object.entries(standings).map(([name, { change, summary }]) =>
    operatorOperation({
      operationId: `${name}Member`,
      method: 'POST',
      path: `/users/{userId}/${name}`,
      right: 'members:serve',
      summary,
      body: withReason,
      response: Changed,
      async handle({ auth }, { institutionId, params, body, origin }) {
        const act = { name: params.userId, ...change, statedReason: body.reason, origin };
        const changed = await setStanding(auth, institutionId, act);
        return changed === 'no_such_user' ? undefined : { changed: changed === 'changed' };
      },
    }),
  ),
  operatorOperation({
    operationId: 'endMemberSessions',
    method: 'POST',
    path: '/users/{userId}/end-sessions',
    right: 'members:serve',
    summary: 'End every session of a member, who may sign in again.',
    body: withReason,
    response: Changed,
    async handle({ auth }, { institutionId, params, body, origin }) {
      const act = { name: params.userId, statedReason: body.reason, origin };
      return (await endSessions(auth, institutionId, act)) ? { changed: true } : undefined;
    },
  }),
  operatorOperation({
    operationId: 'endConsent',
    method: 'POST',
    path: '/consents/{consentId}/end',
    right: 'members:serve',
    summary: 'End a consent of a member, with all tokens that came of it.',
    body: withReason,
    response: Changed,
    async handle({ auth }, { institutionId, params: { consentId }, body, origin }) {
      const act = { consentId, statedReason: body.reason, origin };
      const ended = await endConsentByOperator(auth, institutionId, act);
      return ended === undefined ? undefined : { changed: ended };
    },
  }),
  operatorOperation({
    operationId: 'issueActivationCode',
    method: 'POST',
    path: '/users/{userId}/activation-code',
    right: 'members:recover',
    summary: 'A new activation code for a registered member; the old one ends. Shown once.',
    body: withReason,
    response: shape({ code: text, expiresAt: moment }),
    async handle({ auth }, { institutionId, params, body, origin }) {
      const act = { name: params.userId, statedReason: body.reason, origin };
      const issued = await reissueActivation(auth, institutionId, act);
      return issued && { code: issued.code, expiresAt: issued.expiresAt };
    },
  }),
  operatorOperation({
    operationId: 'removeSecondFactor',
    method: 'POST',
    path: '/users/{userId}/remove-second-factor',
    right: 'members:recover',
    summary: "Remove a member's authenticator app and recovery codes, after a proof of the person.",
    body: withReason,
    response: Changed,
    async handle({ auth }, { institutionId, params, body, origin }) {
      const act = { name: params.userId, statedReason: body.reason, origin };
      const removed = await removeSecondFactor(auth, institutionId, act);
      return removed === 'no_such_user' ? undefined : { changed: removed === 'changed' };
    },
  }),
  operatorOperation({
    operationId: 'showUserLimits',
    method: 'GET',
    path: '/users/{userId}/limits',
    right: 'members:read',
    summary: 'The limits of a member and the memberships, with what is used of them.',
    response: Type.Array(anything),
    async handle(deps, { institutionId, params, origin }) {
      const { timeZone } = await institutionOf(deps, institutionId);
      const now = deps.businessTime(institutionId, deps.clock());
      const asked = { of: { userId: params.userId }, now, timeZone, origin };
      return (await showLimits(deps, institutionId, asked))?.map(limitDocument);
    },
  }),
  operatorOperation({
    operationId: 'eraseMember',
    method: 'POST',
    path: '/members/{personId}/erase',
    right: 'members:erase',
    summary: 'Erase the personal data of a person for good.',
    body: withReason,
    response: shape({ changed: flag, events: whole, auditEntries: whole }),
    async handle(deps, { institutionId, params: { personId }, body, origin }) {
      const erased = await eraseMember(deps, institutionId, { personId, statedReason: body.reason, origin });
      switch (erased.kind) {
        case 'unknown':
          return undefined;
        case 'unchanged':
          return { changed: false, events: 0, auditEntries: 0 };
        case 'open_accounts':
          throw new Problem('act_refused', 'Accounts of the person are open. Close them first.', {
            members: { accountIds: erased.accountIds },
          });
        case 'kept':
          throw new Problem(
            'act_refused',
            `The records are kept until ${erased.until.toISOString().slice(0, 10)}.`,
          );
        case 'erased':
          return { changed: true, events: erased.events, auditEntries: erased.auditEntries };
      }
    },
  }),
];
