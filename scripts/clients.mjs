// Generates clients from the served openapi.json, compiles them, and makes a transfer with each: node scripts/clients.mjs
// [language …]. The gate leaves it out, since it downloads the generator and the dependencies of each client. A language
// without its tools is skipped by name. docs/clients.md explains the generator's flags.
import { spawn } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer, request } from 'node:http';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const generatorVersion = '7.25.0';
const root = fileURLToPath(new URL('..', import.meta.url));
const sharedraft = join(root, 'bin', 'sharedraft');
const programs = join(root, 'scripts', 'clients');
const amount = '1234567.89';
const from = 'a-2001-operating';
const to = 'a-2001-reserve';

/**
 * By language: the generator and its flags, the tools it takes, and how its program is built and run in `at`, the folder
 * that holds `client`. Without `run` the client is generated only.
 */
const languages = {
  java: {
    flags: ['-g', 'java', '--additional-properties=disallowAdditionalPropertiesIfNotPresent=false'],
    tools: ['java', 'mvn'],
    build: async (at) => {
      cpSync(join(programs, 'java', 'Main.java'), join(at, 'client', 'src', 'main', 'java', 'Main.java'));
      await sh(at, 'mvn', [
        ...mavenQuietly,
        '-f',
        'client/pom.xml',
        '-Dmaven.test.skip=true',
        'compile',
        ...classpath,
      ]);
    },
    run: (at) => ['java', ['-cp', classes(at, 'client'), 'Main']],
  },
  kotlin: {
    flags: ['-g', 'kotlin'],
    tools: ['java', 'mvn'],
    build: async (at) => {
      cpSync(join(programs, 'kotlin', 'pom.xml'), join(at, 'pom.xml'));
      cpSync(join(at, 'client', 'src', 'main'), join(at, 'src', 'main'), { recursive: true });
      cpSync(join(programs, 'kotlin', 'Main.kt'), join(at, 'src', 'main', 'kotlin', 'Main.kt'));
      await sh(at, 'mvn', [...mavenQuietly, 'compile', ...classpath]);
    },
    run: (at) => ['java', ['-cp', classes(at, '.'), 'MainKt']],
  },
  go: {
    flags: [
      ...['-g', 'go', '--type-mappings=number=json.Number'],
      '--additional-properties=packageName=sharedraft,withGoMod=false,disallowAdditionalPropertiesIfNotPresent=false',
    ],
    tools: ['go'],
    build: async (at) => {
      renameSync(join(at, 'client'), join(at, 'sharedraft'));
      // The generated tests import a module of an invented address.
      rmSync(join(at, 'sharedraft', 'test'), { recursive: true, force: true });
      // The generator forgets this import where only a query has an amount.
      const accounts = join(at, 'sharedraft', 'api_accounts.go');
      const text = readFileSync(accounts, 'utf8');
      if (!text.includes('"encoding/json"'))
        writeFileSync(accounts, text.replace('import (', 'import (\n\t"encoding/json"'));
      cpSync(join(programs, 'go', 'main.go'), join(at, 'main.go'));
      await sh(at, 'go', ['mod', 'init', 'clients']);
      await sh(at, 'go', ['mod', 'tidy']);
      await sh(at, 'go', ['build', '-o', 'program', '.']);
    },
    run: (at) => [join(at, 'program'), []],
  },
  python: {
    flags: ['-g', 'python', '--additional-properties=packageName=sharedraft,mapNumberTo=Decimal'],
    tools: ['python3'],
    build: async (at) => {
      await sh(at, 'python3', ['-m', 'venv', 'venv']);
      await sh(at, join(at, 'venv', 'bin', 'pip'), ['install', '--quiet', './client']);
    },
    run: (at) => [join(at, 'venv', 'bin', 'python'), [join(programs, 'python', 'main.py')]],
  },
  rust: {
    flags: [
      ...['-g', 'rust', '--additional-properties=packageName=sharedraft'],
      '--type-mappings=number=rust_decimal::Decimal',
    ],
    tools: ['cargo'],
    build: async (at) => {
      const client = join(at, 'client');
      await sh(client, 'cargo', [
        'add',
        '--quiet',
        'rust_decimal@1.43',
        '--features',
        'serde-arbitrary-precision',
      ]);
      await sh(client, 'cargo', ['add', '--quiet', '--dev', 'tokio@1', '--features', 'rt,macros']);
      mkdirSync(join(client, 'examples'));
      cpSync(join(programs, 'rust', 'main.rs'), join(client, 'examples', 'transfer.rs'));
      await sh(client, 'cargo', ['build', '--quiet', '--example', 'transfer']);
    },
    run: (at) => [join(at, 'client', 'target', 'debug', 'examples', 'transfer'), []],
  },
  typescript: {
    flags: ['-g', 'typescript-fetch', '--additional-properties=importFileExtension=.js'],
    tools: ['node'],
    build: async (at) => {
      writeFileSync(join(at, 'package.json'), '{ "type": "module" }');
      cpSync(join(programs, 'typescript', 'main.mts'), join(at, 'main.mts'));
      const options = ['--strict', '--module', 'nodenext', '--target', 'es2024', '--outDir', 'built'];
      const types = ['--typeRoots', join(root, 'node_modules', '@types'), '--types', 'node'];
      await sh(at, join(root, 'node_modules', '.bin', 'tsc'), [
        ...options,
        ...types,
        '--rootDir',
        '.',
        'main.mts',
      ]);
    },
    run: (at) => ['node', [join(at, 'built', 'main.mjs')]],
  },
  csharp: { flags: ['-g', 'csharp', '--additional-properties=packageName=Sharedraft'], tools: [] },
};

const mavenQuietly = ['--quiet', '--batch-mode'];
const classpath = ['dependency:build-classpath', '-Dmdep.outputFile=classpath.txt'];
const classes = (at, project) => {
  const folder = join(at, project);
  return [join(folder, 'target', 'classes'), readFileSync(join(folder, 'classpath.txt'), 'utf8')].join(
    delimiter,
  );
};

const asked = process.argv.slice(2);
const unknown = asked.filter((name) => !(name in languages));
if (unknown.length > 0)
  fail(`There is no ${unknown.join(', ')}. Languages: ${Object.keys(languages).join(', ')}.`);
const missing = ['java', 'mvn'].filter((tool) => !isThere(tool));
if (missing.length > 0)
  fail(`Missing: ${missing.join(', ')}. The generator is a Java program that Maven fetches.`);

const work = mkdtempSync(join(tmpdir(), 'sharedraft-clients-'));
let service;
let proxy;
const results = [];
try {
  const generator = join(work, `openapi-generator-cli-${generatorVersion}.jar`);
  await sh(work, 'mvn', [
    ...[...mavenQuietly, 'org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy'],
    `-Dartifact=org.openapitools:openapi-generator-cli:${generatorVersion}`,
    `-DoutputDirectory=${work}`,
  ]);
  const demo = await startDemo();
  const document = await (await fetch(`${demo.url}/openapi.json`)).text();
  writeFileSync(join(work, 'openapi.json'), document);
  for (const name of asked.length > 0 ? asked : Object.keys(languages)) {
    results.push({ name, ...(await attempt(name, generator, demo)) });
    const { outcome, seconds, detail = '' } = results.at(-1);
    console.log(`${outcome.padEnd(10)} ${name}${seconds ? ` (${seconds} s)` : ''}${detail && `\n${detail}`}`);
  }
} finally {
  proxy?.close();
  proxy?.closeAllConnections();
  if (service !== undefined && service.exitCode === null) {
    service.kill('SIGTERM');
    await new Promise((resolve) => service.once('exit', resolve));
  }
  if (process.env.KEEP === undefined) rmSync(work, { recursive: true, force: true });
  else console.log(`kept: ${work}`);
}
process.exitCode = results.some(({ outcome }) => outcome === 'FAIL') ? 1 : 0;

async function attempt(name, generator, demo) {
  const { flags, tools, build, run } = languages[name];
  const absent = tools.filter((tool) => !isThere(tool));
  if (absent.length > 0) return { outcome: 'skipped', detail: `  missing: ${absent.join(', ')}` };
  const started = performance.now();
  const at = join(work, name);
  try {
    mkdirSync(at);
    const input = ['-i', join(work, 'openapi.json'), '-o', join(at, 'client')];
    await sh(work, 'java', ['-jar', generator, 'generate', ...input, ...flags]);
    if (run === undefined) return { outcome: 'generated', detail: '  not compiled and not run' };
    await build(at);
    const before = await demo.balances();
    const transferId = `generated-${name}`;
    const environment = { TRANSFER_ID: transferId, FROM: from, TO: to, AMOUNT: amount };
    const variables = { ...process.env, ...environment, ...demo.credentials };
    const printed = await sh(at, ...run(at), variables);
    const line = `${transferId} ${amount} COMPLETED`;
    expect('what it printed', printed.trim().split(/\r?\n/), [line, line, line]);
    const cents = BigInt(amount.replace('.', ''));
    expect('the balances', await demo.balances(), [before[0] - cents, before[1] + cents]);
    return { outcome: 'ok', seconds: ((performance.now() - started) / 1000).toFixed(0) };
  } catch (error) {
    return { outcome: 'FAIL', detail: error.message };
  }
}

/** A demo of its own, with an institution whose member can pay such an amount, behind a proxy of a later version. */
async function startDemo() {
  const port = await freePort();
  const proxyPort = await freePort();
  const url = `http://127.0.0.1:${proxyPort}`;
  const environment = {
    ...process.env,
    ...{ PORT: String(port), DATA_DIR: join(work, 'data'), PUBLIC_URL: url, LOG_LEVEL: 'warn' },
  };
  delete environment.DATABASE_URL;
  service = spawn(sharedraft, ['serve'], { env: environment, stdio: ['ignore', 'ignore', 'inherit'] });
  proxy = createServer((incoming, outgoing) => forward(port, incoming, outgoing)).listen(
    proxyPort,
    '127.0.0.1',
  );
  for (const end = Date.now() + 120_000; ; await sleep(200)) {
    if ((await fetch(`${url}/readyz`).catch(() => undefined))?.status === 200) break;
    if (service.exitCode !== null || Date.now() > end) throw new Error('The demo does not start.');
  }
  const command = (...words) => sh(root, sharedraft, words, environment);
  await command('import', join(programs, 'extract'));
  const institution = ['--institution', 'clients'];
  const scopes = ['--scopes', 'account:read transfer:read transfer:write'];
  const made = await command('client', 'create', 'generated-client', ...institution, ...scopes);
  const secret = /client_secret: +(\S+)/.exec(made)?.[1] ?? '';
  const basic = Buffer.from(`generated-client:${secret}`).toString('base64');
  const token = await fetch(`${url}/auth/v2/token`, {
    method: 'POST',
    headers: { authorization: `Basic ${basic}` },
    body: new URLSearchParams({ grant_type: 'client_credentials' }),
  });
  const { access_token: accessToken } = await token.json();
  const balanceOf = async (account) => {
    const headers = { authorization: `Bearer ${accessToken}` };
    const answer = await fetch(`${url}/digitalbanking/db-accounts/v1/accounts/${account}`, { headers });
    // From the text, since a JSON number would pass through a float.
    const [, text = ''] = /"currentBalance":\{"amount":([0-9.]+)/.exec(await answer.text()) ?? [];
    return BigInt(text.replace('.', ''));
  };
  return {
    url,
    credentials: { CLIENT_ID: 'generated-client', CLIENT_SECRET: secret },
    balances: () => Promise.all([from, to].map(balanceOf)),
  };
}

/** Each object that is answered has a field that openapi.json does not name, as in a later version of the service. */
function forward(port, incoming, outgoing) {
  const { method, url: path, headers } = incoming;
  const onward = request({ host: '127.0.0.1', port, method, path, headers }, async (answer) => {
    let body = Buffer.concat(await Array.fromAsync(answer));
    const isDocument = path === '/openapi.json';
    if (
      /json/.test(answer.headers['content-type'] ?? '') &&
      !isDocument &&
      body.subarray(0, 2).toString() !== '{}'
    ) {
      body = Buffer.from(body.toString().replace(/^\{/, '{"fieldOfALaterVersion":{"of":[1.5]},'));
    }
    outgoing.writeHead(answer.statusCode, { ...answer.headers, 'content-length': body.length });
    outgoing.end(body);
  });
  onward.on('error', () => outgoing.destroy());
  incoming.pipe(onward);
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

function isThere(tool) {
  return (process.env.PATH ?? '').split(delimiter).some((folder) => existsSync(join(folder, tool)));
}

/** Returns the output; throws with the errors if the program fails. Asynchronous, since the proxy is in this process. */
async function sh(cwd, command, parameters, env = process.env) {
  const child = spawn(command, parameters, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const read = async (stream) => Buffer.concat(await Array.fromAsync(stream)).toString();
  const exited = new Promise((resolve, reject) => {
    child.once('exit', resolve);
    child.once('error', reject);
  });
  const [status, stdout, stderr] = await Promise.all([exited, read(child.stdout), read(child.stderr)]);
  if (status === 0) return stdout;
  const said = `${stdout}${stderr}`.trim().split('\n').slice(-40).join('\n');
  throw new Error(`${command} ${parameters.slice(0, 3).join(' ')} failed:\n${said}`);
}

function expect(what, actual, expected) {
  if (String(actual) !== String(expected)) throw new Error(`${what}: ${actual}\nexpected: ${expected}`);
}

function fail(message) {
  console.error(message);
  process.exit(2);
}
