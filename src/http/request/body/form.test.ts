import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Problem } from '../../../shared/problem.ts';
import { parseForm } from './form.ts';

function values(text: string): object {
  return { ...parseForm(text).value };
}

test('decodes names and values of a form, and reads a plus as a space', () => {
  assert.deepEqual(values('grant_type=password&user+name=a%2Bb+c&%C3%A9=%F0%9F%98%80'), {
    grant_type: 'password',
    'user name': 'a+b c',
    é: '😀',
  });
});

test('splits a form field at its first equals sign, and accepts a name without a value', () => {
  assert.deepEqual(values('a=b=c==&scope=&plain&=nameless'), {
    a: 'b=c==',
    scope: '',
    plain: '',
    '': 'nameless',
  });
});

test('ignores empty parts of a form', () => {
  assert.deepEqual(parseForm(''), { value: Object.create(null), repeated: [] });
  assert.deepEqual(values('&&a=1&&'), { a: '1' });
});

test('keeps the first value of a repeated form field, and reports its name once', () => {
  const { value, repeated } = parseForm('a=1&b=2&%61=3&c=4&a=5&b=2');
  assert.deepEqual({ ...value }, { a: '1', b: '2', c: '4' });
  assert.deepEqual(repeated, ['a', 'b']);
});

test('accepts names of inherited properties as form fields', () => {
  const { value, repeated } = parseForm('__proto__=1&toString=2');
  assert.deepEqual(Object.entries(value), [
    ['__proto__', '1'],
    ['toString', '2'],
  ]);
  assert.deepEqual(repeated, []);
  assert.equal(parseForm('a=1').value.constructor, undefined);
});

test('refuses a malformed percent escape, and one that is not UTF-8', () => {
  const malformed = ['a=%', 'a=%4', 'a=%4G', '%zz=1', 'a=100%&b=1', 'a=%%41'];
  const notUtf8 = ['a=%FF', 'a=%C3', 'a=%C3é', 'a=%C0%80', 'a=%ED%A0%80', 'a=%F4%90%80%80', 'a=%E2%82&b=%AC'];
  for (const text of [...malformed, ...notUtf8]) {
    assert.throws(
      () => parseForm(text),
      (error) =>
        error instanceof Problem &&
        error.code === 'invalid_request' &&
        error.detail === 'The form holds a percent escape that is malformed or not UTF-8.',
      text,
    );
  }
});
