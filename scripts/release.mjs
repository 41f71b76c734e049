// Makes a release: checks that the tree may be released, and writes an annotated tag. It does not push.
//
//   node scripts/release.mjs            checks, runs the gate, and tags the version of package.json
//   node scripts/release.mjs --check    checks without the gate and without a tag
//   node scripts/release.mjs --notes    prints the version's part of CHANGELOG.md
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const option = process.argv[2];
const { version } = JSON.parse(read('package.json'));
const tag = `v${version}`;
const notes = notesOf(version);

if (option === '--notes') {
  if (notes === undefined) fail([`CHANGELOG.md has no heading "## ${version}"`]);
  process.stdout.write(`${notes}\n`);
} else {
  const problems = problemsOf();
  if (problems.length > 0) fail(problems);
  if (option !== '--check') release();
}

function read(file) {
  return readFileSync(path.join(root, file), 'utf8');
}

function git(...parameters) {
  const { status, stdout } = spawnSync('git', parameters, { cwd: root, encoding: 'utf8' });
  return status === 0 ? stdout.trim() : undefined;
}

/** The text below the version's heading, up to the next one. */
function notesOf(wanted) {
  const [, ...parts] = read('CHANGELOG.md').split(/^## /m);
  const part = parts.find((one) => /^\[?v?([\d.]+)/.exec(one)?.[1] === wanted);
  return part?.slice(part.indexOf('\n')).trim();
}

function problemsOf() {
  const locked = JSON.parse(read('package-lock.json')).version;
  const found = [
    [git('status', '--porcelain') !== '', 'the tree has changes that are not committed'],
    [git('rev-parse', '--abbrev-ref', 'HEAD') !== 'main', 'a release is made on the branch main'],
    [
      git('rev-parse', '--verify', '--quiet', `refs/tags/${tag}`) !== undefined,
      `the tag ${tag} exists already`,
    ],
    [
      locked !== version,
      `package-lock.json has version ${locked}, package.json ${version}: run npm install --package-lock-only`,
    ],
    [notes === undefined, `CHANGELOG.md has no heading "## ${version}"`],
    [notes !== undefined && !/upgrad/i.test(notes), `CHANGELOG.md does not say how to upgrade to ${version}`],
  ];
  return found.filter(([isProblem]) => isProblem).map(([, text]) => text);
}

function release() {
  const gate = spawnSync('npm', ['run', 'check'], { cwd: root, stdio: 'inherit' });
  if (gate.status !== 0) fail(['the gate fails']);
  const message = `Sharedraft ${version}\n\n${notes}\n`;
  // The notes have headings: git would take lines that start with # for comments.
  const parameters = ['tag', '--annotate', tag, '--cleanup=whitespace', '--file=-'];
  const { status, stderr } = spawnSync('git', parameters, { cwd: root, input: message, encoding: 'utf8' });
  if (status !== 0) fail([stderr.trim()]);
  process.stdout.write(`Tagged ${tag}. Publish it with: git push origin main ${tag}\n`);
}

function fail(problems) {
  for (const problem of problems) process.stderr.write(`${problem}\n`);
  process.exit(1);
}
