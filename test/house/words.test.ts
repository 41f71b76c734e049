import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const script = fileURLToPath(new URL('../../scripts/words.mjs', import.meta.url));
let parent: string;
before(async () => {
  parent = await mkdtemp(path.join(os.tmpdir(), 'sharedraft-words-'));
});
after(() => rm(parent, { recursive: true, force: true }));

/** Runs the counter on a project of the given files; returns its lines. */
async function countIn(files: Readonly<Record<string, string>>, ...options: string[]): Promise<string[]> {
  const folder = await mkdtemp(path.join(parent, 'project-'));
  for (const [name, text] of Object.entries(files)) {
    await mkdir(path.dirname(path.join(folder, name)), { recursive: true });
    await writeFile(path.join(folder, name), text);
  }
  const { stdout } = await promisify(execFile)(process.execPath, [script, folder, ...options]);
  return stdout.trimEnd().split('\n');
}

const hits = (lines: readonly string[], kind: string) =>
  lines.filter((line) => line.includes(`: ${kind}: `)).map((line) => line.slice(0, line.indexOf(': ')));

test('counts a headless clause and no clause with a head noun', async () => {
  const headless = [
    'What is paid is gone.',
    'Pays what is owed.',
    'Serves whoever comes.',
    'Waits for who asks.',
    'Whose token it is.',
    'Null for a client; who asks is refused.',
    'Does what it must.',
  ];
  const headed = [
    'The client who pays.',
    'A person whose card expired.',
    'The member for whom it was made.',
    'A client that pays and who asks again.',
    'A holder, who may be a minor.',
    'Says "who asks" and `what`.',
    'Counted no matter what happens.',
  ];
  const lines = await countIn(
    { 'a.ts': [...headless, ...headed].map((line) => `// ${line}\nrun();`).join('\n') },
    '--list',
  );
  assert.deepEqual(
    hits(lines, 'comments'),
    headless.map((_, index) => `a.ts:${index * 2 + 1}`),
  );
  assert.match(lines.at(-4) ?? '', /^comments {3}7 headless clauses in 72 words: 97\.2 per 1,000$/);
});

test('reads comments of TypeScript, SQL and shell, and no string or expression', async () => {
  const lines = await countIn(
    {
      'a.ts': `const a = '// what is it'; const b = /[/*] what/; const c = \`what \${'//'} is\`;\n/** One.\n * What stands below. */\n`,
      'b.sql': `SELECT '-- what is it';\nCREATE FUNCTION f() AS $$\n  -- what stands in a body\n$$;\n`,
      'c.sh': `echo "# what is it"\n# what runs here\n`,
      'd.ts': 'const s = `\n  -- what a statement reads\n  SELECT 1`;\n',
    },
    '--list',
  );
  assert.deepEqual(hits(lines, 'comments'), ['a.ts:3', 'b.sql:3', 'c.sh:2', 'd.ts:2']);
});

test('reads the prose of a document and leaves code out', async () => {
  const page =
    '# What it is\n\nPays what is due,\nand what is late.\n\n```\nwhat\n```\n\n| a | what b |\n|---|---|\n';
  const lines = await countIn({ 'a.md': page }, '--list');
  assert.deepEqual(hits(lines, 'docs'), ['a.md:1', 'a.md:3', 'a.md:4', 'a.md:10']);
});

test('counts sentences for a reader in string literals, and no statements of SQL', async () => {
  const source = `fail('Tell the client what is wrong here.');\nquery('SELECT what FROM a WHERE who = b AND c');\n`;
  assert.deepEqual(hits(await countIn({ 'a.ts': source }, '--list'), 'texts'), ['a.ts:1']);
});

test('accepts whole sentences as names of tests and refuses fragments', async () => {
  const whole = [
    "returns 404 for another member's account",
    'posts a repeated order once',
    'a second owner of the same folder is refused',
    'two processes that start together share the first key',
    'limits the rate of a client',
    'RFC 6749 3.2: any other method is refused',
  ];
  const fragments = [
    'a JWT',
    'of e-mail and phone together',
    'what is listed is read one by one',
    'whoever asks is served',
    'a code that was used',
    'and none of it stays',
    '403: a token without the scope',
  ];
  const source = [...whole, ...fragments].map((name) => `test(${JSON.stringify(name)}, run);`).join('\n');
  const lines = await countIn({ 'a.test.ts': `${source}\ndescribe('the account object', run);\n` }, '--list');
  assert.deepEqual(
    hits(lines, 'test name'),
    fragments.map((_, index) => `a.test.ts:${whole.length + index + 1}`),
  );
  assert.match(lines.at(-1) ?? '', /^test names 14: 2 begin with a wh-word, 5 are fragments$/);
});

test('draws the same sample for the same seed', async () => {
  const comments = Array.from(
    { length: 30 },
    (_, index) => `// Comment number ${index} of this file.\nrun();`,
  );
  const files = {
    'a.ts': comments.join('\n'),
    'a.md': 'One whole sentence stands here. Another one stands there.',
  };
  const draw = (seed: string) => countIn(files, '--sample', '5', '--seed', seed);
  const first = await draw('7');
  assert.equal(first.length, 5 + 2 + 2);
  assert.deepEqual(await draw('7'), first);
  assert.notDeepEqual(await draw('8'), first);
});
