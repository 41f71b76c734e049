import assert from 'node:assert/strict';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { after, before, test } from 'node:test';
import pg from 'pg';
import { type ImportReport, importExtract } from '../../src/core-system/index.ts';
import { appendEvents } from '../../src/events/index.ts';
import { readEvents } from '../../src/feed/index.ts';
import { Database, embeddedLogin } from '../../src/storage/index.ts';
import { anInstitution } from '../support/builders.ts';
import { runCli, startCli } from '../support/cli.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { eventually } from '../support/desk.ts';
import { type ExtractFolder, extractFolder, extractOf, validExtract } from '../support/extract.ts';
import { startCluster, templateName } from '../support/postgres.ts';
import { dumpTables, importedRows } from '../support/tables.ts';

/* An import that commits once is killed wherever it can be: no row of any table has changed, and the next import does all of it. */

const at = new Date('2026-03-02T12:00:00Z');
const members = 700;

let whole: TestDatabase;
let broken: TestDatabase;
let folder: ExtractFolder;
/** The step of each report of an import without a kill. */
const steps: string[] = [];

before(async () => {
  [whole, broken] = await Promise.all([testDatabase(), testDatabase()]);
  folder = await extractFolder(extractOf(members));
  await importFolder(whole, { onProgress: ({ step }) => void steps.push(step) });
  assert.deepEqual([...new Set(steps)], ['reading', 'checking', 'writing']);
  // Another institution stands in the tables.
  const files = validExtract();
  files['institution.csv'] = (files['institution.csv'] ?? []).map((line) =>
    line.replace(/^fictional,/, 'other,'),
  );
  await using other = await extractFolder(files);
  await importExtract({ database: broken.database, clock: () => at }, other.folder);
  // The first command on a database makes its keys.
  const dry = await runCli(broken, ['import', folder.folder, '--dry-run']);
  assert.equal(dry.code, 0, dry.stderr);
  assert.match(dry.stdout, /an interrupted import changes nothing/);
});
after(async () => {
  await whole.close();
  await broken.close();
  await folder[Symbol.asyncDispose]();
});

type Options = NonNullable<Parameters<typeof importExtract>[2]>;

function importFolder(db: TestDatabase, options: Options = {}): Promise<ImportReport> {
  return importExtract({ database: db.database, clock: () => at }, folder.folder, options);
}

/** Every row except those of the stage, which the next import clears. */
function rowsOf(db: TestDatabase) {
  return dumpTables(db, {
    except: [
      'import_runs',
      'staged_persons',
      'staged_members',
      'staged_member_persons',
      'staged_accounts',
      'staged_holders',
      'staged_rejects',
    ],
  });
}

const importer = `select pid from pg_locks
  where locktype = 'advisory' and classid = 1935893348
    and database = (select oid from pg_database where datname = current_database())`;

/** The server notices later that its client is gone, and may finish the statement first. */
async function untilGone(db: TestDatabase): Promise<void> {
  await eventually(
    () => db.superuser(importer),
    (importers) => importers.length === 0,
  );
}

/** The next import does all of it: its rows equal those of an import without a kill, and the stage is empty. */
async function assertCompletes(db: TestDatabase): Promise<void> {
  const report = await importFolder(db);
  assert.equal(report.openedAccounts, members * 2);
  const { sums, ...rows } = await importedRows(db);
  const { sums: _, ...expected } = await importedRows(whole);
  assert.deepEqual(rows, expected);
  assert.deepEqual([...sums], ['0']);
  const acts = await db.superuser<{ action: string }>(
    `select action from audit_entries join institutions using (institution_id) where code = 'fictional' order by audit_key`,
  );
  assert.deepEqual(
    acts.map(({ action }) => action),
    ['institution.changed', 'import.started', 'import.finished'],
  );
  const left = await db.superuser('select from import_runs union all select from staged_accounts');
  assert.equal(left.length, 0);
}

test('a first import changes no row if its connection is terminated or its command killed at any step, and the next one completes', async () => {
  const untouched = await rowsOf(broken);

  const kills = steps
    .keys()
    .filter((report) => steps[report] === 'writing' || steps[report] !== steps[report - 1]);
  for (const kill of kills) {
    let reports = 0;
    const killed = importFolder(broken, {
      onProgress: async () => {
        if (reports === kill) await broken.superuser(`select pg_terminate_backend(pid) from (${importer}) i`);
        reports += 1;
      },
    });
    // The commit that is lost may be one of the stage.
    await assert.rejects(killed, ({ code }: { code?: string }) =>
      ['database_unavailable', 'outcome_unknown'].includes(code ?? ''),
    );
    await untilGone(broken);
    assert.deepEqual(await rowsOf(broken), untouched, `${kill}: ${steps[kill]}`);
  }

  for (const moment of ['reading', 'writing 10 %', 'writing 100 %']) {
    const child = startCli(broken, ['import', folder.folder]);
    child.stdin.end();
    const closed = once(child, 'close');
    const output = text(child.stdout);
    let errors = '';
    child.stderr.setEncoding('utf8').on('data', (data) => {
      errors += data;
      if (errors.includes(moment)) child.kill('SIGKILL');
    });
    await closed;
    assert.equal(child.signalCode, 'SIGKILL', `${await output}${errors}`);
    await untilGone(broken);
    assert.deepEqual(await rowsOf(broken), untouched, moment);
  }

  await assertCompletes(broken);
});

test('a later import that commits once changes no row if it is killed, and waits for an account that another session holds', async () => {
  await using db = await testDatabase();
  await importFolder(db);
  const files = extractOf(members);
  files['persons.csv'] = (files['persons.csv'] ?? []).map((line) => line.replace(',Ada,', ',Eve,'));
  files['accounts.csv'] = (files['accounts.csv'] ?? []).map((line) => line.replace('.25,open', '.75,open'));
  await using later = await extractFolder(files);
  const untouched = await rowsOf(db);
  const deps = { database: db.database, clock: () => new Date(at.getTime() + 60_000) };
  const options = { adjustBalances: true, asOf: at, commit: 'once' } as const;
  for (const share of [0.3, 1]) {
    const killed = importExtract(deps, later.folder, {
      ...options,
      onProgress: async ({ step, done, of }) => {
        if (step === 'writing' && done >= share * of)
          await db.superuser(`select pg_terminate_backend(pid) from (${importer}) i`);
      },
    });
    await assert.rejects(killed, ({ code }: { code?: string }) =>
      ['database_unavailable', 'outcome_unknown'].includes(code ?? ''),
    );
    await untilGone(db);
    assert.deepEqual(await rowsOf(db), untouched);
  }
  // Longer than a statement of the service waits.
  const slow = db.superuser(
    `with locked as materialized (select account_key from balances where account_id = 'checking-1' for update)
     select pg_sleep(0.9) from locked`,
  );
  const report = await importExtract(deps, later.folder, options);
  await slow;
  assert.equal(report.adjustedAccounts, members);
});

test('the events of other institutions are shown while an import that commits once is written', async () => {
  await using db = await testDatabase();
  const { institutionId } = await anInstitution(db.database);
  // The import holds a connection of its pool.
  const beside = new Database({ connection: db.connection, maxConnections: 2 });
  const shown = async () =>
    (await readEvents(beside, institutionId, { after: null, limit: 10 })).items.length;
  let written = 0;
  try {
    await importFolder(db, {
      onProgress: async ({ step }) => {
        if (step !== 'writing') return;
        written += 1;
        await beside.transaction(institutionId, (tx) =>
          appendEvents(tx, [{ kind: 'member.activated', subjectKey: BigInt(written) }], at),
        );
        await eventually(shown, (count) => count === written);
      },
    });
  } finally {
    await beside.close();
  }
  assert.ok(written >= 2, String(written));
});

test('a first import changes no row if PostgreSQL is killed, whose recovery empties the stage', async () => {
  const cluster = await startCluster();
  try {
    const connection = { ...cluster.connection, database: templateName };
    const ask = async <Row extends object>(text: string): Promise<Row[]> => {
      const client = new pg.Client({ ...connection });
      // The server may end the connection at any moment.
      client.on('error', () => {});
      await client.connect();
      try {
        return (await client.query<Row>(text)).rows;
      } finally {
        await client.end().catch(() => {});
      }
    };
    const database = new Database({ connection: { ...connection, user: embeddedLogin }, maxConnections: 2 });
    try {
      const deps = { database, clock: () => at };
      let isKilled = false;
      const killed = importExtract(deps, folder.folder, {
        onProgress: async ({ step }) => {
          if (step !== 'writing' || isKilled) return;
          isKilled = true;
          // The server ends all its processes when one of them is killed, and recovers from its log.
          const [backend] = await ask<{ pid: number }>(importer);
          process.kill(backend?.pid as number, 'SIGKILL');
        },
      });
      await assert.rejects(killed);
      assert.ok(isKilled);
      const left = await eventually(
        () =>
          ask<{ rows: string }>(
            `select (select count(*) from institutions) + (select count(*) from persons) + (select count(*) from outbox)
                    + (select count(*) from entries) + (select count(*) from audit_entries)
                    + (select count(*) from staged_persons) as rows`,
          ).catch(() => []),
        (rows) => rows.length === 1,
      );
      assert.equal(left[0]?.rows, '0');
      assert.equal((await importExtract(deps, folder.folder)).openedAccounts, members * 2);
    } finally {
      await database.close();
    }
  } finally {
    await cluster.stop();
  }
});
