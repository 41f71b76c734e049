import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const read = (file: string) => readFileSync(path.join(root, file), 'utf8');
const page = read('docs/asvs.md');
const verdicts = ['met', 'met, no test', 'not met', 'not ours', 'does not apply'];

/** The last number of each section that levels 1 and 2 have. In every section the numbers of level 3 come after them. */
const sections: Readonly<Record<string, number>> = {
  ...{ '1.1': 2, '1.2': 9, '1.3': 11, '1.4': 3, '1.5': 2, '2.1': 3, '2.2': 3, '2.3': 4, '2.4': 1 },
  ...{ '3.2': 2, '3.3': 4, '3.4': 6, '3.5': 5, '3.7': 2, '4.1': 3, '4.2': 1, '4.3': 2, '4.4': 4 },
  ...{ '5.1': 1, '5.2': 3, '5.3': 2, '5.4': 3, '6.1': 3, '6.2': 12, '6.3': 4, '6.4': 4, '6.5': 5 },
  ...{ '6.6': 3, '6.8': 4, '7.1': 3, '7.2': 4, '7.3': 2, '7.4': 5, '7.5': 2, '7.6': 2, '8.1': 2 },
  ...{ '8.2': 3, '8.3': 1, '8.4': 1, '9.1': 3, '9.2': 4, '10.1': 2, '10.2': 2, '10.3': 4, '10.4': 11 },
  ...{ '10.5': 5, '10.6': 2, '10.7': 3, '11.1': 2, '11.2': 3, '11.3': 3, '11.4': 4, '11.5': 1, '11.6': 1 },
  ...{ '12.1': 3, '12.2': 2, '12.3': 4, '13.1': 1, '13.2': 5, '13.3': 2, '13.4': 5, '14.1': 2, '14.2': 4 },
  ...{ '14.3': 3, '15.1': 3, '15.2': 3, '15.3': 7, '16.1': 1, '16.2': 5, '16.3': 4, '16.4': 3, '16.5': 3 },
  ...{ '17.1': 1, '17.2': 4, '17.3': 2 },
};

interface Row {
  readonly number: string;
  readonly level: string;
  readonly verdict: string;
  readonly evidence: string;
}

const rows: readonly Row[] = [...page.matchAll(/^\| (\d+\.\d+\.\d+) \|(.*)\|$/gm)].map(
  ([, number = '', rest = '']) => {
    const [level = '', , verdict = '', evidence = '', ...more] = rest.split('|').map((cell) => cell.trim());
    assert.deepEqual(more, [], number);
    return { number, level, verdict, evidence };
  },
);

test('the page on ASVS has each number of levels 1 and 2 once, in order', () => {
  const expected = Object.entries(sections)
    .toSorted(([one], [other]) => one.localeCompare(other, 'en', { numeric: true }))
    .flatMap(([section, last]) => Array.from({ length: last }, (_none, index) => `${section}.${index + 1}`));
  assert.deepEqual(
    rows.map(({ number }) => number),
    expected,
  );
});

test('the page on ASVS counts its verdicts', () => {
  const count = (verdict: string, level?: string) =>
    rows.filter((row) => row.verdict === verdict && (level === undefined || row.level === level)).length;
  for (const row of rows) assert.ok(verdicts.includes(row.verdict), `${row.number}: ${row.verdict}`);
  for (const verdict of verdicts) {
    const line = `| ${verdict} | ${count(verdict, '1')} | ${count(verdict, '2')} | ${count(verdict)} |`;
    assert.ok(page.includes(`\n${line}\n`), line);
  }
  const [atOne, atTwo] = ['1', '2'].map((level) => rows.filter((row) => row.level === level).length);
  assert.deepEqual([atOne, atTwo], [70, 183]);
  assert.match(page, /all 70 requirements of level 1 and all 183 of level 2/);
});

test('the page on ASVS names existing tests, and one for each requirement that is met', () => {
  let names = 0;
  for (const { number, verdict, evidence } of rows) {
    assert.notEqual(evidence, '', number);
    const files = [...evidence.matchAll(/`([\w./-]+\.(?:ts|yaml))`(?: “([^”]+)”)?/g)];
    for (const [, file = '', name] of files) {
      assert.ok(existsSync(path.join(root, file)), `${number}: ${file}`);
      if (name === undefined) continue;
      assert.ok(read(file).includes(name), `${number}: ${file} has no “${name}”`);
      names += 1;
    }
    assert.equal(evidence.match(/“/g)?.length ?? 0, files.filter(([, , name]) => name).length, number);
    const isShown = files.some(([, file = '']) => file.endsWith('.test.ts'));
    if (verdict === 'met') assert.ok(isShown || /\]\([\w./-]+\.md|\]\(#/.test(evidence), number);
    if (verdict === 'met, no test') assert.ok(!isShown, number);
  }
  assert.ok(names > 150);
});
