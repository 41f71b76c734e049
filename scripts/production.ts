// Follows docs/production.md as a new operator would: runs every shell block of the page, in its order, on a bare Debian machine.
//
//   node scripts/production.ts                    makes the machine, boots it and walks; about five minutes
//   node scripts/production.ts --base ROOT        starts from a copy of this root made by debootstrap
//   node scripts/production.ts --keep             leaves the machine's folder for a look
//
// The machine is a root made by debootstrap, booted with its own systemd by systemd-nspawn, on this machine's network. It gets no more than
// the page asks its reader for: Node with npm, a certificate of bank.example, an extract of a core, and a repository with two releases (the
// commit before the last one that changed migrations, and this commit). Needs Debian, root, the packages debootstrap and systemd-container,
// and Debian's and npm's registries. Prints a line a block, and exits with 1 at the first command that fails, with 2 after `skip:` and the
// missing parts.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { writeExtract } from '../bench/extract.ts';
import { blocksOf, type ShellBlock } from './production/blocks.ts';

const { values } = parseArgs({ options: { base: { type: 'string' }, keep: { type: 'boolean' } } });
const repository = fileURLToPath(new URL('..', import.meta.url));
const page = 'docs/production.md';
/** Ports of the page; the machine shares this one's network. */
const ports = [80, 443, 5432, 5433, 8080, 8081, 9090, 9464];
const bootSeconds = 60;

const say = (text: string) => process.stdout.write(`${text}\n`);

const missing = await missingParts();
if (missing.length > 0) {
  say(`skip: production: ${missing.join(', ')}`);
  process.exit(2);
}
const folder = mkdtempSync(path.join(os.tmpdir(), 'sharedraft-production-'));
const root = path.join(folder, 'root');
let machine: ChildProcess | undefined;
let failed = false;
try {
  makeRoot();
  await giveWhatTheReaderHas();
  machine = await boot();
  failed = !(await walk(blocksOf(readFileSync(path.join(repository, page), 'utf8'))));
} finally {
  await powerOff();
  if (values.keep) say(`The machine's folder: ${folder}`);
  else rmSync(folder, { recursive: true, force: true });
}
process.exit(failed ? 1 : 0);

async function missingParts(): Promise<string[]> {
  const parts: string[] = [];
  if (process.getuid?.() !== 0) parts.push('root');
  if (!existsSync('/etc/debian_version')) parts.push('Debian');
  for (const program of ['debootstrap', 'systemd-nspawn', 'nsenter', 'git', 'openssl', 'npm']) {
    if (spawnSync('which', [program]).status !== 0) parts.push(`${program} is missing`);
  }
  for (const port of ports) if (!(await isFree(port))) parts.push(`port ${port} is taken`);
  return parts;
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', () => resolve(false));
    server.listen(port, () => server.close(() => resolve(true)));
  });
}

function run(program: string, ...words: string[]): string {
  const { status, stdout, stderr } = spawnSync(program, words, { encoding: 'utf8', cwd: repository });
  if (status !== 0) throw new Error(`${program} ${words.join(' ')}: ${stderr || stdout}`);
  return stdout.trim();
}

/** A minimal Debian of this machine's release, with its sources of packages, its authorities and its settings of npm. */
function makeRoot(): void {
  if (values.base) run('cp', '-a', values.base, root);
  else {
    const release = /VERSION_CODENAME=(\S+)/.exec(readFileSync('/etc/os-release', 'utf8'))?.[1] ?? 'stable';
    const packages = ['systemd', 'systemd-sysv', 'dbus', 'ca-certificates'];
    run('debootstrap', '--variant=minbase', `--include=${packages.join(',')}`, release, root);
  }
  rmSync(path.join(root, 'etc/apt'), { recursive: true });
  cpSync('/etc/apt', path.join(root, 'etc/apt'), { recursive: true });
  cpSync('/usr/share/keyrings', path.join(root, 'usr/share/keyrings'), { recursive: true });
  cpSync('/etc/ssl/certs/ca-certificates.crt', path.join(root, 'etc/ssl/certs/ca-certificates.crt'), {
    dereference: true,
  });
  const npmSettings = path.join(os.homedir(), '.npmrc');
  if (existsSync(npmSettings)) cpSync(npmSettings, path.join(root, 'root/.npmrc'));
  appendFileSync(path.join(root, 'etc/hosts'), '127.0.0.1 localhost db.example bank.example\n');
}

async function giveWhatTheReaderHas(): Promise<void> {
  giveNode();
  giveCertificate();
  giveReleases();
  const extract = path.join(root, 'srv/extract');
  await writeExtract(extract, 200);
  const institution = path.join(extract, 'institution.csv');
  writeFileSync(institution, readFileSync(institution, 'utf8').replace('bench,Bench', 'northlake,Northlake'));
}

/** The Node and npm of this machine that are on its PATH. The packages bring the Node that serves. */
function giveNode(): void {
  const npm = path.resolve(realpathSync(run('which', 'npm')), '../..');
  const node = process.env.npm_node_execpath ?? '/usr/bin/node';
  mkdirSync(path.join(root, 'usr/local/lib/node_modules'), { recursive: true });
  cpSync(realpathSync(node), path.join(root, 'usr/local/bin/node'));
  cpSync(npm, path.join(root, 'usr/local/lib/node_modules/npm'), { recursive: true });
  for (const name of ['npm', 'npx']) {
    run('ln', '-s', `../lib/node_modules/npm/bin/${name}-cli.js`, path.join(root, 'usr/local/bin', name));
  }
}

/** A certificate of bank.example by an authority that the machine trusts. */
function giveCertificate(): void {
  const file = (name: string) => path.join(folder, name);
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
  run(
    'openssl',
    ...['req', '-x509', ...key, '-days', '2', '-subj', '/CN=Authority of the walk'],
    ...['-keyout', file('ca.key'), '-out', file('ca.pem')],
  );
  run(
    'openssl',
    ...['req', ...key, '-subj', '/CN=bank.example', '-keyout', file('bank.key'), '-out', file('bank.csr')],
  );
  writeFileSync(file('names'), 'subjectAltName=DNS:bank.example');
  run(
    'openssl',
    ...['x509', '-req', '-in', file('bank.csr'), '-CA', file('ca.pem'), '-CAkey', file('ca.key')],
    ...['-CAcreateserial', '-days', '2', '-extfile', file('names'), '-out', file('bank.crt')],
  );
  mkdirSync(path.join(root, 'etc/haproxy'), { recursive: true });
  writeFileSync(
    path.join(root, 'etc/haproxy/bank.pem'),
    readFileSync(file('bank.crt'), 'utf8') + readFileSync(file('bank.key'), 'utf8'),
  );
  appendFileSync(
    path.join(root, 'etc/ssl/certs/ca-certificates.crt'),
    `\n${readFileSync(file('ca.pem'), 'utf8')}`,
  );
}

/** RELEASE is the version before the newest migration, so that the upgrade to NEXT, this commit, has something to migrate. */
function giveReleases(): void {
  const bare = path.join(root, 'srv/sharedraft.git');
  run('git', 'clone', '--quiet', '--bare', '--no-hardlinks', repository, bare);
  const next = run('git', 'rev-parse', 'HEAD');
  const before = run('git', 'rev-parse', `${run('git', 'log', '-1', '--format=%H', '--', 'migrations')}^`);
  // A version older than the page lacks files that the page installs.
  const hasFiles = spawnSync('git', ['cat-file', '-e', `${before}:ops/systemd/sharedraft`]).status === 0;
  run('git', '--git-dir', bare, 'tag', 'RELEASE', hasFiles ? before : next);
  run('git', '--git-dir', bare, 'tag', 'NEXT', next);
}

async function boot(): Promise<ChildProcess> {
  const nspawn = spawn(
    'systemd-nspawn',
    [
      ...['--quiet', `--directory=${root}`, '--machine=sharedraft-production', '--boot'],
      ...['--register=no', '--keep-unit', '--resolv-conf=copy-host', '--console=pipe'],
    ],
    { stdio: ['ignore', 'ignore', 'inherit'] },
  );
  for (let second = 0; second < bootSeconds; second += 1) {
    await sleep(1000);
    const { stdout } = inside(nspawn, 'systemctl is-system-running');
    if (/^(running|degraded)/.test(stdout)) return nspawn;
  }
  throw new Error(`The machine did not boot in ${bootSeconds} seconds`);
}

/** Process 1 of the machine. */
function leaderOf(nspawn: ChildProcess): string {
  const children = `/proc/${nspawn.pid}/task/${nspawn.pid}/children`;
  return existsSync(children) ? (readFileSync(children, 'utf8').trim().split(' ')[0] ?? '') : '';
}

function enter(nspawn: ChildProcess): string[] {
  const target = leaderOf(nspawn);
  const environment = [
    'env',
    '-i',
    'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
    ...['HOME=/root', 'LANG=C.UTF-8', 'DEBIAN_FRONTEND=noninteractive'],
    'NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt',
  ];
  return ['nsenter', `--target=${target}`, '--all', '--wd=/root', ...environment, '/bin/bash'];
}

function inside(nspawn: ChildProcess, command: string): { readonly stdout: string } {
  if (leaderOf(nspawn) === '') return { stdout: '' };
  const [program = '', ...words] = enter(nspawn);
  return spawnSync(program, [...words, '-c', command], { encoding: 'utf8' });
}

/** Runs the blocks in one shell, as the page's variables go on from one to the next. */
async function walk(blocks: readonly ShellBlock[]): Promise<boolean> {
  if (machine === undefined) return false;
  const marked = blocks.flatMap(({ heading, line, text }) => [
    `printf '\\n== %s, line %s, second %s\\n' "${heading}" ${line} "$SECONDS"`,
    text,
  ]);
  writeFileSync(path.join(root, 'root/walk'), ['set -eE -o pipefail', ...marked].join('\n'));
  const [program = '', ...words] = enter(machine);
  const shell = spawn(program, [...words, '/root/walk'], { stdio: ['ignore', 'inherit', 'inherit'] });
  const status = await new Promise<number | null>((resolve) => shell.once('exit', resolve));
  say(
    status === 0
      ? `\nok   production: ${blocks.length} blocks of ${page}`
      : `\nFAIL production: status ${status}`,
  );
  if (status !== 0) say(inside(machine, 'journalctl --no-pager --lines=40 --unit=sharedraft').stdout);
  return status === 0;
}

async function powerOff(): Promise<void> {
  if (machine === undefined) return;
  const ended = new Promise((resolve) => machine?.once('exit', resolve));
  inside(machine, 'systemctl poweroff');
  await Promise.race([ended, sleep(30_000).then(() => machine?.kill('SIGKILL'))]);
  for (const name of readdirSync(folder)) if (name.endsWith('.key')) rmSync(path.join(folder, name));
}
