import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Problem } from '../problem.ts';
import { parseJson } from './json.ts';

function refusal(text: string): string {
  try {
    parseJson(text);
  } catch (error) {
    assert.ok(error instanceof Problem);
    assert.equal(error.code, 'malformed_json');
    return error.detail;
  }
  assert.fail(`accepted: ${text.slice(0, 40)}`);
}

test('reads a JSON document into plain values', () => {
  const text =
    ' {"a": [1, -0.5e1, {}], "b\\n": {"c": null}, "d": true, "e": false, "": "\\u00e9\\ud83d\\ude00\\/"}\r\n\t';
  const { value } = parseJson(text);
  assert.deepEqual(value, { a: [1, -5, {}], 'b\n': { c: null }, d: true, e: false, '': 'é😀/' });
  assert.equal(Object.getPrototypeOf(value), Object.prototype);
});

test('accepts names of inherited properties as JSON keys', () => {
  const { value } = parseJson('{"constructor": 1, "toString": 2, "hasOwnProperty": 3, "prototype": 4}');
  assert.deepEqual(Object.entries(value as object), [
    ['constructor', 1],
    ['toString', 2],
    ['hasOwnProperty', 3],
    ['prototype', 4],
  ]);
});

test('reads each JSON document independently of earlier ones', () => {
  // JSON.parse gives the second document the first one's key: https://github.com/nodejs/node/issues/63785
  parseJson('{"amount": 1, "\\\\": 2}');
  assert.deepEqual(parseJson('{"amount": 1, "\\u0061": 2}').value, { amount: 1, a: 2 });
});

test('accepts a lone surrogate in a JSON string', () => {
  assert.equal(parseJson('"\\ud800"').value, '\ud800');
  assert.equal(parseJson('"\udc00"').value, '\udc00');
});

test('keeps the source text of each number by its pointer', () => {
  const text =
    '{"amount": 105.20, "list": [1E2, [-0]], "a/b": {"m~n": 12345678901234567890.0}, "": 1e-1, "s": "2"}';
  assert.deepEqual(
    [...parseJson(text).numbers],
    [
      ['/amount', '105.20'],
      ['/list/0', '1E2'],
      ['/list/1/0', '-0'],
      ['/a~1b/m~0n', '12345678901234567890.0'],
      ['/', '1e-1'],
    ],
  );
  assert.deepEqual([...parseJson(' 7.0 ').numbers], [['', '7.0']]);
});

test('reads numbers at a pointer of more than 256 characters without keeping their text', () => {
  const key = 'k'.repeat(255);
  const { value, numbers } = parseJson(`{"${key}": 1, "${key}k": 2}`);
  assert.deepEqual(value, { [key]: 1, [`${key}k`]: 2 });
  assert.deepEqual([...numbers], [[`/${key}`, '1']]);
});

test('reports the place of a JSON error: position from 0, line and column from 1', () => {
  const cases: [string, string][] = [
    ['', 'Unexpected end of the document at position 0 (line 1, column 1).'],
    ['  ', 'Unexpected end of the document at position 2 (line 1, column 3).'],
    ['{"a": 1,}', 'Unexpected character at position 8 (line 1, column 9).'],
    ['[1,]', 'Unexpected character at position 3 (line 1, column 4).'],
    ['[1 2]', 'Unexpected character at position 3 (line 1, column 4).'],
    ['{"a" 1}', 'Unexpected character at position 5 (line 1, column 6).'],
    ['{a: 1}', 'Unexpected character at position 1 (line 1, column 2).'],
    ["['a']", 'Unexpected character at position 1 (line 1, column 2).'],
    ['{"a":1', 'Unexpected end of the document at position 6 (line 1, column 7).'],
    ['"abc', 'Unexpected end of the document at position 4 (line 1, column 5).'],
    ['"a\tb"', 'Unexpected character at position 2 (line 1, column 3).'],
    ['"a\\x"', 'Unexpected character at position 3 (line 1, column 4).'],
    ['"\\', 'Unexpected end of the document at position 2 (line 1, column 3).'],
    ['"\\u12G4"', 'Unexpected character at position 5 (line 1, column 6).'],
    ['"\\u12', 'Unexpected end of the document at position 5 (line 1, column 6).'],
    ['01', 'Unexpected character at position 1 (line 1, column 2).'],
    ['-', 'Unexpected end of the document at position 1 (line 1, column 2).'],
    ['1.', 'Unexpected end of the document at position 2 (line 1, column 3).'],
    ['1.e1', 'Unexpected character at position 2 (line 1, column 3).'],
    ['1e+', 'Unexpected end of the document at position 3 (line 1, column 4).'],
    ['+1', 'Unexpected character at position 0 (line 1, column 1).'],
    ['NaN', 'Unexpected character at position 0 (line 1, column 1).'],
    ['truE', 'Unexpected character at position 3 (line 1, column 4).'],
    ['nul', 'Unexpected end of the document at position 3 (line 1, column 4).'],
    ['1 // one', 'Unexpected character at position 2 (line 1, column 3).'],
    ['\u00a01', 'Unexpected character at position 0 (line 1, column 1).'],
    ['{\n  "a": 1,\n  "b": x\n}', 'Unexpected character at position 19 (line 3, column 8).'],
    ['{\r\n"a": 1,\r\n\r\nx', 'Unexpected character at position 14 (line 4, column 1).'],
    ['[\r1,\r2,x', 'Unexpected character at position 7 (line 3, column 3).'],
    ['["😀", x]', 'Unexpected character at position 7 (line 1, column 8).'],
  ];
  for (const [text, detail] of cases) assert.equal(refusal(text), detail, text);
});

test('refuses a repeated key in one object in any spelling, and accepts it in two objects', () => {
  const detail = 'Unexpected second key of the same name at position 9 (line 1, column 10).';
  assert.equal(refusal('{"a": 1, "a": 1}'), detail);
  assert.equal(refusal('{"a": 1, "\\u0061": 2}'), detail);
  assert.match(
    refusal('[{"b": {"toString": 1,\n "toString": 2}}]'),
    /^Unexpected second key .*\(line 2, column 2\)/,
  );
  assert.deepEqual(parseJson('[{"a": {"a": 1}}, {"a": 2}]').value, [{ a: { a: 1 } }, { a: 2 }]);
});

test('refuses the key __proto__ at any depth and in any spelling, and accepts it as a value', () => {
  assert.equal(refusal('{"__proto__": {}}'), 'Unexpected key __proto__ at position 1 (line 1, column 2).');
  assert.match(refusal('{"a": [{"__pro\\u0074o__": 1}]}'), /^Unexpected key __proto__ at position 8 /);
  assert.equal(parseJson('"__proto__"').value, '__proto__');
});

test('reads 32 levels of objects and arrays, and refuses the 33rd where it opens', () => {
  const nested = (levels: number) => `${'[{"a":'.repeat(levels / 2)}1${'}]'.repeat(levels / 2)}`;
  assert.deepEqual([...parseJson(nested(32)).numbers.values()], ['1']);
  assert.equal(
    refusal(nested(34)),
    'Unexpected level of nesting beyond 32 at position 96 (line 1, column 97).',
  );
  assert.equal(
    refusal('{"a":'.repeat(33)),
    'Unexpected level of nesting beyond 32 at position 160 (line 1, column 161).',
  );
});

test('refuses a byte order mark', () => {
  assert.equal(refusal('\ufeff{}'), 'Unexpected byte order mark at position 0 (line 1, column 1).');
  assert.equal(parseJson('"\ufeff"').value, '\ufeff');
});
