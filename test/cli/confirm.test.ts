import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { commandsOn } from '../support/commands.ts';
import { startTestService, type TestService } from '../support/service.ts';

let service: TestService;
let run: ReturnType<typeof commandsOn>;
before(async () => {
  service = await startTestService();
  run = commandsOn(service.db);
});
after(() => service.close());

const changes = async () =>
  (await service.db.superuser(`select from audit_entries where operator is not null`)).length;

const harmful: readonly (readonly [words: string, effect: RegExp])[] = [
  ['keys rotate --compromised', /Every access token of every institution ends/],
  ['client set demo-app --off --institution lakeside', /demo-app is switched off/],
  ['client retire-secret demo-app --institution lakeside', /older secret of demo-app ends/],
  ['client remove-key demo-app some-key --institution lakeside', /with the key some-key/],
  ['provider off web --institution lakeside', /web is switched off/],
  ['provider remove web --institution lakeside', /web is removed/],
  ['webhook delete 00000000-0000-4000-8000-000000000000 --institution lakeside', /gets no further event/],
];

for (const [words, effect] of harmful) {
  test(`sharedraft ${words} names its effect and changes nothing without a terminal and --yes`, async () => {
    const before = await changes();
    const { code, stderr } = await run(...words.split(' '));
    assert.equal(code, 1);
    assert.match(stderr, effect);
    assert.match(stderr, /Confirm with --yes/);
    assert.equal(await changes(), before);
  });
}

test('carries out a harmful act with --yes', async () => {
  const { code, stderr } = await run(
    'client',
    'set',
    'demo-app',
    '--off',
    '--yes',
    '--institution',
    'lakeside',
  );
  assert.equal(code, 0, stderr);
});
