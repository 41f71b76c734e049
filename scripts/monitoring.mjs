// Tests ops/prometheus and ops/grafana with Debian's package `prometheus`, whose programs it finds on the PATH.
//
//   node scripts/monitoring.mjs            rules: syntax, and their unit tests
//   node scripts/monitoring.mjs --live     and: a real Prometheus scrapes the service under a small load; then each
//                                          query of each dashboard must have a result
//
// Prints a line for each step, `skip:` for one whose program is missing.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as httpServer } from 'node:http';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { queriesOf } from './dashboards.ts';

process.chdir(fileURLToPath(new URL('..', import.meta.url)));
const rules = 'ops/prometheus';
const dashboards = 'ops/grafana';
const loadSeconds = 45;
let failed = false;

const missing = ['promtool', 'prometheus'].filter((program) => !isInstalled(program));
if (missing.includes('promtool')) {
  say('skip', 'rules', 'promtool is missing; Debian has it in the package prometheus');
} else {
  promtool('syntax', ['check', 'rules', ...filesOf(rules, '.rules.yml')]);
  promtool('configuration', ['check', 'config', `${rules}/prometheus.yml`]);
  promtool('unit tests', ['test', 'rules', ...filesOf(rules, '.test.yml')]);
}
if (process.argv.includes('--live')) {
  if (missing.length > 0) say('skip', 'dashboards', `${missing.join(' and ')} missing`);
  else await tryDashboards();
}
process.exit(failed ? 1 : 0);

function say(verdict, step, more = '') {
  if (verdict === 'skip') process.stdout.write(`skip: ${step}: ${more}\n`);
  else process.stdout.write(`${verdict.padEnd(4)} ${step}${more && ` (${more})`}\n`);
  failed ||= verdict === 'FAIL';
}

function isInstalled(program) {
  return spawnSync(program, ['--version'], { stdio: 'ignore' }).error === undefined;
}

function filesOf(folder, ending) {
  return readdirSync(folder)
    .filter((name) => name.endsWith(ending))
    .map((name) => `${folder}/${name}`);
}

function promtool(step, parameters) {
  const { status, stdout, stderr } = spawnSync('promtool', parameters, { encoding: 'utf8' });
  say(status === 0 ? 'ok' : 'FAIL', step);
  if (status !== 0) process.stdout.write(`${stdout}${stderr}\n`);
}

async function tryDashboards() {
  const folder = mkdtempSync(path.join(tmpdir(), 'sharedraft-monitoring-'));
  // Under root the database runs as another user, which must reach its folder.
  chmodSync(folder, 0o755);
  const [port, metricsPort, prometheusPort] = await freePorts(3);
  const children = [];
  const start = (command, parameters, environment = {}) => {
    const child = spawn(command, parameters, { env: { ...process.env, ...environment }, stdio: 'ignore' });
    children.push(child);
    return child;
  };
  try {
    const settings = {
      PORT: String(port),
      METRICS_PORT: String(metricsPort),
      DATA_DIR: path.join(folder, 'data'),
      LOG_LEVEL: 'silent',
      WORKERS: '2',
    };
    start(process.execPath, ['src/main.ts', 'serve'], settings);
    const service = `http://127.0.0.1:${port}`;
    await eventually('the service', async () => (await fetch(`${service}/readyz`)).ok);
    const config = path.join(folder, 'prometheus.yml');
    // JSON is YAML.
    writeFileSync(
      config,
      JSON.stringify({
        global: { scrape_interval: '2s', evaluation_interval: '5s' },
        rule_files: filesOf(rules, '.rules.yml').map((file) => path.resolve(file)),
        scrape_configs: [
          { job_name: 'sharedraft', static_configs: [{ targets: [`127.0.0.1:${metricsPort}`] }] },
        ],
      }),
    );
    start('prometheus', [
      `--config.file=${config}`,
      `--storage.tsdb.path=${path.join(folder, 'prometheus')}`,
      `--web.listen-address=127.0.0.1:${prometheusPort}`,
    ]);
    const prometheus = `http://127.0.0.1:${prometheusPort}`;
    await eventually('Prometheus', async () => (await fetch(`${prometheus}/-/ready`)).ok);
    await load(service, path.join(settings.DATA_DIR, 'postgres'));
    const reconcile = (...more) =>
      spawnSync(process.execPath, ['src/main.ts', 'reconcile', ...more], {
        env: { ...process.env, ...settings },
        encoding: 'utf8',
      });
    const reconciled = reconcile();
    if (reconciled.status !== 0) say('FAIL', 'reconcile', reconciled.stderr);
    // A core with another balance opens a break.
    const balances = path.join(folder, 'balances.csv');
    writeFileSync(balances, 'account_id,balance,currency_code\na-1001-checking,-1.00,USD\n');
    const ofCore = ['--core', balances, '--as-of', new Date().toISOString(), '--institution', 'meadow'];
    const compared = reconcile(...ofCore);
    if (!/\b1 /.test(compared.stdout)) say('FAIL', 'reconcile --core', compared.stdout + compared.stderr);
    // Two scrapes and an evaluation later.
    await sleep(12_000);
    await check(prometheus);
  } catch (error) {
    say('FAIL', 'dashboards', error.message);
  } finally {
    for (const child of children) child.kill('SIGTERM');
    await Promise.all(children.map((child) => (child.exitCode === null ? once(child, 'exit') : undefined)));
    rmSync(folder, { recursive: true, force: true });
  }
}

async function check(prometheus) {
  const get = async (endpoint) => (await fetch(`${prometheus}/api/v1/${endpoint}`)).json();
  const { data: scraped } = await get('targets');
  const [target] = scraped.activeTargets;
  say(target.health === 'up' ? 'ok' : 'FAIL', 'scrape', target.lastError);
  const { data: loaded } = await get('rules');
  const broken = loaded.groups.flatMap((group) => group.rules).filter(({ health }) => health === 'err');
  say(broken.length === 0 ? 'ok' : 'FAIL', 'rules evaluate', broken.map(({ lastError }) => lastError).join());
  const queries = queriesOf(dashboards);
  let empty = 0;
  for (const { place, expr } of queries) {
    const { status, error, data } = await get(`query?query=${encodeURIComponent(expr)}`);
    const values = data?.result ?? [];
    if (status === 'success' && values.some(({ value }) => value[1] !== 'NaN')) continue;
    empty += 1;
    say('FAIL', place, `${error ?? 'no result'}: ${expr}`);
  }
  if (empty === 0) say('ok', 'dashboards', `${queries.length} queries have results`);
  const firing = (await get('alerts')).data.alerts.filter(({ state }) => state === 'firing');
  const names = firing.map(({ labels }) => labels.alertname);
  say(names.length === 0 ? 'ok' : 'FAIL', 'no alert fires on a sound service', names.join());
}

/** Transfers, declined and held ones among them, reads, sign-ins, refusals, a caller who leaves, and statements that fail. */
async function load(service, cluster) {
  const demo = { client_id: 'demo-app', client_secret: 'demo-app-secret' };
  const signIn = (password) =>
    post('/auth/v2/token', { ...demo, grant_type: 'password', username: 'demo.member', password });
  const headers = { 'content-type': 'application/json' };
  const post = (path, body, more = {}) =>
    fetch(service + path, { method: 'POST', headers: { ...headers, ...more }, body: JSON.stringify(body) });
  const { access_token: token } = await (await signIn('demo-member-password')).json();
  const authorization = `Bearer ${token}`;
  const transfer = (amount, toAccountId = 'a-1001-savings') =>
    post(
      '/digitalbanking/db-transfers/v1/transfers',
      { fromAccountId: 'a-1001-checking', toAccountId, amount },
      { authorization },
    );
  await transfer(1_200, 'a-1002-checking');
  const receiver = await receive(service);
  const until = performance.now() + loadSeconds * 1000;
  for (let round = 0; performance.now() < until; round++) {
    await Promise.all([transfer(0.01), transfer(0.02), transfer(0.03)]);
    await fetch(`${service}/digitalbanking/db-accounts/v1/accounts`, { headers: { authorization } });
    if (round % 20 === 0) {
      await transfer(9_000_000);
      await fetch(`${service}/digitalbanking/db-accounts/v1/accounts/none`, { headers: { authorization } });
      await signIn('demo-member-password');
      await leaveWithin(service, authorization);
      await Promise.all([cancelStatements(cluster), transfer(0.04), transfer(0.05)]);
    }
    if (round % 60 === 0) await signIn('a wrong password, as it happens');
    await sleep(50);
  }
  receiver.close();
}

/** A receiver of webhooks, registered with the service. */
async function receive(service) {
  const receiver = httpServer((request, response) => request.resume().on('end', () => response.end()));
  receiver.listen(0, '127.0.0.1').unref();
  await once(receiver, 'listening');
  const send = async (path, body, token) => {
    const headers = {
      'content-type': 'application/json',
      ...(token && { authorization: `Bearer ${token}` }),
    };
    const response = await fetch(service + path, { method: 'POST', headers, body: JSON.stringify(body) });
    if (!response.ok) throw new Error(`${path}: ${response.status}`);
    return response.json();
  };
  const client = { client_id: 'demo-app', client_secret: 'demo-app-secret' };
  const { access_token: token } = await send('/auth/v2/token', {
    ...client,
    grant_type: 'client_credentials',
  });
  const url = `http://127.0.0.1:${receiver.address().port}/`;
  await send('/digitalbanking/db-webhooks/v1/endpoints', { url }, token);
  return receiver;
}

/** A caller who leaves in the middle of a request's body. */
async function leaveWithin(service, authorization) {
  const socket = connect(Number(new URL(service).port), '127.0.0.1');
  const head = [
    'POST /digitalbanking/db-transfers/v1/transfers HTTP/1.1',
    'host: x',
    `authorization: ${authorization}`,
  ];
  socket.write([...head, 'content-type: application/json', 'content-length: 100', '', '{'].join('\r\n'));
  await sleep(20);
  socket.destroy();
}

/** Cancels the statements that run within a moment, as a database does that is told to. */
async function cancelStatements(cluster) {
  const [, , , port, host] = readFileSync(path.join(cluster, 'postmaster.pid'), 'utf8').split('\n');
  const client = new pg.Client({ host, port: Number(port), user: 'postgres', database: 'sharedraft' });
  await client.connect();
  const cancel =
    "select pg_cancel_backend(pid) from pg_stat_activity where usename like '%_app' and state = 'active'";
  const until = performance.now() + 100;
  while (performance.now() < until) await client.query(cancel);
  await client.end();
}

async function eventually(what, condition) {
  for (let tries = 0; tries < 240; tries++) {
    if (await condition().catch(() => false)) return;
    await sleep(250);
  }
  throw new Error(`${what} did not start`);
}

async function freePorts(count) {
  const servers = await Promise.all(
    Array.from({ length: count }, async () => {
      const server = createServer().listen(0, '127.0.0.1');
      await once(server, 'listening');
      return server;
    }),
  );
  const ports = servers.map((server) => server.address().port);
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}
