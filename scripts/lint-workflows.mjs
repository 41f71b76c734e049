// Checks the workflow files with actionlint. It is a program in Go: taken from the PATH, else built once by `go install`,
// else the check is skipped with a message.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const version = '1.7.12';
const root = fileURLToPath(new URL('..', import.meta.url));
const folder = path.join(root, '.github/workflows');
const files = readdirSync(folder).map((name) => path.join(folder, name));
const actionlint = onPath() ?? built();
if (actionlint === undefined) {
  process.stdout.write('skip: neither actionlint nor go is installed\n');
} else {
  const { status } = spawnSync(actionlint, ['-no-color', ...files], { cwd: root, stdio: 'inherit' });
  process.exitCode = status ?? 1;
}

function onPath() {
  return spawnSync('actionlint', ['-version']).status === 0 ? 'actionlint' : undefined;
}

function built() {
  const cache = path.join(root, 'node_modules/.cache', `actionlint-${version}`);
  const program = path.join(cache, 'actionlint');
  if (existsSync(program)) return program;
  const { status } = spawnSync('go', ['install', `github.com/rhysd/actionlint/cmd/actionlint@v${version}`], {
    env: { ...process.env, GOBIN: cache },
    stdio: 'ignore',
  });
  return status === 0 ? program : undefined;
}
