// Checks openapi.json with Redocly and with Spectral, its OWASP rules included. They are no dependencies of ours:
//
//   node scripts/lint-openapi.mjs --install    installs them into node_modules/.cache, and checks
//   node scripts/lint-openapi.mjs              checks if they are installed, else says that it skips
//
// scripts/openapi has the rules, and the reason of each rule that is off.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const tools = {
  '@redocly/cli': '2.77.0',
  '@stoplight/spectral-cli': '6.16.3',
  '@stoplight/spectral-owasp-ruleset': '2.0.1',
};
const root = fileURLToPath(new URL('..', import.meta.url));
const versions = Object.values(tools).join('-');
const at = path.join(root, 'node_modules/.cache', `openapi-linters-${versions}`);
const rules = path.join(root, 'scripts/openapi');
const document = path.join(root, 'openapi.json');
const bin = path.join(at, 'node_modules/.bin');

if (process.argv.includes('--install') && !existsSync(bin)) {
  mkdirSync(at, { recursive: true });
  writeFileSync(path.join(at, 'package.json'), JSON.stringify({ private: true, dependencies: tools }));
  run('npm', ['install', '--silent', '--no-audit', '--no-fund']);
}
if (!existsSync(bin)) {
  process.stdout.write(
    'skip: Redocly and Spectral are not installed: node scripts/lint-openapi.mjs --install\n',
  );
} else {
  run(path.join(bin, 'redocly'), ['lint', document, `--config=${path.join(rules, 'redocly.yaml')}`]);
  // Spectral looks for the packages of a ruleset beside the ruleset.
  const ruleset = path.join(at, 'spectral.yaml');
  writeFileSync(ruleset, readFileSync(path.join(rules, 'spectral.yaml')));
  run(path.join(bin, 'spectral'), ['lint', document, `--ruleset=${ruleset}`, '--fail-severity=hint']);
}

function run(command, parameters) {
  const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
  const { status, stdout, stderr, error } = spawnSync(command, parameters, {
    cwd: at,
    env,
    encoding: 'utf8',
  });
  if (status === 0) return;
  process.stdout.write(`${command} ${parameters.join(' ')}\n${stdout ?? ''}${stderr ?? ''}${error ?? ''}\n`);
  process.exit(1);
}
