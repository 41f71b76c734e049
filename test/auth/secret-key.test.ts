import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { ServiceStartError } from '../../src/app/start-checks.ts';
import { runCli } from '../support/cli.ts';
import { memberOf, paths, send } from '../support/demo.ts';
import { testSecretKey } from '../support/secret-key.ts';
import { startTestService, type TestService } from '../support/service.ts';

/** The operator's commands in tests use this one. */
const next = { SECRET_KEY: testSecretKey };

let service: TestService;
before(async () => {
  service = await startTestService({ environment: { SECRET_KEY: '11'.repeat(32) } });
});
after(() => service.close());

test('a service with another SECRET_KEY does not start, and prints the reason', async () => {
  await assert.rejects(startTestService({ beside: service, environment: next }), (error) => {
    assert.ok(error instanceof ServiceStartError);
    assert.match(error.message, /^SECRET_KEY is not the one/);
    return true;
  });
});

test('a command with another SECRET_KEY does nothing, and prints the reason', async () => {
  const keys = () => service.db.superuser('select kid from signing_keys order by kid');
  const clients = () => service.db.superuser('select client_id from clients order by client_id');
  const before = [await keys(), await clients()];
  for (const command of [
    'keys rotate --now',
    'client create other-app --institution lakeside --scopes account:read',
  ]) {
    const { code, stderr } = await runCli(service.db, command.split(' '));
    assert.equal(code, 1);
    assert.match(stderr, /^SECRET_KEY is not the one/);
  }
  assert.deepEqual([await keys(), await clients()], before);
});

test('new signing keys and secrets restore the service after a lost SECRET_KEY, and passwords continue to work', async () => {
  const { token } = await memberOf(service, 'demo.member', 'demo-member-password');
  const rotated = await runCli(service.db, ['keys', 'rotate', '--compromised', '--yes']);
  assert.equal(rotated.code, 0, rotated.stderr);
  const command = ['client', 'rotate-secret', 'demo-app', '--institution', 'lakeside'];
  const renewed = await runCli(service.db, command);
  assert.equal(renewed.code, 0, renewed.stderr);
  const secret = /[A-Za-z0-9_-]{43}/.exec(renewed.stdout)?.[0] ?? assert.fail(renewed.stdout);

  await using back = await startTestService({ beside: service, environment: next });
  const accounts = (bearer: string) =>
    send(back.address, 'GET', paths.accounts, { headers: { authorization: `Bearer ${bearer}` } });
  assert.equal((await accounts(token)).status, 401, 'earlier tokens have ended');
  await assert.rejects(memberOf(back, 'demo.member', 'demo-member-password'), /invalid_client/);
  const member = await memberOf(back, 'demo.member', 'demo-member-password', ['demo-app', secret]);
  assert.equal((await accounts(member.token)).status, 200);
});
