import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { operationsOfOperators } from '../../src/http/operators/operations.ts';
import { clientOf, memberOf } from '../support/demo.ts';
import { demoAddress, operatorOf, sendTo, type TestOperator } from '../support/operators.ts';
import { startTestService, type TestService } from '../support/service.ts';

/*
 * Every operation of operators with every role, each cell by hand. 403: the role may not. The ids do not exist, so that 404 means that the
 * role may. An operation without a row fails.
 */

const roles = ['viewer', 'teller', 'approver', 'administrator', 'auditor'] as const;

const all = '200 200 200 200 200';
/** Personal data: not the administrator's. */
const personal = '200 200 200 403 200';
const personalId = '404 404 404 403 404';
const teller = '403 404 403 403 403';
const approver = '403 403 404 403 403';
const administrator = '403 403 403 404 403';
const administratorDone = '403 403 403 200 403';
const breaks = '403 404 404 403 403';
const anyId = '404 404 404 404 404';

/** In the order of `roles`. */
const matrix: Readonly<Record<string, string>> = {
  showOwnSession: all,
  listOperators: all,
  inviteOperator: administratorDone,
  inviteOperatorAgain: administrator,
  changeOperator: administrator,
  listOwnPasskeys: all,
  removeOwnPasskey: anyId,
  showInstitution: all,
  changeInstitution: administratorDone,
  showCalendar: all,
  changeCalendar: administratorDone,
  showLimits: all,
  listNearLimits: personal,
  showToday: all,
  followToday: all,
  searchAnything: all,
  listEvents: personal,
  showReconcile: all,
  listReconcileRuns: all,
  showReconcileRun: anyId,
  listFindings: personalId,
  showSystem: all,
  showCore: all,
  listOpenInstructions: personal,
  listBreaks: all,
  showBreak: personalId,
  changeBreak: breaks,
  adjustBreak: approver,
  listClients: all,
  changeClient: administrator,
  rotateClientSecret: administrator,
  retireClientSecrets: administrator,
  listProviders: all,
  registerProvider: administratorDone,
  switchProvider: administrator,
  changeProvider: administrator,
  removeProvider: administrator,
  listSigningKeys: all,
  listWebhooks: all,
  showWebhook: anyId,
  listAttempts: anyId,
  listDeliveries: anyId,
  changeWebhook: administrator,
  replayWebhook: administrator,
  pingWebhook: administrator,
  searchAudit: '403 403 403 200 200',
  verifyAudit: '403 403 403 200 200',
  exportFoundAudit: '403 403 403 403 200',
  exportAudit: '403 403 403 403 200',
  findMembers: personal,
  showMember: personalId,
  lockMember: teller,
  unlockMember: teller,
  deactivateMember: teller,
  activateMember: teller,
  endMemberSessions: teller,
  endConsent: teller,
  issueActivationCode: teller,
  removeSecondFactor: teller,
  showUserLimits: personalId,
  eraseMember: administrator,
  showAccount: personalId,
  listEntries: personalId,
  showPosting: personalId,
  showBalances: personalId,
  showAccountLimits: personalId,
  restrictAccount: teller,
  closeAccount: administrator,
  showTrialBalance: all,
  listAccountsOfClass: personal,
  showFlows: all,
  searchTransfers: personal,
  listPendingActs: personal,
  listProposals: all,
  showTransfer: personalId,
  showAccountsOfTransfer: personalId,
  showUsualOfTransfer: personalId,
  approveTransfer: approver,
  declineTransfer: approver,
  reverseTransfer: approver,
  showTransferRules: all,
  previewTransferRules: '403 403 403 200 200',
  // No institution of this test screens its orders.
  showScreening: all,
  changeScreening: administrator,
  rotateScreeningSecret: administrator,
  testScreening: administrator,
  switchScreeningOff: administrator,
};

const publicKey = { ...generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' }), kid: 'one' };

/** The parts of a request beside the ids. */
const queries: Readonly<Record<string, string>> = {
  findMembers: '?text=nobody-has-this-name',
  searchAnything: '?text=nobody-has-this-name',
  exportAudit: '?chain=changes',
  listAccountsOfClass: '?class=CHECKING&currency=USD',
};
const bodies: Readonly<Record<string, object>> = {
  inviteOperator: { name: 'Ada Admin', email: 'ada@bank.example', roles: ['viewer'], reason: 'a test' },
  restrictAccount: { restriction: 'EXCLUDE_ALL', reason: 'a test' },
  changeCalendar: { day: '2026-12-23', open: null, reason: 'a test' },
  changeBreak: { note: 'a test' },
  adjustBreak: { difference: '1.00', reason: 'a test' },
  retireClientSecrets: { which: 'older', reason: 'a test' },
  registerProvider: {
    ...{ providerId: 'login', kind: 'jwt', issuer: 'https://login.bank.example', reason: 'a test' },
    ...{ userIdType: 'LOGIN_ID', scopes: ['account:read'], keys: JSON.stringify({ keys: [publicKey] }) },
  },
  switchProvider: { active: false, reason: 'a test' },
  changeWebhook: { status: 'PAUSED', reason: 'a test' },
  replayWebhook: { parked: true, reason: 'a test' },
  previewTransferRules: { thresholds: [], limits: [] },
};

/** The operations that move money, make another person of somebody, or let a program act: a session that was left open is not enough. */
const recent = [
  ...['approveTransfer', 'declineTransfer', 'reverseTransfer', 'adjustBreak'],
  ...['inviteOperator', 'inviteOperatorAgain', 'changeOperator', 'removeOwnPasskey'],
  ...['issueActivationCode', 'removeSecondFactor'],
  ...['rotateClientSecret', 'registerProvider', 'changeProvider', 'removeProvider'],
];

let service: TestService;
const operators = new Map<string, TestOperator>();

before(async () => {
  service = await startTestService({ environment: demoAddress });
  for (const role of roles) operators.set(role, await operatorOf(service, `Demo ${role}`));
});
after(() => service.close());

test('each operation of operators has a row, and each row an operation', () => {
  const ids = operationsOfOperators.map(({ operationId }) => operationId);
  assert.deepEqual(Object.keys(matrix).toSorted(), ids.toSorted());
});

function requestOf({ method, path, operationId, body }: (typeof operationsOfOperators)[number]) {
  const url =
    path.replaceAll(/\{\w+\}/g, '00000000-0000-4000-8000-000000000000') + (queries[operationId] ?? '');
  return { method, url, body: body && (bodies[operationId] ?? { reason: 'a test' }) };
}

describe('the rights of operators', () => {
  for (const operation of operationsOfOperators) {
    test(`lets the roles of the table use ${operation.operationId}, and no other`, async () => {
      const { method, url, body } = requestOf(operation);
      const statuses: string[] = [];
      for (const role of roles) {
        const answer = await operators.get(role)?.send(method, url, body);
        statuses.push(String(answer?.status));
        if (answer?.status === 403) assert.equal(answer.body.code, 'insufficient_scope');
      }
      assert.equal(statuses.join(' '), matrix[operation.operationId]);
    });
  }

  test('the strongest operations demand a sign-in within five minutes, and no other does', async () => {
    await service.db.superuser(
      `update operator_sessions set authenticated_at = authenticated_at - interval '301 seconds'`,
    );
    const demanding: string[] = [];
    for (const operation of operationsOfOperators) {
      const { method, url, body } = requestOf(operation);
      const cells = (matrix[operation.operationId] ?? '').split(' ');
      const place = cells.findIndex((cell) => cell !== '403');
      const answer = await operators.get(roles[place] ?? '')?.send(method, url, body);
      if (answer?.status === 401) {
        assert.equal(answer.body.code, 'insufficient_user_authentication');
        demanding.push(operation.operationId);
      } else assert.equal(String(answer?.status), cells[place], operation.operationId);
    }
    assert.deepEqual(demanding.toSorted(), recent.toSorted());
  });

  test('refuses every operation without a session, with tokens of members and clients, and with foreign secrets', async () => {
    const member = await memberOf(service, 'demo.member', 'demo-member-password');
    const client = await clientOf(service);
    const [institution, secret] = (operators.get('viewer')?.token ?? '').split('.');
    const elsewhere = `${Number(institution) + 1}.${secret}`;
    const strangers = [
      member.token,
      client.token,
      elsewhere,
      `0.${secret}`,
      'x',
      `${institution}.${'A'.repeat(43)}`,
    ];
    for (const operation of operationsOfOperators) {
      const { method, url, body } = requestOf(operation);
      const without = await sendTo(service.address, method, url, {}, body);
      assert.deepEqual([without.status, without.body.code], [401, 'missing_token'], operation.operationId);
      for (const token of strangers) {
        const answer = await sendTo(service.address, method, url, { authorization: `Bearer ${token}` }, body);
        assert.equal(answer.status, 401, `${operation.operationId} ${token}`);
      }
    }
  });
});
