import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { examine } from '../../src/app/doctor/examine.ts';
import { CellDirectory } from '../../src/cell-directory/index.ts';
import { readPublication } from '../../src/cells/index.ts';
import { type Finding, judgeIndexBloat, selectLargestIndexes } from '../../src/operators/index.ts';
import { systemClock } from '../../src/storage/index.ts';
import { commandsOn } from '../support/commands.ts';
import { testDirectory } from '../support/database.ts';
import { asSuperuser } from '../support/postgres.ts';
import { testSecretKey } from '../support/secret-key.ts';
import { startTestService, type TestService } from '../support/service.ts';

let service: TestService;
before(async () => {
  service = await startTestService();
});
after(() => service.close());

const environment = (more: Readonly<Record<string, string>> = {}) => ({
  PUBLIC_URL: 'https://bank.example',
  DATABASE_URL: service.db.url,
  SECRET_KEY: testSecretKey,
  ...more,
});

async function findings(more: Readonly<Record<string, string>> = {}): Promise<readonly Finding[]> {
  return Array.fromAsync(examine(environment(more)));
}

/** The findings that are not ok, without those of institutions that were never reconciled. */
async function bad(more: Readonly<Record<string, string>> = {}): Promise<string[]> {
  return (await findings(more))
    .filter(({ verdict, check }) => verdict !== 'ok' && !check.startsWith('reconcile'))
    .map(({ check, verdict }) => `${check} ${verdict}`);
}

test('finds nothing wrong with a running service, and writes nothing', async () => {
  const rows = () =>
    service.db.superuser(
      `select (select count(*) from audit_entries) as audit, (select count(*) from signing_keys) as keys`,
    );
  const standing = await rows();
  const all = await findings();
  assert.deepEqual(await bad(), []);
  assert.deepEqual(
    all.filter(({ check }) => check.startsWith('reconcile')).map(({ verdict }) => verdict),
    ['warning', 'warning'],
  );
  for (const check of [
    'configuration',
    'TLS',
    'schema',
    'rights',
    'clock',
    'indexes',
    'index bloat',
    'disk',
    'SECRET_KEY',
    'feed of events',
  ])
    assert.ok(
      all.some((one) => one.check === check),
      check,
    );
  assert.deepEqual(await rows(), standing);
  const disk = all.find(({ check }) => check === 'disk');
  assert.match(disk?.detail ?? '', /^Not examined: .* takes [\d,]+ MB; the largest tables: \w+ \d+ \w+, /);
});

test('reports every wrong setting, and examines nothing with them', async () => {
  const [only, ...others] = await findings({ PORT: 'http', WORKERS: '0' });
  assert.deepEqual(others, []);
  assert.equal(only?.verdict, 'problem');
  assert.match(only?.detail ?? '', /PORT: expected .*; WORKERS: expected/);
});

test('reports an unreachable database, and an address without TLS', async () => {
  const url = 'postgresql://nobody@127.0.0.1:1/none';
  assert.deepEqual(await bad({ DATABASE_URL: url, PUBLIC_URL: 'http://bank.example' }), [
    'PUBLIC_URL warning',
    'connection problem',
  ]);
});

test('reports another SECRET_KEY than that of the database', async () => {
  assert.deepEqual(await bad({ SECRET_KEY: Buffer.alloc(32, 9).toString('base64') }), ['SECRET_KEY problem']);
});

test('reports a missing index and an invalid one, each with the statement that cures it', async () => {
  await service.db.superuser('drop index persons_by_name');
  const [missing] = (await findings()).filter(({ check }) => check === 'indexes');
  assert.match(missing?.detail ?? '', /Missing: persons_by_name/);
  await service.db.superuser(
    `update pg_index set indisvalid = false where indexrelid = 'persons_by_email'::regclass`,
  );
  const [invalid] = (await findings()).filter(({ check }) => check === 'indexes');
  assert.match(invalid?.cure ?? '', /reindex index concurrently persons_by_email/);
  await service.db.superuser('reindex index persons_by_email');
  await service.db.superuser(
    `update pg_index set indisvalid = true where indexrelid = 'persons_by_email'::regclass`,
  );
});

test('finds an index that was bloated on purpose, until it is rebuilt', async () => {
  const bloat = async () => {
    const sizes = await service.service.context.database.directory((db) => selectLargestIndexes(db, 50));
    return judgeIndexBloat(sizes.filter(({ name }) => name.startsWith('of_bloat'))).detail;
  };
  await service.db.superuser('create table of_bloat (one integer not null, key bigint not null)');
  await service.db.superuser('create index of_bloat_by_key on of_bloat (one, key)');
  await service.db.superuser('insert into of_bloat select 1, key from generate_series(1, 30000) key');
  await service.db.superuser('analyze of_bloat');
  assert.match(await bloat(), /at most twice the pages/);
  // A tenth of the entries stays on every page, so that vacuum frees none.
  await service.db.superuser('delete from of_bloat where key % 10 <> 0');
  await service.db.superuser('vacuum of_bloat');
  assert.match(await bloat(), /^of_bloat_by_key has 1 MB and needs about 1 MB\.$/);
  await service.db.superuser('reindex index concurrently of_bloat_by_key');
  assert.equal(await bloat(), 'No index has 10 MB.');
  await service.db.superuser('drop table of_bloat');
});

test('reports a function that differs from this version, and stops there', async () => {
  const [row] = await service.db.superuser<{ checksum: string }>(
    `select checksum from schema_functions where name = 'check_entries.sql'`,
  );
  await service.db.superuser(
    `update schema_functions set checksum = 'other' where name = 'check_entries.sql'`,
  );
  const all = await findings();
  assert.equal(all.at(-1)?.check, 'schema');
  assert.match(all.at(-1)?.cure ?? '', /sharedraft migrate/);
  await service.db.superuser(`update schema_functions set checksum = $1 where name = 'check_entries.sql'`, [
    row?.checksum,
  ]);
});

test('reports a login that row-level security does not bind', async () => {
  const owner = service.db.owner;
  const url = `postgresql://${owner.user}@localhost/${owner.database}?host=${encodeURIComponent(owner.host)}`;
  assert.deepEqual((await bad({ DATABASE_URL: url })).slice(0, 1), ['rights problem']);
});

test('names an embedded database that does not exist, and makes none', async () => {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'sharedraft-doctor-'));
  try {
    const all = await Array.fromAsync(examine({ DATA_DIR: folder }));
    assert.equal(all.at(-1)?.check, 'database');
    assert.deepEqual(await readdir(folder), []);
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('the command prints a line for each check, or documents, and fails if there is a problem', async () => {
  const run = commandsOn(service.db);
  const text = await run('doctor');
  assert.match(text.stdout, /^ok +schema: /m);
  const json = await run('doctor', '--json');
  const rows = json.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  assert.deepEqual(Object.keys(rows[0]), ['check', 'verdict', 'detail', 'cure']);
  assert.equal(json.code, 1, 'the index that an earlier test dropped');
  await service.db.superuser(
    `create index persons_by_name on persons (institution_id, (lower(last_name) collate "C"), (lower(first_name) collate "C"), person_key)`,
  );
  assert.equal((await run('doctor')).code, 0);
});

test('examines each standby, and tells one that takes writes or is away', async () => {
  const absent = service.db.url
    .replace(/\/\/[^@/]*@?/, (login) => login)
    .replace(/host=[^&]*/, 'host=%2Fnowhere');
  for (const [url, expected] of [
    [service.db.url, /takes writes/],
    [absent, /cannot be reached/],
  ] as const) {
    const [found, ...others] = (await findings({ STANDBY_DATABASE_URL: url })).filter(
      ({ check }) => check === 'standby',
    );
    assert.deepEqual([found?.verdict, others], ['warning', []]);
    assert.match(found?.detail ?? '', expected);
  }
});

test('compares the cell with the directory of the cells, and changes nothing there', async () => {
  await using directory = await testDirectory();
  const rows = (text: string) =>
    asSuperuser(directory.owner, async (client) => (await client.query(text)).rows);
  const found = async (url = directory.url) =>
    (await findings({ DIRECTORY_DATABASE_URL: url }))
      .filter(({ check }) => check === 'directory of the cells')
      .map(({ verdict, detail }) => `${verdict}: ${detail}`);
  const only = async (expected: RegExp, url?: string) => {
    const [first = '', ...others] = await found(url);
    assert.match(first, expected);
    assert.deepEqual(others, []);
  };
  await only(/^problem: This database is no cell/);
  await service.db.superuser(
    `insert into cell (name, first_number, last_number, set_at) values ('east', 1, 999, now())`,
  );
  await only(/^problem: The directory does not have the cell "east"/);

  const { database, auth } = service.service.context;
  const settings = { publicUrl: environment().PUBLIC_URL, vault: auth.vault, clock: systemClock };
  const cell = await database.directory((db) => readPublication(db, settings));
  assert.ok(cell);
  const east = new CellDirectory({ url: directory.url, clock: systemClock, actor: 'a test' });
  try {
    await east.register(cell.own, 'http://127.0.0.1:1001');
    await only(/^warning: \d+ names or keys are not published/);
    assert.deepEqual(await rows('select from directory_institutions'), [], 'a trial is undone');
    await east.publish(cell.own, cell.publication);
    await only(/^ok: It has what this cell has/);

    await rows(`insert into directory_cells select 'west', address, 1001, 1999, 'serving', '0.0.1', schema_version, public_url,
                  fingerprint, now() from directory_cells where name = 'east'`);
    assert.match((await found()).join('\n'), /^ok: .*\nwarning: The cell "west" has version 0\.0\.1/);
    await rows(
      `update directory_cells set program = (select program from directory_cells where name = 'east')`,
    );
    const [client] = cell.publication.clients;
    await rows(`insert into directory_institutions values (1001, 'harbor-west', 'west', now());
                update directory_clients set institution_id = 1001 where client_id = '${client?.clientId}'`);
    await only(
      new RegExp(`^problem: The client id "${client?.clientId}" belongs to the institution "harbor-west"`),
    );
    await rows(
      `update directory_clients set institution_id = ${client?.institutionId} where institution_id = 1001`,
    );
    await rows(
      `update directory_institutions set cell = 'west' where institution_id = ${client?.institutionId}`,
    );
    await only(/^problem: "\w+" is served here, and the directory says that the cell "west" serves it/);
    await rows(`update directory_institutions set cell = 'east' where institution_id < 1001`);
    await rows(
      `update directory_cells set fingerprint = decode(repeat('ab', 32), 'hex') where name = 'west'`,
    );
    await only(/^problem: The cell "west" has another SECRET_KEY/);
    await rows(`update directory_cells set public_url = 'https://other.example' where name = 'west'`);
    await only(
      /^problem: PUBLIC_URL is https:\/\/bank\.example here, and https:\/\/other\.example for the cell "west"/,
    );
    await only(
      /^problem: The directory cannot be reached/,
      directory.url.replace(/host=[^&]*/, 'host=%2Fnowhere'),
    );
    const owner = directory.url.replace(/\/\/[^@]*@/, `//${directory.owner.user}@`);
    await only(/^problem: .*DIRECTORY_DATABASE_URL/, owner);
  } finally {
    await east.close();
    await service.db.superuser('delete from cell');
  }
});
