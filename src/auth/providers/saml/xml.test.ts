import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { allElements, parseXml } from './xml.ts';

describe('large XML', () => {
  test('rejects XML with too many open tags before parsing it', () => {
    for (const text of ['<a>', '<a ', '</a ', '<', '<a b="', '<x:a>']) {
      assert.throws(() => parseXml(`<a>${text.repeat(1_000)}`), /too deep or too large/, text);
    }
  });

  test('accepts XML up to its bounds, with any white space around and within', () => {
    const inside = '<b>x</b>'.repeat(300);
    const root = parseXml(`\n\t <a>${' '.repeat(30_000)}${inside}</a>\r\n `);
    assert.equal(allElements(root).length, 301);
  });

  // One such text takes 0.2 ms. A pattern that searches for its end again takes 0.4 s, and exceeds the time limit.
  test('takes time linear in the length of XML, even for white space alone', { timeout: 60_000 }, () => {
    const text = `<a>${' '.repeat(30_000)}x</a>`;
    for (let round = 0; round < 500; round += 1) assert.equal(parseXml(text).localName, 'a');
  });
});
