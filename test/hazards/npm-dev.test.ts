import assert from 'node:assert/strict';
import { chmod, cp, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { send } from '../support/demo.ts';
import {
  childrenOf,
  eventually,
  exitOf,
  freePort,
  isAlive,
  type Launched,
  launch,
  postmasterOf,
} from '../support/processes.ts';

/* `npm run dev` in a copy of the sources, which the tests change. They run in order and share one service. */

const root = fileURLToPath(new URL('../..', import.meta.url));
const needed = ['src', 'scripts', 'migrations', 'sql', 'docs/problems', 'examples', 'package.json'];

let copy: string;
let dataDir: string;
let address: string;
let dev: Launched;

before(async () => {
  copy = await mkdtemp(path.join(os.tmpdir(), 'sharedraft-dev-'));
  await chmod(copy, 0o755);
  dataDir = path.join(copy, 'data');
  for (const name of needed) await cp(path.join(root, name), path.join(copy, name), { recursive: true });
  await symlink(path.join(root, 'node_modules'), path.join(copy, 'node_modules'));
  await writeFile(path.join(copy, '.env'), '');
  const port = await freePort();
  address = `http://127.0.0.1:${port}`;
  dev = launch([process.execPath, path.join(copy, 'scripts/dev.ts')], {
    DATA_DIR: dataDir,
    PORT: port,
    NODE_COMPILE_CACHE: path.join(copy, 'compiled'),
  });
  await eventually('the service has started', async () => / started in \d+ ms/.test(dev.output()));
});

after(async () => {
  dev.child.kill('SIGTERM');
  await exitOf(dev.child);
  await rm(copy, { recursive: true, force: true });
});

const versionFile = 'src/shared/process/program-version.ts';
const change = (file: string, text: string) => writeFile(path.join(copy, file), text);
const helpers = async () => {
  const database = await postmasterOf(dataDir);
  return (await childrenOf(dev.child.pid as number)).filter((pid) => pid !== database);
};

test('serves a changed source from a process that waited for it, on the same database', async () => {
  const database = await postmasterOf(dataDir);
  await eventually('one process serves and one waits', async () => (await helpers()).length === 2);
  const earlier = await helpers();
  await change(versionFile, "export const programVersion: string = 'changed';\n");
  await eventually('the change is served', async () => {
    const { body } = await send(address, 'GET', '/version');
    return body.version === 'changed' && (await helpers()).length === 2;
  });
  const still = (await helpers()).filter((pid) => earlier.includes(pid));
  assert.equal(still.length, 1, 'the process that waited serves, and the earlier one has ended');
  assert.equal(await postmasterOf(dataDir), database);
  assert.ok(isAlive(database));
});

test('waits for the next change after one that does not run, and then serves again', async () => {
  await change(versionFile, 'export const programVersion: string = ;\n');
  await eventually('it waits', async () => dev.output().includes('waits for a change'));
  await change(versionFile, "export const programVersion: string = 'mended';\n");
  await eventually('it serves', async () => {
    const { body } = await send(address, 'GET', '/version');
    return body.version === 'mended';
  });
});

test('reads .env again at each restart', async () => {
  const headers = { origin: 'https://app.test' };
  const before = await send(address, 'GET', '/version', { headers });
  assert.equal(before.headers.get('access-control-allow-origin'), null);
  await change('.env', 'CORS_ORIGINS=https://app.test\n');
  await eventually('the setting is in force', async () => {
    const answer = await send(address, 'GET', '/version', { headers });
    return answer.headers.get('access-control-allow-origin') === 'https://app.test';
  });
});

test('ends the service, the waiting process and the database with npm run dev', async () => {
  await eventually('one process serves and one waits', async () => (await helpers()).length === 2);
  const all = [...(await helpers()), await postmasterOf(dataDir)];
  dev.child.kill('SIGTERM');
  await exitOf(dev.child);
  await eventually('all have ended', async () => !all.some(isAlive));
});
