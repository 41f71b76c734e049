import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { allElements, parseXml } from './xml.ts';

describe('XML that is large', () => {
  test('is refused by its tags before it is parsed, as many as are left open', () => {
    for (const text of ['<a>', '<a ', '</a ', '<', '<a b="', '<x:a>']) {
      assert.throws(() => parseXml(`<a>${text.repeat(1_000)}`), /too deep or too large/, text);
    }
  });

  test('is taken up to its bounds, whatever space is around and within', () => {
    const inside = '<b>x</b>'.repeat(300);
    const root = parseXml(`\n\t <a>${' '.repeat(30_000)}${inside}</a>\r\n `);
    assert.equal(allElements(root).length, 301);
  });

  // One such text took 0.4 s and now takes 0.2 ms: should a pattern look for its end again, this runs out of time.
  test('costs what its length does, also where it is all space', { timeout: 60_000 }, () => {
    const text = `<a>${' '.repeat(30_000)}x</a>`;
    for (let round = 0; round < 500; round += 1) assert.equal(parseXml(text).localName, 'a');
  });
});
