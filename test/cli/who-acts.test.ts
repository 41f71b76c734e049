import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { acts } from '../../src/cli/acts.ts';
import { sessionFile } from '../../src/cli/kept-session.ts';
import { sharedraft as program } from '../../src/cli/program.ts';
import { commandsOn } from '../support/commands.ts';
import { operatorOf } from '../support/operators.ts';
import { startTestService, type TestService } from '../support/service.ts';

/* The commands of the table in src/cli/acts.ts, in an institution that has operators. */

const id = '00000000-0000-4000-8000-000000000001';
const why = ['--reason', 'x'];
/** Words with which each act gets past its parser. None of them names something that exists. */
const words: Readonly<Record<keyof typeof acts, readonly string[]>> = {
  'member lock': ['nobody'],
  'member unlock': ['nobody'],
  'member deactivate': ['nobody'],
  'member activate': ['nobody'],
  'member end-sessions': ['nobody'],
  'member end-consent': [id],
  'member remove-second-factor': ['nobody'],
  'member set-password': ['nobody'],
  'member activation-code': ['nobody'],
  'member email-code': ['nobody'],
  'member erase': ['nobody', ...why],
  'account freeze': ['none', ...why],
  'account restrict': ['none', '--side', 'to', ...why],
  'account unfreeze': ['none', ...why],
  'account close': ['none', ...why],
  'transfer approve': ['none'],
  'transfer decline': ['none'],
  'transfer reverse': ['none'],
  'transfer rules': ['no-folder'],
  'core note': ['1', '--note', 'x'],
  'core adjust': ['1', '--difference', '1.00', ...why],
  'institution settings': ['harbor', '--name', 'Harbour'],
  'institution calendar add': ['2026-12-24', '--closed'],
  'institution calendar remove': ['2026-12-24'],
  'audit retention': ['--access-days', '400'],
  'client create': ['new', '--scopes', 'account:read'],
  'client set': ['none', '--name', 'x'],
  'client rotate-secret': ['none'],
  'client retire-secret': ['none'],
  'client add-key': ['none', 'no-file'],
  'client remove-key': ['none', 'kid'],
  'client add-certificate': ['none', 'no-file'],
  'client remove-certificate': ['none', 'thumbprint'],
  'provider add': [
    ...['none', '--kind', 'jwt', '--issuer', 'https://login.test', '--keys', 'no-file'],
    ...['--user-id-type', 'MEMBER_NUMBER', '--scopes', 'account:read'],
  ],
  'provider set': ['none', '--resource-tokens'],
  'provider on': ['none'],
  'provider off': ['none'],
  'provider remove': ['none'],
  'screening set': ['--url', 'https://screening.test'],
  'screening rotate': [],
  'screening off': [],
  'screening test': [],
  'webhook create': ['none', 'https://hook.test'],
  'webhook set': [id, '--description', 'x'],
  'webhook pause': [id],
  'webhook enable': [id],
  'webhook rotate': [id],
  'webhook ping': [id],
  'webhook replay': [id, '--parked'],
  'webhook delete': [id],
  'alerts mail': ['--name', 'Harbor', '--from', 'alerts@bank.test'],
  'alerts mail-off': [],
  'alerts suppress': ['somebody@bank.test'],
  'alerts lift': ['somebody@bank.test'],
  'operator invite': ['--name', 'Eve', '--email', 'eve@bank.test', '--roles', 'viewer', ...why],
  'operator invite-again': [id, ...why],
  'operator roles': [id, '--roles', 'viewer', ...why],
  'operator suspend': [id, ...why],
  'operator resume': [id, ...why],
  'operator end': [id, ...why],
  'institution operators-provider set': [
    ...[
      '--issuer',
      'https://login.test',
      '--client-id',
      'x',
      '--private-key-jwt',
      '--group',
      'a=viewer',
      ...why,
    ],
  ],
  'institution operators-provider off': [...why],
};
let service: TestService;
let sharedraft: ReturnType<typeof commandsOn>;

before(async () => {
  service = await startTestService({ environment: { PUBLIC_URL: 'http://localhost' } });
  sharedraft = commandsOn(service.db);
  process.env.HOME = await mkdtemp(path.join(tmpdir(), 'sharedraft-home-'));
});
after(() => service.close());

/** Runs a command with the options that it has: --yes, and the institution. */
function run(name: string, given: readonly string[], institution = 'harbor') {
  const path = name.split(' ');
  let command = program();
  for (const word of path) command = command.commands.find((one) => one.name() === word) as typeof command;
  const has = (long: string) => command.options.some((option) => option.long === long);
  const place = has('--institution') ? ['--institution', institution] : [];
  return sharedraft(...path, ...given, ...place, ...(has('--yes') ? ['--yes'] : []));
}

/** Keeps the session of a demo operator of harbor, as `sharedraft login` does. */
async function keepSessionOf(name: string, institution = 'harbor'): Promise<void> {
  const { token } = await operatorOf(service, name, institution);
  await mkdir(path.dirname(sessionFile()), { recursive: true });
  await rm(sessionFile(), { force: true });
  const kept = { server: service.address, institution, token };
  await writeFile(sessionFile(), JSON.stringify(kept), { mode: 0o600 });
}

const lastEntry = async () =>
  (
    await service.db.superuser<{
      action: string;
      operator: string;
      is_signed_in: boolean;
      break_glass: boolean;
      stated_reason: string | null;
    }>(
      `select action, operator, operator_id is not null as is_signed_in, break_glass, stated_reason
       from audit_entries where operator is not null order by audit_key desc limit 1`,
    )
  )[0];

/** A person of harbor's demo becomes one whom the institution invited. */
const inviteOne = () =>
  service.db.superuser(
    `update operators set source = 'INVITATION', email = 'demo@bank.test' where name = 'Demo approver'
     and institution_id = (select institution_id from institutions where code = 'harbor')`,
  );

const member = 'pebble.primary';

describe('acts of the command line', () => {
  before(async () => {
    for (const name of ['Demo approver', 'Demo teller', 'Demo administrator', 'Demo viewer'])
      await operatorOf(service, name, 'harbor');
    const locked = await run('member lock', [member]);
    assert.equal(locked.code, 0, locked.stderr);
    assert.equal((await lastEntry())?.is_signed_in, false, 'a demo asks nobody');
    await inviteOne();
  });

  for (const name of Object.keys(acts)) {
    test(`sharedraft ${name} asks who, in an institution that has operators`, async () => {
      await rm(sessionFile(), { force: true });
      const { code, stderr } = await run(name, words[name] ?? []);
      assert.match(stderr, /has operators. Sign in with `sharedraft login`, or act with --break-glass/);
      assert.equal(code, 1);
    });
  }

  test('a command that only shows something asks nobody', async () => {
    await rm(sessionFile(), { force: true });
    for (const [name, given] of [
      ['member show', [member]],
      ['audit retention', []],
      ['alerts mail', []],
      ['operator list', []],
    ] as const)
      assert.equal((await run(name, given)).code, 0, name);
  });

  test('an act stands under the name of the operator whose role may do it', async () => {
    await keepSessionOf('Demo teller');
    const unlocked = await run('member unlock', [member, '--reason', 'called back']);
    assert.equal(unlocked.code, 0, unlocked.stderr);
    assert.deepEqual(await lastEntry(), {
      ...{ action: 'user.unlocked', operator: 'Demo teller', is_signed_in: true, break_glass: false },
      stated_reason: 'called back',
    });
  });

  test('an act is refused to an operator whose roles may not do it', async () => {
    await keepSessionOf('Demo viewer');
    assert.match((await run('member lock', [member])).stderr, /needs the role teller; you are viewer/);
    await keepSessionOf('Demo teller');
    for (const name of ['member erase', 'account close', 'client rotate-secret', 'operator invite'] as const)
      assert.match((await run(name, words[name] ?? [])).stderr, /needs the role administrator/, name);
    await keepSessionOf('Demo administrator');
    const invited = await run('operator invite', words['operator invite'] ?? []);
    assert.equal(invited.code, 0, invited.stderr);
    assert.equal((await lastEntry())?.operator, 'Demo administrator');
  });

  test('the strongest acts want a sign-in of the last five minutes, as the operations of the console do', async () => {
    for (const [operator, name, isStrong] of [
      ['Demo teller', 'member activation-code', true],
      ['Demo teller', 'member set-password', true],
      ['Demo teller', 'member remove-second-factor', true],
      ['Demo teller', 'member end-sessions', false],
      ['Demo administrator', 'client rotate-secret', true],
      ['Demo administrator', 'client add-key', true],
      ['Demo administrator', 'client retire-secret', false],
      ['Demo administrator', 'provider add', true],
      ['Demo administrator', 'provider remove', true],
      ['Demo administrator', 'provider off', false],
      ['Demo administrator', 'operator invite-again', true],
      ['Demo administrator', 'operator roles', true],
    ] as const) {
      await keepSessionOf(operator);
      await service.db.superuser(
        `update operator_sessions set authenticated_at = authenticated_at - interval '301 seconds'`,
      );
      const { code, stderr } = await run(name, words[name] ?? []);
      assert.equal(code, 1, name);
      assert.equal(
        stderr.includes('needs a sign-in within the last 5 minutes'),
        isStrong,
        `${name}: ${stderr}`,
      );
    }
  });

  test('an act is refused to an operator of another institution, and to one who was suspended', async () => {
    await keepSessionOf('Demo teller', 'lakeside');
    assert.match((await run('member lock', [member])).stderr, /signed in at lakeside. Sign in at harbor/);
    await keepSessionOf('Demo teller');
    const state = (status: string) =>
      service.db.superuser(`update operators set status = '${status}' where name = 'Demo teller'`);
    await state('SUSPENDED');
    assert.equal((await run('member lock', [member])).code, 1);
    await state('ACTIVE');
  });

  test('--break-glass acts as the system user, marks the audit entry, and is the reason of an act that wants one', async () => {
    await rm(sessionFile(), { force: true });
    const account = ['a-1001-checking', '--break-glass', 'console is down'];
    for (const [name, given, action] of [
      ['account freeze', account, 'account.restricted'],
      ['account unfreeze', account, 'account.unrestricted'],
      ['client set', ['harbor-app', '--name', 'New', '--break-glass', 'console is down'], 'client.changed'],
    ] as const) {
      const done = await run(name, given);
      assert.equal(done.code, 0, done.stderr);
      const entry = await lastEntry();
      assert.deepEqual(
        [entry?.action, entry?.is_signed_in, entry?.break_glass, entry?.stated_reason],
        [action, false, true, 'console is down'],
      );
    }
  });

  test('an institution without operators asks nobody', async () => {
    const added = await run('client create', words['client create'] ?? [], 'lakeside');
    assert.equal(added.code, 0, added.stderr);
  });
});
