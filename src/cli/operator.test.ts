import assert from 'node:assert/strict';
import os from 'node:os';
import { test } from 'node:test';
import { loadConfig } from '../app/config.ts';
import { actingAs, CommandError } from './command.ts';
import { systemOperator } from './operator.ts';

const system = { userInfo: () => ({ ...os.userInfo(), username: 'ann' }), hostname: () => 'teller-1' };

test('names the operator by system user, host, and SUDO_USER if sudo ran the command', () => {
  const of = (environment: Readonly<Record<string, string>>) =>
    systemOperator(loadConfig(environment).config, system);
  assert.deepEqual(of({}), { user: 'ann', host: 'teller-1' });
  assert.deepEqual(of({ USER: 'bob', LOGNAME: 'bob', HOSTNAME: 'x' }), { user: 'ann', host: 'teller-1' });
  assert.deepEqual(of({ SUDO_USER: 'bob' }), { user: 'ann', host: 'teller-1', sudoUser: 'bob' });
  assert.deepEqual(of({ SUDO_USER: '' }), { user: 'ann', host: 'teller-1' });
});

test('names a system user without a name by its number', () => {
  const nameless = {
    ...system,
    userInfo: () => {
      throw new Error('ENOENT');
    },
  };
  assert.equal(systemOperator({ sudoUser: undefined }, nameless).user, `uid ${process.geteuid?.()}`);
});

test('makes every operating-system name fit the audit', () => {
  const { user, host, sudoUser } = systemOperator(
    { sudoUser: 'bob\nann' },
    { userInfo: () => ({ ...os.userInfo(), username: 'x'.repeat(300) }), hostname: () => '' },
  );
  assert.deepEqual([user.length, host, sudoUser], [128, '?', 'bob?ann']);
  const disguised = systemOperator({ sudoUser: '\u{202e}nna\u{200b}\u{3164}' }, system);
  assert.equal(disguised.sudoUser, 'nna', 'nothing invisible, and nothing that turns the line around');
});

test('accepts a typed name only in a demo institution', () => {
  const origin = { transactionId: 't', address: null, operator: { user: 'ann', host: 'teller-1' } };
  const real = { name: 'First Bank', demo: false } as Parameters<typeof actingAs>[1];
  assert.deepEqual(actingAs(origin, { ...real, demo: true }, 'Bob').operator?.as, 'Bob');
  assert.equal(actingAs(origin, real, undefined), origin);
  assert.throws(
    () => actingAs(origin, real, 'Bob'),
    (error: unknown) => error instanceof CommandError && /act as the system user ann/.test(error.message),
  );
});
