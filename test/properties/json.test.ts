import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Problem } from '../../src/shared/problem.ts';
import { parseJson } from '../../src/shared/text/json.ts';

/** Documents as text rather than as values, so that spellings vary: spaces, exponents, escapes, keys twice. */
const space = fc.string({ unit: fc.constantFrom(' ', '\n', '\r', '\t'), maxLength: 2 });
const digits = fc.string({ unit: fc.constantFrom(...'0123456789'), minLength: 1, maxLength: 20 });
const number = fc
  .tuple(
    fc.constantFrom('', '-'),
    fc.oneof(fc.constant('0'), fc.bigInt(1n, 10n ** 20n).map(String)),
    fc.oneof(
      fc.constant(''),
      digits.map((fraction) => `.${fraction}`),
    ),
    fc.oneof(
      fc.constant(''),
      fc
        .tuple(fc.constantFrom('e', 'E'), fc.constantFrom('', '+', '-'), digits)
        .map((exponent) => exponent.join('')),
    ),
  )
  .map((parts) => parts.join(''));
const character = fc.oneof(
  fc
    .string({ unit: 'binary', minLength: 1, maxLength: 1 })
    .filter((char) => char >= ' ' && char !== '"' && char !== '\\'),
  fc.constantFrom('\\"', '\\\\', '\\/', '\\b', '\\f', '\\n', '\\r', '\\t', '\u2028', '\ud800', '~', '/'),
  fc
    .string({ unit: fc.constantFrom(...'0123456789abcdefABCDEF'), minLength: 4, maxLength: 4 })
    .map((hex) => `\\u${hex}`),
);
const string = fc.string({ unit: character, maxLength: 6 }).map((body) => `"${body}"`);
const key = fc.oneof(
  { weight: 6, arbitrary: string },
  { weight: 2, arbitrary: fc.constantFrom('"amount"', '"a"', '"\\u0061"', '"0"', '"1"', '""') },
  {
    weight: 1,
    arbitrary: fc.constantFrom('"__proto__"', '"\\u005f_proto__"', '"toString"', '"constructor"'),
  },
);
const { document } = fc.letrec<{ document: string; element: string }>((tie) => ({
  document: fc.tuple(space, tie('element'), space).map((parts) => parts.join('')),
  element: fc.oneof(
    { maxDepth: 6, withCrossShrink: true },
    number,
    string,
    fc.constantFrom('true', 'false', 'null'),
    fc.array(tie('document'), { maxLength: 4 }).map((items) => `[${items.join(',')}]`),
    fc
      .array(fc.tuple(space, key, space, tie('document')), { maxLength: 4 })
      .map((members) => `{${members.map(([a, k, b, v]) => `${a}${k}${b}:${v}`).join(',')}}`),
    space.map((inside) => `[${inside}]`),
    space.map((inside) => `{${inside}}`),
  ),
}));

/** Wraps a document in more levels, so that the bound on depth is crossed about as often as not. */
const nested = fc
  .tuple(document, fc.array(fc.constantFrom('[', '{'), { minLength: 24, maxLength: 36 }))
  .map(([inner, levels]) =>
    levels.reduceRight((text, level) => (level === '[' ? `[${text}]` : `{"k":${text}}`), inner),
  );

const mutation = fc.record({
  where: fc.nat(),
  removed: fc.integer({ min: 0, max: 2 }),
  inserted: fc.oneof(
    fc.constantFrom(...'{}[]",:\\/-+.eEu0123456789 \n\r\t\0tfn\u00a0\ufeff\ud800'),
    fc.constantFrom('', '{"a":1,"a":2}', '"__proto__":', '//', 'true', 'nulL', '\\u00', '1e', '\r\n'),
  ),
});
const mutated = fc
  .tuple(document, fc.array(mutation, { minLength: 1, maxLength: 3 }))
  .map(([text, mutations]) =>
    mutations.reduce((was, { where, removed, inserted }) => {
      const at = where % (was.length + 1);
      return was.slice(0, at) + inserted + was.slice(at + removed);
    }, text),
  );

test('accepts or refuses any document as JSON.parse does, except for the intended refusals', () => {
  fc.assert(fc.property(document, agreesWithJsonParse), { numRuns: 5_000 });
});

test('accepts or refuses documents nested about 32 levels deep as JSON.parse does, except for the bound', () => {
  fc.assert(fc.property(nested, agreesWithJsonParse), { numRuns: 1_000 });
});

test('accepts or refuses any damaged document as JSON.parse does, at the same position', () => {
  fc.assert(fc.property(mutated, agreesWithJsonParse), { numRuns: 20_000 });
});

test('reads back any value written by JSON.stringify', () => {
  const text = fc
    .tuple(fc.jsonValue({ maxDepth: 5 }), fc.constantFrom(undefined, 1, '\t'))
    .map(([value, indent]) => JSON.stringify(value, null, indent));
  fc.assert(fc.property(text, agreesWithJsonParse), { numRuns: 2_000 });
});

function agreesWithJsonParse(text: string): void {
  const ours = read(() => parseJson(text));
  const theirs = read(() => JSON.parse(text));
  if ('result' in theirs) {
    const { value, numbers, refusals } = reference(text);
    if (refusals.size === 0) assert.deepStrictEqual(ours, { result: { value, numbers } });
    else
      assert.match(
        'refused' in ours ? ours.refused : 'accepted',
        new RegExp(`^Unexpected (${[...refusals].join('|')}) at `),
      );
    return;
  }
  assert.ok('refused' in ours, 'accepted what JSON.parse refuses');
  // V8 does not always report a position. An intended refusal may precede the error that V8 found.
  const where = /at position (\d+) \(line (\d+) column (\d+)\)/.exec(theirs.refused);
  if (where !== null && /^Unexpected (character|end)/.test(ours.refused)) {
    const [, position, line, column] = where;
    assert.match(
      ours.refused,
      new RegExp(` at position ${position} \\(line ${line}, column ${column}\\)\\.$`),
    );
  }
}

function read<T>(parse: () => T): { result: T } | { refused: string } {
  try {
    return { result: parse() };
  } catch (error) {
    if (error instanceof Problem && error.code === 'malformed_json') return { refused: error.detail };
    if (error instanceof SyntaxError) return { refused: error.message };
    throw error;
  }
}

class SourcedNumber {
  readonly value: number;
  readonly source: string | undefined;
  constructor(value: number, source: string | undefined) {
    this.value = value;
    this.source = source;
  }
}

let keysNumbered = 0;

/**
 * The engine's reading of a JSON text, with the source of each number from its reviver, and the intended refusals.
 * Every key gets its own number in front before the engine sees it. So the engine keeps a repeated key, takes
 * __proto__ as a key, and cannot confuse an escaped key with one of an earlier document
 * (https://github.com/nodejs/node/issues/63785).
 */
function reference(text: string) {
  const numbered = text.replace(/"((?:[^"\\]|\\.)*"\s*:)|"(?:[^"\\]|\\.)*"/g, (token, key?: string) => {
    if (key === undefined) return token;
    keysNumbered += 1;
    return `"${keysNumbered}#${key}`;
  });
  const numbers = new Map<string, string | undefined>();
  const refusals = new Set<string>();
  const visit = (value: unknown, pointer: string, depth: number): unknown => {
    if (value instanceof SourcedNumber) {
      numbers.set(pointer, value.source);
      return value.value;
    }
    if (typeof value !== 'object' || value === null) return value;
    if (depth === 32) refusals.add('level of nesting beyond 32');
    if (Array.isArray(value))
      return value.map((item, index) => visit(item, `${pointer}/${index}`, depth + 1));
    const object: Record<string, unknown> = {};
    for (const [name, member] of Object.entries(value)) {
      const key = name.slice(name.indexOf('#') + 1);
      if (key === '__proto__') refusals.add('key __proto__');
      if (Object.hasOwn(object, key)) refusals.add('second key of the same name');
      const token = key.replace(/[~/]/g, (char) => (char === '~' ? '~0' : '~1'));
      object[key] = visit(member, `${pointer}/${token}`, depth + 1);
    }
    return object;
  };
  const revive = (_key: string, value: unknown, context?: { source?: string }) =>
    typeof value === 'number' ? new SourcedNumber(value, context?.source) : value;
  const value = visit(JSON.parse(numbered, revive), '', 0);
  return { value, numbers, refusals };
}

test('answers 64 KiB of hostile JSON fast, without a stack overflow', () => {
  const size = 65_536;
  const fill = (part: string, head = '', tail = '') =>
    head + part.repeat(Math.floor((size - head.length - tail.length) / part.length)) + tail;
  const list = (count: number, item: (index: number) => string) =>
    Array.from({ length: count }, (_, i) => item(i)).join();
  const hostile: Record<string, string> = {
    'arrays in arrays': fill('['),
    'objects in objects': fill('{"a":'),
    'closing brackets': fill(']'),
    'white space': fill(' '),
    lines: fill('\r\n', '', 'x'),
    'one long string': fill('x', '"', '"'),
    'a string without an end': fill('x', '"'),
    'short escapes': fill('\\n', '"', '"'),
    'long escapes': fill('\\u0041', '"', '"'),
    backslashes: fill('\\', '"', '"'),
    'digits without end': fill('7'),
    'a fraction without end': fill('0', '0.'),
    'an exponent without end': fill('9', '1e'),
    minuses: fill('-'),
    'many numbers': `[${list(32_000, () => '1')}]`,
    'many empty objects': `[${list(21_000, () => '{}')}]`,
    'many keys': `{${list(6_400, (i) => `"k${i}":1`)}}`,
    'keys like indices': `{${list(4_300, (i) => `"${(i * 919_191) % 4_294_967_294}":1`)}}`,
    'the same long key': fill(`"${'k'.repeat(20_000)}":1,`, '{', '}'),
    'a key to be escaped': fill('~', '{"', '":1}'),
    // Without a bound the map of pointers alone would take minutes here.
    'one long key over many numbers': `{"${'k'.repeat(30_000)}":[${list(17_000, () => '1')}]}`,
    'long keys at each level over many numbers': `${`{"${'k'.repeat(1_000)}":`.repeat(31)}[${list(16_000, () => '1')}]${'}'.repeat(31)}`,
  };
  for (const [name, text] of Object.entries(hostile)) {
    assert.ok(text.length > 60_000 && text.length <= size + 2_000, `${name}: ${text.length}`);
    const start = performance.now();
    read(() => parseJson(text));
    const took = performance.now() - start;
    assert.ok(took < 1_000, `${name}: ${took} ms`);
  }
});
