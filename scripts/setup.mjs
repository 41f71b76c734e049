// Installs what is missing. Plain JavaScript without dependencies: it runs on whatever Node the machine has, before
// anything is installed. The Node that the project runs on comes with the packages.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const noted = path.join(root, 'node_modules', '.sharedraft-setup');
const ownNode = path.join(root, 'node_modules', '.bin', 'node');
const lock = path.join(root, '.sharedraft-setup.lock');
const patienceMillis = 10 * 60 * 1000;

const wanted = createHash('sha256')
  .update(readFileSync(path.join(root, 'package-lock.json')))
  .update(`${process.platform} ${process.arch}`)
  .digest('hex');

if (!isInstalled()) {
  takeLock();
  // Ctrl-C reaches npm as well, and this waits for its end: else the lock would stay, and npm go on behind one's back.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => {});
  try {
    // Another setup may have been at it while this one waited.
    if (!isInstalled()) install();
  } finally {
    rmSync(lock, { recursive: true, force: true });
  }
}

function isInstalled() {
  return existsSync(noted) && existsSync(ownNode) && readFileSync(noted, 'utf8') === wanted;
}

function install() {
  process.stderr.write('Installing packages, once: this takes about twenty seconds …\n');
  const npm = process.env.npm_execpath ? [process.execPath, process.env.npm_execpath] : ['npm'];
  const [command, ...first] = npm;
  const result = spawnSync(
    command,
    [...first, 'ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'],
    // What npm would print goes to stderr: stdout belongs to the command that needs the packages.
    { cwd: root, stdio: ['ignore', 'pipe', 'pipe'], encoding: 'utf8' },
  );
  if (result.error) fail(`npm could not be run: ${result.error.message}`);
  if (result.status !== 0) {
    const said = `${result.stderr}${result.stdout}`;
    if (result.signal !== null || /error signal SIG/.test(said))
      fail('Interrupted: the packages are not installed.');
    if (/ENOSPC/.test(said)) fail('The packages could not be installed: the disk is full.');
    if (/EACCES|EPERM|EROFS/.test(said)) failUnwritable();
    if (/ENOTFOUND|ECONNREFUSED|ETIMEDOUT|EAI_AGAIN|network/i.test(said)) {
      fail('The packages could not be installed: the npm registry cannot be reached.');
    }
    fail(`The packages could not be installed:\n${said.trim()}`);
  }
  linkNode();
  writeFileSync(noted, wanted);
}

/**
 * npm 10 takes the link away again with the packages of other platforms, which it leaves out and which all have a command of
 * this name.
 */
function linkNode() {
  if (existsSync(ownNode)) return;
  const packages = path.join(root, 'node_modules');
  const found = readdirSync(packages).find(
    (name) => /^node-(bin-)?\w+-\w+$/.test(name) && existsSync(path.join(packages, name, 'bin', 'node')),
  );
  if (found === undefined)
    fail(`The packages have no Node for this machine (${process.platform} ${process.arch}).`);
  rmSync(ownNode, { force: true });
  symlinkSync(path.join('..', found, 'bin', 'node'), ownNode);
}

function takeLock() {
  const deadline = Date.now() + patienceMillis;
  let told = false;
  for (;;) {
    try {
      mkdirSync(lock);
      return;
    } catch (error) {
      if (/EACCES|EPERM|EROFS/.test(error.code)) failUnwritable();
      if (error.code !== 'EEXIST') fail(`The packages could not be installed: ${error.message}`);
    }
    if (!told) process.stderr.write('Another setup of this folder is under way, and is waited for …\n');
    told = true;
    // A setup that was killed leaves its lock behind; none takes this long.
    if (Date.now() - statSync(lock, { throwIfNoEntry: false })?.mtimeMs > patienceMillis) {
      rmSync(lock, { recursive: true, force: true });
    }
    if (Date.now() > deadline) fail('Another setup of this folder does not end.');
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
  }
}

function failUnwritable() {
  fail(`The packages could not be installed: ${root} cannot be written.`);
}

function fail(sentence) {
  process.stderr.write(`${sentence}\n`);
  rmSync(lock, { recursive: true, force: true });
  process.exit(1);
}
