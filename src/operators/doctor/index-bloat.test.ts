import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type IndexSize, judgeIndexBloat, neededPages } from './index-bloat.ts';

const key = [
  { length: 4, alignment: 4 },
  { length: 8, alignment: 8 },
];
const byText = [...key, { length: null, alignment: 4 }];
const index = (more: Partial<IndexSize>): IndexSize => ({
  ...{ name: 'one', pages: 5_000, entries: 1_000_000, columns: key },
  ...more,
});

test('an index of fixed columns needs the pages of its entries, with their padding', () => {
  // 8 bytes of header, 4 and 4 of padding, 8, and 4 of the pointer: 28, of which 262 fill nine tenths of a page.
  assert.equal(neededPages({ entries: 262_000, columns: key }), 1_000 + 4 + 2);
  assert.equal(neededPages({ entries: 1, columns: byText }), undefined);
});

test('reports an index of more than twice the pages that it needs, with its cure', () => {
  const needed = neededPages(index({})) ?? 0;
  assert.equal(judgeIndexBloat([index({ pages: 2 * needed })]).verdict, 'ok');
  const { verdict, detail, cure } = judgeIndexBloat([
    index({ pages: 2 * needed + 1 }),
    index({ name: 'two' }),
  ]);
  assert.equal(verdict, 'warning');
  assert.equal(detail, 'one has 63 MB and needs about 32 MB.');
  assert.equal(cure, 'As the owner, in a quiet hour: reindex index concurrently one;');
});

test('says how many indexes it cannot judge, and judges none without a large one', () => {
  assert.equal(judgeIndexBloat([]).detail, 'No index has 10 MB.');
  const { verdict, detail } = judgeIndexBloat([index({}), index({ columns: byText })]);
  assert.equal(verdict, 'ok');
  assert.match(
    detail,
    /^1 large indexes .* Not examined: 1 of the 2 largest, whose entries vary in length\.$/,
  );
});
