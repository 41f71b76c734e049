// Packs client/ and tries the package as its users would: publint, attw, strict TypeScript 5 and 7, plain JavaScript, Bun and
// Deno if they are installed, its size and the size of the part that one operation needs. The gate leaves it out, since it downloads
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
const plain = `
import { ConnectionError, Sharedraft } from '@sharedraft/client';
const bank = new Sharedraft({ baseUrl: 'http://127.0.0.1:1', auth: () => 'token', maxRetries: 0 });
try {
  await bank.accounts.get('a');
  throw new Error('nothing listens there');
} catch (error) {
  if (!(error instanceof ConnectionError)) throw error;
  console.log('plain JavaScript runs');
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
  for (const runtime of [
    ['bun', 'plain.js'],
    ['deno', 'run', '--allow-net', 'plain.js'],
  ]) {
    if (spawnSync(runtime[0], ['--version']).status === 0) step(runtime[0], at, runtime[0], runtime.slice(1));
    else console.log(`skip ${runtime[0]}: not installed`);
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
