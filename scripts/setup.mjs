// Installs missing packages. Plain JavaScript without dependencies, since it runs before anything is installed, on the
// machine's own Node (20 or newer, ADR 30). The Node that runs the service comes with the packages.
//
// `--development` installs the packages of tests and tools too. Without it, a tree that has the lockfile's production
// packages stays as it is. A new tree is installed beside the old one and replaces it when it is complete.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const packages = path.join(root, 'node_modules');
const lockfile = path.join(root, 'package-lock.json');
const noted = path.join(packages, '.sharedraft-setup');
const ownNode = path.join(packages, '.bin', 'node');
/** Exists during an installation; the new tree is made in it. */
const lock = path.join(root, '.sharedraft-setup.lock');
const patienceMillis = 10 * 60 * 1000;
const development = process.argv.includes('--development');

const [major] = process.versions.node.split('.');
if (Number(major) < 20) {
  process.stderr.write(`Node ${process.versions.node} is too old: install Node 20 or newer.\n`);
  process.exit(1);
}

// A tree without a lockfile is no checkout: its packages came from an installer.
if (existsSync(lockfile) && !isInstalled()) {
  if (!development && holdsProductionPackages()) linkNode(packages);
  else installAlone();
}

function wantedNote(kind) {
  const hash = createHash('sha256')
    .update(readFileSync(lockfile))
    .update(`${process.platform} ${process.arch}`);
  return `${hash.digest('hex')} ${kind}`;
}

function isInstalled() {
  if (!existsSync(noted) || !existsSync(ownNode)) return false;
  const note = readFileSync(noted, 'utf8');
  return note === wantedNote('development') || (!development && note === wantedNote('production'));
}

/** True if each package that the lockfile names for production and this machine is installed in its version. */
function holdsProductionPackages() {
  const wanted = Object.entries(JSON.parse(readFileSync(lockfile, 'utf8')).packages ?? {});
  return (
    wanted.length > 0 &&
    wanted.every(
      ([folder, entry]) => folder === '' || !isNeeded(entry) || versionIn(folder) === entry.version,
    )
  );
}

/** Variants for another C library do not count: their package loads the variant that fits. */
function isNeeded({ dev, optional, os, cpu, libc }) {
  if (dev) return false;
  const fits = (wanted, have) => wanted === undefined || [wanted].flat().includes(have);
  return !optional || (fits(os, process.platform) && fits(cpu, process.arch) && libc === undefined);
}

function versionIn(folder) {
  try {
    return JSON.parse(readFileSync(path.join(root, folder, 'package.json'), 'utf8')).version;
  } catch {
    return undefined;
  }
}

function installAlone() {
  takeLock();
  // Ctrl-C reaches npm as well. This process waits for npm to end; otherwise the lock would remain.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => {});
  try {
    // Another setup may have installed while this one waited.
    if (!isInstalled()) install();
  } finally {
    rmSync(lock, { recursive: true, force: true });
  }
}

function install() {
  process.stderr.write('Installing packages, once: this takes about twenty seconds …\n');
  for (const file of ['package.json', 'package-lock.json', '.npmrc'].filter((name) =>
    existsSync(path.join(root, name)),
  )) {
    copyFileSync(path.join(root, file), path.join(lock, file));
  }
  // A tree with the packages of tests keeps them when it is brought up to date.
  const all = development || (existsSync(noted) && readFileSync(noted, 'utf8').endsWith(' development'));
  const npm = process.env.npm_execpath ? [process.execPath, process.env.npm_execpath] : ['npm'];
  const [command, ...first] = npm;
  const result = spawnSync(
    command,
    [
      ...first,
      'ci',
      all ? '--include=dev' : '--omit=dev',
      '--ignore-scripts',
      // The machine's Node only installs; the Node of the packages meets their engines.
      '--engine-strict=false',
      '--no-audit',
      '--no-fund',
      '--loglevel=error',
    ],
    // npm's own output goes to stderr: stdout belongs to the command that needs the packages.
    { cwd: lock, stdio: ['ignore', 'pipe', 'pipe'], encoding: 'utf8' },
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
  const made = path.join(lock, 'node_modules');
  linkNode(made);
  checkLibraries(path.join(made, '.bin', 'node'));
  writeFileSync(path.join(made, '.sharedraft-setup'), wantedNote(all ? 'development' : 'production'));
  takePlace(made);
}

/** Puts the old tree back if the new one cannot replace it. */
function takePlace(made) {
  const old = path.join(lock, 'old');
  try {
    if (existsSync(packages)) renameSync(packages, old);
    renameSync(made, packages);
  } catch (error) {
    if (existsSync(old)) renameSync(old, packages);
    if (/EACCES|EPERM|EROFS/.test(error.code)) failUnwritable();
    fail(`The folder ${packages} cannot be replaced (${error.code}): run npm ci by hand.`);
  }
}

/** npm 10 removes the link together with the packages of other platforms, which have a command of the same name. */
function linkNode(tree) {
  const link = path.join(tree, '.bin', 'node');
  if (existsSync(link)) return;
  const found = readdirSync(tree).find(
    (name) => /^node-(bin-)?\w+-\w+$/.test(name) && existsSync(path.join(tree, name, 'bin', 'node')),
  );
  if (found === undefined)
    fail(`The packages have no Node for this machine (${process.platform} ${process.arch}).`);
  try {
    rmSync(link, { force: true });
    symlinkSync(path.join('..', found, 'bin', 'node'), link);
  } catch (error) {
    if (/EACCES|EPERM|EROFS/.test(error.code)) failUnwritable();
    throw error;
  }
}

/** Minimal systems lack a library that Node 26 needs; the loader's own message does not name its package. */
function checkLibraries(node) {
  const { stderr } = spawnSync(node, ['--version'], { encoding: 'utf8' });
  const [, library] = /loading shared libraries: (\S+?):/.exec(stderr ?? '') ?? [];
  if (library === undefined) return;
  const install = library.startsWith('libatomic')
    ? 'install it (Debian and Ubuntu: apt-get install libatomic1; Fedora: dnf install libatomic)'
    : 'install the package that has it';
  fail(`This machine lacks the library ${library}, which Node needs: ${install}, then try again.`);
}

function takeLock() {
  const deadline = Date.now() + patienceMillis;
  let isReported = false;
  for (;;) {
    try {
      mkdirSync(lock);
      return;
    } catch (error) {
      if (/EACCES|EPERM|EROFS/.test(error.code)) failUnwritable();
      if (error.code !== 'EEXIST') fail(`The packages could not be installed: ${error.message}`);
    }
    if (!isReported) process.stderr.write('Waiting for another setup of this folder …\n');
    isReported = true;
    // A lock of this age was left by a setup that was killed.
    if (Date.now() - statSync(lock, { throwIfNoEntry: false })?.mtimeMs > patienceMillis) {
      rmSync(lock, { recursive: true, force: true });
    }
    if (Date.now() > deadline)
      fail(
        'Another setup of this folder has not ended in ten minutes. Remove .sharedraft-setup.lock if none is running.',
      );
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
