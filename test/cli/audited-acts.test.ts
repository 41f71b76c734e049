import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { acts } from '../../src/cli/acts.ts';
import { systemOperator } from '../../src/cli/operator.ts';
import { sharedraft } from '../../src/cli/program.ts';
import { type AuditAction, auditActions } from '../../src/events/index.ts';
import { operations } from '../../src/http/operations.ts';
import { testSecretKey } from '../support/secret-key.ts';
import { startTestService, type TestService } from '../support/service.ts';

/* Every command and operation, and the audit entries of its changes. */

const reads = 'changes nothing';
const directory = 'the audit of the directory of the cells has it';
type Trace =
  | readonly AuditAction[]
  | typeof reads
  | typeof directory
  | 'the row of the transfer keeps who, from where and the request';

const commands: Readonly<Record<string, Trace>> = {
  serve: ['schema.migrated', 'key.created'],
  migrate: ['schema.migrated'],
  // With transactions also the entries of deliverTransactions.
  import: ['institution.changed', 'import.started', 'import.finished'],
  'events archive': ['events.closed', 'events.archived'],
  'cell show': reads,
  'cell set': ['cell.changed'],
  'cell list': reads,
  'cell map': reads,
  'cell publish': directory,
  'cell state': directory,
  'institution move': [
    'institution.left',
    'institution.arrived',
    'institution.move_undone',
    'institution.move_confirmed',
    'institution.move_reconciled',
  ],
  'institution list': reads,
  'institution create': ['institution.created'],
  'institution show': reads,
  'institution settings': ['institution.changed'],
  'institution calendar show': reads,
  'institution calendar add': [
    'transfer.rules_proposed',
    'transfer.rules_confirmed',
    'transfer.rules_changed',
  ],
  'institution calendar remove': ['transfer.rules_changed'],
  login: ['operator.device_decided'],
  // operator.signed_out, by the service.
  logout: reads,
  whoami: reads,
  'operator invite': ['operator.invited'],
  'operator invite-again': ['operator.invited', 'operator.passkey_removed'],
  'operator list': reads,
  'operator roles': ['operator.changed'],
  'operator suspend': ['operator.changed'],
  'operator resume': ['operator.changed'],
  'operator end': ['operator.changed'],
  'institution operators-provider set': ['operator.provider_changed'],
  'institution operators-provider show': reads,
  'institution operators-provider off': ['operator.provider_removed'],
  'client create': ['client.created'],
  'client list': reads,
  'client set': ['client.changed'],
  'client rotate-secret': ['client.secret_added'],
  'client retire-secret': ['client.secret_removed'],
  'client add-key': ['client.key_added'],
  'client remove-key': ['client.key_removed'],
  'client add-certificate': ['client.certificate_added'],
  'client remove-certificate': ['client.certificate_removed'],
  'core status': reads,
  'core instructions': ['transfer.read'],
  'core export': ['core.exported'],
  'core breaks': ['account.read'],
  'core break': ['account.read'],
  'core note': ['core.break_changed'],
  'core adjust': ['core.adjustment_proposed', 'core.adjustment_confirmed', 'core.break_adjusted'],
  'core acknowledge': ['core.acknowledged', 'transfer.core_rejected'],
  'screening show': reads,
  'screening set': ['screening.changed'],
  'screening rotate': ['screening.rotated'],
  'screening off': ['screening.removed'],
  'screening test': ['screening.tested'],
  'webhook list': reads,
  'webhook show': reads,
  'webhook create': ['webhook.created'],
  'webhook set': ['webhook.changed'],
  'webhook pause': ['webhook.changed'],
  'webhook enable': ['webhook.changed'],
  'webhook rotate': ['webhook.rotated'],
  'webhook ping': ['webhook.pinged'],
  'webhook replay': ['webhook.replayed'],
  'webhook delete': ['webhook.deleted'],
  'alerts status': reads,
  'alerts rules': reads,
  'alerts mail': ['mail.configured'],
  'alerts mail-off': ['mail.stopped'],
  'alerts mail-test': reads,
  'alerts suppressed': reads,
  'alerts suppress': ['mail.suppressed'],
  'alerts lift': ['mail.suppression_lifted'],
  'demo clock': ['institution.clock_moved'],
  'demo-core': reads,
  'keys list': reads,
  'keys rotate': ['key.created', 'key.retired'],
  'keys reseal': ['secret_key.resealed'],
  'member find': ['person.searched'],
  'member show': ['person.read'],
  'member end-sessions': ['user.sessions_ended'],
  'member end-consent': ['consent.ended'],
  'member remove-second-factor': ['user.second_factor_removed'],
  'account show': ['account.read'],
  'account freeze': ['account.restricted'],
  'account restrict': ['account.restricted'],
  'account unfreeze': ['account.unrestricted'],
  'account close': ['account.closed'],
  'member set-password': ['user.password_set'],
  'member activation-code': ['user.activation_code_issued'],
  'member email-code': ['user.email_code_issued'],
  'member lock': ['user.locked'],
  'member unlock': ['user.unlocked'],
  'member deactivate': ['user.deactivated'],
  'member activate': ['user.reactivated'],
  'limits show': ['person.read'],
  'events tail': ['events.read'],
  'transfer show': ['transfer.read'],
  'transfer pending': ['transfer.read'],
  'transfer approve': ['transfer.approved'],
  'transfer decline': ['transfer.declined'],
  'transfer reverse': ['transfer.reversal_proposed', 'transfer.reversal_confirmed', 'transfer.reversed'],
  'transfer rules': ['transfer.rules_proposed', 'transfer.rules_confirmed', 'transfer.rules_changed'],
  'provider add': ['provider.added'],
  'provider list': reads,
  'provider set': ['provider.changed'],
  'provider on': ['provider.changed'],
  'provider off': ['provider.changed'],
  'provider remove': ['provider.removed'],
  doctor: reads,
  'member erase': ['person.erased'],
  'audit search': ['audit.read'],
  'audit verify': reads,
  'audit export': ['audit.exported'],
  'audit anchor': ['audit.anchored'],
  'audit retention': ['audit.retention_changed'],
  // A comparison with the core's balances only.
  'reconcile run': ['core.balances_compared'],
  'reconcile runs': reads,
  'reconcile findings': ['account.read'],
  backup: ['database.backed_up'],
  restore: ['database.restored'],
  restored: ['events.epoch_begun'],
};

/** GET operations only read, except those named here. */
const writes: Readonly<Record<string, Trace>> = {
  issueToken: [
    'login',
    'user.password_proven',
    'client_token',
    'token_request',
    'user.locked',
    'user.password_ended',
  ],
  revokeToken: ['token.revoked'],
  introspectToken: reads,
  // The pages have no operation: authorization.granted, consent.granted, session.ended, and those of passkeys and of the second step.
  pushAuthorizationRequest: reads,
  narrowConsent: ['consent.narrowed'],
  withdrawConsent: [
    'consent.ended',
    'authorization.granted',
    'consent.granted',
    'session.ended',
    'passkey.added',
    'passkey.removed',
    'authenticator.added',
    'authenticator.removed',
    'recovery_codes.created',
    'recovery_code.used',
  ],
  updateAlertPreferences: ['alert.preferences_changed'],
  markAlert: ['alert.marked'],
  // The page behind the link of a message has no operation: alert.mail_stopped.
  reportBounce: ['mail.suppressed', 'alert.mail_stopped'],
  createWebhook: ['webhook.created'],
  updateWebhook: ['webhook.changed'],
  deleteWebhook: ['webhook.deleted'],
  rotateWebhookSecret: ['webhook.rotated'],
  pingWebhook: ['webhook.pinged'],
  replayWebhook: ['webhook.replayed', 'webhook.disabled'],
  registerMember: ['user.registered'],
  activateMember: ['user.activated'],
  changePassword: ['user.password_changed'],
  updateMemberContact: ['user.contact_changed'],
  confirmEmail: ['user.email_confirmed'],
  initiateTransfer: 'the row of the transfer keeps who, from where and the request',
  dryRunTransfer: reads,
  cancelTransfer: ['transfer.cancelled'],
  reportOutcome: ['transfer.core_rejected'],
  // A sign of life is no change that anyone answers for.
  coreHeartbeat: reads,
  getActivationCode: ['user.activation_code_read'],
  acknowledgeActivationCode: ['user.activation_code_delivered'],
  getEmailCode: ['user.email_code_read'],
  acknowledgeEmailCode: ['user.email_code_delivered'],
  compareBalances: ['core.balances_compared'],
  updateBreak: ['core.break_changed'],
  deliverTransactions: ['core.transactions_begun', 'core.transactions_taken'],
  deliverRecords: ['core.records_begun', 'core.records_taken'],
};

type Walked = { readonly commands: readonly Walked[]; name(): string };

function namesOf(command: Walked, above: readonly string[] = []): string[] {
  if (command.commands.length === 0) return [above.join(' ')];
  return command.commands.flatMap((child) => namesOf(child, [...above, child.name()]));
}

test('each command has a line in the table of audit entries', () => {
  assert.deepEqual(namesOf(sharedraft()).toSorted(), Object.keys(commands).toSorted());
});

test('each command that changes something asks who, or is work on the machine', () => {
  const machine = [
    ...[
      'serve',
      'migrate',
      'backup',
      'restore',
      'restored',
      'cell set',
      'cell publish',
      'cell state',
      'institution move',
      'keys rotate',
      'keys reseal',
    ],
    ...['events archive', 'import', 'core export', 'core acknowledge', 'reconcile run', 'audit anchor'],
    ...['institution create', 'demo clock', 'login'],
  ];
  const views = [
    ...['member find', 'member show', 'account show', 'limits show', 'transfer show', 'transfer pending'],
    ...['events tail', 'core instructions', 'core breaks', 'core break', 'reconcile findings'],
  ];
  const readAudit = ['audit search', 'audit export'];
  const changing = Object.keys(commands).filter((name) => commands[name] !== reads);
  assert.deepEqual(
    changing.filter((name) => !(name in acts)).toSorted(),
    [...machine, ...views, ...readAudit].toSorted(),
  );
  assert.deepEqual(
    Object.keys(acts).filter((name) => !changing.includes(name)),
    [],
    'a line without a command',
  );
});

test('each operation except GET has a line in the table of audit entries, and no line has a missing operation', () => {
  const ids = operations.filter(({ method }) => method !== 'GET').map(({ operationId }) => operationId);
  assert.deepEqual(
    ids.filter((id) => !(id in writes)),
    [],
  );
  const all = operations.map(({ operationId }) => operationId);
  assert.deepEqual(
    Object.keys(writes).filter((id) => !all.includes(id)),
    [],
  );
});

test('the sources append each action of the table of audit entries', () => {
  const sources = globSync('src/**/*.ts', { cwd: root })
    .filter((file) => !file.endsWith('.test.ts') && file !== 'src/events/audit/audit.ts')
    .map((file) => readFileSync(`${root}/${file}`, 'utf8'))
    .join('\n');
  const named = Object.values({ ...commands, ...writes }).flatMap((trace) =>
    typeof trace === 'string' ? [] : trace,
  );
  assert.deepEqual(
    [...new Set(named)].filter((action) => !sources.includes(`'${action}'`)),
    [],
  );
  assert.deepEqual(
    auditActions.filter((action) => !sources.includes(`'${action}'`)),
    [],
    'an action that nothing appends',
  );
});

const root = fileURLToPath(new URL('../..', import.meta.url));

describe('commands leave the audit entry of their line, by the system user', () => {
  const user = ['olive.euro', '--institution', 'lakeside'];
  const client = ['audited', '--institution', 'lakeside'];
  const consent = '00000000-0000-4000-8000-000000000001';
  const account = ['a-1001-checking', '--institution', 'lakeside'];
  const why = ['--reason', 'Court order', '--yes'];
  const runs: readonly (readonly [
    command: string,
    words: readonly string[],
    leaves?: readonly AuditAction[],
  ])[] = [
    ['import', [`${root}/examples/lakeside`]],
    ['client create', [...client, '--scopes', 'account:read']],
    ['client set', [...client, '--name', 'Another name']],
    ['client rotate-secret', client],
    ['client retire-secret', [...client, '--yes']],
    ['demo clock', ['+1s', '--institution', 'lakeside']],
    ['keys rotate', [], ['key.created']],
    ['member activation-code', user],
    ['member find', user],
    ['member show', user],
    ['member lock', [...user, '--yes']],
    ['member unlock', user],
    ['member deactivate', [...user, '--yes']],
    ['member activate', user],
    ['member end-sessions', [...user, '--yes']],
    ['member end-consent', [consent, '--institution', 'lakeside', '--yes']],
    ['account show', account],
    ['account freeze', [...account, ...why]],
    ['account restrict', [...account, '--side', 'to', ...why]],
    ['account unfreeze', [...account, '--reason', 'Settled']],
    [
      'transfer rules',
      [`${root}/examples/lakeside`, '--institution', 'lakeside'],
      ['transfer.rules_changed'],
    ],
    ['transfer pending', ['--institution', 'lakeside']],
    ['core instructions', ['--institution', 'lakeside']],
    ['core breaks', ['--institution', 'lakeside']],
    ['restored', [], ['events.epoch_begun', 'events.epoch_begun']],
  ];
  /** The values before and after, by command, entry by entry; an act that is not here changes no value that the audit shows. */
  const changed: Readonly<Record<string, readonly (readonly [before: object | null, after: object])[]>> = {
    import: [
      [{ name: 'Of before' }, { name: 'Lakeside Demo Credit Union' }],
      [null, { opened: 0, adjusted: 0, adjustBalances: false }],
      [null, { opened: 0, adjusted: 0 }],
    ],
    'client create': [[null, { clientId: 'audited', name: 'audited', scopes: ['account:read'], secrets: 1 }]],
    'client set': [[{ name: 'audited' }, { name: 'Another name' }]],
    'demo clock': [[{ clockAheadSeconds: '0' }, { clockAheadSeconds: '1' }]],
    'member find': [[null, { found: 1 }]],
    'member lock': [[{ lockedByOperator: false }, { lockedByOperator: true }]],
    'member unlock': [[{ lockedByOperator: true }, { lockedByOperator: false }]],
    'member deactivate': [[{ active: true }, { active: false }]],
    'member activate': [[{ active: false }, { active: true }]],
    'account freeze': [[{ operatorRestriction: null }, { operatorRestriction: 'EXCLUDE_ALL' }]],
    'account restrict': [[{ operatorRestriction: 'EXCLUDE_ALL' }, { operatorRestriction: 'EXCLUDE_AS_TO' }]],
    'account unfreeze': [[{ operatorRestriction: 'EXCLUDE_AS_TO' }, { operatorRestriction: null }]],
    restored: [
      [{ epoch: 0 }, { epoch: 1 }],
      [{ epoch: 0 }, { epoch: 1 }],
    ],
  };
  let service: TestService;
  before(async () => {
    service = await startTestService();
    // An import that changes nothing leaves nothing.
    await service.db.superuser(`update institutions set name = 'Of before' where code = 'lakeside'`);
    await service.db.superuser(
      `insert into consents (institution_id, consent_id, client_id, user_key, scopes, granted_at, expires_at)
     select u.institution_id, '00000000-0000-4000-8000-000000000001', c.client_id, u.user_key, '{account:read}', now(), now() + interval '1 day'
     from users u join institutions i using (institution_id) join clients c using (institution_id)
     where i.code = 'lakeside' and u.username = 'olive.euro' and c.client_id = 'demo-app'`,
    );
    Object.assign(process.env, {
      PUBLIC_URL: 'http://sharedraft.test',
      DATABASE_URL: service.db.url,
      SECRET_KEY: testSecretKey,
    });
    process.stdout.setMaxListeners(0);
    process.stderr.setMaxListeners(0);
  });
  after(() => service.close());

  for (const [command, words, leaves] of runs) {
    test(`sharedraft ${command} leaves the audit entries of its line, by the system user, with the values before and after`, async () => {
      const last = async () =>
        service.db.superuser<Entry>(
          `select action, operator, operator_host as host, transaction_id, address, before_change as before,
                  after_change as after from audit_entries order by audit_key`,
        );
      const standing = (await last()).length;
      await quietly(() => sharedraft().parseAsync([...command.split(' '), ...words], { from: 'user' }));
      const added = (await last()).slice(standing).filter(({ operator }) => operator !== null);
      const trace = leaves ?? commands[command];
      assert.deepEqual(
        added.map(({ action }) => action),
        typeof trace === 'string' ? [] : trace,
      );
      const { user, host } = systemOperator({ sudoUser: undefined });
      const [first] = added;
      for (const [index, { before, after, ...by }] of added.entries()) {
        assert.deepEqual(
          { operator: by.operator, host: by.host, address: by.address, transaction: by.transaction_id },
          { operator: user, host, address: null, transaction: first?.transaction_id },
          'one system user at one machine, in one command',
        );
        if (command === 'transfer rules') continue;
        const expected = changed[command]?.[index] ?? [null, null];
        // An entry of something new has all of its values, to which others are added with time.
        if (before === null && expected[1] !== null) assert.partialDeepStrictEqual([before, after], expected);
        else assert.deepEqual([before, after], expected, by.action);
      }
    });
  }
});

interface Entry {
  readonly action: AuditAction;
  readonly operator: string | null;
  readonly host: string | null;
  readonly transaction_id: string;
  readonly address: string | null;
  readonly before: object | null;
  readonly after: object | null;
}

/** The output of a command is tested elsewhere. */
async function quietly(work: () => Promise<unknown>): Promise<void> {
  const { stdout, stderr } = process;
  const written = [stdout.write, stderr.write] as const;
  stdout.write = stderr.write = () => true;
  try {
    await work();
  } finally {
    [stdout.write, stderr.write] = written;
  }
}
