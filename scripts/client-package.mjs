// Packs client/ and tries the package as its users would: publint, attw, strict TypeScript 5 and 7, plain JavaScript on Node, Bun and
// Deno (those two from their npm packages, if they install), its size and the size of the part that one operation needs. The gate leaves it out, since it downloads
// these tools: node scripts/client-package.mjs.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

const root = fileURLToPath(new URL('..', import.meta.url));
const at = mkdtempSync(join(tmpdir(), 'client-package-'));
const path = `${join(root, 'node_modules', '.bin')}:${process.env.PATH}`;
const tools = {
  publint: '0.3.25',
  '@arethetypeswrong/cli': '0.18.5',
  esbuild: '0.28.2',
  'typescript-5': 'npm:typescript@5.9.3',
  'typescript-7': 'npm:typescript@7.0.2',
  '@types/node': '26.6.6',
};

const program = `
import { clientCredentials, fromMinor, type Transfer, Sharedraft, toMinor, TransferDeclinedError, webhooks } from '@sharedraft/client';

const bank = new Sharedraft({
  baseUrl: 'http://127.0.0.1:1',
  auth: clientCredentials({ clientId: 'app', clientSecret: 'secret' }),
  maxRetries: 0,
});
export async function pay(id: string): Promise<Transfer['status']> {
  try {
    const order = { id, fromAccountId: 'a', toAccountId: 'b', amount: fromMinor(toMinor('105.25')) };
    return (await bank.transfers.create(order)).status;
  } catch (error) {
    if (error instanceof TransferDeclinedError && error.code === 'insufficient_funds') return error.transfer.status;
    throw error;
  }
}
export async function all(): Promise<string[]> {
  const ids: string[] = [];
  for await (const { id } of bank.transfers.list({ limit: 10 })) ids.push(id);
  return ids;
}
// @ts-expect-error an amount is no number
void bank.transfers.create({ fromAccountId: 'a', toAccountId: 'b', amount: 105.25 }).catch(() => {});
void webhooks.unwrap('', {}, 'whsec_').catch(() => {});
`;
/** Runs on every runtime: a token, an exact amount in both directions, a problem, a webhook of both kinds, and no server at all. */
const plain = `
import { createServer } from 'node:http';
import { clientCredentials, ConnectionError, NotFoundError, Sharedraft, webhooks } from '@sharedraft/client';

let received = '';
const server = createServer((request, response) => {
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk)).on('end', () => {
    const json = (status, text) => response.writeHead(status, { 'content-type': 'application/json' }).end(text);
    if (request.url.endsWith('/token')) return json(200, '{"access_token":"t","token_type":"Bearer","expires_in":1800,"scope":""}');
    if (request.method === 'GET') return json(404, '{"code":"not_found"}');
    received = Buffer.concat(chunks).toString();
    json(201, '{"id":"a","amount":12345678901234.10,"status":"COMPLETED"}');
  });
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const baseUrl = 'http://127.0.0.1:' + server.address().port;
const bank = new Sharedraft({ baseUrl, auth: clientCredentials({ clientId: 'app', clientSecret: 'secret' }), maxRetries: 0 });
const { amount } = await bank.transfers.create({ id: 'a', fromAccountId: 'a', toAccountId: 'b', amount: '12345678901234.10' });
if (amount !== '12345678901234.10') throw new Error('the amount became ' + amount);
if (!received.includes('"amount":12345678901234.10')) throw new Error('sent ' + received);
await rejects(bank.accounts.get('none'), NotFoundError);
server.close();
await rejects(new Sharedraft({ baseUrl: 'http://127.0.0.1:1', auth: () => 't', maxRetries: 0 }).accounts.list(), ConnectionError);

const body = '{"eventId":"0-1-1","sequence":1}';
const timestamp = String(Math.floor(Date.now() / 1000));
const base64 = (bytes) => btoa(String.fromCharCode(...new Uint8Array(bytes)));
const signed = new TextEncoder().encode('0-1-1.' + timestamp + '.' + body);
const secret = crypto.getRandomValues(new Uint8Array(32));
const key = await crypto.subtle.importKey('raw', secret, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign']);
const pair = await crypto.subtle.generateKey('Ed25519', true, ['sign', 'verify']);
const v1 = 'v1,' + base64(await crypto.subtle.sign('HMAC', key, signed));
const v1a = 'v1a,' + base64(await crypto.subtle.sign('Ed25519', pair.privateKey, signed));
const headers = { 'webhook-id': '0-1-1', 'webhook-timestamp': timestamp, 'webhook-signature': v1 + ' ' + v1a };
const publicKey = 'whpk_' + base64(await crypto.subtle.exportKey('raw', pair.publicKey));
for (const one of ['whsec_' + base64(secret), publicKey]) {
  if ((await webhooks.unwrap(body, headers, one)).sequence !== 1) throw new Error('not the event');
}
console.log('plain JavaScript runs');

async function rejects(promise, type) {
  const error = await promise.then(() => undefined, (reason) => reason);
  if (!(error instanceof type)) throw new Error('expected ' + type.name + ', got ' + error);
}
`;

let failed = false;
try {
  step('build and pack', join(root, 'client'), 'npm', ['pack', '--silent', '--pack-destination', at]);
  const [tarball = ''] = readdirSync(at);
  writeFileSync(
    join(at, 'package.json'),
    JSON.stringify({ private: true, type: 'module', dependencies: tools }),
  );
  step('install', at, 'npm', ['install', '--silent', '--no-audit', '--no-fund', join(at, tarball)]);
  step('publint', at, 'npx', ['publint', '--strict', 'node_modules/@sharedraft/client']);
  step('attw', at, 'npx', ['attw', tarball, '--profile', 'esm-only']);
  writeFileSync(join(at, 'program.ts'), program);
  writeFileSync(join(at, 'plain.js'), plain);
  const strict = ['--noEmit', '--strict', '--exactOptionalPropertyTypes', '--noUncheckedIndexedAccess'];
  const nodeTypes = ['--module', 'nodenext', '--target', 'es2022', '--types', 'node', 'program.ts'];
  step('TypeScript 5', at, process.execPath, ['node_modules/typescript-5/bin/tsc', ...strict, ...nodeTypes]);
  step('TypeScript 7', at, process.execPath, ['node_modules/typescript-7/bin/tsc', ...strict, ...nodeTypes]);
  step('Node', at, process.execPath, ['plain.js']);
  for (const [name, version, ...parameters] of [
    ['bun', '1.4.5', 'plain.js'],
    ['deno', '2.9.6', 'run', '--allow-net', '--allow-env', 'plain.js'],
  ]) {
    const program = join(at, 'node_modules', '.bin', name);
    const installed = spawnSync(
      'npm',
      ['install', '--silent', '--no-audit', '--no-fund', `${name}@${version}`],
      { cwd: at },
    );
    if (installed.status === 0 && spawnSync(program, ['--version']).status === 0)
      step(`${name} ${version}`, at, program, parameters);
    else console.log(`skip ${name}: its npm package did not install`);
  }
  for (const [name, text] of [
    ['everything', "export * from '@sharedraft/client'"],
    ['webhooks only', "import { webhooks } from '@sharedraft/client'; console.log(webhooks.unwrap)"],
  ]) {
    writeFileSync(join(at, 'entry.js'), text);
    const bundle = ['esbuild', 'entry.js', '--bundle', '--minify', '--format=esm', '--outfile=bundle.js'];
    step(`bundle ${name}`, at, 'npx', bundle);
    const bytes = readFileSync(join(at, 'bundle.js'));
    console.log(`     ${bytes.length} bytes, ${gzipSync(bytes).length} with gzip`);
  }
} finally {
  rmSync(at, { recursive: true, force: true });
}
process.exitCode = failed ? 1 : 0;

function step(name, cwd, command, parameters) {
  const { status, stdout, stderr, error } = spawnSync(command, parameters, {
    cwd,
    encoding: 'utf8',
    env: { ...process.env, PATH: path },
  });
  console.log(`${status === 0 ? 'ok  ' : 'FAIL'} ${name}`);
  if (status === 0) return;
  failed = true;
  console.log(`${stdout ?? ''}${stderr ?? ''}${error ?? ''}`);
}
