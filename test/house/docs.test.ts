import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { coreChecks } from '../../src/reconciliation/core-checks.ts';
import { ledgerChecks } from '../../src/reconciliation/ledger-checks.ts';
import { transferChecks } from '../../src/reconciliation/transfer-checks.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const read = (file: string) => readFileSync(path.join(root, file), 'utf8');
const matches = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([, one = '']) => one);

test('every link of the documents leads to an existing file', () => {
  const docs = readdirSync(path.join(root, 'docs')).map((name) => `docs/${name}`);
  const pages = readdirSync(root).filter((name) => name.endsWith('.md'));
  for (const page of [...pages, 'examples/README.md', ...docs]) {
    if (!page.endsWith('.md')) continue;
    for (const link of matches(read(page), /\]\(([^)#:]+)(?:#[^)]*)?\)/g)) {
      assert.ok(existsSync(path.join(root, path.dirname(page), link)), `${page}: ${link}`);
    }
  }
});

test('every link to a heading names a heading of its page', () => {
  const folders = ['.', 'docs', 'docs/adr', 'docs/problems', 'examples', 'bench'];
  const pages = folders.flatMap((folder) =>
    readdirSync(path.join(root, folder))
      .filter((name) => name.endsWith('.md'))
      .map((name) => path.join(folder, name)),
  );
  let count = 0;
  for (const page of pages) {
    for (const [, link = '', anchor = ''] of read(page).matchAll(/\]\(([^)#:\s]*)#([^)\s]+)\)/g)) {
      const target = link === '' ? page : path.join(path.dirname(page), link);
      assert.ok(anchorsOf(read(target)).has(anchor), `${page}: ${link}#${anchor}`);
      count += 1;
    }
  }
  assert.ok(count > 20);
});

/** The anchors of the headings by GitHub's rule: lower case, punctuation removed, hyphens for spaces. */
function anchorsOf(page: string): Set<string> {
  const headings = matches(page.replace(/^```.*?^```/gms, ''), /^#+ (.+)$/gm);
  return new Set(
    headings.map((heading) =>
      heading
        .toLowerCase()
        .replace(/[^\p{L}\p{N}\s_-]/gu, '')
        .replaceAll(' ', '-'),
    ),
  );
}

test('each picture is shown by a page, each page shows pictures that exist, and all of them are light to clone', () => {
  const folder = path.join(root, 'docs/pictures');
  const pictures = readdirSync(folder).map((name) => `docs/pictures/${name}`);
  const pages = [root, path.join(root, 'docs')].flatMap((place) =>
    readdirSync(place)
      .filter((name) => name.endsWith('.md'))
      .map((name) => path.relative(root, path.join(place, name))),
  );
  const shown = pages.flatMap((page) =>
    matches(read(page), /(?:src|srcset)="([^"]+\.png)"/g).map((one) => path.join(path.dirname(page), one)),
  );
  assert.deepEqual([...new Set(shown)].toSorted(), pictures.toSorted());
  const bytes = pictures.reduce((sum, one) => sum + statSync(path.join(root, one)).size, 0);
  assert.ok(bytes < 4_500_000, `${bytes} bytes`);
});

test('a workflow asks each week for known weaknesses of the components', () => {
  const workflow = read('.github/workflows/long.yml');
  assert.match(workflow, /schedule:\n +- cron: '\d+ \d+ \* \* \d'/);
  assert.match(workflow, /run: npm audit --omit=dev --audit-level=high$/m);
});

test('the page on reconciling lists every check', () => {
  const page = read('docs/reconcile.md');
  for (const { name } of [...ledgerChecks, ...transferChecks, ...coreChecks])
    assert.ok(page.includes(`\`${name}\``), name);
});

test('each decision has its own number, which its file and its heading share', () => {
  const files = readdirSync(path.join(root, 'docs/adr')).sort();
  assert.deepEqual(
    files.map((file) => /^# (\d+)\. /.exec(read(`docs/adr/${file}`))?.[1]?.padStart(4, '0')),
    files.map((_file, index) => String(index + 1).padStart(4, '0')),
  );
  for (const [index, file] of files.entries()) assert.equal(Number(file.slice(0, 4)), index + 1);
});

test('the page on security names existing code, tests, settings and commands', async () => {
  const page = read('docs/security.md');
  const files = matches(page, /`((?:src|sql|test|migrations)\/[\w./-]+)`/g);
  assert.ok(files.length > 30);
  for (const file of files) assert.ok(existsSync(path.join(root, file)), file);

  const settings = read('docs/configuration.md');
  for (const name of matches(page, /`([A-Z]+(?:_[A-Z]+)+)`/g))
    assert.ok(settings.includes(`\`${name}\``), name);

  const commands = new Set(matches(page, /sharedraft ((?:keys|client|member|provider) [a-z-]+|audit)\b/g));
  assert.ok(commands.size > 8);
  const groups = [...new Set([...commands].map((command) => command.split(' ')[0] ?? ''))];
  const helps = new Map(
    await Promise.all(groups.map(async (group) => [group, await helpOf(group)] as const)),
  );
  for (const command of commands) {
    const [group = '', name = ''] = command.split(' ');
    assert.match(
      helps.get(group) ?? '',
      new RegExp(`^  ${name}\\b|^Usage: sharedraft ${command}`, 'm'),
      command,
    );
  }
});

async function helpOf(command: string): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, ['src/main.ts', command, '--help'], {
    cwd: root,
  });
  return stdout;
}
