import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { colorInTheDark, consoleTones, contrastOf, isReadable, readColor } from './color.ts';

describe('the color of an institution', () => {
  test('is six hexadecimal digits behind a #, in lower case', () => {
    assert.equal(readColor('#0B5D4A'), '#0b5d4a');
    for (const other of ['0b5d4a', '#0b5', '#0b5d4a80', 'green', '#0b5d4g', '#0b5d4a;}', ''])
      assert.equal(readColor(other), undefined, other);
  });

  test('has the contrast of WCAG', () => {
    assert.equal(contrastOf('#000000', '#ffffff'), 21);
    assert.equal(contrastOf('#123456', '#123456'), 1);
    assert.equal(contrastOf('#777777', '#ffffff').toFixed(2), '4.48');
    assert.equal(contrastOf('#767676', '#ffffff').toFixed(2), '4.54');
  });

  test('is readable on white from a contrast of 4.5 on', () => {
    assert.equal(isReadable('#767676'), true);
    assert.equal(isReadable('#777777'), false);
    assert.equal(isReadable('#f2c200'), false);
  });

  test('is lightened in the dark only as far as it must be', () => {
    assert.equal(colorInTheDark('#f2c200'), '#f2c200');
    for (const color of ['#000000', '#0b5d4a', '#7a0019', '#00205b']) {
      const lighter = colorInTheDark(color);
      const contrast = contrastOf(lighter, '#182028');
      assert.ok(contrast >= 4.5 && contrast < 5, `${color} becomes ${lighter}: ${contrast}`);
      assert.ok(contrastOf(lighter, '#0e1318') >= 4.5, 'the words of a button');
    }
  });

  test('is readable on each area of the console, and stays as it is if it can', () => {
    assert.equal(consoleTones('#7a0019', 'light').accent, '#7a0019');
    for (const color of ['#000000', '#767676', '#0b5d4a', '#7a0019', '#00205b', '#d0021b']) {
      const light = consoleTones(color, 'light');
      for (const area of [light.soft, '#edf0ed', '#f4f6f4', '#ffffff'])
        assert.ok(contrastOf(light.accent, area) >= 4.5, `${color} on ${area}`);
      const dark = consoleTones(color, 'dark');
      for (const area of [dark.soft, '#161d1a', '#111815', '#0e1412'])
        assert.ok(contrastOf(dark.accent, area) >= 4.5, `${color} on ${area} in the dark`);
    }
  });
});
