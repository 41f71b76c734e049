import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { readJwks } from '../../src/auth/index.ts';
import { type AuditAction, ownOrigin } from '../../src/events/index.ts';
import { operationsOfOperators } from '../../src/http/operators/operations.ts';
import { setScreening } from '../../src/screening/index.ts';
import { createWebhook } from '../../src/webhooks/index.ts';
import { clientOf, paths } from '../support/demo.ts';
import { aProvider, institutionOf } from '../support/identity.ts';
import { demoAddress, operatorOf, type TestOperator } from '../support/operators.ts';
import { startTestService, type TestService } from '../support/service.ts';

/* Every operation of operators that changes something or reads personal data, with the audit entries that it leaves under the name of the operator. */

const reason = { reason: 'a test' };
const providerKey = { ...generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' }), kid: 'one' };
const account = '/accounts/a-1002-checking';

interface Run {
  readonly by: string;
  readonly path: string;
  readonly body?: object;
  readonly leaves: readonly AuditAction[];
}

const teller = 'Demo teller';
const approver = 'Demo approver';
const administrator = 'Demo administrator';
const auditor = 'Demo auditor';

const runs: Readonly<Record<string, Run | 'nothing about a member'>> = {
  showOwnSession: 'nothing about a member',
  listOperators: 'nothing about a member',
  listOwnPasskeys: 'nothing about a member',
  inviteOperator: {
    by: administrator,
    path: '/operators',
    body: { ...reason, name: 'Ada Admin', email: 'ada@bank.example', roles: ['teller'] },
    leaves: ['operator.invited'],
  },
  // test/operators/passkeys.test.ts has operators with passkeys.
  inviteOperatorAgain: { by: administrator, path: '/operators/VIEWER/invitation', body: reason, leaves: [] },
  removeOwnPasskey: 'nothing about a member',
  showInstitution: 'nothing about a member',
  showCalendar: 'nothing about a member',
  showLimits: 'nothing about a member',
  showToday: 'nothing about a member',
  followToday: 'nothing about a member',
  showReconcile: 'nothing about a member',
  // Ids and amounts, as the output of the command.
  listReconcileRuns: 'nothing about a member',
  showReconcileRun: 'nothing about a member',
  listFindings: { by: teller, path: '/reconcile/runs/RUN/findings', leaves: ['account.read'] },
  showSystem: 'nothing about a member',
  // Sums of many accounts.
  showTrialBalance: 'nothing about a member',
  showFlows: 'nothing about a member',
  listAccountsOfClass: {
    by: teller,
    path: '/ledger/accounts?class=CHECKING&currency=USD',
    leaves: ['account.read'],
  },
  showCore: 'nothing about a member',
  listOpenInstructions: { by: teller, path: '/core/instructions', leaves: ['transfer.read'] },
  listBreaks: { by: administrator, path: '/breaks', leaves: ['account.read'] },
  showBreak: { by: teller, path: '/breaks/BREAK', leaves: ['account.read'] },
  listClients: 'nothing about a member',
  listProviders: 'nothing about a member',
  listSigningKeys: 'nothing about a member',
  listWebhooks: 'nothing about a member',
  showWebhook: 'nothing about a member',
  listAttempts: 'nothing about a member',
  listDeliveries: 'nothing about a member',
  pingWebhook: {
    by: administrator,
    path: '/webhooks/WEBHOOK/ping',
    body: reason,
    leaves: ['webhook.pinged'],
  },
  showScreening: 'nothing about a member',
  testScreening: {
    by: administrator,
    path: '/screening/test',
    body: reason,
    leaves: ['screening.tested'],
  },
  changeScreening: {
    by: administrator,
    path: '/screening',
    body: { ...reason, onSilence: 'DECLINE' },
    leaves: ['screening.changed'],
  },
  rotateScreeningSecret: {
    by: administrator,
    path: '/screening/rotate-secret',
    body: reason,
    leaves: ['screening.rotated'],
  },
  switchScreeningOff: {
    by: administrator,
    path: '/screening/off',
    body: reason,
    leaves: ['screening.removed'],
  },
  verifyAudit: 'nothing about a member',
  searchAnything: { by: teller, path: '/search?text=demo.member', leaves: ['person.searched'] },
  listEvents: { by: teller, path: '/events', leaves: ['events.read'] },
  changeInstitution: {
    by: administrator,
    path: '/institution',
    body: { ...reason, passwordMinLength: 14 },
    leaves: ['institution.changed'],
  },
  // Under dual control: the first of two persons.
  changeCalendar: {
    by: administrator,
    path: '/calendar',
    body: { ...reason, day: '2027-03-02', open: false },
    leaves: ['transfer.rules_proposed'],
  },
  changeBreak: {
    by: teller,
    path: '/breaks/BREAK',
    body: { note: reason.reason },
    leaves: ['core.break_changed'],
  },
  // Its account is not here; test/operators/adjust-break.test.ts adjusts one.
  adjustBreak: {
    by: approver,
    path: '/breaks/BREAK/adjust',
    body: { ...reason, difference: '1.00' },
    leaves: [],
  },
  changeClient: {
    by: administrator,
    path: '/clients/harbor-app',
    body: { ...reason, name: 'Another name' },
    leaves: ['client.changed'],
  },
  rotateClientSecret: {
    by: administrator,
    path: '/clients/harbor-app/rotate-secret',
    body: reason,
    leaves: ['client.secret_added'],
  },
  retireClientSecrets: {
    by: administrator,
    path: '/clients/harbor-app/retire-secret',
    body: { ...reason, which: 'older' },
    leaves: ['client.secret_removed'],
  },
  registerProvider: {
    by: administrator,
    path: '/providers',
    body: {
      ...{ ...reason, providerId: 'branch-login', kind: 'jwt', issuer: 'https://branch.harbor.example' },
      ...{ keys: JSON.stringify({ keys: [providerKey] }), userIdType: 'LOGIN_ID', scopes: ['account:read'] },
    },
    leaves: ['provider.added'],
  },
  changeProvider: {
    by: administrator,
    path: '/providers/branch-login/settings',
    body: { ...reason, scopes: ['transfer:read'] },
    leaves: ['provider.changed'],
  },
  removeProvider: {
    by: administrator,
    path: '/providers/branch-login/remove',
    body: reason,
    leaves: ['provider.removed'],
  },
  switchProvider: {
    by: administrator,
    path: '/providers/harbor-login',
    body: { ...reason, active: false },
    leaves: ['provider.changed'],
  },
  changeWebhook: {
    by: administrator,
    path: '/webhooks/WEBHOOK',
    body: { ...reason, status: 'PAUSED' },
    leaves: ['webhook.changed'],
  },
  replayWebhook: {
    by: administrator,
    path: '/webhooks/WEBHOOK/replay',
    body: { ...reason, parked: true },
    leaves: ['webhook.replayed'],
  },
  searchAudit: { by: auditor, path: '/audit?action=login', leaves: ['audit.read'] },
  exportFoundAudit: { by: auditor, path: '/audit/found?action=login', leaves: ['audit.exported'] },
  exportAudit: { by: auditor, path: '/audit/export?chain=changes', leaves: ['audit.exported'] },
  listPendingActs: { by: teller, path: '/pending', leaves: ['transfer.read'] },
  listProposals: { by: teller, path: '/proposals', leaves: ['transfer.read'] },
  changeOperator: {
    by: administrator,
    path: '/operators/VIEWER',
    body: { ...reason, roles: ['viewer', 'auditor'] },
    leaves: ['operator.changed'],
  },
  findMembers: { by: teller, path: '/members?text=100001', leaves: ['person.searched'] },
  showMember: { by: teller, path: '/members/PERSON', leaves: ['person.read'] },
  lockMember: { by: teller, path: `/users/USER/lock`, body: reason, leaves: ['user.locked'] },
  unlockMember: { by: teller, path: `/users/USER/unlock`, body: reason, leaves: ['user.unlocked'] },
  deactivateMember: {
    by: teller,
    path: `/users/USER/deactivate`,
    body: reason,
    leaves: ['user.deactivated'],
  },
  activateMember: { by: teller, path: `/users/USER/activate`, body: reason, leaves: ['user.reactivated'] },
  endMemberSessions: {
    by: teller,
    path: `/users/USER/end-sessions`,
    body: reason,
    leaves: ['user.sessions_ended'],
  },
  endConsent: {
    by: teller,
    path: '/consents/00000000-0000-4000-8000-000000000001/end',
    body: reason,
    leaves: ['consent.ended'],
  },
  issueActivationCode: {
    by: teller,
    path: '/users/USER/activation-code',
    body: reason,
    leaves: ['user.activation_code_issued'],
  },
  removeSecondFactor: {
    by: teller,
    path: '/users/USER/remove-second-factor',
    body: reason,
    leaves: ['user.second_factor_removed'],
  },
  listNearLimits: { by: teller, path: '/limits/near', leaves: ['person.searched'] },
  showUserLimits: { by: teller, path: '/users/USER/limits', leaves: ['person.read'] },
  // Its conditions are those of the command; test/cli/member-erase.test.ts erases.
  eraseMember: { by: administrator, path: '/members/PERSON/erase', body: reason, leaves: [] },
  showAccount: { by: teller, path: account, leaves: ['account.read'] },
  listEntries: { by: teller, path: `${account}/entries`, leaves: ['account.read'] },
  showPosting: { by: teller, path: `${account}/entries/1`, leaves: ['account.read'] },
  showBalances: { by: teller, path: `${account}/balances`, leaves: ['account.read'] },
  showAccountLimits: { by: teller, path: `${account}/limits`, leaves: ['account.read'] },
  restrictAccount: {
    by: teller,
    path: `${account}/restrict`,
    body: { ...reason, restriction: 'EXCLUDE_AS_TO' },
    leaves: ['account.restricted'],
  },
  closeAccount: { by: administrator, path: `${account}/close`, body: reason, leaves: [] },
  searchTransfers: { by: teller, path: '/transfers?accountId=a-1002-checking', leaves: ['account.read'] },
  showAccountsOfTransfer: {
    by: teller,
    path: '/transfers/acts-2/accounts',
    leaves: ['account.read', 'account.read'],
  },
  showUsualOfTransfer: { by: teller, path: '/transfers/acts-2/usual', leaves: ['account.read'] },
  showTransfer: { by: teller, path: '/transfers/acts-2', leaves: ['transfer.read'] },
  approveTransfer: {
    by: approver,
    path: '/transfers/acts-1/approve',
    body: reason,
    leaves: ['transfer.approved'],
  },
  declineTransfer: {
    by: approver,
    path: '/transfers/acts-2/decline',
    body: reason,
    leaves: ['transfer.declined'],
  },
  reverseTransfer: {
    by: approver,
    path: '/transfers/acts-1/reverse',
    body: reason,
    leaves: ['transfer.reversal_proposed'],
  },
  showTransferRules: 'nothing about a member',
  previewTransferRules: {
    by: auditor,
    path: '/transfer-rules/preview',
    body: { thresholds: [], limits: [] },
    leaves: ['transfer.rules_previewed'],
  },
};

let service: TestService;
const operators = new Map<string, TestOperator>();
const ids: Record<string, string> = {};

before(async () => {
  service = await startTestService({ environment: demoAddress });
  for (const name of [teller, approver, administrator, auditor, 'Demo viewer'])
    operators.set(name, await operatorOf(service, name, 'harbor'));
  const harbor = await clientOf(service, ['harbor-app', 'harbor-app-secret']);
  for (const id of ['acts-1', 'acts-2']) {
    const order = { id, fromAccountId: 'a-1002-checking', toAccountId: 'a-1001-checking', amount: 510 };
    assert.equal((await harbor.post(paths.transfers, order)).body.status, 'PENDING');
  }
  ids.VIEWER = (await operators.get('Demo viewer')?.get('/session'))?.body.operatorId;
  const [person] = (await operators.get(teller)?.get('/members?text=demo.member'))?.body ?? [];
  ids.PERSON = person.personId;
  ids.USER = person.userId;
  const { institutionId } = await institutionOf(service, 'harbor');
  const [run] = await service.db.superuser<{ id: string }>(
    `insert into reconcile_results (institution_id, started_at, finished_at, findings, kept)
     values ($1, now(), now(), 0, 0) returning run_key::text as id`,
    [institutionId],
  );
  ids.RUN = run?.id ?? '';
  await service.db.superuser(
    `insert into authenticators (institution_id, user_key, authenticator_id, name, sealed_secret, last_step, created_at)
     select institution_id, user_key, gen_random_uuid(), 'Phone', $1, 1, now() from users where institution_id = $2 and user_id = $3`,
    [Buffer.alloc(48), institutionId, ids.USER],
  );
  const { endpoint } = await createWebhook(
    service.service.context.webhooks,
    { institutionId, clientId: 'harbor-app', origin: ownOrigin() },
    {
      // A port of this machine that nobody serves.
      ...{ url: 'http://127.0.0.1:9/harbor', description: null, eventTypes: null },
      ...{ payload: 'THIN', ordering: 'ACCOUNT' },
    },
  );
  ids.WEBHOOK = endpoint.endpointId;
  await setScreening(service.service.context.webhooks, institutionId, {
    settings: {
      ...{ url: 'http://127.0.0.1:9/screen', fromMinor: 1_000_000_000n, timeoutMillis: 1_000 },
      ...{ onSilence: 'HOLD', holdSeconds: 3_600 },
    },
    origin: ownOrigin(),
  });
  const [made] = await service.db.superuser<{ break_key: string }>(
    `insert into core_breaks (institution_id, class, subject, account_id, currency, difference, opened_at)
     select institution_id, 'AMOUNT', 'account:a-1', 'a-1', 'USD', 5, now() from institutions where code = 'harbor'
     returning break_key::text`,
  );
  await service.db.superuser(
    `insert into consents (institution_id, consent_id, client_id, user_key, scopes, granted_at, expires_at)
     select u.institution_id, '00000000-0000-4000-8000-000000000001', c.client_id, u.user_key, '{account:read}', now(), now() + interval '1 day'
     from users u join institutions i using (institution_id) join clients c using (institution_id)
     where i.code = 'harbor' and u.user_id = 'u-demo-member-harbor' and c.client_id = 'harbor-app'`,
  );
  ids.BREAK = made?.break_key ?? '';
  const keys = readJwks(JSON.stringify({ keys: [providerKey] }));
  await aProvider(service, 'harbor', {
    ...{ providerId: 'harbor-login', kind: 'jwt', issuer: 'https://login.harbor.example', keys },
  });
});
after(() => service.close());

test('each operation of operators has a line in the table of audit entries', () => {
  const all = operationsOfOperators.map(({ operationId }) => operationId);
  assert.deepEqual(Object.keys(runs).toSorted(), all.toSorted());
});

/** Reads that take a body, the note of a break, which is the reason itself, and a key of the operator's own. */
const withoutReason = ['verifyAudit', 'previewTransferRules', 'changeBreak', 'removeOwnPasskey'];

test('each operation that changes or sends something demands a reason', () => {
  const acts = operationsOfOperators.filter(({ method }) => method !== 'GET');
  const demanding = acts.filter(({ body: schema }) => {
    const { required = [] } = Object(schema) as { readonly required?: readonly string[] };
    return required.includes('reason');
  });
  const others = acts.filter((one) => !demanding.includes(one)).map(({ operationId }) => operationId);
  assert.deepEqual(others.toSorted(), withoutReason.toSorted());
});

describe('operations leave the audit entries of their line, by the name of the operator and with the reason', () => {
  // Transfers first: an account's restriction would fail them.
  const first = operationsOfOperators.filter(({ path }) => path.startsWith('/transfers'));
  for (const operation of new Set([...first, ...operationsOfOperators])) {
    const run = runs[operation.operationId];
    if (run === undefined || typeof run === 'string') continue;
    test(`${operation.operationId} leaves the audit entries of its line`, async () => {
      const path = run.path.replace(/VIEWER|PERSON|USER|WEBHOOK|BREAK|RUN/, (name) => ids[name] ?? '');
      const entries = () =>
        service.db.superuser<{ action: AuditAction; operator: string; stated_reason: string | null }>(
          `select action, operator, stated_reason from audit_entries
           where operator_id is not null and outcome = 'succeeded' order by audit_key`,
        );
      const standing = (await entries()).length;
      const answer = await operators.get(run.by)?.send(operation.method, path, run.body);
      assert.ok(answer?.status === (run.leaves.length === 0 ? 409 : 200), JSON.stringify(answer?.body));
      const added = (await entries()).slice(standing);
      const isSaid = Object.values(run.body ?? {}).includes(reason.reason);
      assert.deepEqual(
        added.map(({ action, operator, stated_reason }) => [action, operator, stated_reason]),
        run.leaves.map((action) => [action, run.by, isSaid ? reason.reason : null]),
      );
    });
  }
});

test('a page of the audit for a file leaves an export with its filter, its number of entries and its ends', async () => {
  const by = operators.get(auditor);
  const page = await by?.get('/audit/found?action=operator.signed_in&address=127.0.0.0/8&limit=2');
  assert.equal(page?.status, 200);
  const keys = page?.body.map(({ key }: { readonly key: number }) => key);
  assert.equal(keys.length, 2);
  assert.match(page?.headers.get('link') ?? '', /rel="next"/);
  const exports = (await by?.get('/audit?action=audit.exported&limit=200'))?.body;
  const { after, personal, operator } = exports.at(-1);
  assert.equal(operator, auditor);
  assert.deepEqual(after, {
    ...{ action: 'operator.signed_in', form: 'file', entries: 2 },
    ...{ firstKey: String(keys[0]), lastKey: String(keys[1]) },
  });
  assert.deepEqual(personal, { after: { network: '127.0.0.0/8' } });
});
