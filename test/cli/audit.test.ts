import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { appendAudit, eraseAuditPersonal, sealAudit } from '../../src/events/index.ts';
import { findInstitutionByCode, type Institution } from '../../src/institutions/index.ts';
import { commandsOn } from '../support/commands.ts';
import { startTestService, type TestService } from '../support/service.ts';

const script = fileURLToPath(new URL('../../docs/verify-audit.mjs', import.meta.url));
const clock = () => new Date('2026-03-02T12:00:00.000Z');

let service: TestService;
let run: ReturnType<typeof commandsOn>;
let lakeside: Institution;
let folder: string;
before(async () => {
  service = await startTestService();
  run = commandsOn(service.db);
  folder = await mkdtemp(path.join(tmpdir(), 'audit-'));
  const { database } = service.service.context;
  lakeside = (await database.directory((db) => findInstitutionByCode(db, 'lakeside'))) as Institution;
  await append(5);
});
after(async () => {
  await service.close();
  await rm(folder, { recursive: true });
});

const origin = { transactionId: 'given-1', address: '192.0.2.77' };
async function append(count: number): Promise<void> {
  const { database } = service.service.context;
  await database.transaction(lakeside.institutionId, async (tx) => {
    for (let n = 1; n <= count; n += 1) {
      const entry = { action: 'user.contact_changed', outcome: 'succeeded', origin } as const;
      const personal = { after: { email: `é"${n}]@example.test` } };
      await appendAudit(tx, { ...entry, userId: `u-${n}`, personal, after: { changed: ['email'] } }, clock());
    }
    await appendAudit(
      tx,
      { action: 'login', outcome: 'refused', reason: 'wrong_password', origin, userId: 'u-1' },
      clock(),
    );
  });
}

const seal = () => sealAudit(service.service.context.database, lakeside.institutionId, clock);
const documents = (stdout: string) =>
  stdout
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
const fileOf = async (name: string, text: string) => {
  const file = path.join(folder, name);
  await writeFile(file, text);
  return file;
};
const scope = ['--institution', 'lakeside'] as const;

test('audit verify reports both chains intact, and a broken one with the status 3', async () => {
  await seal();
  const intact = await run('audit', 'verify', ...scope, '--json');
  assert.equal(intact.code, 0, intact.stderr);
  assert.deepEqual(
    documents(intact.stdout).map(({ chain, intact: is }) => [chain, is]),
    [
      ['access', true],
      ['changes', true],
    ],
  );
  const change = (outcome: string) =>
    service.db.superuser(
      `set session_replication_role = replica;
       update audit_entries set outcome = '${outcome}' where user_id = 'u-3' and action = 'user.contact_changed';
       reset session_replication_role`,
    );
  await change('refused');
  const broken = await run('audit', 'verify', ...scope);
  assert.equal(broken.code, 3);
  assert.match(
    broken.stdout,
    /lakeside changes: BROKEN at number \d+ \(key \d+, recorded 2026.*\): the entry was changed/,
  );
  await change('succeeded');
  assert.equal((await run('audit', 'verify', ...scope)).code, 0);
});

test('a stranger’s script verifies the export with its anchors, and finds a changed line and a missing one', async () => {
  const check = (...files: string[]) =>
    promisify(execFile)(process.execPath, [script, ...files]).then(
      ({ stdout }) => ({ code: 0, text: stdout }),
      (error) => ({ code: error.code as number, text: error.stderr as string }),
    );
  const anchors = await run('audit', 'anchor', ...scope);
  assert.equal(documents(anchors.stdout).length, 2, anchors.stderr);
  const exported = await run('audit', 'export', ...scope);
  const anchorFile = await fileOf('anchors.jsonl', anchors.stdout);
  const whole = await check(await fileOf('whole.jsonl', exported.stdout), anchorFile);
  assert.deepEqual([whole.code, whole.text.trim().split('\n').length], [0, 2], whole.text);

  const changed = exported.stdout.replace('"userId":"u-2"', '"userId":"u-9"');
  const found = await check(await fileOf('changed.jsonl', changed));
  assert.equal(found.code, 3);
  assert.match(found.text, /changes \d+ was changed/);
  const personal = await check(
    await fileOf('personal.jsonl', exported.stdout.replace('@example.test', '@evil.test')),
  );
  assert.match(personal.text, /personal field/);
  const lines = exported.stdout.trim().split('\n');
  const cut = await check(await fileOf('cut.jsonl', lines.slice(0, -1).join('\n')), anchorFile);
  assert.match(cut.text, /the export lacks that entry/);

  const kept = await run('audit', 'verify', ...scope, '--anchor', anchorFile);
  assert.equal(kept.code, 0, kept.stdout);
  const from = await run('audit', 'verify', ...scope, '--from', anchorFile, '--json');
  assert.equal(from.code, 0, from.stdout);
  assert.ok(documents(from.stdout).every(({ entries }) => entries >= 1 && entries < 5));
});

test('an export continues where its state says, and repeats nothing', async () => {
  const state = path.join(folder, 'state.json');
  const first = documents((await run('audit', 'export', ...scope, '--state', state)).stdout);
  await append(2);
  await seal();
  const second = documents((await run('audit', 'export', ...scope, '--state', state)).stdout);
  const numbers = [...first, ...second]
    .filter(({ chain }) => chain === 'changes')
    .map(({ number }) => number);
  assert.deepEqual(
    numbers,
    numbers.map((_, index) => index + 1),
  );
  assert.ok(second.some(({ action }) => action === 'audit.exported'));
  assert.equal(JSON.parse(await readFile(state, 'utf8')).changes, numbers.length);
  const from = await run('audit', 'export', ...scope, '--chain', 'changes', '--from', '3');
  assert.equal(documents(from.stdout)[0].number, 3);
  const beyond = await run('audit', 'export', ...scope, '--chain', 'changes', '--from', '9999');
  assert.match(beyond.stderr, /has no entry 9998/);
  const torn = await fileOf('torn.json', '{"changes":');
  assert.match((await run('audit', 'export', ...scope, '--state', torn)).stderr, /no state of an export/);
});

test('an export without personal fields has none of them, and an erased entry stays verifiable', async () => {
  await service.service.context.database.transaction(lakeside.institutionId, (tx) =>
    eraseAuditPersonal(tx, { userIds: ['u-4'], subjects: [] }, clock()),
  );
  const without = await run('audit', 'export', ...scope, '--no-personal');
  assert.doesNotMatch(without.stdout, /example\.test|192\.0\.2\.77|"salt"/);
  const whole = await run('audit', 'export', ...scope);
  assert.match(whole.stdout, /"erased":true/);
  for (const [name, { stdout }] of Object.entries({ without, whole })) {
    const file = await fileOf(`${name}.jsonl`, stdout);
    await promisify(execFile)(process.execPath, [script, file]);
  }
});

test('an export as syslog has one message by RFC 5424 a line', async () => {
  const { stdout } = await run('audit', 'export', ...scope, '--format', 'syslog');
  const form =
    /^<(110|108)>1 \d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z [!-~]{1,255} sharedraft - [!-~]{1,32} \[sharedraft@32473 institution="lakeside" chain="(?:access|changes)" number="\d+" hash="[0-9a-f]{64}"\] (\{.*\})$/;
  const lines = stdout.trim().split('\n');
  assert.ok(lines.length > 6);
  for (const line of lines) {
    const [, priority, message = ''] = form.exec(line) ?? assert.fail(line);
    assert.equal(priority, JSON.parse(message).outcome === 'refused' ? '108' : '110');
  }
});

test('audit search pages by key, and each search is audited itself', async () => {
  const found = documents((await run('audit', ...scope, '--user', 'u-1', '--limit', '1')).stdout);
  assert.equal(found.length, 1);
  const rest = documents(
    (await run('audit', 'search', ...scope, '--user', 'u-1', '--after', String(found[0].key))).stdout,
  );
  assert.ok(rest.length > 0 && rest.every(({ key }) => key !== found[0].key));
  const own = documents((await run('audit', 'search', ...scope, '--action', 'audit.read')).stdout);
  assert.ok(own.length >= 3);
  assert.ok(own.every(({ operator }) => operator !== undefined));
  assert.deepEqual(own.filter(({ userId }) => userId === 'u-1').length >= 2, true);
  const by = await run('audit', 'search', ...scope, '--operator', own[0].operator, '--limit', '2');
  assert.equal(documents(by.stdout).length, 2);
  const address = await run('audit', 'search', ...scope, '--address', '192.0.2.0/24', '--limit', '3');
  assert.equal(documents(address.stdout).length, 3);
  assert.equal((await run('audit', 'search', ...scope, '--after', 'x')).code, 2);
});

test('audit retention shows the periods, changes one, and refuses less than the law keeps', async () => {
  const shown = await run('audit', 'retention', ...scope, '--json');
  assert.deepEqual(JSON.parse(shown.stdout), { institution: 'lakeside', accessDays: 400, changesDays: 2557 });
  const changed = await run('audit', 'retention', ...scope, '--access-days', '100', '--json');
  assert.equal(JSON.parse(changed.stdout).accessDays, 100);
  const refused = await run('audit', 'retention', ...scope, '--changes-days', '400');
  assert.equal(refused.code, 2);
  assert.match(refused.stderr, /from 1827 to 36600/);
  const [entry] = documents(
    (await run('audit', 'search', ...scope, '--action', 'audit.retention_changed')).stdout,
  );
  assert.deepEqual([entry.before, entry.after], [{ accessDays: 400 }, { accessDays: 100 }]);
});

test('audit verify refuses a file without anchors', async () => {
  const file = await fileOf('empty.jsonl', 'no anchor\n');
  const refused = await run('audit', 'verify', ...scope, '--anchor', file);
  assert.match(refused.stderr, /has no anchor/);
  const forged = await fileOf('forged.jsonl', JSON.stringify({ anchor: 'a.b.c' }));
  assert.equal((await run('audit', 'verify', ...scope, '--anchor', forged)).code, 3);
});
