import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseForm } from '../../src/http/request/body/form.ts';
import { Problem } from '../../src/shared/problem.ts';

const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 8 }),
  fc.constantFrom('scope', '__proto__', 'toString', ''),
);

test('reads any form that URLSearchParams writes as URLSearchParams does', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(text, text), { maxLength: 6 }), (pairs) => {
      agreesWithUrlSearchParams(String(new URLSearchParams(pairs)));
    }),
    { numRuns: 5_000 },
  );
});

test('reads any text as URLSearchParams does, or refuses a bad escape that it would replace or keep', () => {
  const anyByte = fc
    .tuple(fc.constantFrom(...'0234578ACEF'), fc.constantFrom(...'09afAF'))
    .map(([high, low]) => `%${high}${low}`);
  const part = fc.oneof(
    {
      weight: 4,
      arbitrary: fc.constantFrom('a', 'b', '=', '&', '+', 'é', '%20', '%41', '%C3%A9', '%f0%9f%98%80'),
    },
    { weight: 1, arbitrary: anyByte },
    { weight: 1, arbitrary: fc.constantFrom('%', '%4', '%G1', '\ufeff', '%EF%BB%BF', '\0') },
  );
  let taken = 0;
  let refused = 0;
  fc.assert(
    fc.property(fc.string({ unit: part, maxLength: 10 }), (form) => {
      if (isWellFormed(form)) {
        taken += 1;
        agreesWithUrlSearchParams(form);
      } else {
        refused += 1;
        assert.throws(
          () => parseForm(form),
          (error) => error instanceof Problem && error.code === 'invalid_request',
        );
      }
    }),
    { numRuns: 20_000 },
  );
  assert.ok(taken > 1_000 && refused > 1_000, `${taken} taken, ${refused} refused`);
});

function agreesWithUrlSearchParams(form: string): void {
  // URLSearchParams removes a leading question mark; behind an empty part it is not leading.
  const expected = new Map<string, string[]>();
  for (const [name, value] of new URLSearchParams(`&${form}`)) {
    expected.set(name, [...(expected.get(name) ?? []), value]);
  }
  const { value, repeated } = parseForm(form);
  assert.deepEqual(
    new Map(Object.entries(value)),
    new Map([...expected].map(([name, [first]]) => [name, first])),
  );
  assert.deepEqual(
    new Set(repeated),
    new Set([...expected].filter(([, values]) => values.length > 1).map(([name]) => name)),
  );
}

/** Judged on the bytes: every percent sign has two hexadecimal digits, and every name and value is UTF-8. */
function isWellFormed(form: string): boolean {
  if (/%(?![0-9a-fA-F]{2})/.test(form)) return false;
  const utf8 = new TextDecoder('utf-8', { fatal: true });
  return form.split(/[&=]/).every((part) => {
    const bytes = Buffer.concat(
      [...part.matchAll(/%(..)|[^%]+/g)].map(([plain, hex]) =>
        Buffer.from(hex ?? plain, hex === undefined ? 'utf8' : 'hex'),
      ),
    );
    try {
      utf8.decode(bytes);
      return true;
    } catch {
      return false;
    }
  });
}

test('answers 64 KiB of hostile form text fast', () => {
  const hostile = ['&', 'a&', '=', '+', '%', '%41', '%F0%9F%98%80', 'a=1&'].map((part) =>
    part.repeat(Math.floor(65_536 / part.length)),
  );
  hostile.push(Array.from({ length: 9_000 }, (_, index) => `k${index}`).join('&'));
  for (const form of hostile) {
    const start = performance.now();
    try {
      parseForm(form);
    } catch (error) {
      assert.ok(error instanceof Problem);
    }
    const took = performance.now() - start;
    assert.ok(took < 1_000, `${form.slice(0, 12)}…: ${took} ms`);
  }
});
