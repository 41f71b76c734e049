import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { acknowledgeFile, exportInstructions, rewriteFile } from '../../src/core-connection/index.ts';
import { findInstitutionByCode, type Institution } from '../../src/institutions/index.ts';
import { aConnector, type Connector, startCoreService } from '../support/core-instructions.ts';
import { clientOf, type DemoCaller, paths } from '../support/demo.ts';
import { deskOf, type TestDesk } from '../support/desk.ts';
import { commandOf } from '../support/operator.ts';

/* A core that takes no requests reads its instructions from files and reports the outcomes in files. */

let service: Awaited<ReturnType<typeof startCoreService>>;
let bank: DemoCaller;
let core: Connector;
let desk: TestDesk;
let institution: Institution;
const folder = mkdtempSync(path.join(tmpdir(), 'core-files-'));
const origin = commandOf('olive');
before(async () => {
  service = await startCoreService();
  bank = await clientOf(service);
  core = await aConnector(service, 'lakeside-core');
  desk = await deskOf(service);
  const found = await desk.database.directory((db) => findInstitutionByCode(db, 'lakeside'));
  assert.ok(found);
  institution = found;
});
after(async () => {
  rmSync(folder, { recursive: true });
  await desk[Symbol.asyncDispose]();
  await service.close();
});

async function place(id: string, [fromAccountId, toAccountId]: readonly [string, string], memo?: string) {
  const order = { id, fromAccountId, toAccountId, amount: 1.5, ...(memo && { memo }) };
  const answer = await bank.post(paths.transfers, order, { prefer: 'wait=0' });
  assert.equal(answer.body.status, 'PENDING', answer.text);
}
const statusOf = async (id: string) => (await bank.get(`${paths.transfers}/${id}`)).body;
const exported = () => exportInstructions({ ...desk }, institution, { folder, origin });
function acknowledgement(lines: readonly string[], trailer?: string): string {
  const text = `id,outcome,core_reference,code,reason\n${lines.map((line) => `${line}\n`).join('')}`;
  const checksum = createHash('sha256').update(text).digest('hex');
  const file = path.join(folder, 'acknowledgement.csv');
  writeFileSync(file, `${text}${trailer ?? `TRAILER,${lines.length},${checksum}`}\n`);
  return file;
}
const acknowledge = (file: string) => acknowledgeFile(desk.desk, institution.institutionId, { file, origin });

const [ours, theirs] = [
  ['a-1001-checking', 'a-1001-savings'],
  ['a-1005-checking', 'a-1005-savings'],
] as const;

test('writes the instructions that no connector has, with a checksum, and delivers each once', async () => {
  await place('leased', theirs);
  await core.take();
  await place('behind-it', theirs);
  await place('in-file', ours, 'Rent, "May"');
  const [file, ...others] = await exported();
  assert.ok(file);
  assert.deepEqual([file.instructions, others], [1, []]);
  assert.match(file.name, /^lakeside-000001-\d{4}-\d\d-\d\d\.csv$/);
  const text = readFileSync(path.join(folder, file.name), 'utf8');
  const lines = text.trimEnd().split('\n');
  assert.match(
    lines[1] ?? '',
    /^in-file,\d+,STANDARD,a-1001-checking,a-1001-savings,1\.50,USD,.*,,"Rent, ""May"""$/,
  );
  const before = text.slice(0, text.indexOf('TRAILER'));
  assert.equal(lines[2], `TRAILER,1,${createHash('sha256').update(before).digest('hex')}`);
  assert.deepEqual(await exported(), []);
  assert.deepEqual(readdirSync(folder), [file.name]);

  rmSync(path.join(folder, file.name));
  await rewriteFile(desk.database, institution, { folder, number: 1 });
  assert.equal(readFileSync(path.join(folder, file.name), 'utf8'), text);
  assert.equal(await rewriteFile(desk.database, institution, { folder, number: 9 }), undefined);
});

test('keeps the accounts of a file from connectors, and its transfers from being cancelled', async () => {
  await place('after-file', ours);
  const given = (await core.take()).map(({ id }) => id);
  assert.deepEqual(given, ['leased', 'behind-it']);
  const cancelled = await bank.post(`${paths.transfers}/in-file/cancel`, {});
  assert.equal(cancelled.body.code, 'transfer_with_core');
});

test('refuses a file that is cut or changed, and takes nothing of it', async () => {
  const accepted = 'in-file,ACCEPTED,c-1,,';
  for (const [lines, trailer, why] of [
    [[accepted], 'TRAILER,1,00', /SHA-256/],
    [[accepted], 'TRAILER,2,00', /1 lines/],
    [[accepted], '', /the file is cut/],
    [[accepted, 'other,MAYBE,,,'], undefined, /csv:3: expected ACCEPTED or REJECTED/],
    [['in-file,REJECTED,,,'], undefined, /a code/],
  ] as const) {
    await assert.rejects(acknowledge(acknowledgement(lines, trailer)), why);
  }
  assert.equal((await statusOf('in-file')).status, 'PENDING');
});

test('takes the outcomes of a file once, and lists the lines that do not count', async () => {
  const file = acknowledgement([
    'in-file,ACCEPTED,c-1,,',
    'behind-it,REJECTED,,NSF,No funds',
    'nobody,ACCEPTED,,,',
  ]);
  const first = await acknowledge(file);
  assert.deepEqual([first.accepted, first.rejected, first.already], [1, 1, 0]);
  assert.deepEqual(
    first.refused.map(({ line, transferId }) => [line, transferId]),
    [[4, 'nobody']],
  );
  assert.equal((await statusOf('in-file')).status, 'COMPLETED');
  assert.equal((await statusOf('behind-it')).failureCode, 'core_rejected');
  const again = await acknowledge(file);
  assert.deepEqual([again.accepted, again.rejected, again.already], [0, 0, 2]);
  const other = await acknowledge(acknowledgement(['in-file,REJECTED,,NSF,']));
  assert.equal(other.refused.length, 1);
  const audited = await service.db.superuser<{ action: string }>(
    `select distinct action from audit_entries where action like 'core.%' order by action`,
  );
  assert.deepEqual(
    audited.map(({ action }) => action),
    ['core.acknowledged', 'core.exported'],
  );
});
