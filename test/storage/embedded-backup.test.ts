import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, globSync } from 'node:fs';
import { appendFile, chmod, cp, mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { backUp, restore } from '../../src/app/backup/backup.ts';
import { type Config, loadConfig, type Secrets } from '../../src/app/config.ts';
import { openAppContext } from '../../src/app/context.ts';
import { loadDemoWhenEmpty } from '../../src/app/demo/demo.ts';
import { type Service, startService } from '../../src/app/service.ts';
import { chains, verifyChain, wholeService } from '../../src/events/index.ts';
import { findInstitutionByCode, listInstitutions } from '../../src/institutions/index.ts';
import { reconcile } from '../../src/reconciliation/index.ts';
import { type DemoCaller, memberOf, paths } from '../support/demo.ts';

/* The service on an embedded database of its own, whose backup is taken while transfers are posted. */

const root = fileURLToPath(new URL('../..', import.meta.url));
const origin = {
  transactionId: randomUUID(),
  address: null,
  operator: { user: 'olive', host: 'teller-1' },
};
let parent: string;
let service: Service;
let member: DemoCaller;
before(async () => {
  parent = await mkdtemp(path.join(os.tmpdir(), 'sharedraft-backup-'));
  await chmod(parent, 0o755);
  const { config, secrets } = settings('data');
  service = await startService(config, secrets, {
    log: () => {},
    beforeListening: async (context) => {
      await loadDemoWhenEmpty(context);
    },
  });
  member = await memberOf(service, 'demo.member', 'demo-member-password');
});
after(async () => {
  await service?.close();
  await rm(parent, { recursive: true, force: true });
});

function settings(
  folder: string,
  more: Record<string, string> = {},
): { readonly config: Config; readonly secrets: Secrets } {
  return loadConfig({
    PORT: '0',
    PUBLIC_URL: 'http://sharedraft.test',
    DATA_DIR: path.join(parent, folder),
    LOG_LEVEL: 'silent',
    DEMO_CORE: 'false',
    ...more,
  });
}

const take = (name: string, withSecretKey = false) =>
  backUp(settings('data').config, { folder: path.join(parent, name), withSecretKey, origin });

/** Posts transfers until `work` has ended; returns the ids of those that were confirmed before it began and at all. */
async function whilePosting(work: () => Promise<unknown>): Promise<{ early: string[]; all: string[] }> {
  const all: string[] = [];
  const post = async () => {
    const id = `backup-${randomUUID()}`;
    const body = { id, fromAccountId: 'a-1001-checking', toAccountId: 'a-1001-savings', amount: 0.01 };
    const { status, text } = await member.post(paths.transfers, body);
    assert.equal(status, 201, text);
    all.push(id);
  };
  for (let count = 0; count < 5; count++) await post();
  const early = [...all];
  let isDone = false;
  const working = work().finally(() => {
    isDone = true;
  });
  while (!isDone) await post();
  await working;
  return { early, all };
}

test('a backup under load restores to books that agree, an intact audit and a new epoch of events', async () => {
  const { early, all } = await whilePosting(() => take('night', true));
  await restore(...both(settings('restored')), { folder: path.join(parent, 'night'), origin });
  const context = await openAppContext(...both(settings('restored')), 'borrow', () => {});
  try {
    for (const { institutionId, code } of await context.database.directory(listInstitutions)) {
      const findings: unknown[] = [];
      await reconcile(context.database, institutionId, {
        at: context.clock(),
        onProgress: () => {},
        onFinding: (finding) => findings.push([code, finding]),
      });
      assert.deepEqual(findings, []);
      for (const chain of chains) {
        const { broken } = await verifyChain(context.database, institutionId, chain, [], false);
        assert.equal(broken, undefined);
      }
    }
    const lakeside = await context.database.directory((db) => findInstitutionByCode(db, 'lakeside'));
    assert.ok(lakeside);
    const ask = <Row extends object>(text: string, institutionId = lakeside.institutionId) =>
      context.database.read(
        institutionId,
        async (db) => (await db.query<Row>({ name: `test ${randomUUID()}`, text }, [])).rows,
      );
    const rows = await ask<{ id: string }>(
      `select transfer_id as id from transfers where transfer_id like 'backup-%'`,
    );
    const kept = rows.map(({ id }) => id);
    assert.deepEqual(
      early.toSorted().filter((id) => !kept.includes(id)),
      [],
    );
    assert.deepEqual(
      kept.filter((id) => !all.includes(id)),
      [],
    );
    const [epoch] = await ask<{ epoch: number }>('select max(epoch) as epoch from event_epochs');
    assert.equal(epoch?.epoch, 1);
    const acts = await ask<{ action: string }>(
      `select action from audit_entries where action like 'database.%'`,
      wholeService,
    );
    assert.deepEqual(
      acts,
      [{ action: 'database.restored' }],
      'the entry of the backup is newer than its state',
    );
  } finally {
    await context.close();
  }
});

test('a backup leaves an audit entry with its operator, and files that only their owner may read', async () => {
  const [entry] = await service.context.database.read(wholeService, async (db) => {
    const text = `select operator, after_change as after from audit_entries where action = 'database.backed_up'`;
    return (await db.query<{ operator: string; after: object }>({ name: 'backed_up', text }, [])).rows;
  });
  assert.equal(entry?.operator, 'olive');
  assert.partialDeepStrictEqual(entry?.after, { folder: path.join(parent, 'night'), withSecretKey: true });
  for (const name of ['base.tar', 'backup.json', 'secret.key']) {
    assert.equal((await stat(path.join(parent, 'night', name))).mode & 0o777, 0o600);
  }
});

test('refuses to restore over a database, and to back up into a folder that exists', async () => {
  const folder = path.join(parent, 'night');
  await assert.rejects(
    restore(...both(settings('data')), { folder, origin }),
    /There is a database in .*data already\. Set DATA_DIR to a new folder/,
  );
  await assert.rejects(take('night'), /night exists\. Name a new folder/);
  assert.equal((await member.get(paths.accounts)).status, 200);
});

test('refuses to restore an archive that was changed, or data without its key, and leaves no database', async () => {
  const changed = path.join(parent, 'changed');
  await cp(path.join(parent, 'night'), changed, { recursive: true });
  await appendFile(path.join(changed, 'base.tar'), 'x');
  await assert.rejects(
    restore(...both(settings('new')), { folder: changed, origin }),
    /base\.tar is not as it was written/,
  );
  await rm(path.join(parent, 'night', 'secret.key'));
  await assert.rejects(
    restore(...both(settings('new')), { folder: path.join(parent, 'night'), origin }),
    /has no secret\.key\. Put the file into/,
  );
  assert.equal(existsSync(path.join(parent, 'new', 'postgres')), false);
});

test('a backup that is killed is either missing or complete, and the next one succeeds', async () => {
  const target = path.join(parent, 'killed');
  const child = spawn(process.execPath, ['src/main.ts', 'backup', target], {
    cwd: root,
    env: { PATH: process.env.PATH, DATA_DIR: path.join(parent, 'data') },
    stdio: 'ignore',
  });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  while (globSync(`${target}*/base.tar`).length === 0 && child.exitCode === null)
    await new Promise((resolve) => setTimeout(resolve, 2));
  child.kill('SIGKILL');
  await ended;
  const [unfinished] = globSync(`${target}.unfinished-*`);
  if (unfinished === undefined) {
    // The kill came after the end.
    assert.match(await readFile(path.join(target, 'backup.json'), 'utf8'), /"sha256"/);
  } else {
    assert.equal(existsSync(target), false);
    await assert.rejects(
      restore(...both(settings('new')), { folder: unfinished, origin }),
      /is no complete backup: backup\.json cannot be read/,
    );
  }
  const { manifest } = await take('after-the-kill');
  const { size } = await stat(path.join(parent, 'after-the-kill', 'base.tar'));
  assert.equal(size, manifest.archive.bytes);
});

test('refuses to back up a server of your own, and names its tools', async () => {
  const { config } = settings('data', {
    DATABASE_URL: 'postgres://app@localhost/bank',
    SECRET_KEY: '11'.repeat(32),
  });
  await assert.rejects(
    backUp(config, { folder: path.join(parent, 'own'), withSecretKey: false, origin }),
    /for the embedded database\. Back up your own server with its tools/,
  );
});

function both({ config, secrets }: ReturnType<typeof settings>): [Config, Secrets] {
  return [config, secrets];
}
