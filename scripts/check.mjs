// The gate: prints a line for each step, and the output of a step that fails. `--no-tests` runs only the
// house rules of the tests, for a tree whose tests have just run.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

process.chdir(fileURLToPath(new URL('..', import.meta.url)));
/** Tests of the structure and the documents, which need no database. */
const houseRules = ['docs', 'files', 'folders', 'import-cycles', 'invariants', 'tables'];
const steps = [
  ['format and lint', 'biome', ['check', '.']],
  ['promises', 'oxlint', ['--type-aware']],
  ['types', 'tsc', []],
  ['types of the browser applications', 'tsc', ['-p', 'web']],
  ['dead code', 'knip', []],
  ['words', process.execPath, ['scripts/words.mjs', '--check']],
  ['workflows', process.execPath, ['scripts/lint-workflows.mjs']],
  ['alerts', process.execPath, ['scripts/monitoring.mjs']],
  ['openapi.json', process.execPath, ['scripts/lint-openapi.mjs']],
  ['deployment', process.execPath, ['scripts/deployment.ts']],
  ['generated files', process.execPath, ['scripts/generate.ts', '--check']],
  process.argv.includes('--no-tests')
    ? ['house rules', process.execPath, ['--test', ...houseRules.map((name) => `test/house/${name}.test.ts`)]]
    : ['tests', process.execPath, ['scripts/test.mjs']],
];

let failed = false;
for (const [name, command, parameters] of steps) {
  const started = performance.now();
  const { status, stdout, stderr } = spawnSync(command, parameters, {
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
  });
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  process.stdout.write(`${status === 0 ? 'ok  ' : 'FAIL'} ${name} (${seconds} s)\n`);
  for (const [, skipped] of (stdout ?? '').matchAll(/^skip: (.*)/gm))
    process.stdout.write(`skip ${name}: ${skipped}\n`);
  if (status === 0) continue;
  failed = true;
  process.stdout.write(`${stdout}${stderr}\n`);
}
process.exit(failed ? 1 : 0);
